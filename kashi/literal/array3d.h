// Array3D<T>: an Array of three dimensions, n1, n2 and n3.
#ifndef KASHI_LITERAL_ARRAY3D_H_
#define KASHI_LITERAL_ARRAY3D_H_

#include <cstdint>
#include <initializer_list>

#include "kashi/base/math.h"
#include "kashi/literal/array.h"
#include "kashi/literal/array2d.h"

namespace kashi {

template <typename T>
class Array3D : public Array<T> {
 public:
  Array3D() : Array3D(0, 0, 0) {}
  Array3D(int64_t n1, int64_t n2, int64_t n3) : Array<T>({n1, n2, n3}, T()) {}
  Array3D(int64_t n1, int64_t n2, int64_t n3, T value) : Array<T>({n1, n2, n3}, value) {}
  Array3D(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values)
      : Array<T>(values) {}  // NOLINT
  template <typename T2, array_impl::overload_for_float<T, T2> = true>
  Array3D(std::initializer_list<std::initializer_list<std::initializer_list<T2>>> values)
      : Array<T>(values) {}  // NOLINT

  int64_t n1() const { return this->dim(0); }
  int64_t n2() const { return this->dim(1); }
  int64_t n3() const { return this->dim(2); }

  // Different values everywhere: the bits of the three indices side by side, plus start_value.
  void FillUnique(T start_value = T(0)) {
    const int bits2 = Log2Ceiling(static_cast<uint64_t>(n2()));
    const int bits3 = Log2Ceiling(static_cast<uint64_t>(n3()));
    this->TemplatedEach([&](absl::Span<const int64_t> i, T* value) {
      *value = array_impl::NumberedFrom((((i[0] << bits2) | i[1]) << bits3) | i[2], start_value);
    });
  }
};

}  // namespace kashi

#endif  // KASHI_LITERAL_ARRAY3D_H_
