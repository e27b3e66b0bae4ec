#include "kashi/pjrt/types.h"

#include <cstddef>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/values/value.h"

namespace kashi::pjrt {
namespace {

// By PJRT's number (docs/spec/pjrt.md 3).
constexpr PrimitiveType kTypes[] = {PRIMITIVE_TYPE_INVALID,
                                    PRED,
                                    S8,
                                    S16,
                                    S32,
                                    S64,
                                    U8,
                                    U16,
                                    U32,
                                    U64,
                                    F16,
                                    F32,
                                    F64,
                                    BF16,
                                    C64,
                                    C128,
                                    F8E5M2,
                                    F8E4M3FN,
                                    F8E4M3B11FNUZ,
                                    F8E5M2FNUZ,
                                    F8E4M3FNUZ,
                                    S4,
                                    U4,
                                    TOKEN,
                                    S2,
                                    U2,
                                    F8E4M3,
                                    F8E3M4,
                                    F8E8M0FNU,
                                    F4E2M1FN,
                                    S1,
                                    U1};

}  // namespace

PJRT_Buffer_Type BufferTypeOf(PrimitiveType type) {
  const auto* const found = absl::c_find(kTypes, type);
  return static_cast<PJRT_Buffer_Type>(found == std::end(kTypes) ? 0 : found - kTypes);
}

absl::StatusOr<PrimitiveType> PrimitiveTypeOf(PJRT_Buffer_Type type) {
  const auto number = static_cast<size_t>(type);
  if (type <= 0 || number >= std::size(kTypes)) return InvalidArgument("%d is no element type that Kashi has", type);
  return kTypes[number];
}

absl::StatusOr<Shape> ShapeOf(PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims) {
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType element_type, PrimitiveTypeOf(type));
  if (element_type == TOKEN) return ShapeUtil::MakeTokenShape();
  KASHI_ASSIGN_OR_RETURN(const DenseShape shape,
                         MakeCheckedDenseShape(element_type, absl::MakeConstSpan(dims, num_dims)));
  return *shape;
}

}  // namespace kashi::pjrt
