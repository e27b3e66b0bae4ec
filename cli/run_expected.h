// The outputs that `kashi run` compares with: --expect, --expect-devices, or the result in a snapshot.
#ifndef KASHI_CLI_RUN_EXPECTED_H_
#define KASHI_CLI_RUN_EXPECTED_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/run_options.h"
#include "cli/run_outputs.h"
#include "kashi/literal/literal.h"

namespace kashi::cli {

// One comparison for each output of the device; nothing without an expected value. snapshot_result: the expected
// result, if there is one.
absl::StatusOr<std::vector<std::optional<OutputComparison>>> CompareWithExpected(
    const RunOptions& options, const std::optional<Literal>& snapshot_result, size_t device,
    const std::vector<Literal>& outputs);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RUN_EXPECTED_H_
