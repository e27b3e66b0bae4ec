// The placement of arrays on devices: dense and row-major, with one native element each.
#ifndef KASHI_ENGINE_DENSE_PLACEMENT_H_
#define KASHI_ENGINE_DENSE_PLACEMENT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/relayout/placement.h"

namespace kashi::engine {

// The bytes of a static array on a device; 0 for a token.
int64_t BufferBytes(const Shape& shape);

// Where a device has the elements of a static array.
absl::StatusOr<Placement> DensePlacement(const Shape& shape);

// Whether the placement has the bytes of DensePlacement(shape), in the same order.
bool IsDensePlacement(const Placement& placement, const Shape& shape);

// INVALID_ARGUMENT unless the placement has the type and sizes of the shape.
absl::Status CheckPlacementFits(const Placement& placement, const Shape& shape);

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_DENSE_PLACEMENT_H_
