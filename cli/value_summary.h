// Summaries of values for `kashi run` and `kashi diff`.
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

namespace kashi::cli {

// A complex number counts by its magnitude, and as NaN if a part is NaN.
struct ValueSummary {
  int64_t elements = 0;
  int64_t nans = 0;
  int64_t infinities = 0;
  // Of the finite elements; 0 if there are none.
  double min = 0;
  double max = 0;
  double mean = 0;

  int64_t finite() const { return elements - nans - infinities; }
};

// The summary of an array, or of all arrays of a tuple. O(elements).
ValueSummary Summarize(const Value& value);
// Pre: a static array.
ValueSummary Summarize(const Literal& array);

// The index of the first element of this kind: "{2,0}", or "{2,0} of output {1}" in a tuple. "" if there is none.
// O(elements).
enum class NonFinite { kNan, kInfinity };
std::string FirstPlaceOf(NonFinite kind, const Value& value);

// "min -0.5, max 3, mean 1.25, 2 NaN, 1 infinite".
std::string ToText(const ValueSummary& summary);
Json ToJson(const ValueSummary& summary);

// All elements of an array of at most 32, otherwise the first ones. Pre: a static array.
std::string BeginningOf(const Literal& array);
bool IsSmall(const Literal& array);

// "model.py:12 jit(f)/mul", from the metadata; "" if there is none.
std::string SourceOf(const HloInstruction& instruction);

// The instruction without metadata and backend configuration.
std::string ShortText(const HloInstruction& instruction);

}  // namespace kashi::cli

#endif  // KASHI_CLI_VALUE_SUMMARY_H_
