#include "kashi/cpu/thunks/thunk.h"

#include <algorithm>
#include <utility>

#include "kashi/base/denormals.h"
#include "kashi/base/guard_pages.h"
#include "kashi/evaluator/step_checker.h"
#include "kashi/evaluator/step_profile.h"
#include "kashi/values/value_util.h"

namespace kashi::cpu {

void ThunkSequence::EndStep(const HloInstruction& instruction, int64_t first_leaf) {
  const auto begin = thunks_.begin() + (steps_.empty() ? 0 : steps_.back().end);
  const bool is_comparable = std::all_of(begin, thunks_.end(), [](const auto& x) { return x->is_comparable(); });
  steps_.push_back({&instruction, size(), first_leaf, is_comparable});
}

absl::Status ThunkSequence::RunThunks(int64_t begin, int64_t end, const ThunkFrame& frame) const {
  for (int64_t i = begin; i < end; ++i) KASHI_RETURN_IF_ERROR(thunks_[i]->Run(frame));
  return absl::OkStatus();
}

absl::Status ThunkSequence::RunStep(const Step& step, int64_t begin, const ThunkFrame& frame) const {
  if (frame.leaves == nullptr || !step.is_comparable) return RunThunks(begin, step.end, frame);
  const void* const* next = frame.leaves + step.first_leaf;
  std::vector<Value> operands;
  for (const HloInstruction* operand : step.instruction->operands()) {
    operands.push_back(values::BorrowLeaves(operand->shape(), &next));
  }
  KASHI_ASSIGN_OR_RETURN(operands, evaluator::StepChecker::CopyOf(operands, frame.run));
  KASHI_RETURN_IF_ERROR(RunThunks(begin, step.end, frame));
  KASHI_RETURN_IF_ERROR(frame.run.CheckStopped());  // else the result may be unfinished
  const base::KeepDenormals keep;
  const Value result = values::BorrowLeaves(step.instruction->shape(), &next);
  return frame.run.hooks().checker->Compare(*step.instruction, std::move(operands), result, frame.run);
}

void ThunkSequence::AddNative(Place begin, std::unique_ptr<Thunk> native) {
  run_.resize(begin.run);
  run_.push_back(native.get());
  natives_.push_back({begin.step, static_cast<int64_t>(steps_.size()), size(), std::move(native)});
}

absl::Status ThunkSequence::RunObserved(const ThunkFrame& frame) const {
  int64_t begin = 0;
  size_t native = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step* step = &steps_[i];
    const bool is_native = frame.leaves == nullptr && native < natives_.size() &&
                           natives_[native].begin == static_cast<int64_t>(i) &&
                           natives_[native].end > natives_[native].begin;
    if (is_native) i = natives_[native].end - 1;
    step = &steps_[i];
    const int64_t joined = is_native ? natives_[native].end - natives_[native].begin : 1;
    const evaluator::MeasuredStep measured(frame.run.step_clock(), step->instruction, joined);
    const base::GuardedStep guarded(step->instruction->name());
    if (is_native) {
      KASHI_RETURN_IF_ERROR(natives_[native].thunk->Run(frame));
      begin = natives_[native++].end_thunk;
    } else {
      KASHI_RETURN_IF_ERROR(RunStep(*step, begin, frame));
      begin = step->end;
    }
  }
  return RunThunks(begin, size(), frame);
}

}  // namespace kashi::cpu
