// A thunk: one step of a program whose arrays have fixed places in memory. At run time it needs only a table of
// pointers, so a step costs some nanoseconds. (XLA's CPU and GPU backends use the word for the same thing.)
#ifndef KASHI_CPU_THUNKS_THUNK_H_
#define KASHI_CPU_THUNKS_THUNK_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/kernels/scratch_block.h"

namespace kashi::cpu {

// The right operand of a dot, packed for all iterations of a loop or for all runs (matrix_product.h).
struct PackedRhs {
  std::unique_ptr<kernels::ScratchBlock> memory;  // null until it is first needed
  bool is_valid = false;
};

// The data of a thunk. Each thunk has its own consecutive part of `pointers`: its operands, then its results. All
// point to dense, row-major arrays.
struct ThunkFrame {
  void** pointers;
  evaluator::EvaluationRun& run;
  PackedRhs* packed;  // by the numbers that the thunks know
  // An observer needs to know which instruction runs: a profile, the messages of guard pages, or a checker of steps.
  bool is_observed;
  // The arrays of the steps, by the numbers that the sequences know; null: nothing is compared.
  void** leaves;
};

class Thunk {
 public:
  virtual ~Thunk() = default;
  // Several threads may run it at once, on different frames. If it ends early, it returns the run's error.
  [[nodiscard]] virtual absl::Status Run(const ThunkFrame& frame) const = 0;
  // Whether a sequence compares its instruction with the evaluator. False for a loop or conditional, whose steps are
  // compared, and for a step of the evaluator.
  virtual bool is_comparable() const { return true; }
};

// Thunks in the order of execution.
class ThunkSequence {
 public:
  // work: element operations of the thunk. 0 if it counts them itself.
  void Add(std::unique_ptr<Thunk> thunk, int64_t work) {
    run_.push_back(thunk.get());
    thunks_.push_back(std::move(thunk));
    work_ = SaturatingAdd(work_, work);
  }
  int64_t work() const { return work_; }
  int64_t size() const { return static_cast<int64_t>(thunks_.size()); }
  // The thunks since the last call evaluate this instruction, for observers. first_leaf: the start of the part of
  // ThunkFrame::leaves that has the arrays of its operands, then those of its result.
  void EndStep(const HloInstruction& instruction, int64_t first_leaf);
  // Where the next thunk will be, for AddNative.
  struct Place {
    int64_t run, step;
  };
  Place End() const { return {static_cast<int64_t>(run_.size()), static_cast<int64_t>(steps_.size())}; }
  // This thunk runs in the place of all thunks since `begin`, unless they are compared one by one.
  void AddNative(Place begin, std::unique_ptr<Thunk> native);
  // Whether there are thunks since the last step.
  bool is_in_step() const { return size() > (steps_.empty() ? 0 : steps_.back().end); }
  [[nodiscard]] absl::Status Run(const ThunkFrame& frame) const {
    if (frame.is_observed) return RunObserved(frame);
    for (const Thunk* thunk : run_) KASHI_RETURN_IF_ERROR(thunk->Run(frame));
    return absl::OkStatus();
  }

 private:
  // The thunks of one instruction, which end before number `end`.
  struct Step {
    const HloInstruction* instruction;
    int64_t end, first_leaf;
    bool is_comparable;
  };
  absl::Status RunObserved(const ThunkFrame& frame) const;
  absl::Status RunStep(const Step& step, int64_t begin, const ThunkFrame& frame) const;
  absl::Status RunThunks(int64_t begin, int64_t end, const ThunkFrame& frame) const;

  // In the place of the steps [begin, end), whose last thunk ends before end_thunk.
  struct Native {
    int64_t begin, end, end_thunk;
    std::unique_ptr<Thunk> thunk;
  };

  std::vector<std::unique_ptr<Thunk>> thunks_;  // one or more for each instruction
  std::vector<const Thunk*> run_;               // what runs: native thunks, and others where there is none
  std::vector<Native> natives_;
  std::vector<Step> steps_;  // thunks behind the last one are part of the step around the sequence
  int64_t work_ = 0;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_THUNKS_THUNK_H_
