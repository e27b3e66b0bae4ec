// DenseCopy: moves an array between a device, where it is dense and row-major with one native element each, and any
// placement on the host.
#ifndef KASHI_ENGINE_DENSE_COPY_H_
#define KASHI_ENGINE_DENSE_COPY_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/relayout/placement.h"
#include "kashi/relayout/relayout_plan.h"

namespace kashi::engine {

// The bytes of a static array on a device; 0 for a token.
int64_t BufferBytes(const Shape& shape);

// Where a device has the elements of a static array.
absl::StatusOr<Placement> DensePlacement(const Shape& shape);

class DenseCopy {
 public:
  // From a placement to a device, and back. INVALID_ARGUMENT unless the placement has the type and sizes of the shape.
  static absl::StatusOr<DenseCopy> In(const Placement& placement, const Shape& shape);
  static absl::StatusOr<DenseCopy> Out(const Shape& shape, const Placement& placement);

  // Whether both sides have the same bytes.
  bool is_identity() const { return !plan_.has_value(); }
  void Run(const void* source, void* target) const;

 private:
  DenseCopy(int64_t bytes, std::optional<RelayoutPlan> plan) : bytes_(bytes), plan_(std::move(plan)) {}

  int64_t bytes_;
  std::optional<RelayoutPlan> plan_;  // nothing: a copy of the bytes
};

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_DENSE_COPY_H_
