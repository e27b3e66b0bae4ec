#include "kashi/kernels/order_keys.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kashi/array/primitive_util.h"
#include "kashi/array/types.h"

namespace kashi::kernels {
namespace {

// Biased, so that the lowest is 0 or more.
template <typename T>
uint64_t IntegerKey(T x) {
  constexpr bool kIsWide = sizeof(T) == 8;
  if constexpr (!std::numeric_limits<T>::is_signed) {
    return static_cast<uint64_t>(x);
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(x)) + (uint64_t{1} << (kIsWide ? 63 : 31));
  }
}

template <typename T>
uint64_t RealKey(T x) {
  constexpr bool kIsWide = sizeof(T) == 8;
  constexpr int64_t kLowest = kIsWide ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int32_t>::min();
  return static_cast<uint64_t>(std::max(comparison_internal::TotalOrderKey(x), kLowest)) -
         static_cast<uint64_t>(kLowest);
}

template <typename T>
bool MakeKeys(Comparison::Order order, const T* x, int64_t n, uint64_t* keys) {
  if constexpr (!is_specialized_floating_point_v<T>) {
    for (int64_t i = 0; i < n; ++i) keys[i] = IntegerKey(x[i]);
  } else if (order == Comparison::Order::kTotal) {
    for (int64_t i = 0; i < n; ++i) keys[i] = RealKey(x[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      if (x[i] != x[i]) return false;
      keys[i] = RealKey(has_zero_v<T> && x[i] == T(0) ? T(0) : x[i]);
    }
  }
  return true;
}

}  // namespace

bool HasOrderKeys(PrimitiveType type) {
  return primitive_util::IsArrayType(type) && !primitive_util::IsComplexType(type);
}

int OrderKeyBits(PrimitiveType type) { return primitive_util::ByteWidth(type) == 8 ? 64 : 32; }

bool MakeOrderKeys(PrimitiveType type, Comparison::Order order, const void* x, int64_t n, uint64_t* keys) {
  return primitive_util::ArrayTypeSwitch(
      [&](auto constant) {
        using T = primitive_util::NativeTypeOf<constant>;
        if constexpr (is_complex_v<T>) {
          return false;
        } else {
          return MakeKeys(order, static_cast<const T*>(x), n, keys);
        }
      },
      type);
}

}  // namespace kashi::kernels
