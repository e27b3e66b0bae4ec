// Values in a few numbers, as `kashi run` and `kashi diff` show them.
#ifndef KASHI_CLI_VALUE_SUMMARY_H_
#define KASHI_CLI_VALUE_SUMMARY_H_

#include <cstdint>
#include <string>

#include "cli/json.h"

namespace kashi {
class HloInstruction;
class Literal;
class Value;
}  // namespace kashi

namespace kashi::internal {
}  // namespace kashi::internal

namespace kashi::internal::cli {

// Of complex numbers it is the magnitude that is large or small; one with a NaN part is a NaN.
struct ValueSummary {
  int64_t elements = 0;
  int64_t nans = 0;
  int64_t infinities = 0;
  // Of the finite ones; 0 if there is none.
  double min = 0;
  double max = 0;
  double mean = 0;

  int64_t finite() const { return elements - nans - infinities; }
};

// Of arrays of any kind; of a tuple, over all its arrays. O(elements).
ValueSummary Summarize(const Value& value);
// Pre: a static array.
ValueSummary Summarize(const Literal& array);

// "min -0.5, max 3, mean 1.25, 2 NaN, 1 infinite".
std::string ToText(const ValueSummary& summary);
Json ToJson(const ValueSummary& summary);

// Up to 32 elements: the whole value; of more, the first ones. Pre: a static array.
std::string BeginningOf(const Literal& array);
bool IsSmall(const Literal& array);

// "model.py:12 jit(f)/mul", from the metadata; "" if there is none.
std::string SourceOf(const HloInstruction& instruction);

// The instruction without metadata and backend configuration.
std::string ShortText(const HloInstruction& instruction);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_VALUE_SUMMARY_H_
