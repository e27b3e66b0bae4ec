#include <cstdint>
#include <vector>

#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {
namespace {

absl::Status VerifySequence(const HloComputation& computation, const std::vector<HloInstruction*>& sequence) {
  if (static_cast<int64_t>(sequence.size()) != computation.instruction_count()) {
    return Internal("the schedule of computation %s has %d instructions instead of %d", computation.name(),
                    sequence.size(), computation.instruction_count());
  }
  absl::flat_hash_map<const HloInstruction*, size_t> places;
  for (size_t i = 0; i < sequence.size(); ++i) {
    if (sequence[i] == nullptr || sequence[i]->parent() != &computation) {
      return Internal("the schedule of computation %s has an instruction of another", computation.name());
    }
    if (!places.emplace(sequence[i], i).second) {
      return Internal("instruction %s is scheduled twice", sequence[i]->name());
    }
  }
  const auto comes_before = [&](const HloInstruction* a, const HloInstruction* b) {
    const auto place = places.find(a);
    return place != places.end() && place->second < places[b];
  };
  for (const HloInstruction* instruction : sequence) {
    for (const HloInstruction* operand : instruction->operands()) {
      if (comes_before(operand, instruction)) continue;
      return Internal("instruction %s is scheduled before its operand %s", instruction->name(), operand->name());
    }
    for (const HloInstruction* predecessor : instruction->control_predecessors()) {
      if (comes_before(predecessor, instruction)) continue;
      return Internal("instruction %s is scheduled before its control predecessor %s", instruction->name(),
                      predecessor->name());
    }
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<HloInstruction*>* HloSchedule::Find(const HloComputation* computation) const {
  const auto found = sequences_.find(computation);
  return found == sequences_.end() ? nullptr : &found->second;
}

const HloInstructionSequence& HloSchedule::sequence(const HloComputation* computation) const {
  const auto found = sequences_.find(computation);
  KASHI_CHECK(found != sequences_.end()) << "computation " << computation->name() << " is not scheduled";
  return found->second;
}

absl::Status HloSchedule::Verify() const {
  return module_ == nullptr ? FailedPrecondition("the schedule is of no module") : Verify(*module_);
}

absl::Status HloSchedule::Verify(const HloModule& module) const {
  const std::vector<HloComputation*> scheduled = module.MakeNonfusionComputations();
  for (const HloComputation* computation : scheduled) {
    const std::vector<HloInstruction*>* sequence = Find(computation);
    if (sequence == nullptr) return Internal("computation %s is not scheduled", computation->name());
    KASHI_RETURN_IF_ERROR(VerifySequence(*computation, *sequence));
  }
  if (sequences_.size() != scheduled.size()) {
    return Internal("the schedule has %d sequences for %d computations", sequences_.size(), scheduled.size());
  }
  return absl::OkStatus();
}

}  // namespace kashi
