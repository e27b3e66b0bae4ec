#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/instruction_kernel.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/kernels/element_kernel.h"

namespace kashi::evaluator {
namespace {

constexpr int64_t kGrain = 16384;              // elements that are worth a thread
constexpr int64_t kBlock = int64_t{64} << 20;  // elements between two checks for cancellation
constexpr int64_t kChunk = 1024;               // elements of a repeated scalar

// An operand as the kernel reads it. Of a scalar that meets every element, `data` are kChunk copies.
struct Input {
  const char* data;
  int64_t element_bytes;
  std::unique_ptr<char[]> copies;  // null: as many elements as the result has
};

// Same dimensions as the result, or one element for all (bounds of clamp, predicate of select).
absl::StatusOr<Input> MakeInput(const Operation& op, const Value& operand, int64_t result_count) {
  const int64_t bytes = operand.element_bytes();
  if (operand.dense_shape() == op.result() || operand.dimensions() == op.result()->dimensions()) {
    return Input{operand.bytes(), bytes, nullptr};
  }
  if (operand.element_count() != 1) {
    return InvalidArgument("%s: %s of %s and a result of %s", op.instruction.name(),
                           HloOpcodeString(op.instruction.opcode()), ShapeUtil::HumanString(operand.shape()),
                           ShapeUtil::HumanString(*op.result()));
  }
  const int64_t count = std::min(kChunk, result_count);
  auto copies = std::make_unique<char[]>(static_cast<size_t>(count * bytes));
  for (int64_t i = 0; i < count; ++i) std::memcpy(&copies[i * bytes], operand.bytes(), static_cast<size_t>(bytes));
  const char* data = copies.get();
  return Input{data, bytes, std::move(copies)};
}

// The memory of an operand that is unique, or new memory. Get the pointers to the operands' data before, because the
// operation still reads them.
absl::StatusOr<Value> MakeOutput(Operation& op, absl::Span<const Input> inputs) {
  const int64_t bytes = primitive_util::ByteWidth(op.result()->element_type());
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (op.operands[i].is_unique() && inputs[i].copies == nullptr && inputs[i].element_bytes == bytes) {
      return Value::WithShape(std::move(op.operands[i]), op.result());
    }
  }
  return op.MakeResult();
}

// Elements [begin, end) of the result.
void RunRange(const kernels::ElementKernel& kernel, absl::Span<const Input> inputs, char* output, int64_t begin,
              int64_t end) {
  const bool repeats =
      std::any_of(inputs.begin(), inputs.end(), [](const Input& input) { return input.copies != nullptr; });
  const int64_t step = repeats ? kChunk : end - begin;
  const int64_t output_bytes = primitive_util::ByteWidth(kernel.output_type);
  absl::InlinedVector<const void*, 3> data(inputs.size());
  for (int64_t i = begin; i < end; i += step) {
    for (size_t k = 0; k < inputs.size(); ++k) {
      data[k] = inputs[k].copies != nullptr ? inputs[k].data : inputs[k].data + i * inputs[k].element_bytes;
    }
    kernel(data.data(), output + i * output_bytes, std::min(step, end - i));
  }
}

}  // namespace

// out[i] = f(a[i], b[i], …), several ranges of i at a time.
absl::StatusOr<Value> EvaluateElementwise(Operation& op) {
  if (op.kernel == nullptr) return FindElementKernel(op.instruction).status();  // which says what is wrong
  const kernels::ElementKernel& kernel = *op.kernel;
  const int64_t n = ShapeUtil::ElementsIn(*op.result());
  absl::InlinedVector<Input, 3> inputs;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (op.operands[i].element_type() != kernel.input_types[i]) {
      KASHI_ASSIGN_OR_RETURN(op.operands[i], op.run.Convert(std::move(op.operands[i]), kernel.input_types[i]));
    }
    KASHI_ASSIGN_OR_RETURN(Input input, MakeInput(op, op.operands[i], n));
    inputs.push_back(std::move(input));
  }
  KASHI_ASSIGN_OR_RETURN(Value result, MakeOutput(op, inputs));
  char* output = result.mutable_bytes();
  for (int64_t block = 0; block < n; block += kBlock) {
    KASHI_RETURN_IF_ERROR(op.run.CheckStopped());
    base::ParallelFor(std::min(kBlock, n - block), kGrain, [&](int64_t begin, int64_t end, int) {
      RunRange(kernel, inputs, output, block + begin, block + end);
    });
  }
  return result;
}

}  // namespace kashi::evaluator
