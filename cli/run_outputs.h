// The outputs of a run: printed, written, compared.
#ifndef KASHI_CLI_RUN_OUTPUTS_H_
#define KASHI_CLI_RUN_OUTPUTS_H_

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/json.h"
#include "kashi/array/primitive_type.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_comparison.h"

namespace kashi::cli {

// The arrays of a result in flattened order. A dynamic array has its valid elements only.
std::vector<Literal> FlattenResult(Literal result);

// The largest error of a floating point number, absolute and relative. Other numbers must be equal. The default depends
// on the type: f64 1e-9, f32 1e-4, f16 1e-2, narrower types 5e-2; complex types as their parts.
struct Tolerance {
  std::optional<double> given;
  bool allow_nan = false;  // an output that is all NaN on both sides agrees
  double For(PrimitiveType type) const;
};

// An error message about a --tolerance; "" if it is valid.
std::string CheckTolerance(const std::string& value);

// The comparison of an output with its expected value.
struct OutputComparison {
  double tolerance;
  literal_comparison::CompareStatistics statistics;
  // No element differs, and an element was compared, or all are NaN on both sides and that is allowed.
  bool agrees = false;
};
// INVALID_ARGUMENT if types or sizes differ.
absl::StatusOr<OutputComparison> CompareOutput(const Literal& expected, const Literal& actual,
                                               const Tolerance& tolerance);

// DIR/dev<device>/out0.npy, out1.npy …, `count` paths.
std::vector<std::string> OutputPathsOf(const std::string& directory, size_t device, size_t count);

// Reads files with the types and sizes of the outputs. Errors name the file and the output.
absl::StatusOr<std::vector<Literal>> ReadExpected(const std::vector<std::string>& paths,
                                                  const std::vector<Literal>& outputs);

// Writes out0.npy, out1.npy …; each file appears whole or not at all. Creates the directory. CANCELLED if `*cancelled`.
absl::Status WriteOutputs(const std::string& directory, const std::vector<Literal>& outputs,
                          const std::atomic<bool>& cancelled);

// "out0  f32[2]  min …", the first elements, and the comparison.
std::string OutputText(int64_t i, const Literal& output, const std::optional<OutputComparison>& comparison);
Json OutputJson(const Literal& output, const std::optional<OutputComparison>& comparison);
Json ToJson(const OutputComparison& comparison);
// "0 of 3 elements differ; …", with a hint if no element was compared.
std::string ToText(const OutputComparison& comparison);
// The verdict of kashi diff: "agrees: ", "DIFFERS: ", or "UNKNOWN: " if no element was compared.
const char* VerdictText(const OutputComparison& comparison);

// Creates a directory and its parents. INVALID_ARGUMENT if that fails.
absl::Status MakeDirectory(const std::string& path);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RUN_OUTPUTS_H_
