// Writes the computation of a device for one computation of the global program, and for those that it runs as a whole.
//
// The value of an instruction is a list of its leaves, each a shard as its variable says (program_shardings.h). Tuples
// exist only where an instruction needs one.
#ifndef KASHI_PARTITION_COMPUTATION_PARTITIONER_H_
#define KASHI_PARTITION_COMPUTATION_PARTITIONER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/devices/sharding_border.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/partition/device_program.h"
#include "kashi/partition/program_shardings.h"
#include "kashi/partition/rotation.h"

namespace kashi::partition {

class AxisChoice;

class ComputationPartitioner {
 public:
  using Leaves = std::vector<HloInstruction*>;

  ComputationPartitioner(absl::string_view name, const ProgramShardings& shardings, DeviceModule* module)
      : shardings_(shardings), program_(name, module) {}

  DeviceProgram& program() { return program_; }
  // Adds a parameter of this shape. Its leaves are as the variables say, unless they are bound to others.
  HloInstruction* AddParameter(const HloInstruction& parameter, const Shape& shape);
  void Bind(const HloInstruction& instruction, Leaves leaves) { leaves_[&instruction] = std::move(leaves); }
  const Leaves& LeavesOf(const HloInstruction& instruction) const { return leaves_.at(&instruction); }
  // Emits all instructions except parameters, which must be bound.
  absl::Status Emit(const HloComputation& computation);

  // The leaf as another variable has it.
  absl::StatusOr<HloInstruction*> Convert(HloInstruction* x, int from, int to);
  absl::StatusOr<Leaves> ConvertAll(const Leaves& leaves, const std::vector<int>& from, const std::vector<int>& to);
  absl::StatusOr<HloInstruction*> Whole(HloInstruction* x, int variable);
  // The leaf itself, where devices hold parts of a sum.
  HloInstruction* Reduced(HloInstruction* x, int variable);
  // The tuple of these leaves; the leaf itself of another shape.
  HloInstruction* TreeOf(const Shape& shape, const Leaves& leaves);
  Leaves LeavesIn(HloInstruction* value);
  // The shape of the parts of a device.
  Shape LocalShape(const Shape& whole, const std::vector<int>& variables) const;

  // partitioned_borders.cc: arrays that are cut in ways that no axes express, and the borders of manual regions.
  // The device's tile of a whole array.
  HloInstruction* OwnPiece(HloInstruction* whole, const ShardGrid& grid);
  // The whole array of which each device has a tile.
  absl::StatusOr<HloInstruction*> WholeOfPieces(HloInstruction* piece, const ShardGrid& grid);

 private:
  absl::Status EmitInstruction(const HloInstruction& instruction);
  absl::Status EmitPassedOn(const HloInstruction& instruction);
  absl::Status EmitShardingCall(const HloInstruction& call);
  absl::Status EmitLoop(const HloInstruction& loop);
  absl::Status EmitBranches(const HloInstruction& conditional);
  absl::Status EmitCopy(const HloInstruction& instruction);
  absl::Status EmitOnShards(const HloInstruction& call);

  // partitioned_custom_calls.cc
  absl::Status EmitByPartitioner(const PartitionerUse& use);
  absl::StatusOr<Leaves> OperandsAs(const HloInstruction& call, const CustomCallPartitioner::Partitioned& made);
  absl::StatusOr<HloInstruction*> CutAs(HloInstruction* x, int variable, const HloSharding& to);
  absl::StatusOr<HloInstruction*> UncutFrom(HloInstruction* x, int variable, const HloSharding& from);
  HloInstruction* Inline(std::unique_ptr<HloModule> program, const Leaves& operands);

  HloInstruction* EmitOnOneDevice(const HloInstruction& call, absl::Span<HloInstruction* const> operands,
                                  int64_t holder);
  // The only leaf of an array.
  HloInstruction* ReducedLeaf(const HloInstruction& array) {
    return Reduced(LeavesOf(array)[0], shardings_.VariablesOf(array)[0]);
  }
  absl::StatusOr<HloInstruction*> WholeOperand(const HloInstruction& operand);
  absl::StatusOr<HloComputation*> EmitBody(const HloComputation& body, const std::vector<int>& results,
                                           const Shape& result_shape);
  std::unique_ptr<HloInstruction> CopyOf(const HloInstruction& instruction, const Shape& shape,
                                         absl::Span<HloInstruction* const> operands);
  void CopyCallees(HloInstruction* copy);
  // Keeps the order of operations that share a state.
  void KeepOrder(HloInstruction* copy);

  // partitioned_operations.cc
  absl::Status EmitByRule(const HloInstruction& instruction, const RuleUse& use);
  std::vector<AxisList> ChooseAxes(const RuleUse& use) const;
  void MoveCuts(const RuleUse& use, AxisChoice* choice) const;
  absl::StatusOr<Leaves> OperandsFor(const HloInstruction& instruction, const RuleUse& use,
                                     const std::vector<AxisList>& axes);
  HloInstruction* GatherNeighbours(const HloInstruction& instruction, const RuleUse& use,
                                   const std::vector<AxisList>& axes, size_t k, HloInstruction* x);
  absl::StatusOr<HloInstruction*> EmitRotation(const Rotation& rotation, const RuleUse& use,
                                               const std::vector<AxisList>& axes);
  HloInstruction* EmitPart(const HloInstruction& instruction, const RuleUse& use, const std::vector<AxisList>& axes,
                           const Leaves& operands);
  HloInstruction* EmitIota(const HloInstruction& iota, const RuleUse& use, const std::vector<AxisList>& axes);
  HloInstruction* CombineParts(const HloInstruction& instruction, const RuleUse& use, const AxisList& along,
                               HloInstruction* part, const Variable& wanted, AxisSharding* sharding);

  // partitioned_borders.cc
  absl::Status EmitBorder(const HloInstruction& border);
  absl::StatusOr<HloInstruction*> PieceOf(const HloInstruction& operand, int variable, const ShardGrid& from,
                                          const AxisList& unreduced);
  absl::StatusOr<HloInstruction*> JoinPieces(HloInstruction* piece, const devices::ShardingBorder& border, int result);

  const ProgramShardings& shardings_;
  DeviceProgram program_;
  absl::flat_hash_map<const HloInstruction*, Leaves> leaves_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies_;  // whole values of instructions
  HloInstruction* last_stateful_ = nullptr;
};

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_COMPUTATION_PARTITIONER_H_
