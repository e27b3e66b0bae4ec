// Conversions one by one, by ConvertElement.
#include <cstring>
#include <type_traits>

#include "kashi/array/element_convert.h"
#include "kashi/array/primitive_util.h"
#include "kashi/relayout/simd/row_functions_internal.h"

namespace kashi::relayout {
namespace {

using primitive_util::NativeTypeOf;

template <typename To, typename From>
void ConvertElements(const char* from, char* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(static_cast<void*>(&value), from + i * sizeof(From), sizeof(From));
    const To converted = array::ConvertElement<To>(value);
    std::memcpy(to + i * sizeof(To), static_cast<const void*>(&converted), sizeof(To));
  }
}

// The conversions that row_functions.cc uses, and that row_functions_vector.cc lacks or has for some processors only.
constexpr bool HasLoop(PrimitiveType from, PrimitiveType to) {
  switch (from) {
    case F32:
      return to == U32 || to == S64 || to == U64;
    case F64:
      return (primitive_util::IsIntegralType(to) && primitive_util::BitWidth(to) >= 32) || to == F32 || to == C128;
    case U32:
    case S64:
    case U64:
      return to == F32 || to == F64;
    case C64:
      return to == PRED;
    case C128:
      return to == PRED || to == F64 || to == C64;
    default:
      return false;
  }
}

template <PrimitiveType kFrom>
ConvertLoop LoopFrom(PrimitiveType to) {
  return primitive_util::ArrayTypeSwitch<ConvertLoop>(
      [](auto to_constant) -> ConvertLoop {
        if constexpr (HasLoop(kFrom, decltype(to_constant)::value)) {
          return &ConvertElements<NativeTypeOf<decltype(to_constant)::value>, NativeTypeOf<kFrom>>;
        } else {
          return nullptr;
        }
      },
      to);
}

}  // namespace

ConvertLoop ScalarLoop(PrimitiveType from, PrimitiveType to) {
  return primitive_util::ArrayTypeSwitch<ConvertLoop>(
      [to](auto from_constant) { return LoopFrom<decltype(from_constant)::value>(to); }, from);
}

}  // namespace kashi::relayout
