// Array4D<T>: an Array of four dimensions: planes (n1, often called p), depth (n2, z), height (n3, y) and width (n4,
// x).
#ifndef KASHI_LITERAL_ARRAY4D_H_
#define KASHI_LITERAL_ARRAY4D_H_

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "absl/types/span.h"
#include "kashi/base/check.h"
#include "kashi/literal/array.h"
#include "kashi/literal/array2d.h"

namespace kashi {

template <typename T>
class Array4D : public Array<T> {
 public:
  Array4D() : Array4D(0, 0, 0, 0) {}
  Array4D(int64_t planes, int64_t depth, int64_t height, int64_t width)
      : Array<T>({planes, depth, height, width}, T()) {}
  Array4D(int64_t planes, int64_t depth, int64_t height, int64_t width, T value)
      : Array<T>({planes, depth, height, width}, value) {}
  // The elements in row-major order; dies unless there are as many.
  template <typename Container = std::initializer_list<T>,
            std::enable_if_t<!std::is_convertible_v<Container, T>, bool> = true>
  Array4D(int64_t planes, int64_t depth, int64_t height, int64_t width, const Container& values)
      : Array4D(planes, depth, height, width) {
    this->SetValues(values);
  }
  Array4D(std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>> values)
      : Array<T>(values) {}  // NOLINT
  template <typename T2, array_impl::overload_for_float<T, T2> = true>
  Array4D(std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T2>>>> values)
      : Array<T>(values) {}  // NOLINT

  int64_t n1() const { return this->dim(0); }
  int64_t n2() const { return this->dim(1); }
  int64_t n3() const { return this->dim(2); }
  int64_t n4() const { return this->dim(3); }
  int64_t planes() const { return this->dim(0); }
  int64_t depth() const { return this->dim(1); }
  int64_t height() const { return this->dim(2); }
  int64_t width() const { return this->dim(3); }

  // Write the matrix at all indices of the other two dimensions: YX means that its rows are y and its columns x. Die
  // unless the sizes match.
  void FillWithYX(const Array2D<T>& value) { FillWithMatrix(2, 3, value); }
  void FillWithZY(const Array2D<T>& value) { FillWithMatrix(1, 2, value); }
  void FillWithPZ(const Array2D<T>& value) { FillWithMatrix(0, 1, value); }

  // Each matrix of the two minor dimensions holds its own number everywhere: 0, 1, 2, …
  void FillWithMinorDimNum() {
    this->TemplatedEach(
        [&](absl::Span<const int64_t> index, T* value) { *value = static_cast<T>(index[0] * depth() + index[1]); });
  }

 private:
  void FillWithMatrix(int64_t row_dimension, int64_t column_dimension, const Array2D<T>& value) {
    KASHI_CHECK_EQ(value.height(), this->dim(row_dimension));
    KASHI_CHECK_EQ(value.width(), this->dim(column_dimension));
    this->TemplatedEach([&](absl::Span<const int64_t> index, T* element) {
      *element = value(index[row_dimension], index[column_dimension]);
    });
  }
};

}  // namespace kashi

#endif  // KASHI_LITERAL_ARRAY4D_H_
