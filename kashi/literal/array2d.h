// Array2D<T>: an Array of two dimensions, n1 (height) and n2 (width).
//
//   Array2D<float> a({{1, 2}, {3, 4}, {5, 6}});   a.height() == 3;  a(2, 1) == 6
#ifndef KASHI_LITERAL_ARRAY2D_H_
#define KASHI_LITERAL_ARRAY2D_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "kashi/base/math.h"
#include "kashi/literal/array.h"

namespace kashi {

namespace array_impl {

// `number` as an element, with `start` added: in T's own arithmetic where T is a class.
template <typename T>
T NumberedFrom(int64_t number, const T& start) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(number + start);
  } else {
    return static_cast<T>(number) + start;
  }
}

}  // namespace array_impl

template <typename T>
class Array2D : public Array<T> {
 public:
  Array2D() : Array2D(0, 0) {}
  Array2D(int64_t n1, int64_t n2) : Array<T>({n1, n2}, T()) {}
  Array2D(int64_t n1, int64_t n2, T value) : Array<T>({n1, n2}, value) {}
  Array2D(std::initializer_list<std::initializer_list<T>> values) : Array<T>(values) {}  // NOLINT
  template <typename T2, array_impl::overload_for_float<T, T2> = true>
  Array2D(std::initializer_list<std::initializer_list<T2>> values) : Array<T>(values) {}  // NOLINT

  int64_t n1() const { return this->dim(0); }
  int64_t n2() const { return this->dim(1); }
  int64_t height() const { return this->dim(0); }
  int64_t width() const { return this->dim(1); }

  // Different values everywhere: ((i << bits) | j) + start_value, with as many bits as the width needs.
  void FillUnique(T start_value = T(0)) {
    const int bits = Log2Ceiling(static_cast<uint64_t>(n2()));
    Each([&](int64_t i, int64_t j, T* value) { *value = array_impl::NumberedFrom((i << bits) | j, start_value); });
  }

  void Each(absl::FunctionRef<void(int64_t, int64_t, T*)> f) {
    Array<T>::TemplatedEach([&](absl::Span<const int64_t> index, T* value) { f(index[0], index[1], value); });
  }
};

// n1 x n2 numbers at equal distances, row after row: the first is `from`, the last is `to`.
template <typename NativeT = float>
std::unique_ptr<Array2D<NativeT>> MakeLinspaceArray2D(double from, double to, int64_t n1, int64_t n2) {
  auto array = std::make_unique<Array2D<NativeT>>(n1, n2);
  const int64_t count = array->num_elements();
  if (count == 0) return array;
  const NativeT step = static_cast<NativeT>(count > 1 ? (to - from) / static_cast<double>(count - 1) : 0.0);
  for (int64_t i = 0; i < count - 1; ++i) {
    array->data()[i] = static_cast<NativeT>(static_cast<NativeT>(from) + static_cast<NativeT>(i) * step);
  }
  array->data()[count - 1] = static_cast<NativeT>(to);
  return array;
}

}  // namespace kashi

#endif  // KASHI_LITERAL_ARRAY2D_H_
