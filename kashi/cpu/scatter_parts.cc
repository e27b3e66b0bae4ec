#include "kashi/cpu/scatter_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/neutral_element.h"

namespace kashi::cpu {
namespace {

// Updates that are worth a thread, and that its array must have for each of its elements, which takes as long to
// fill and to combine.
constexpr int64_t kLeastUpdates = 32768, kLeastUpdatesOfElement = 8;

// Whether all sums of these elements and some of the updates are integers that T represents.
template <typename T>
bool AreSumsExact(const T* elements, int64_t count, double update, int64_t updates) {
  const double most = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double room = most - std::abs(update) * static_cast<double>(updates);
  return room >= 0 && std::all_of(elements, elements + count, [room](T x) {
           return std::abs(static_cast<double>(x)) <= room && std::trunc(x) == x;
         });
}

bool MayReorder(const codegen::ScatterCombiner& combiner, const void* result, int64_t updates) {
  switch (combiner.type) {
    case F32:
      return AreSumsExact(static_cast<const float*>(result), combiner.elements, combiner.update, updates);
    case F64:
      return AreSumsExact(static_cast<const double*>(result), combiner.elements, combiner.update, updates);
    default:
      return true;
  }
}

}  // namespace

int64_t ScatterParts::Count(const codegen::Kernel& kernel, const void* result) {
  if (!kernel.scatter.has_value()) return 1;
  const codegen::ScatterCombiner& combiner = *kernel.scatter;
  const int64_t least = std::max(kLeastUpdates, SaturatingMultiply(combiner.elements, kLeastUpdatesOfElement));
  const int64_t count = std::min<int64_t>(base::ParallelThreadCount(), kernel.columns / least);
  return count > 1 && MayReorder(combiner, result, kernel.columns) ? count : 1;
}

absl::StatusOr<ScatterParts> ScatterParts::Make(const codegen::Kernel& kernel, int64_t count,
                                                const std::shared_ptr<MemoryBudget>& memory) {
  const codegen::ScatterCombiner& combiner = *kernel.scatter;
  KASHI_ASSIGN_OR_RETURN(kernels::ElementKernel combine,
                         kernels::FindBinaryKernel(combiner.opcode, combiner.type, combiner.type, combiner.type));
  KASHI_ASSIGN_OR_RETURN(DenseShape shape, MakeCheckedDenseShape(combiner.type, {count - 1, combiner.elements}));
  KASHI_ASSIGN_OR_RETURN(Value arrays, Value::MakeArray(std::move(shape), memory));
  const Literal neutral = hlo::NeutralOf(combiner.opcode, combiner.type);
  const char* const element = static_cast<const char*>(neutral.untyped_data());
  char* const bytes = arrays.mutable_bytes();
  for (int64_t i = 0; i < arrays.element_count(); ++i) {
    std::copy_n(element, arrays.element_bytes(), bytes + i * arrays.element_bytes());
  }
  return ScatterParts(count, std::move(combine), std::move(arrays));
}

void* ScatterParts::part(int64_t i, void* result) {
  const int64_t bytes = arrays_.dimension(1) * arrays_.element_bytes();
  return i == 0 ? result : arrays_.mutable_bytes() + (i - 1) * bytes;
}

void ScatterParts::Combine(void* result) const {
  const int64_t elements = arrays_.dimension(1), bytes = elements * arrays_.element_bytes();
  for (int64_t i = 0; i + 1 < count_; ++i) {
    const void* const inputs[] = {result, arrays_.bytes() + i * bytes};
    combine_(inputs, result, elements);
  }
}

}  // namespace kashi::cpu
