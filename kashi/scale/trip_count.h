// The number of iterations of a loop.
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

// From the backend config, or from the loop's own counter. nullopt: not known before the program runs.
std::optional<int64_t> TripCountOf(const HloInstruction& loop);

}  // namespace kashi::scale

#endif  // KASHI_SCALE_TRIP_COUNT_H_
