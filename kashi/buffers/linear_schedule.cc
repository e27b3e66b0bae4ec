#include "kashi/buffers/linear_schedule.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"
#include "kashi/buffers/in_place_order.h"
#include "kashi/buffers/transfer_order.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/transfer_routes.h"

namespace kashi::buffers {
namespace {

// Whether it runs although nothing uses its result: a call of the outside world, or a value for which other devices
// wait.
bool AlwaysRuns(const HloInstruction& instruction) {
  if (IsExpectation(instruction)) return true;
  if (instruction.opcode() == HloOpcode::kCustomCall) return instruction.custom_call_has_side_effect();
  return instruction.opcode() == HloOpcode::kSend && hlo::IsDeviceTransfer(instruction) &&
         hlo::TransferPairs(instruction).value_or(std::nullopt).has_value();
}

// Whether a computation that it calls, directly or not, has such an instruction.
bool CallsWhatAlwaysRuns(const HloInstruction& caller) {
  std::vector<const HloComputation*> waiting;
  absl::flat_hash_set<const HloComputation*> seen;
  const auto add_called = [&](const HloInstruction& instruction) {
    for (const HloComputation* called : instruction.called_computations()) {
      if (seen.insert(called).second) waiting.push_back(called);
    }
  };
  add_called(caller);
  while (!waiting.empty()) {
    const HloComputation* computation = waiting.back();
    waiting.pop_back();
    for (const HloInstruction* instruction : computation->instructions()) {
      if (AlwaysRuns(*instruction)) return true;
      add_called(*instruction);
    }
  }
  return false;
}

// The root, what runs in any case, and every instruction that they are computed from. Calls that nothing of this needs
// are looked into.
absl::flat_hash_set<const HloInstruction*> NeededIn(const HloComputation& computation) {
  absl::flat_hash_set<const HloInstruction*> needed;
  const auto add = [&needed](const HloInstruction* first) {
    std::vector<const HloInstruction*> waiting;
    if (needed.insert(first).second) waiting.push_back(first);
    while (!waiting.empty()) {
      const HloInstruction* instruction = waiting.back();
      waiting.pop_back();
      for (const HloInstruction* operand : instruction->operands()) {
        if (needed.insert(operand).second) waiting.push_back(operand);
      }
    }
  };
  add(computation.root_instruction());
  for (const HloInstruction* instruction : computation.instructions()) {
    if (AlwaysRuns(*instruction)) add(instruction);
  }
  for (const HloInstruction* instruction : computation.instructions()) {
    if (!needed.contains(instruction) && CallsWhatAlwaysRuns(*instruction)) add(instruction);
  }
  return needed;
}

class ScheduleBuilder {
 public:
  ScheduleBuilder(const HloComputation& computation, absl::Span<const OperandUse> replacements)
      : computation_(computation), replacements_(replacements), needed_(NeededIn(computation)) {}

  absl::StatusOr<LinearSchedule> Build() {
    schedule_.steps.reserve(needed_.size());
    for (const HloInstruction* instruction : Order()) {
      if (!step_of_.contains(instruction)) Add(instruction);
    }
    if (schedule_.steps.size() != needed_.size()) {
      return InvalidArgument("Computation %s has no valid order of its instructions", computation_.name());
    }
    schedule_.root = step_of_.at(computation_.root_instruction());
    MarkLastUses();
    return std::move(schedule_);
  }

 private:
  std::vector<HloInstruction*> Order() const {
    const HloModule* const module = computation_.parent();
    std::vector<HloInstruction*> order =
        module == nullptr ? computation_.MakeInstructionPostOrder() : module->InstructionOrder(computation_);
    order = OrderForOverlap(order, module != nullptr && module->has_schedule());
    order.erase(std::remove_if(order.begin(), order.end(), [&](auto* x) { return !needed_.contains(x); }), order.end());
    return OrderUsesBeforeInPlaceUpdates(std::move(order), computation_.root_instruction(), replacements_).order;
  }

  // The instruction, and directly behind it the elements of its tuple.
  void Add(const HloInstruction* first) {
    std::vector<const HloInstruction*> waiting = {first};
    while (!waiting.empty()) {
      const HloInstruction* instruction = waiting.back();
      waiting.pop_back();
      AddStep(instruction);
      for (const HloInstruction* user : instruction->users()) {
        if (user->opcode() == HloOpcode::kGetTupleElement && needed_.contains(user) && !step_of_.contains(user)) {
          waiting.push_back(user);
        }
      }
    }
  }

  void AddStep(const HloInstruction* instruction) {
    step_of_[instruction] = static_cast<int32_t>(schedule_.steps.size());
    ScheduledInstruction step = {instruction, {}};
    for (const HloInstruction* operand : instruction->operands()) {
      step.operands.push_back({step_of_.at(operand), /*is_last_use=*/false});
    }
    schedule_.steps.push_back(std::move(step));
  }

  void MarkLastUses() {
    std::vector<bool> used(schedule_.steps.size(), false);
    used[schedule_.root] = true;  // by the caller
    for (size_t i = schedule_.steps.size(); i-- > 0;) {
      auto& operands = schedule_.steps[i].operands;
      for (size_t k = operands.size(); k-- > 0;) {
        operands[k].is_last_use = !used[operands[k].step];
        used[operands[k].step] = true;
      }
    }
  }

  const HloComputation& computation_;
  const absl::Span<const OperandUse> replacements_;
  absl::flat_hash_set<const HloInstruction*> needed_;
  absl::flat_hash_map<const HloInstruction*, int32_t> step_of_;
  LinearSchedule schedule_;
};

}  // namespace

bool IsExpectation(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kCustomCall) return false;
  const absl::string_view target = instruction.custom_call_target();
  return absl::StartsWith(target, "check.expect_") || target == "interpreter.run_parallel";
}

absl::StatusOr<LinearSchedule> MakeLinearSchedule(const HloComputation& computation,
                                                  absl::Span<const OperandUse> replacements) {
  return ScheduleBuilder(computation, replacements).Build();
}

}  // namespace kashi::buffers
