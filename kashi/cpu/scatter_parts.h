// Scatters of many updates to few elements, such as histograms: each thread makes a part of the updates on an array of
// its own, which begins with neutral elements, and the arrays are then combined.
//
//   sum of updates   0  1  2  3  4  5 | 6  7  8  9  10  11       two parts
//                    in the result    | in an array of -0        then result += array
//
// Only where the order of the updates does not matter, to the last bit: integers, and sums of real numbers that are
// all integers.
#ifndef KASHI_CPU_SCATTER_PARTS_H_
#define KASHI_CPU_SCATTER_PARTS_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "kashi/codegen/kernel.h"
#include "kashi/kernels/element_kernel.h"
#include "kashi/values/value.h"

namespace kashi::cpu {

class ScatterParts {
 public:
  // The number of parts for threads; 1 if there is not enough work for several, or if the order of the updates
  // matters. `result`: the elements before the updates.
  static int64_t Count(const codegen::Kernel& kernel, const void* result);

  // RESOURCE_EXHAUSTED beyond the memory limit. Pre: count > 1 is that of Count.
  static absl::StatusOr<ScatterParts> Make(const codegen::Kernel& kernel, int64_t count,
                                           const std::shared_ptr<MemoryBudget>& memory);

  int64_t count() const { return count_; }
  // The memory of part i; part 0 is in the result.
  void* part(int64_t i, void* result);
  // Adds the other parts to the result.
  void Combine(void* result) const;

 private:
  ScatterParts(int64_t count, kernels::ElementKernel combine, Value arrays)
      : count_(count), combine_(std::move(combine)), arrays_(std::move(arrays)) {}

  int64_t count_;
  kernels::ElementKernel combine_;
  Value arrays_;  // [count - 1, elements]
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_SCATTER_PARTS_H_
