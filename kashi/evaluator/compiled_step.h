// A step that a compiler (kashi/cpu) puts in place of the evaluator's function for an instruction.
#ifndef KASHI_EVALUATOR_COMPILED_STEP_H_
#define KASHI_EVALUATOR_COMPILED_STEP_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/evaluator/operation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

class MemoryStep;

// Evaluates one instruction; the same contract as Evaluate (operation.h). Several threads may run it at once.
class CompiledStep {
 public:
  virtual ~CompiledStep() = default;
  virtual absl::StatusOr<Value> Run(Operation& op) const = 0;
  // Whether it consists of steps that are compared one by one (RunHooks::checker).
  virtual bool has_steps() const { return false; }
  // Null: it only works on values.
  virtual const MemoryStep* AsMemoryStep() const { return nullptr; }
};

// A step that also works on memory which a BufferAssignment gives to its operands and results.
class MemoryStep : public CompiledStep {
 public:
  const MemoryStep* AsMemoryStep() const final { return this; }
  virtual buffers::MemoryUse UseOfMemory() const = 0;
  // The number of element operations; 0 if it counts them itself.
  virtual int64_t work() const = 0;
  // The arrays of all operands, and of the results. An operand to update is already in the memory of the result. Error:
  // the run is stopped, and the results are not complete.
  [[nodiscard]] virtual absl::Status RunOnMemory(const EvaluationRun& run, const void* const* operands,
                                                 void* const* results) const = 0;
};

class CompiledSteps {
 public:
  virtual ~CompiledSteps() = default;
  // The compiled step of an instruction; null: the evaluator's function runs. It lives as long as this object.
  virtual const CompiledStep* Find(const HloInstruction& instruction) const = 0;
};

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_COMPILED_STEP_H_
