#include "kashi/kernels/matrix_kernels.h"

#include <cstring>
#include <utility>

#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"

namespace kashi::kernels {

absl::StatusOr<PrimitiveType> LinearAlgebraType(PrimitiveType type) {
  if (type == F64 || primitive_util::IsComplexType(type)) return type;
  if (primitive_util::IsFloatingPointType(type)) return F32;
  return Unimplemented("linear algebra on %s", primitive_util::LowercasePrimitiveTypeName(type));
}

}  // namespace kashi::kernels
