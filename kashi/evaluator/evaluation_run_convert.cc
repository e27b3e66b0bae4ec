#include <cstdint>
#include <utility>

#include "kashi/base/status.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/parallel_for.h"
#include "kashi/kernels/element_kernel.h"

namespace kashi::evaluator {

absl::StatusOr<Value> EvaluationRun::Convert(Value value, PrimitiveType type) {
  if (value.element_type() == type) return value;
  KASHI_ASSIGN_OR_RETURN(const kernels::ElementKernel kernel, kernels::FindConvertKernel(value.element_type(), type));
  KASHI_ASSIGN_OR_RETURN(Value result, MakeArray(type, value.dimensions()));
  constexpr int64_t kGrain = 1 << 16;
  const char* const from = static_cast<const char*>(value.untyped_data());
  char* const to = static_cast<char*>(result.mutable_data());
  KASHI_RETURN_IF_ERROR(ParallelFor(*this, value.element_count(), kGrain, [&](int64_t begin, int64_t end, int) {
    const void* inputs[] = {from + begin * value.element_bytes()};
    kernel(inputs, to + begin * result.element_bytes(), end - begin);
  }));
  return result;
}

}  // namespace kashi::evaluator
