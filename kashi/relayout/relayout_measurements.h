// The results of plans with RelayoutOptions::measure in this process, as text that can be kept in a file: a later
// process that reads it need not measure again.
//
//   kashi relayout measurements 1
//   machine 32K/8,512K/8,32M; 2 threads; vectors 0x3c00; kernels rows, exchange, …
//   boxes stream x2 skip=0<TAB>f32[4096,4096] -> f32[4096,4096]{0,1} padding kept, 2 threads
#ifndef KASHI_RELAYOUT_RELAYOUT_MEASUREMENTS_H_
#define KASHI_RELAYOUT_RELAYOUT_MEASUREMENTS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kashi {

// All known measurements, in the order of the problems. Any number of threads may call these functions at once.
std::string RelayoutMeasurementsToText();

// Problems that are known. It grows when a plan is measured.
int64_t RelayoutMeasurementCount();

// Adds the measurements of such a text; a known problem keeps its old result. Nothing is added after an error:
// INVALID_ARGUMENT, with the number of the line, if the text is not valid; FAILED_PRECONDITION if it is of
// another machine, or of a version of Kashi with other kernels.
absl::Status AddRelayoutMeasurements(absl::string_view text);

}  // namespace kashi

#endif  // KASHI_RELAYOUT_RELAYOUT_MEASUREMENTS_H_
