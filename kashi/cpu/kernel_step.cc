#include "kashi/cpu/kernel_step.h"

#include <algorithm>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kashi/base/denormals.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/cpu/scatter_parts.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/parallel_for.h"
#include "kashi/values/writable.h"

namespace kashi::cpu {
namespace {

// Elements that are worth a thread: some 10 microseconds.
constexpr int64_t kGrain = 32768;
// Threads get whole cache lines of a row.
constexpr int64_t kColumnsAtOnce = 256;
// Updates between two looks whether the run was stopped: a millisecond or less.
constexpr int64_t kColumnsPerCheck = int64_t{1} << 18;

// Takes an operand that nobody else reads, and whose elements have the size of the result's; nothing: there is none.
Value TakeMemory(absl::Span<Value> operands, const DenseShape& result) {
  const int64_t bytes = primitive_util::ByteWidth(result->element_type());
  for (Value& operand : operands) {
    if (operand.is_unique() && operand.element_bytes() == bytes && operand.dimensions() == result->dimensions()) {
      return std::move(operand);
    }
  }
  return Value();
}

}  // namespace

absl::StatusOr<Value> KernelStep::Run(evaluator::Operation& op) const {
  absl::InlinedVector<const void*, 8> operands;
  for (const Value& operand : op.operands) operands.push_back(operand.untyped_data());
  std::vector<Value> results(op.results.size());
  absl::InlinedVector<void*, 2> pointers;
  for (size_t i = 0; i < results.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(results[i], MemoryForResult(op, static_cast<int64_t>(i)));
    pointers.push_back(results[i].mutable_data());
  }
  KASHI_RETURN_IF_ERROR(RunOnMemory(op.run, operands.data(), pointers.data()));
  return op.instruction.shape().IsTuple() ? Value::MakeTuple(std::move(results)) : std::move(results[0]);
}

buffers::MemoryUse KernelStep::UseOfMemory() const {
  if (kernel_.updated_operand >= 0) return buffers::MemoryUse::Update(kernel_.updated_operand, kernel_.is_in_place);
  return kernel_.is_in_place ? buffers::MemoryUse::Kind::kElementwise : buffers::MemoryUse::Kind::kNew;
}

int64_t KernelStep::work() const { return kernel_.Work(); }

absl::StatusOr<Value> KernelStep::MemoryForResult(evaluator::Operation& op, int64_t i) const {
  if (kernel_.updated_operand >= 0) {
    Value& operand = op.operands[kernel_.updated_operand];
    KASHI_ASSIGN_OR_RETURN(Value memory,
                           values::MakeWritable(op.run.budget(), kernel_.is_in_place ? std::move(operand) : operand));
    return Value::WithShape(std::move(memory), op.results[i]);
  }
  Value memory = kernel_.is_in_place ? TakeMemory(op.operands, op.results[i]) : Value();
  if (memory.is_nothing()) return op.MakeResult(i);
  return Value::WithShape(std::move(memory), op.results[i]);
}

absl::Status KernelStep::RunOnMemory(const evaluator::EvaluationRun& run, const void* const* operands,
                                     void* const* results) const {
  const int64_t work_of_row = kernel_.columns * kernel_.work_per_column;
  if (kernel_.rows * work_of_row <= kGrain) {
    const base::DenormalMode denormals(flush_denormals_);
    function_(operands, results, 0, kernel_.rows, 0, kernel_.columns);
    return absl::OkStatus();
  }
  if (kernel_.updated_operand >= 0) return RunUpdates(run, operands, results);
  return RunOnThreads(run, operands, results);
}

absl::Status KernelStep::RunInOrder(const evaluator::EvaluationRun& run, const void* const* operands,
                                    void* const* results, int64_t begin, int64_t end) const {
  const base::DenormalMode denormals(flush_denormals_);
  for (; begin < end; begin += kColumnsPerCheck) {
    KASHI_RETURN_IF_ERROR(run.CheckStopped());
    function_(operands, results, 0, 1, begin, std::min(begin + kColumnsPerCheck, end));
  }
  return absl::OkStatus();
}

absl::Status KernelStep::RunUpdates(const evaluator::EvaluationRun& run, const void* const* operands,
                                    void* const* results) const {
  const int64_t count = ScatterParts::Count(kernel_, results[0]);
  if (count == 1) return RunInOrder(run, operands, results, 0, kernel_.columns);
  KASHI_ASSIGN_OR_RETURN(ScatterParts parts, ScatterParts::Make(kernel_, count, run.budget()));
  std::vector<absl::Status> statuses(static_cast<size_t>(count));
  KASHI_RETURN_IF_ERROR(evaluator::ParallelFor(run, count, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      void* const part[] = {parts.part(i, results[0])};
      statuses[i] = RunInOrder(run, operands, part, kernel_.columns * i / count, kernel_.columns * (i + 1) / count);
    }
  }));
  for (const absl::Status& status : statuses) KASHI_RETURN_IF_ERROR(status);
  parts.Combine(results[0]);
  return absl::OkStatus();
}

absl::Status KernelStep::RunOnThreads(const evaluator::EvaluationRun& run, const void* const* operands,
                                      void* const* results) const {
  const int64_t work_of_row = std::max<int64_t>(1, kernel_.columns * kernel_.work_per_column);
  if (kernel_.splits_columns && kernel_.rows == 1) {
    const int64_t blocks = (kernel_.columns + kColumnsAtOnce - 1) / kColumnsAtOnce;
    const int64_t grain = std::max<int64_t>(1, kGrain / (kColumnsAtOnce * kernel_.work_per_column));
    return evaluator::ParallelFor(run, blocks, grain, [&](int64_t begin, int64_t end, int) {
      const base::DenormalMode denormals(flush_denormals_);
      function_(operands, results, 0, 1, begin * kColumnsAtOnce, std::min(end * kColumnsAtOnce, kernel_.columns));
    });
  }
  const int64_t grain = std::max<int64_t>(1, kGrain / work_of_row);
  return evaluator::ParallelFor(run, kernel_.rows, grain, [&](int64_t begin, int64_t end, int) {
    const base::DenormalMode denormals(flush_denormals_);
    function_(operands, results, begin, end, 0, kernel_.columns);
  });
}

}  // namespace kashi::cpu
