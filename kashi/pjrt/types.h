// Numbers of element types: PJRT's own, and those of PrimitiveType.
#ifndef KASHI_PJRT_TYPES_H_
#define KASHI_PJRT_TYPES_H_

#include "absl/status/statusor.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/shape.h"
#include "kashi/pjrt/pjrt_c_api.h"

namespace kashi::pjrt {

// INVALID for a type that PJRT does not have.
PJRT_Buffer_Type BufferTypeOf(PrimitiveType type);
// INVALID_ARGUMENT for a number that is no type.
absl::StatusOr<PrimitiveType> PrimitiveTypeOf(PJRT_Buffer_Type type);

// The static array of these sizes with the default layout. INVALID_ARGUMENT for sizes or a type that are none.
absl::StatusOr<Shape> ShapeOf(PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_TYPES_H_
