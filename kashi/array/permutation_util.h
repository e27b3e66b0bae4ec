// Permutations of [0, n) as lists. XLA's names.
//
//   Permute(x, p)[i]             == x[p[i]]
//   PermuteInverse(x, p)[p[i]]   == x[i]
//   InversePermutation(p)[p[i]]  == i
//   ComposePermutations(a, b)[i] == a[b[i]]
//
// All die if `p` is not a permutation of the right size (ComposePermutations: only on entries out of range, as in XLA).
// Results are vectors. All but Permute can return another container: InversePermutation<DimensionVector>(p).
#ifndef KASHI_ARRAY_PERMUTATION_UTIL_H_
#define KASHI_ARRAY_PERMUTATION_UTIL_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "kashi/base/check.h"

namespace kashi {

// True if every number of [0, size) is in the list exactly once.
bool IsPermutation(absl::Span<const int64_t> permutation);

// `input` is any indexable container with a value_type, such as a Span or a vector<bool>.
template <typename Input>
std::vector<typename Input::value_type> Permute(const Input& input, absl::Span<const int64_t> permutation) {
  KASHI_CHECK_EQ(input.size(), permutation.size());
  KASHI_CHECK(IsPermutation(permutation));
  std::vector<typename Input::value_type> output(input.size());
  for (size_t i = 0; i < permutation.size(); ++i) output[i] = input[permutation[i]];
  return output;
}

template <typename Container = void, typename Input>
auto PermuteInverse(const Input& input, absl::Span<const int64_t> permutation) {
  using Output = std::conditional_t<std::is_void<Container>::value, std::vector<typename Input::value_type>, Container>;
  KASHI_CHECK_EQ(input.size(), permutation.size());
  KASHI_CHECK(IsPermutation(permutation));
  Output output(input.size());
  for (size_t i = 0; i < permutation.size(); ++i) output[permutation[i]] = input[i];
  return output;
}

// Lists in braces.
template <typename T>
std::vector<T> Permute(std::initializer_list<T> input, absl::Span<const int64_t> permutation) {
  return Permute(absl::Span<const T>(input), permutation);
}
template <typename Container = void, typename T>
auto PermuteInverse(std::initializer_list<T> input, absl::Span<const int64_t> permutation) {
  return PermuteInverse<Container>(absl::Span<const T>(input), permutation);
}

// The empty list in braces, `{}`, which says nothing of its elements' type.
struct NoElements {};
template <typename Container = std::vector<int64_t>>
Container PermuteInverse(NoElements, absl::Span<const int64_t> permutation) {
  KASHI_CHECK(permutation.empty());
  return {};
}

template <typename Container = std::vector<int64_t>>
Container InversePermutation(absl::Span<const int64_t> permutation) {
  KASHI_CHECK(IsPermutation(permutation));
  Container output(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) output[permutation[i]] = static_cast<int64_t>(i);
  return output;
}

template <typename Container = std::vector<int64_t>>
Container ComposePermutations(absl::Span<const int64_t> p1, absl::Span<const int64_t> p2) {
  KASHI_CHECK_EQ(p1.size(), p2.size());
  Container output(p2.size());
  for (size_t i = 0; i < p2.size(); ++i) {
    KASHI_CHECK(p2[i] >= 0 && p2[i] < static_cast<int64_t>(p1.size()));
    output[i] = p1[p2[i]];
  }
  return output;
}

template <typename Container>
bool IsIdentityPermutation(const Container& permutation) {
  for (int64_t i = 0; i < static_cast<int64_t>(permutation.size()); ++i) {
    if (permutation[i] != i) return false;
  }
  return true;
}
inline bool IsIdentityPermutation(std::initializer_list<int64_t> permutation) {
  return IsIdentityPermutation(absl::MakeConstSpan(permutation.begin(), permutation.size()));
}

}  // namespace kashi

#endif  // KASHI_ARRAY_PERMUTATION_UTIL_H_
