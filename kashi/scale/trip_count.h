// The number of iterations of a loop: what XLA wrote into its backend config, or what its code says.
//
//   known_trip_count    in the backend config
//   by its counter      `i = init; while (i < bound) i += step`, with the rules of kashi/evaluator/while_loop_pattern.h
//   by evaluation       all other loops whose condition depends on a few numbers that are known before the loop
//                       (`i *= 2`): these numbers alone are computed, iteration by iteration. As XLA does, but up to
//                       kMostEvaluatedIterations, not 128
#ifndef KASHI_SCALE_TRIP_COUNT_H_
#define KASHI_SCALE_TRIP_COUNT_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::scale {

// {"known_trip_count":{"n":"10"}, …}: 10, as XLA's compilers write it into a loop's backend config. The key is searched
// for, as a JSON parser would take longer than the rest of the analysis.
std::optional<int64_t> KnownTripCount(absl::string_view backend_config);

inline constexpr int64_t kMostEvaluatedIterations = 4096;

// Finds the trip counts of a module's loops. The work of all of them together is limited, so that a hostile module ends
// soon: then the rest is not known.
class TripCounts {
 public:
  // nullopt: not known before the program runs, or the loop never ends.
  std::optional<int64_t> Of(const HloInstruction& loop);
  // Without the backend config.
  std::optional<int64_t> Derive(const HloInstruction& loop);

 private:
  int64_t work_left_ = 1'000'000;  // operations on elements, most of them of less than 1 us
};

// TripCounts().Of(loop).
std::optional<int64_t> TripCountOf(const HloInstruction& loop);

}  // namespace kashi::scale

#endif  // KASHI_SCALE_TRIP_COUNT_H_
