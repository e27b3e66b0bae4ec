#include "kashi/evaluator/manual_region.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "kashi/base/status.h"
#include "kashi/devices/device.h"
#include "kashi/devices/device_threads.h"
#include "kashi/devices/sharding_border.h"
#include "kashi/evaluator/border_sum.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/spmd/collective_groups.h"

namespace kashi::evaluator {
namespace {

bool IsCollective(const HloInstruction& instruction) {
  return GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kCollective);
}

// Global programs have one replica, so a collective across replicas has one member.
bool CrossesPartitions(const HloInstruction& instruction) {
  if (!IsCollective(instruction)) return false;
  const absl::StatusOr<CollectiveGroupMode> mode = GetCollectiveGroupMode(instruction);
  return mode.ok() && *mode != CollectiveGroupMode::kCrossReplica;
}

// The value as several threads may hold it: it is unique for none of them.
Value Lend(const Value& value) {
  if (value.is_tuple()) {
    std::vector<Value> elements;
    for (const Value& element : value.elements()) elements.push_back(Lend(element));
    return Value::MakeTuple(std::move(elements));
  }
  if (!value.is_array()) return value;
  return Value::Borrow(value.dense_shape(), value.untyped_data(), std::make_shared<const Value>(value));
}

// Shardy's regions are computations of their own until partitioning, under these names.
bool IsNamedAsRegion(const HloComputation& computation) {
  return absl::StartsWith(computation.name(), "xla.sdy.manual_computation_body") ||
         absl::StartsWith(computation.name(), "xla.sdy.inlinable_manual_computation_body");
}

}  // namespace

// ---- Flow ----------------------------------------------------------------------------------------------------------

// Computations before those that call them.
ManualFlow::ManualFlow(const HloModule& module) : module_(module) {
  FindRegionComputations();
  for (const HloComputation* computation : module.MakeComputationPostOrder()) {
    for (const HloInstruction* instruction : computation->MakeInstructionPostOrder()) Visit(*instruction);
  }
}

// Finds the computations that are regions, and those that regions call.
void ManualFlow::FindRegionComputations() {
  const std::vector<HloComputation*> callees_first = module_.MakeComputationPostOrder();
  for (auto it = callees_first.rbegin(); it != callees_first.rend(); ++it) {
    if (IsNamedAsRegion(**it)) in_shardy_region_.insert(*it);
    if (!in_shardy_region_.contains(*it)) continue;
    for (const HloInstruction* instruction : (*it)->instructions()) {
      for (const HloComputation* called : instruction->called_computations()) in_shardy_region_.insert(called);
    }
  }
}

bool ManualFlow::StaysInRegion(const HloInstruction& border) const {
  if (border.has_sharding()) return border.sharding().IsManual() || border.sharding().IsManualSubgroup();
  return in_shardy_region_.contains(border.parent());
}

bool ManualFlow::IsSource(const HloInstruction& instruction) const {
  return instruction.opcode() == HloOpcode::kPartitionId || CrossesPartitions(instruction) ||
         devices::BorderKindOf(instruction) == devices::BorderKind::kIntoRegion;
}

void ManualFlow::Visit(const HloInstruction& instruction) {
  const devices::BorderKind border = devices::BorderKindOf(instruction);
  bool meets = IsCollective(instruction) || border == devices::BorderKind::kOutOfRegion;
  bool on_devices = IsSource(instruction) ||
                    absl::c_any_of(instruction.operands(),
                                   [this](const HloInstruction* operand) { return on_devices_.contains(operand); });
  for (const HloComputation* called : instruction.called_computations()) {
    on_devices = on_devices || on_devices_.contains(called->root_instruction());
    meets = meets || absl::c_any_of(called->instructions(),
                                    [this](const HloInstruction* inner) { return meets_.contains(inner); });
  }
  if (meets) meets_.insert(&instruction);
  if (on_devices && (border != devices::BorderKind::kOutOfRegion || StaysInRegion(instruction)))
    on_devices_.insert(&instruction);
}

StepPlace ManualFlow::PlaceOf(const HloInstruction& instruction) const {
  if (on_devices_.contains(&instruction)) return StepPlace::kOnDevices;
  return devices::BorderKindOf(instruction) == devices::BorderKind::kOutOfRegion ? StepPlace::kOutOfRegion
                                                                                 : StepPlace::kHere;
}

absl::Status ManualFlow::CheckResult() const {
  const HloInstruction* instruction = module_.entry_computation()->root_instruction();
  if (!on_devices_.contains(instruction)) return absl::OkStatus();
  // Each iteration moves to an operand or into a called computation, so this ends.
  while (!IsSource(*instruction)) {
    const auto next = absl::c_find_if(instruction->operands(),
                                      [this](const HloInstruction* operand) { return on_devices_.contains(operand); });
    if (next != instruction->operands().end()) {
      instruction = *next;
      continue;
    }
    for (const HloComputation* called : instruction->called_computations()) {
      if (!on_devices_.contains(called->root_instruction())) continue;
      instruction = called->root_instruction();
      break;
    }
  }
  return InvalidArgument(
      "the result of this global program is different on each device: it comes from %s, in %s, and leaves no manual "
      "region "
      "by SPMDShardToFullShape. XLA's partitioner refuses %s outside of manual regions",
      instruction->name(), instruction->parent()->name(), HloOpcodeString(instruction->opcode()));
}

// ---- Runs ----------------------------------------------------------------------------------------------------------

ManualRegions::ManualRegions(const HloModule& module, const EvaluationOptions& options, const RunHooks& hooks,
                             values::RunLimits limits)
    : flow_(module), options_(options), hooks_(hooks), limits_(std::move(limits)), devices_(options.global_devices) {}
ManualRegions::~ManualRegions() = default;

void ManualRegions::MakeRuns() {
  if (!runs_.empty()) return;
  EvaluationOptions options = options_;
  options.global_devices = 1;
  options.observer = nullptr;
  options.on_call = nullptr;
  RunHooks hooks = hooks_;
  hooks.profile = nullptr;
  for (int64_t device = 0; device < devices_; ++device)
    runs_.push_back(std::make_unique<EvaluationRun>(options, hooks, limits_));
}

std::vector<std::vector<Value>> ManualRegions::OperandsOfDevices(const HloInstruction& instruction,
                                                                 absl::Span<Value> operands) const {
  std::vector<std::vector<Value>> result(devices_);
  for (size_t k = 0; k < operands.size(); ++k) {
    // Frees the tuple, so that values that only one device has are unique.
    const Value operand = std::move(operands[k]);
    const bool has_one_a_device = IsOnDevices(*instruction.operand(static_cast<int64_t>(k)));
    for (int64_t device = 0; device < devices_; ++device) {
      result[device].push_back(has_one_a_device ? operand.element(device) : Lend(operand));
    }
  }
  return result;
}

absl::StatusOr<Value> ManualRegions::RunOnDevices(const ComputationPlanStep& step, absl::Span<Value> operands) {
  MakeRuns();
  std::vector<std::vector<Value>> operands_of = OperandsOfDevices(*step.instruction, operands);
  std::vector<Value> results(devices_);
  const auto run = [&](devices::Device& device) -> absl::Status {
    EvaluationRun& own = *runs_[device.id()];
    own.set_device(&device);
    KASHI_ASSIGN_OR_RETURN(results[device.id()], own.EvaluateStep(step, absl::MakeSpan(operands_of[device.id()])));
    return absl::OkStatus();
  };
  const DeviceCounts counts = {1, devices_};
  KASHI_RETURN_IF_ERROR(flow_.Meets(*step.instruction) ? devices::OnDevicesAtOnce(counts, limits_, run)
                                                       : devices::OnDevicesInTurn(counts, limits_, run));
  return Value::MakeTuple(std::move(results));
}

absl::StatusOr<Value> ManualRegions::RunOutOfRegion(EvaluationRun& run, const ComputationPlanStep& step,
                                                    absl::Span<Value> operands) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<devices::ShardingBorder>* borders,
                         run.BordersOf(*step.instruction, devices_));
  std::vector<Value> results;
  for (size_t k = 0; k < operands.size(); ++k) {
    const bool has_one_a_device = IsOnDevices(*step.instruction->operand(static_cast<int64_t>(k)));
    const auto operand_of = [&](int64_t device) -> const Value& {
      return has_one_a_device ? operands[k].element(device) : operands[k];
    };
    KASHI_ASSIGN_OR_RETURN(Value result, AssembleOutOfRegion(run, (*borders)[k], /*device=*/0, operand_of));
    results.push_back(std::move(result));
  }
  if (!step.instruction->shape().IsTuple()) return std::move(results[0]);
  return Value::MakeTuple(std::move(results));
}

}  // namespace kashi::evaluator
