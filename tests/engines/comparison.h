// Whether two results are the same as far as two engines may agree: integers and moved elements bit for bit, real
// numbers within some units in the last place of themselves or of the largest number of their array.
#ifndef KASHI_TESTS_ENGINES_COMPARISON_H_
#define KASHI_TESTS_ENGINES_COMPARISON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi::internal {

// The results of the evaluator on arguments that differ in their last digits, or without rounding in between. An
// element may differ by a few times as much as these do: then the program magnifies rounding, and cannot tell the
// engines apart there.
using NearbyResults = std::vector<Literal>;

// How exactly a module computes.
struct Exactness {
  bool only_moves = false;  // elements are only moved: real numbers are the same bit for bit, too
  double unit = 0;  // the unit in the last place of its narrowest type that either engine may keep in a wider one
};
Exactness ExactnessOf(const HloModule& module);

// "" or where and how they differ.
std::string DescribeDifference(const Literal& expected, const Literal& actual, const Exactness& exactness,
                               const NearbyResults& nearby);
// Whether a number of the array is NaN.
bool HasNaN(const LiteralSlice& array);
// The argument with its real numbers changed in their last digits.
Literal Nudge(const Literal& argument, uint32_t seed);

}  // namespace kashi::internal

#endif  // KASHI_TESTS_ENGINES_COMPARISON_H_
