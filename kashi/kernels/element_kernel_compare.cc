// compare (docs/spec/hlo-ops.md 1.3), and select, which works on bytes (1.4).
//
// In the total order of floating-point numbers, the loops compare integers that grow as the numbers do: the keys of
// comparison_util.h. -NaN < -inf < … < -0 < 0 < … < inf < NaN.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kashi/array/types.h"
#include "kashi/base/status.h"
#include "kashi/kernels/element_loops.h"
#include "kashi/kernels/element_size.h"

namespace kashi::kernels {
namespace {

template <ComparisonDirection>
struct Compare;
#define KASHI_COMPARE(direction, op)               \
  template <>                                      \
  struct Compare<ComparisonDirection::direction> { \
    template <typename T>                          \
    static bool Of(const T& a, const T& b) {       \
      return a op b;                               \
    }                                              \
  };
KASHI_COMPARE(kEq, ==)
KASHI_COMPARE(kNe, !=)
KASHI_COMPARE(kGe, >=)
KASHI_COMPARE(kGt, >)
KASHI_COMPARE(kLe, <=)
KASHI_COMPARE(kLt, <)
#undef KASHI_COMPARE

template <typename T>
ElementFunction EqualityLoop(ComparisonDirection direction) {
  if (direction == ComparisonDirection::kEq) return &BinaryLoop<Compare<ComparisonDirection::kEq>, T>;
  if (direction == ComparisonDirection::kNe) return &BinaryLoop<Compare<ComparisonDirection::kNe>, T>;
  return nullptr;
}

template <typename T>
ElementFunction OrderLoop(ComparisonDirection direction) {
  switch (direction) {
    case ComparisonDirection::kGe:
      return &BinaryLoop<Compare<ComparisonDirection::kGe>, T>;
    case ComparisonDirection::kGt:
      return &BinaryLoop<Compare<ComparisonDirection::kGt>, T>;
    case ComparisonDirection::kLe:
      return &BinaryLoop<Compare<ComparisonDirection::kLe>, T>;
    case ComparisonDirection::kLt:
      return &BinaryLoop<Compare<ComparisonDirection::kLt>, T>;
    case ComparisonDirection::kEq:
    case ComparisonDirection::kNe:
      return EqualityLoop<T>(direction);
  }
  return nullptr;
}

ElementFunction CompareLoop(ComparisonDirection direction, PrimitiveType type) {
  if (type == C64) return EqualityLoop<complex64>(direction);
  if (type == C128) return EqualityLoop<complex128>(direction);
  return primitive_util::ArrayTypeSwitch<ElementFunction>(
      [direction](auto constant) -> ElementFunction {
        constexpr PrimitiveType kType = decltype(constant)::value;
        if constexpr (kType == ComputationType(kType) && !primitive_util::IsComplexType(kType)) {
          return OrderLoop<primitive_util::NativeTypeOf<kType>>(direction);
        } else {
          return nullptr;
        }
      },
      type);
}

// The smallest of s16, s32, s64 that holds the keys of all numbers of the type.
constexpr PrimitiveType KeyType(PrimitiveType type) { return type == F64 ? S64 : type == F32 ? S32 : S16; }

template <typename Key>
struct TotalOrderKey {
  template <typename T>
  static Key Of(T x) {
    // The NaN of some types has the smallest int64_t.
    return static_cast<Key>(std::max<int64_t>(comparison_internal::TotalOrderKey(x), std::numeric_limits<Key>::min()));
  }
};
ElementFunction TotalOrderKeyLoop(PrimitiveType type) {
  return primitive_util::FloatingPointTypeSwitch<ElementFunction>(
      [](auto constant) -> ElementFunction {
        constexpr PrimitiveType kType = decltype(constant)::value;
        using Key = primitive_util::NativeTypeOf<KeyType(kType)>;
        return &UnaryLoop<TotalOrderKey<Key>, primitive_util::NativeTypeOf<kType>>;
      },
      type);
}

ElementKernel TotalOrderKernel(ComparisonDirection direction, PrimitiveType type) {
  const PrimitiveType key = KeyType(type);
  ElementKernel kernel;
  kernel.input_types = {type, type};
  kernel.output_type = PRED;
  kernel.widen = {TotalOrderKeyLoop(type), TotalOrderKeyLoop(type), nullptr};
  kernel.compute = CompareLoop(direction, key);
  kernel.function = &RunInPortions;
  return kernel;
}

// Elements of this number of bytes; pairs of u64 for c128.
template <typename Bytes>
void SelectLoopOn(const ElementKernel&, const void* const* inputs, void* output, int64_t n) {
  const uint8_t* chooses_first = InputOf<uint8_t>(inputs, 0);
  const Bytes *a = InputOf<Bytes>(inputs, 1), *b = InputOf<Bytes>(inputs, 2);
  Bytes* out = static_cast<Bytes*>(output);
  KASHI_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    const Bytes first = a[i], second = b[i];  // both are read: a vector of results is then a choice between two vectors
    out[i] = chooses_first[i] != 0 ? first : second;
  }
}

}  // namespace

ElementFunction SelectLoop(PrimitiveType type) {
  return SwitchBytes(primitive_util::ByteWidth(type),
                     [](auto bytes) -> ElementFunction { return &SelectLoopOn<decltype(bytes)>; });
}

absl::StatusOr<ElementKernel> FindCompareKernel(ComparisonDirection direction, Comparison::Order order,
                                                PrimitiveType lhs, PrimitiveType rhs) {
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, CommonType(HloOpcode::kCompare, {lhs, rhs}));
  if (primitive_util::IsFloatingPointType(type) && order == Comparison::Order::kTotal) {
    if (lhs != rhs) {
      return Unimplemented("compare of %s and %s in total order", primitive_util::LowercasePrimitiveTypeName(lhs),
                           primitive_util::LowercasePrimitiveTypeName(rhs));
    }
    return TotalOrderKernel(direction, type);
  }
  const PrimitiveType computed = ComputationType(type);
  const ElementFunction loop = CompareLoop(direction, computed);
  if (loop == nullptr) {
    return Unimplemented("compare of %s by %s: complex numbers have no order",
                         primitive_util::LowercasePrimitiveTypeName(type), ComparisonDirectionToString(direction));
  }
  return MakeElementKernel(loop, {lhs, rhs}, {computed, computed}, PRED, PRED);
}

}  // namespace kashi::kernels
