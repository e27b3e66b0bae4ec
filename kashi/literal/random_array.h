// Arrays of random numbers of a distribution. The same seed gives the same numbers on every machine.
#ifndef KASHI_LITERAL_RANDOM_ARRAY_H_
#define KASHI_LITERAL_RANDOM_ARRAY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kashi/array/shape_index.h"
#include "kashi/base/work_meter.h"
#include "kashi/literal/literal.h"

namespace kashi::literal {

struct RandomDistributionSpec {
  enum class Kind {
    kConstant,  // all are `first`
    kUniform,   // [first, last), of integers [first, last]
    kNormal,    // mean `first`, standard deviation `last`; integers are rounded
    kWhole,     // whole numbers of [first, last], for any type
    kBits,      // any bits: for integers; others as kUniform
  };
  Kind kind = Kind::kUniform;
  double first = 0;
  double last = 1;
  bool no_duplicates = false;  // integers only, if the interval has enough of them
  bool is_sorted = false;      // ascending in storage order; integers and real numbers
};

// Fills the array at `index`. Numbers beyond the type's range become its largest or least; complex numbers get both
// parts from the distribution; for pred, a constant 0 is false and any other constant true; other rules give true and
// false equally often. Looks at `meter`, if given, every 2^20 elements, and returns its error with part of the elements
// filled. Pre: an array with memory, first <= last or kNormal, both finite or kConstant.
absl::Status FillRandom(const RandomDistributionSpec& spec, uint64_t seed, Literal* literal, const ShapeIndex& index,
                        const WorkMeter* meter = nullptr);

}  // namespace kashi::literal

#endif  // KASHI_LITERAL_RANDOM_ARRAY_H_
