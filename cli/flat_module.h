// A module without fusions and calls, in which instructions keep their names.
#ifndef KASHI_CLI_FLAT_MODULE_H_
#define KASHI_CLI_FLAT_MODULE_H_

#include <memory>

#include "absl/status/statusor.h"

namespace kashi {
class HloModule;
}  // namespace kashi

namespace kashi::cli {

// A copy of a valid module, in which the instructions of fusions and of calls that are the only ones of their
// computations have the place of these. It computes the same values. A call stays where control dependencies order it.
// Instructions have the names of their originals; fusions and calls that were replaced, and the parameters of their
// computations, have none. No schedule. O(instructions + operands).
absl::StatusOr<std::unique_ptr<HloModule>> FlatModule(const HloModule& module);

}  // namespace kashi::cli

#endif  // KASHI_CLI_FLAT_MODULE_H_
