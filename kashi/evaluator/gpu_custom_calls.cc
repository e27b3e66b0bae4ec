// Calls of cuBLAS and cuDNN, by the operations that they stand for (kashi/gpu_calls).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "kashi/base/status.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/evaluator/run_custom_calls.h"
#include "kashi/gpu_calls/gpu_call.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::evaluator {
namespace {

// Zeros that nobody writes to. The memory counts for the run, but the system gives pages only to readers: most scratch
// memory has none, and each product of XLA has 32 MiB of it.
absl::StatusOr<Value> MakeScratch(Operation& op, const DenseShape& shape) {
  struct Zeros {
    explicit Zeros(ScratchMemory reserved) : reserved(std::move(reserved)) {}
    ~Zeros() { std::free(data); }
    Zeros(const Zeros&) = delete;
    Zeros& operator=(const Zeros&) = delete;
    ScratchMemory reserved;
    void* data = nullptr;
  };
  const int64_t bytes = shape->dimensions(0);
  KASHI_ASSIGN_OR_RETURN(ScratchMemory reserved, op.run.ReserveScratch(bytes, op.instruction));
  const auto zeros = std::make_shared<Zeros>(std::move(reserved));
  zeros->data = std::calloc(static_cast<size_t>(bytes) + 1, 1);
  if (zeros->data == nullptr)
    return ResourceExhausted("%s: no memory for %d bytes of scratch memory", op.instruction.name(), bytes);
  return Value::Borrow(shape, zeros->data, zeros);
}

// In a run of its own: observers and profiles see the call, not the operations, which die with it.
absl::StatusOr<Value> RunOperations(Operation& op, const HloModule& operations) {
  EvaluationOptions options = op.run.options();
  options.observer = nullptr;
  options.on_call = nullptr;
  options.global_devices = 1;  // the call runs on the values of all
  EvaluationRun run(std::move(options), RunHooks(), op.run.limits());
  std::vector<Value> arguments(std::make_move_iterator(op.operands.begin()),
                               std::make_move_iterator(op.operands.end()));
  return run.Call(*operations.entry_computation(), std::move(arguments));
}

}  // namespace

absl::StatusOr<Value> EvaluateGpuCall(Operation& op) {
  std::shared_ptr<const HloModule> made;
  if (op.gpu_call == nullptr) {
    KASHI_ASSIGN_OR_RETURN(made, gpu_calls::LowerGpuCall(op.instruction));
  }
  KASHI_ASSIGN_OR_RETURN(Value results, RunOperations(op, made != nullptr ? *made : *op.gpu_call));
  if (gpu_calls::ScratchOf(op.instruction) == nullptr) return results;
  std::vector<Value> elements(results.elements().begin(), results.elements().end());
  KASHI_ASSIGN_OR_RETURN(Value scratch, MakeScratch(op, op.results.back()));
  elements.push_back(std::move(scratch));
  return Value::MakeTuple(std::move(elements));
}

}  // namespace kashi::evaluator
