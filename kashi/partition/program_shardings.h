// The sharding of each array of a global program: the shardings in the text, and those that follow from them.
//
//   x = f32[8,16] parameter(0), sharding={devices=[4,1]<=[4]}     [{0}, {}]     said
//   y = f32[16,8] transpose(x), dimensions={1,0}                  [{}, {0}]     from its operand
//   z = f32[16,8] parameter(1)                                    [{}, {}]      parameters are whole if nothing is said
//   w = f32[16,8] add(y, z)                                       [{}, {0}]     from the operand that is cut
//
// A Variable stands for the array that an instruction makes, or a leaf of its tuple. Instructions that only pass an
// array on (tuple, get-tuple-element, a branch's parameters, the state of a loop) share it. Shardings are propagated
// from operands to results and back along the rules of the operations (partition_rule.h), until nothing changes. They
// only become finer, so this ends. Any outcome is right: it only decides where each part is computed.
//
// In manual regions each device has an array of its own. ProgramShardings finds these arrays by the flow of data, as
// ManualFlow does (evaluator/manual_region.h), but for each leaf of a tuple.
#ifndef KASHI_PARTITION_PROGRAM_SHARDINGS_H_
#define KASHI_PARTITION_PROGRAM_SHARDINGS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/partition/custom_call_partitioner.h"
#include "kashi/partition/device_axes.h"
#include "kashi/partition/mesh_axes.h"
#include "kashi/partition/partition_program.h"
#include "kashi/partition/partition_rule.h"

namespace kashi::partition {

struct Variable {
  const Shape* shape;
  AxisSharding sharding;
  bool is_fixed = false;        // said, or not to be cut
  bool is_manual = false;       // each device has its own, of this shape
  AxisList unreduced = {};      // axes along which devices hold parts of a sum
  std::vector<bool> open = {};  // [dimension]: said, but may be cut further. Empty: none is said, or all are
};

// How an operation has to do with arrays of which devices hold parts of a sum (Variable::unreduced).
//
//   kNone    it takes the sums, and its result is one if that is said
//   kGives   a sum that is computed in parts, of which some may stay
//   kTakes   what it does to the parts of its operands' sums gives the parts of its result's, such as a transpose
enum class SumUse { kNone, kGives, kTakes };

// Variables of one instruction that a rule connects.
struct RuleUse {
  PartitionRule rule;
  std::vector<int> operands;  // variables
  std::vector<int> results;
  SumUse sums = SumUse::kNone;
};

// A custom call that its caller partitions. Its result has the shardings of `results`; users may take it with others.
// `operands`, `users`: the shardings for which the partitioner was last asked.
struct PartitionerUse {
  const HloInstruction* call;
  std::shared_ptr<const CustomCallPartitioner> partitioner;
  std::vector<int> results;  // variables
  std::optional<std::vector<HloSharding>> operands;
  std::optional<HloSharding> users;
};

// What is known of the parameters and the result of a program.
struct ProgramBorders {
  std::vector<HloSharding> parameters;
  std::vector<bool> open_parameters;                // [parameter]: any whole axes of a mesh will do
  std::vector<std::optional<HloSharding>> results;  // the shardings in the text for the leaves of the result
};

class ProgramShardings {
 public:
  // Makes the shardings of a flat program (flat_program.h), which must outlive this. Asks the partitioners of custom
  // calls.
  static absl::StatusOr<ProgramShardings> Make(const HloModule& flat, const DeviceAxes& axes, const MeshAxes& mesh_axes,
                                               const ProgramBorders& borders, const PartitionOptions& options);

  const Variable& variable(int i) const { return variables_[i]; }
  // One variable for each leaf of the instruction, in pre-order.
  const std::vector<int>& VariablesOf(const HloInstruction& instruction) const { return of_.at(&instruction); }
  // One variable for each leaf of the program's result, with the sharding in which it leaves the program.
  const std::vector<int>& results() const { return results_; }
  // Whether each device runs it with operands of its own.
  bool IsOnDevices(const HloInstruction& instruction) const { return on_devices_.contains(&instruction); }
  // The axes along which devices hold parts of a sum in a manual region, for an array that crosses its border.
  AxisList UnreducedAtBorder(const HloInstruction& border, int64_t operand) const;
  // Null if the operation has no rule, or runs on devices.
  const RuleUse* RuleOf(const HloInstruction& instruction) const;
  bool PassesOn(const HloInstruction& instruction) const;
  // Null if it has no partitioner.
  const PartitionerUse* PartitionerOf(const HloInstruction& instruction) const;
  // The sharding of an array, or of a tuple, with these variables for its leaves. Replicated where each device has its
  // own array. Of parts of a sum: that of the sum.
  HloSharding ShardingOf(const Shape& shape, const std::vector<int>& variables) const;

 private:
  ProgramShardings(const DeviceAxes& axes, const PartitionOptions& options) : axes_(axes), options_(options) {}

  int NewVariable(const Shape& leaf);
  std::vector<int> NewVariables(const Shape& shape);
  void Fix(int variable, const std::optional<HloSharding>& said);
  void Open(int variable, const std::vector<bool>& dimensions);
  void FixStated(const HloInstruction& instruction);
  void Connect(int a, int b);  // the two are to have one sharding

  absl::Status VisitParameter(const HloInstruction& parameter, const HloSharding& sharding, bool is_open);
  void ConnectResults(const HloInstruction& root, const std::vector<std::optional<HloSharding>>& said);
  void KeepSum(const HloInstruction& producer, const AxisList& unreduced);
  void VisitShardingGroup(const HloInstruction& call);
  absl::Status VisitComputation(const HloComputation& computation);
  absl::Status Visit(const HloInstruction& instruction);
  absl::Status VisitLoop(const HloInstruction& loop);
  absl::Status VisitBranches(const HloInstruction& conditional);
  absl::Status VisitBorder(const HloInstruction& border);
  void VisitShardingCall(const HloInstruction& call);
  void AddRule(const HloInstruction& instruction, PartitionRule rule);
  std::vector<int> OperandVariables(const HloInstruction& instruction) const;
  std::vector<int> PassedOn(const HloInstruction& instruction) const;

  void FindManual();
  bool SpreadManual(const HloInstruction& instruction);
  bool SpreadManualOut(const HloInstruction& instruction);
  bool SetBodiesManual(const HloInstruction& instruction);
  bool SetManual(const std::vector<int>& variables);

  absl::Status Propagate();
  bool PropagateByRules();
  bool PropagateAlong(const RuleUse& use);
  AxisList BestFor(const RuleUse& use, int factor) const;
  bool Refine(int variable, size_t dimension, const AxisList& axes);

  // custom_call_shardings.cc
  absl::Status VisitCustomCall(const HloInstruction& call);
  absl::StatusOr<bool> AskPartitioner(PartitionerUse* use);
  bool RefineLike(int variable, int other);
  bool RefineAll(const std::vector<int>& variables, const Shape& shape, const HloSharding& sharding);

  const DeviceAxes& axes_;
  const PartitionOptions& options_;
  std::vector<Variable> variables_;
  std::vector<int> results_;
  absl::flat_hash_map<const HloInstruction*, std::vector<int>> of_;
  absl::flat_hash_map<const HloInstruction*, size_t> use_of_;
  std::vector<RuleUse> uses_;
  std::vector<PartitionerUse> partitioner_uses_;
  absl::flat_hash_map<const HloInstruction*, size_t> partitioner_use_of_;
  absl::flat_hash_map<std::string, int> groups_;  // the variable of each of Shardy's groups
  absl::flat_hash_map<int, int> group_of_;        // that of a member
  std::vector<const HloInstruction*> order_;      // operands and bodies before their users
  absl::flat_hash_set<const HloInstruction*> on_devices_;
};

// Whether an operation's result differs on each device for any operands: partition-id, collectives over partitions.
bool DiffersOnDevices(const HloInstruction& instruction);
// Whether a border out of a manual region leads into an enclosing region.
bool StaysInRegion(const HloInstruction& border);

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_PROGRAM_SHARDINGS_H_
