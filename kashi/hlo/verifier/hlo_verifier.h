// Checks that a module follows the rules of HLO: the rules of every operation for its operands, attributes and result,
// and the rules for the module as a whole. (docs/spec/hlo-ops.md, 0.2 and the `verify` entries; hlo.md 2.9)
//
//   for (const HloFinding& finding : VerifyHlo(*module)) std::cout << finding.message << "\n";
//   absl::StatusOr<bool> status = HloVerifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true).Run(module);
//
// VerifyHlo collects all errors; HloVerifier is XLA's interface and reports the first error. Neither ends the process
// for any module, and neither changes it. A malformed instruction (a broken shape, missing operands) is reported and
// not checked further. A malformed graph (cycles, operands from other computations, …) ends the check.
//
// Cost: linear in instructions and operands, with one shape inference per instruction. Does not allocate data that text
// only claims to have.
#ifndef KASHI_HLO_VERIFIER_HLO_VERIFIER_H_
#define KASHI_HLO_VERIFIER_HLO_VERIFIER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/hlo_pass_interface.h"

namespace kashi {

using HloPredicate = std::function<bool(const HloInstruction*)>;

// The checks to make. The setters are XLA's: HloVerifierOpts{}.MakeLayoutSensitive().AllowMixedPrecision(). Beware:
// AllowMixedPrecision() of a const object reads the option; of any other object it sets the option.
struct HloVerifierOpts {
  HloVerifierOpts&& MakeLayoutSensitive() { return Set(&layout_sensitive, true); }
  HloVerifierOpts&& WithLayoutSensitive(bool value) { return Set(&layout_sensitive, value); }
  HloVerifierOpts&& WithAllowMixedPrecision(bool value) { return Set(&allow_mixed_precision, value); }
  HloVerifierOpts&& AllowMixedPrecision() { return Set(&allow_mixed_precision, true); }
  HloVerifierOpts&& VerifyBroadcastDimensionsOrder() { return Set(&verify_broadcast_dimensions_order, true); }
  HloVerifierOpts&& VerifyReshapeIsBitcast() { return Set(&verify_reshape_is_bitcast, true); }
  HloVerifierOpts&& VerifyCallNestedComputationThreadName() {
    return Set(&verify_call_nested_computation_thread_name, true);
  }
  HloVerifierOpts&& WithAllowBitcastToHaveDifferentSize(bool value) {
    return Set(&allow_bitcast_to_have_different_size, value);
  }
  HloVerifierOpts&& WithInstructionCanChangeLayout(const HloPredicate& value) {
    instruction_can_change_layout = value;
    return std::move(*this);
  }
  HloVerifierOpts&& WithCustomShapeSize(const std::function<int64_t(const Shape&)>& value) {
    shape_size = value;
    return std::move(*this);
  }
  HloVerifierOpts&& WithVerifyShardingDeviceNumbers(bool value) { return Set(&verify_sharding_device_numbers, value); }
  HloVerifierOpts&& WithAllowUnboundedDynamism(bool value) { return Set(&allow_unbounded_dynamism, value); }
  HloVerifierOpts&& VerifyInstructionNameUnchanged() { return Set(&verify_instruction_name_unchanged, true); }
  HloVerifierOpts&& VerifyNoHostMemorySpace() { return Set(&verify_no_host_memory_space, true); }
  HloVerifierOpts&& WithVerifyNoCollectiveDeadlocks(bool value) { return Set(&verify_no_collective_deadlocks, value); }
  HloVerifierOpts&& WithCheckReplicaGroups(bool value) { return Set(&check_replica_groups, value); }

  bool IsLayoutSensitive() const { return layout_sensitive; }
  bool AllowMixedPrecision() const { return allow_mixed_precision; }
  bool CheckForCollectiveDeadlocks() const { return verify_no_collective_deadlocks; }
  bool ShouldCheckReplicaGroups() const { return check_replica_groups; }
  const HloPredicate& InstructionCanChangeLayout() const { return instruction_can_change_layout; }
  bool InstructionCanChangeLayout(const HloInstruction* instruction) const {
    return !instruction_can_change_layout || instruction_can_change_layout(instruction);
  }
  int64_t ShapeSize(const Shape& shape) const { return shape_size(shape); }

  // Shapes must agree in their layouts too.
  bool layout_sensitive = false;
  // Floating point types of one instruction may differ in precision.
  bool allow_mixed_precision = false;
  // The dimensions of a broadcast must be ascending.
  bool verify_broadcast_dimensions_order = false;
  // Outside of fusions a reshape must not move data.
  bool verify_reshape_is_bitcast = false;
  // Computations run on the thread of their callers.
  bool verify_call_nested_computation_thread_name = false;
  bool allow_bitcast_to_have_different_size = false;
  // Shardings only name devices that the module has a partition for.
  bool verify_sharding_device_numbers = true;
  bool allow_unbounded_dynamism = false;
  // Instructions have the names from their metadata (scheduling_name).
  bool verify_instruction_name_unchanged = false;
  bool verify_no_host_memory_space = false;
  // In a scheduled module, sends and recvs between the same devices are in pairs.
  bool verify_no_collective_deadlocks = false;
  bool check_replica_groups = true;
  // Whether the layout of an instruction may differ from those of its operands; null: always. Only used if
  // layout-sensitive. See InstructionMayChangeLayout.
  HloPredicate instruction_can_change_layout;
  // Bytes of a buffer.
  std::function<int64_t(const Shape&)> shape_size = DefaultShapeSize;

  // Bytes of the elements; a tuple has 8 bytes per element.
  static int64_t DefaultShapeSize(const Shape& shape);

 private:
  HloVerifierOpts&& Set(bool* option, bool value) {
    *option = value;
    return std::move(*this);
  }
};

// The usual HloVerifierOpts::instruction_can_change_layout: the rule of layout assignment, from ops.def.
bool InstructionMayChangeLayout(const HloInstruction* instruction);

// An error in a module.
struct HloFinding {
  const HloInstruction* instruction = nullptr;  // null: the module, or the computation
  const HloComputation* computation = nullptr;  // null: the module
  std::string rule;                             // which rule: "result shape", "operand count", "entry layout", …
  std::string message;                          // what was found and what was expected
  absl::StatusCode code = absl::StatusCode::kInternal;  // XLA's for such an error
};

// All findings, in XLA's order; none for a valid module. Valid as long as the module.
std::vector<HloFinding> VerifyHlo(const HloModule& module, const HloVerifierOpts& opts = {});

// Chooses the options of a verifier.
class TargetVerifierMetadata {
 public:
  explicit TargetVerifierMetadata(HloVerifierOpts&& opts) : opts_(std::move(opts)) {}
  virtual ~TargetVerifierMetadata() = default;
  const HloVerifierOpts& GetVerifierOpts() const { return opts_; }

 private:
  HloVerifierOpts opts_;
};
class DefaultVerifierMetadata : public TargetVerifierMetadata {
 public:
  using TargetVerifierMetadata::TargetVerifierMetadata;
};

// XLA's verifier pass. The first finding is the error, its message preceded by `during context [Unknown]: ` and
// followed by the instruction.
class HloVerifier : public HloModulePass {
 public:
  HloVerifier(bool layout_sensitive, bool allow_mixed_precision, HloPredicate instruction_can_change_layout_func = {},
              std::function<int64_t(const Shape&)> shape_size_func = HloVerifierOpts::DefaultShapeSize,
              bool verify_no_collective_deadlocks = false);
  explicit HloVerifier(HloVerifierOpts&& opts)
      : HloVerifier(std::make_unique<DefaultVerifierMetadata>(std::move(opts))) {}
  explicit HloVerifier(std::unique_ptr<TargetVerifierMetadata> target_metadata, absl::string_view context = "Unknown")
      : target_metadata_(std::move(target_metadata)), context_(context) {}

  absl::string_view name() const override { return "hlo-verifier"; }
  // Returns false, or the first finding as an error. Ignores the execution threads.
  using HloPassInterface::Run;
  absl::StatusOr<bool> Run(HloModule* module, const absl::flat_hash_set<absl::string_view>& execution_threads) override;

 private:
  std::unique_ptr<TargetVerifierMetadata> target_metadata_;
  std::string context_;
};

}  // namespace kashi

#endif  // KASHI_HLO_VERIFIER_HLO_VERIFIER_H_
