#include "kashi/cpu/thunks/thunk.h"

#include "kashi/evaluator/step_profile.h"

namespace kashi::internal {

absl::Status ThunkSequence::RunMeasured(const ThunkFrame& frame) const {
  size_t i = 0;
  while (i < instructions_.size()) {
    const HloInstruction* const instruction = instructions_[i];
    const MeasuredStep measured(frame.run.step_clock(), instruction);
    for (; i < instructions_.size() && instructions_[i] == instruction; ++i) {
      KASHI_RETURN_IF_ERROR(thunks_[i]->Run(frame));
    }
  }
  for (; i < thunks_.size(); ++i) KASHI_RETURN_IF_ERROR(thunks_[i]->Run(frame));
  return absl::OkStatus();
}

}  // namespace kashi::internal
