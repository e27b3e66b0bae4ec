// The custom calls that need no handler (docs/custom-calls.md).
#ifndef KASHI_EVALUATOR_KNOWN_CUSTOM_CALLS_H_
#define KASHI_EVALUATOR_KNOWN_CUSTOM_CALLS_H_

#include "absl/strings/string_view.h"

namespace kashi {

// Whether Kashi computes calls of this target without a handler.
bool IsKnownCustomCall(absl::string_view target);

}  // namespace kashi

#endif  // KASHI_EVALUATOR_KNOWN_CUSTOM_CALLS_H_
