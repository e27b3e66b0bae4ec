#include "cli/run_expected.h"

#include <string>

#include "absl/status/status.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"

namespace kashi::cli {
namespace {

absl::StatusOr<std::vector<Literal>> Expected(const RunOptions& options, const std::optional<Literal>& snapshot_result,
                                              size_t device, const std::vector<Literal>& outputs) {
  if (snapshot_result.has_value()) return FlattenResult(snapshot_result->Clone());
  const bool is_of_device = !options.expect_devices.empty();
  const std::vector<std::string> paths =
      is_of_device ? OutputPathsOf(options.expect_devices, device, outputs.size()) : options.expect;
  if (paths.empty()) return std::vector<Literal>();
  return ReadExpected(paths, outputs);
}

}  // namespace

absl::StatusOr<std::vector<std::optional<OutputComparison>>> CompareWithExpected(
    const RunOptions& options, const std::optional<Literal>& snapshot_result, size_t device,
    const std::vector<Literal>& outputs) {
  std::vector<std::optional<OutputComparison>> comparisons(outputs.size());
  KASHI_ASSIGN_OR_RETURN(const std::vector<Literal> expected, Expected(options, snapshot_result, device, outputs));
  if (expected.empty()) return comparisons;
  if (expected.size() != outputs.size()) {
    return InvalidArgument("the snapshot has %s, but the program has %d",
                           Count(static_cast<int64_t>(expected.size()), "result"), outputs.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(comparisons[i],
                           CompareOutput(expected[i], outputs[i], Tolerance{options.tolerance, options.allow_nan}));
  }
  return comparisons;
}

}  // namespace kashi::cli
