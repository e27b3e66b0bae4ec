// What a run gives: shown, written, compared.
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

namespace kashi::internal::cli {

// The arrays of a result in flattened order; of dynamic ones the valid elements.
std::vector<Literal> FlattenResult(Literal result);

// How far a number may be off, both absolutely and relative to the expected one. What is not floating point is always to
// be equal. Unless said, by the type: f64 1e-9, f32 1e-4, f16 1e-2, narrower ones 5e-2; complex types as their parts.
struct Tolerance {
  std::optional<double> given;
  bool allow_nan = false;  // an output that is NaN everywhere, on both sides, agrees
  double For(PrimitiveType type) const;
};

// What is wrong with a --tolerance; "" if nothing is.
std::string CheckTolerance(const std::string& value);

// An output and what it should be.
struct OutputComparison {
  double tolerance;
  literal_comparison::CompareStatistics statistics;
  // No element differs, and something was compared: not where all are NaN on both sides, unless that is allowed.
  bool agrees = false;
};
// INVALID_ARGUMENT if types or sizes differ.
absl::StatusOr<OutputComparison> CompareOutput(const Literal& expected, const Literal& actual,
                                               const Tolerance& tolerance);

// The files as arrays of the outputs' types and sizes. Errors name the file and the output.
absl::StatusOr<std::vector<Literal>> ReadExpected(const std::vector<std::string>& paths,
                                                  const std::vector<Literal>& outputs);

// out0.npy, out1.npy …, each whole or not at all; makes the directory. CANCELLED once `*cancelled`.
absl::Status WriteOutputs(const std::string& directory, const std::vector<Literal>& outputs,
                          const std::atomic<bool>& cancelled);

// "out0  f32[2]  min …", the beginning below it, and how it compares.
std::string OutputText(int64_t i, const Literal& output, const std::optional<OutputComparison>& comparison);
Json OutputJson(const Literal& output, const std::optional<OutputComparison>& comparison);
Json ToJson(const OutputComparison& comparison);
// "0 of 3 elements differ; …", and what to do where nothing was compared.
std::string ToText(const OutputComparison& comparison);
// What stands before it in a line of kashi diff: "agrees: ", "DIFFERS: ", or "UNKNOWN: " where nothing was compared.
const char* VerdictText(const OutputComparison& comparison);

// Makes a directory and those above it. INVALID_ARGUMENT if that is not possible.
absl::Status MakeDirectory(const std::string& path);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_RUN_OUTPUTS_H_
