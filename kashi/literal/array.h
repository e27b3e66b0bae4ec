// Array<T>: a row-major array in host memory with any number of dimensions. It is for tests, constants and device
// assignments. A Literal has a layout and a primitive type too.
//
//   Array<int> a({{1, 2, 3}, {4, 5, 6}});     // 2x3
//   a(1, 2) == 6;  a.dim(0) == 2;  a.ToString() == "[[1, 2, 3],\n [4, 5, 6]]"
//   Array<float> b({2, 3}, 1.5f);             // sizes, and the value of all elements
//   Array<half> c({{1.0f, 2.0f}});            // nested lists of float serve all floating-point types
//
// An Array is a value: a copy copies the elements. A moved-from array has no dimensions and no elements. Programmers'
// errors (ragged lists, sizes that do not match) end the process. Array2D, Array3D and Array4D (array2d.h, …) have a
// fixed rank.
#ifndef KASHI_LITERAL_ARRAY_H_
#define KASHI_LITERAL_ARRAY_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/types.h"
#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {

namespace array_impl {

// Lists of float are accepted for all floating-point types, because narrow types have no implicit conversion from
// float.
template <typename T, typename T2>
using overload_for_float = std::enable_if_t<is_specialized_floating_point_v<T> && std::is_same_v<T2, float>, bool>;

template <typename List>
inline constexpr int kListRank = 0;
template <typename T>
inline constexpr int kListRank<std::initializer_list<T>> = 1 + kListRank<T>;

// Appends one size per level: the size of the first list of the level.
template <typename T>
void AppendListSizes(std::initializer_list<T> list, DimensionVector* sizes) {
  sizes->push_back(static_cast<int64_t>(list.size()));
  if constexpr (kListRank < T >> 0) AppendListSizes(list.size() == 0 ? T() : *list.begin(), sizes);
}

// Writes the values of `list` one after the other, and returns the end. Dies if a list has a different size.
template <typename T, typename List>
T* CopyList(const List& list, absl::Span<const int64_t> sizes, T* out) {
  if constexpr (kListRank<List> == 0) {
    *out++ = static_cast<T>(list);
  } else {
    KASHI_CHECK_EQ(static_cast<int64_t>(list.size()), sizes.front()) << "lists of different sizes in one dimension";
    for (const auto& item : list) out = CopyList(item, sizes.subspan(1), out);
  }
  return out;
}

template <typename T>
void AppendElement(const T& value, std::string* text) {
  if constexpr (is_complex_v<T>) {
    absl::StrAppend(text, "(", value.real(), ", ", value.imag(), ")");
  } else if constexpr (is_intN_v<T>) {
    absl::StrAppend(text, value.ToInt());
  } else if constexpr (is_specialized_floating_point_v<T> && !std::is_floating_point_v<T>) {
    absl::StrAppend(text, static_cast<float>(value));
  } else {
    absl::StrAppend(text, value);
  }
}

// The next index in row-major order; false, and all zeros, after the last.
inline bool NextIndex(absl::Span<const int64_t> sizes, absl::Span<int64_t> index) {
  for (int64_t i = static_cast<int64_t>(sizes.size()) - 1; i >= 0; --i) {
    if (++index[i] < sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}

// The stride of each dimension, in elements.
inline DimensionVector RowMajorStrides(absl::Span<const int64_t> sizes) {
  DimensionVector strides(sizes.size());
  int64_t stride = 1;
  for (int64_t i = static_cast<int64_t>(sizes.size()) - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  return strides;
}

template <typename List>
DimensionVector ListSizes(const List& list) {
  DimensionVector sizes;
  AppendListSizes(list, &sizes);
  return sizes;
}

// Dies for a negative size, and for too many elements.
inline int64_t CountElements(absl::Span<const int64_t> sizes) {
  std::optional<int64_t> count = 1;
  for (int64_t size : sizes) {
    KASHI_CHECK_GE(size, 0);
    count = CheckedMultiply(*count, size);
    KASHI_CHECK(count.has_value()) << "too many elements for an array";
  }
  return *count;
}

inline int64_t LinearIndex(absl::Span<const int64_t> sizes, absl::Span<const int64_t> index) {
  KASHI_DCHECK(index.size() == sizes.size()) << index.size() << " indices, " << sizes.size() << " dimensions";
  int64_t linear = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    KASHI_DCHECK(index[i] >= 0 && index[i] < sizes[i]) << "index " << index[i] << " of dimension " << i;
    linear = linear * sizes[i] + index[i];
  }
  return linear;
}

// Calls f with each index, in row-major order, and its number.
template <typename F>
void VisitIndices(absl::Span<const int64_t> sizes, int64_t num_elements, const F& f) {
  DimensionVector index(sizes.size());
  for (int64_t i = 0; i < num_elements; ++i) {
    f(absl::Span<const int64_t>(index), i);
    NextIndex(sizes, absl::MakeSpan(index));
  }
}

template <typename F>
absl::Status VisitIndicesStatus(absl::Span<const int64_t> sizes, int64_t num_elements, const F& f) {
  DimensionVector index(sizes.size());
  for (int64_t i = 0; i < num_elements; ++i) {
    KASHI_RETURN_IF_ERROR(f(absl::Span<const int64_t>(index), i));
    NextIndex(sizes, absl::MakeSpan(index));
  }
  return absl::OkStatus();
}

// The sizes or strides of the dimensions in another order. Dies unless it is a permutation of the dimensions.
inline DimensionVector Permute(absl::Span<const int64_t> of_dimensions, absl::Span<const int64_t> permutation) {
  KASHI_CHECK_EQ(permutation.size(), of_dimensions.size());
  DimensionVector result(of_dimensions.size());
  std::vector<bool> is_taken(of_dimensions.size());
  for (size_t i = 0; i < of_dimensions.size(); ++i) {
    const int64_t source = permutation[i];
    KASHI_CHECK(source >= 0 && source < static_cast<int64_t>(of_dimensions.size()) && !is_taken[source])
        << "not a permutation";
    is_taken[source] = true;
    result[i] = of_dimensions[source];
  }
  return result;
}

// Fills `out` in row-major order of these sizes from elements with these strides. There is at least one dimension and
// one element.
template <typename T>
void CopyStrided(const T* source, absl::Span<const int64_t> strides, absl::Span<const int64_t> sizes, T* out) {
  const int64_t row_size = sizes.back();
  DimensionVector row(strides.size() - 1);
  do {
    const T* in = source + std::inner_product(row.begin(), row.end(), strides.begin(), int64_t{0});
    for (int64_t i = 0; i < row_size; ++i) *out++ = in[i * strides.back()];
  } while (NextIndex(sizes.first(row.size()), absl::MakeSpan(row)));
}

// A place in a row-major array.
template <typename T>
struct BoxPlace {
  T* data;
  absl::Span<const int64_t> sizes;  // of the array
  absl::Span<const int64_t> start;

  DimensionVector strides() const { return RowMajorStrides(sizes); }
  T* first() const {
    const DimensionVector by = strides();
    return data + std::inner_product(start.begin(), start.end(), by.begin(), int64_t{0});
  }
};

// Copies a box of these sizes, row by row. It must fit into both arrays.
template <typename T>
void CopyBox(const BoxPlace<const T>& from, const BoxPlace<T>& to, absl::Span<const int64_t> sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  const T* source = from.first();
  T* destination = to.first();
  if (sizes.empty()) {
    *destination = *source;
    return;
  }
  const DimensionVector from_strides = from.strides();
  const DimensionVector to_strides = to.strides();
  DimensionVector row(sizes.size() - 1);
  do {
    const int64_t from_row = std::inner_product(row.begin(), row.end(), from_strides.begin(), int64_t{0});
    const int64_t to_row = std::inner_product(row.begin(), row.end(), to_strides.begin(), int64_t{0});
    std::copy_n(source + from_row, sizes.back(), destination + to_row);
  } while (NextIndex(sizes.first(row.size()), absl::MakeSpan(row)));
}

template <typename T, typename Distribution>
void FillDrawn(absl::Span<T> values, Distribution distribution, int seed) {
  std::mt19937 engine(seed);
  for (T& value : values) value = static_cast<T>(distribution(engine));
}

template <typename T>
void FillUniform(absl::Span<T> values, const T& min_value, const T& max_value, int seed) {
  // The standard leaves distributions of 8-bit integers undefined.
  using Drawn = std::conditional_t<std::is_integral_v<T> && sizeof(T) >= 2, T, int>;
  FillDrawn(values, std::uniform_int_distribution<Drawn>(static_cast<Drawn>(min_value), static_cast<Drawn>(max_value)),
            seed);
}

template <typename T, typename Real>
void FillNormalComplex(absl::Span<T> values, Real stddev, double mean, int seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> distribution(mean, stddev);
  using Part = typename T::value_type;
  for (T& value : values) {
    const Part real = static_cast<Part>(distribution(engine));
    value = T(real, static_cast<Part>(distribution(engine)));
  }
}

// Recurses to the rank, which is a constant of the program.
// A size of 0 has one entry, without a value, as in XLA: [2,0] is "[[],\n []]", [0,2] is "[[, ]]".
template <typename T>
void AppendBrackets(absl::Span<const int64_t> sizes, int64_t num_elements, size_t dimension, const T** next,
                    std::string* text) {
  text->push_back('[');
  for (int64_t i = 0; i < std::max<int64_t>(sizes[dimension], 1); ++i) {
    if (dimension + 1 == sizes.size()) {
      if (i > 0) text->append(", ");
      if (num_elements > 0) AppendElement(*(*next)++, text);
    } else {
      if (i > 0) text->append(",\n").append(dimension + 1, ' ');
      AppendBrackets(sizes, num_elements, dimension + 1, next, text);
    }
  }
  text->push_back(']');
}

}  // namespace array_impl

template <typename T>
class Array {
 public:
  using value_type = T;

  // Elements are T(), which is zero for numbers. Dies for a negative size.
  explicit Array(absl::Span<const int64_t> sizes) : Array(sizes, T()) {}
  Array(absl::Span<const int64_t> sizes, T value) : Array(sizes, kUninitialized, kUninitialized) { Fill(value); }

  // Lists convert to arrays, as in XLA. (Written out: clang 14 does not deduce T2 through an alias.)
  Array(std::initializer_list<std::initializer_list<T>> values) : Array(values, kFromList, kFromList) {}  // NOLINT
  Array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values)                    // NOLINT
      : Array(values, kFromList, kFromList) {}
  Array(std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>> values)  // NOLINT
      : Array(values, kFromList, kFromList) {}
  template <typename T2, array_impl::overload_for_float<T, T2> = true>
  Array(std::initializer_list<T2> values) : Array(values, kFromList, kFromList) {}  // NOLINT
  template <typename T2, array_impl::overload_for_float<T, T2> = true>
  Array(std::initializer_list<std::initializer_list<T2>> values) : Array(values, kFromList, kFromList) {}  // NOLINT
  template <typename T2, array_impl::overload_for_float<T, T2> = true>
  Array(std::initializer_list<std::initializer_list<std::initializer_list<T2>>> values)  // NOLINT
      : Array(values, kFromList, kFromList) {}
  template <typename T2, array_impl::overload_for_float<T, T2> = true>
  Array(
      std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T2>>>> values)  // NOLINT
      : Array(values, kFromList, kFromList) {}

  Array(const Array& other) : Array(other.sizes_, kUninitialized, kUninitialized) {
    std::copy(other.begin(), other.end(), begin());
  }
  Array(Array&& other) noexcept
      : sizes_(std::move(other.sizes_)),
        num_elements_(std::exchange(other.num_elements_, 0)),
        values_(std::move(other.values_)) {
    other.sizes_.clear();
  }
  Array& operator=(const Array& other) {
    Array copy(other);
    Swap(copy);
    return *this;
  }
  Array& operator=(Array&& other) noexcept {
    Array taken(std::move(other));
    Swap(taken);
    return *this;
  }

  // Filling. Random numbers come from std::mt19937 with the given seed: the same ones in every run.

  void Fill(const T& value) { std::fill(begin(), end(), value); }
  // value, value + 1, …
  void FillIota(const T& value) { FillRepeatedIota(value, num_elements_); }
  // value, value + 1, …, value + length - 1, and from the beginning again. Steps are made in T, one after the other.
  void FillRepeatedIota(const T& value, int64_t length) {
    KASHI_CHECK(length > 0 || num_elements_ == 0) << length;
    for (int64_t i = 0; i < num_elements_; ++i) {
      values_[i] = i % length == 0 ? value : static_cast<T>(values_[i - 1] + T(1));
    }
  }
  // 0, multiple, 2 * multiple, …
  void FillWithMultiples(const T& multiple) {
    for (int64_t i = 0; i < num_elements_; ++i) values_[i] = static_cast<T>(static_cast<T>(i) * multiple);
  }
  // Normally distributed. Complex numbers: both parts, the real one drawn first, with abs(stddev).
  void FillRandom(const T& stddev, double mean = 0.0, int seed = 12345) {
    if constexpr (is_complex_v<T>) {
      array_impl::FillNormalComplex(span(), std::abs(stddev), mean, seed);
    } else {
      FillRandomDouble(static_cast<double>(stddev), mean, seed);
    }
  }
  void FillRandomDouble(double stddev, double mean = 0.0, int seed = 12345) {
    array_impl::FillDrawn(span(), std::normal_distribution<double>(mean, stddev), seed);
  }
  // Integers in [min_value, max_value].
  void FillRandomUniform(const T& min_value, const T& max_value, int seed = 12345) {
    array_impl::FillUniform(span(), min_value, max_value, seed);
  }
  void FillRandomBool(int seed = 12345) {
    array_impl::FillDrawn(span(), std::uniform_int_distribution<int32_t>(0, 1), seed);
  }
  // Row-major. Dies if the number of values differs from the number of elements.
  template <typename Container = std::initializer_list<T>>
  void SetValues(const Container& container) {
    KASHI_CHECK_EQ(static_cast<int64_t>(std::distance(std::begin(container), std::end(container))), num_elements_);
    std::copy(std::begin(container), std::end(container), begin());
  }

  // Visiting all elements in row-major order. The indices are valid during the call.

  void Each(absl::FunctionRef<void(absl::Span<const int64_t>, T*)> f) { TemplatedEach(f); }
  void Each(absl::FunctionRef<void(absl::Span<const int64_t>, T)> f) const { TemplatedEach(f); }
  // Visits each element; the compiler can inline the call.
  template <typename F>
  void TemplatedEach(const F& f) {
    array_impl::VisitIndices(sizes_, num_elements_,
                             [&](absl::Span<const int64_t> index, int64_t i) { f(index, &values_[i]); });
  }
  template <typename F>
  void TemplatedEach(const F& f) const {
    array_impl::VisitIndices(sizes_, num_elements_,
                             [&](absl::Span<const int64_t> index, int64_t i) { f(index, values_[i]); });
  }
  // Visits each element, up to the first error, which is returned.
  absl::Status EachStatus(absl::FunctionRef<absl::Status(absl::Span<const int64_t>, T*)> f) {
    return array_impl::VisitIndicesStatus(
        sizes_, num_elements_, [&](absl::Span<const int64_t> index, int64_t i) { return f(index, &values_[i]); });
  }
  absl::Status EachStatus(absl::FunctionRef<absl::Status(absl::Span<const int64_t>, T)> f) const {
    return array_impl::VisitIndicesStatus(
        sizes_, num_elements_, [&](absl::Span<const int64_t> index, int64_t i) { return f(index, values_[i]); });
  }

  // Elements. The form with one argument per dimension is checked in debug builds only; the other always checks that
  // there are as many indices as dimensions.

  template <typename... Dims>
  std::enable_if_t<std::conjunction_v<std::is_convertible<Dims, int64_t>...>, const T&> operator()(Dims... dims) const {
    return values_[LinearIndex(std::array<int64_t, sizeof...(dims)>{static_cast<int64_t>(dims)...})];
  }
  template <typename... Dims>
  std::enable_if_t<std::conjunction_v<std::is_convertible<Dims, int64_t>...>, T&> operator()(Dims... dims) {
    return values_[LinearIndex(std::array<int64_t, sizeof...(dims)>{static_cast<int64_t>(dims)...})];
  }
  const T& operator()(absl::Span<const int64_t> index) const {
    KASHI_CHECK_EQ(index.size(), sizes_.size());
    return values_[LinearIndex(index)];
  }
  T& operator()(absl::Span<const int64_t> index) {
    KASHI_CHECK_EQ(index.size(), sizes_.size());
    return values_[LinearIndex(index)];
  }

  // The elements in row-major order. Constant arrays too give a pointer that may be written through, as XLA's do.
  T* data() const { return values_.get(); }
  const T* begin() const { return values_.get(); }
  const T* end() const { return values_.get() + num_elements_; }
  T* begin() { return values_.get(); }
  T* end() { return values_.get() + num_elements_; }

  // Sizes.

  int64_t dim(int64_t n) const {
    KASHI_CHECK(n >= 0 && n < num_dimensions()) << "dimension " << n << " of " << num_dimensions();
    return sizes_[n];
  }
  absl::Span<const int64_t> dimensions() const { return sizes_; }
  int64_t num_dimensions() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t num_elements() const { return num_elements_; }

  friend bool operator==(const Array& a, const Array& b) {
    return a.sizes_ == b.sizes_ && std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator!=(const Array& a, const Array& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const Array& array) {
    return H::combine(H::combine_contiguous(std::move(h), array.begin(), array.num_elements_), array.dimensions());
  }

  // The elements with starts <= index < limits. Limits beyond the array need a value for elements outside. Dies
  // otherwise, and for starts that are negative or beyond the limits.
  Array Slice(absl::Span<const int64_t> starts, absl::Span<const int64_t> limits,
              std::optional<T> out_of_bounds_value = std::nullopt) const {
    KASHI_CHECK_EQ(starts.size(), sizes_.size());
    KASHI_CHECK_EQ(limits.size(), sizes_.size());
    DimensionVector result_sizes(sizes_.size());
    DimensionVector copied_sizes(sizes_.size());
    for (size_t i = 0; i < sizes_.size(); ++i) {
      KASHI_CHECK(starts[i] >= 0 && starts[i] <= limits[i]) << "slice [" << starts[i] << ":" << limits[i] << "]";
      if (!out_of_bounds_value.has_value()) KASHI_CHECK_LE(limits[i], sizes_[i]);
      result_sizes[i] = limits[i] - starts[i];
      copied_sizes[i] = std::max<int64_t>(0, std::min(limits[i], sizes_[i]) - starts[i]);
    }
    Array result(result_sizes, kUninitialized, kUninitialized);
    if (copied_sizes != result_sizes) result.Fill(*out_of_bounds_value);
    array_impl::CopyBox<T>({data(), sizes_, starts}, {result.data(), result_sizes, DimensionVector(sizes_.size())},
                           copied_sizes);
    return result;
  }
  // Writes `from` at start_indices. Dies if it does not fit.
  void UpdateSlice(const Array& from, absl::Span<const int64_t> start_indices) {
    KASHI_CHECK_EQ(from.sizes_.size(), sizes_.size());
    KASHI_CHECK_EQ(start_indices.size(), sizes_.size());
    for (size_t i = 0; i < sizes_.size(); ++i) {
      KASHI_CHECK_GE(start_indices[i], 0);
      KASHI_CHECK_LE(start_indices[i] + from.sizes_[i], sizes_[i]);
    }
    array_impl::CopyBox<T>({from.data(), from.sizes_, DimensionVector(sizes_.size())}, {data(), sizes_, start_indices},
                           from.sizes_);
  }

  // Changes the sizes, not the elements. The product of the sizes must stay the same.
  void Reshape(absl::Span<const int64_t> new_dimensions) {
    KASHI_CHECK_EQ(array_impl::CountElements(new_dimensions), num_elements_);
    sizes_.assign(new_dimensions.begin(), new_dimensions.end());
  }

  // Dimension i becomes the old dimension permutation[i]. Dies unless it is a permutation of the dimensions.
  void TransposeDimensions(absl::Span<const int64_t> permutation) { Transpose(permutation); }
  void TransposeDimensions(absl::Span<const int> permutation) {
    Transpose(DimensionVector(permutation.begin(), permutation.end()));
  }
  void TransposeDimensions(std::initializer_list<int> permutation) {
    TransposeDimensions(absl::MakeConstSpan(permutation.begin(), permutation.size()));
  }

  // "[1, 2]", "[[1, 2],\n [3, 4]]"; empty without dimensions. Complex numbers as "(re, im)".
  std::string ToString() const {
    if (sizes_.empty()) return "";
    std::string text;
    const T* next = begin();
    array_impl::AppendBrackets(sizes_, num_elements_, 0, &next, &text);
    return text;
  }

 private:
  // Differ from the public constructors by their number of arguments, because a braced list converts to too many types.
  enum Uninitialized { kUninitialized };
  enum FromList { kFromList };
  Array(absl::Span<const int64_t> sizes, Uninitialized, Uninitialized)
      : sizes_(sizes.begin(), sizes.end()),
        num_elements_(array_impl::CountElements(sizes)),
        values_(new T[num_elements_]) {}
  template <typename List>
  Array(const List& list, FromList, FromList) : Array(array_impl::ListSizes(list), kUninitialized, kUninitialized) {
    array_impl::CopyList(list, sizes_, begin());
  }

  void Swap(Array& other) noexcept {
    sizes_.swap(other.sizes_);
    std::swap(num_elements_, other.num_elements_);
    std::swap(values_, other.values_);
  }

  absl::Span<T> span() { return absl::MakeSpan(values_.get(), num_elements_); }
  int64_t LinearIndex(absl::Span<const int64_t> index) const { return array_impl::LinearIndex(sizes_, index); }

  void Transpose(absl::Span<const int64_t> permutation) {
    const DimensionVector strides = array_impl::RowMajorStrides(sizes_);
    const DimensionVector new_sizes = array_impl::Permute(sizes_, permutation);
    if (sizes_.size() < 2) return;
    Array result(new_sizes, kUninitialized, kUninitialized);
    if (num_elements_ > 0) {
      array_impl::CopyStrided(data(), array_impl::Permute(strides, permutation), new_sizes, result.data());
    }
    Swap(result);
  }

  DimensionVector sizes_;
  int64_t num_elements_ = 0;
  std::unique_ptr<T[]> values_;
};

}  // namespace kashi

#endif  // KASHI_LITERAL_ARRAY_H_
