// Whether two results are the same as far as two engines may agree: integers and moved elements bit for bit, real
// numbers within some units in the last place of themselves or of the largest number of their array.
#ifndef KASHI_TESTS_ENGINES_COMPARISON_H_
#define KASHI_TESTS_ENGINES_COMPARISON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi::tests {

// The results of the evaluator for programs and arguments that differ a little (nearby.h). An element may differ by a
// few times as much as these do: then the program magnifies rounding, and cannot tell the engines apart there.
using NearbyResults = std::vector<Literal>;

// How exactly a module computes.
struct Exactness {
  bool only_moves = false;  // elements are only moved: real numbers are the same bit for bit, too
  // Every operation has one right result, also where it is rounded: real numbers are the same, but for the bits of NaNs
  // and for denormal numbers, which the compiled engine flushes.
  bool is_defined = false;
  bool narrows_f64 = false;  // numbers of f32 may come from f64, and be as different as those of f32 arguments
  double unit = 0;  // the unit in the last place of its narrowest type: wider numbers may come from rounded ones
};
Exactness ExactnessOf(const HloModule& module);

// "" or where and how they differ.
std::string DescribeDifference(const Literal& expected, const Literal& actual, const Exactness& exactness,
                               const NearbyResults& nearby);
// Whether a number of the array is NaN.
bool HasNaN(const LiteralSlice& array);
// The sum of the magnitudes of its numbers: infinite or NaN if one of them is.
double SumOfMagnitudes(const LiteralSlice& array);
// The argument with its real numbers changed in their last digits.
Literal Nudge(const Literal& argument, const Exactness& exactness, uint32_t seed);

}  // namespace kashi::tests

#endif  // KASHI_TESTS_ENGINES_COMPARISON_H_
