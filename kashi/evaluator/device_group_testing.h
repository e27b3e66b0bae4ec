// Helpers of the tests of programs for several devices.
#ifndef KASHI_EVALUATOR_DEVICE_GROUP_TESTING_H_
#define KASHI_EVALUATOR_DEVICE_GROUP_TESTING_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/literal/literal.h"

namespace kashi::evaluator {

// [k]: the arguments of device k.
using DeviceArguments = std::vector<std::vector<Literal>>;

// Reads a module, verifies it, and runs it on as many devices as there are lists of arguments.
inline absl::StatusOr<std::vector<Literal>> TryRunText(absl::string_view text, DeviceArguments arguments,
                                                       std::optional<DeviceCounts> counts = std::nullopt,
                                                       const EvaluationOptions& options = {}) {
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(text));
  HloVerifier verifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true);
  KASHI_RETURN_IF_ERROR(verifier.Run(module.get()).status());
  return RunOnDevices(*module, std::move(arguments), options, counts);
}

// The results as text, "4 | 6 | 4 | 6", or the error.
inline std::string RunText(absl::string_view text, DeviceArguments arguments,
                           std::optional<DeviceCounts> counts = std::nullopt) {
  const absl::StatusOr<std::vector<Literal>> results = TryRunText(text, std::move(arguments), counts);
  if (!results.ok()) return results.status().ToString();
  return absl::StrJoin(*results, " | ", [](std::string* out, const Literal& result) {
    absl::StrAppend(out, result.ToStringWithoutShapeOneline());
  });
}

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_DEVICE_GROUP_TESTING_H_
