// Literals of random numbers, as inputs for a module.
#ifndef KASHI_LITERAL_FAKE_LITERAL_H_
#define KASHI_LITERAL_FAKE_LITERAL_H_

#include <cstdint>
#include <optional>
#include <random>
#include <utility>

#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/literal/literal.h"

namespace kashi {

// Any shape of arrays, tokens and tuples of these; UNIMPLEMENTED for others. With `pseudo_random` the numbers are the
// same in every run: integers from the whole range of their type, real numbers from [-0.1, 0.2), or, with
// `use_large_range`, finite ones whose exponents are equally frequent. Without it all numbers of an array are equal.
// The numbers differ from XLA's.
absl::StatusOr<Literal> MakeFakeLiteral(const Shape& shape, bool pseudo_random = true, bool use_large_range = false);

// With the caller's engine (null: like pseudo_random = false), and options:
//   limit                   integers from [first, second], within the range of the type
//   is_sorted               ascending integers, in storage order
//   no_duplicates           no number twice, if the type and `limit` have enough numbers; not for half, narrower
//                           floats, complex
//   max_bits_of_precision   significant bits that a number has at most; for integers, of its absolute value
absl::StatusOr<Literal> MakeFakeLiteral(const Shape& shape, std::minstd_rand0* engine,
                                        std::optional<std::pair<int64_t, int64_t>> limit, bool is_sorted,
                                        bool no_duplicates, bool use_large_range,
                                        std::optional<int64_t> max_bits_of_precision);

}  // namespace kashi

#endif  // KASHI_LITERAL_FAKE_LITERAL_H_
