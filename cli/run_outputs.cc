#include "cli/run_outputs.h"

#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/npy_file.h"
#include "cli/value_summary.h"
#include "cli/verb.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"

namespace kashi::cli {

std::vector<Literal> FlattenResult(Literal result) {
  std::vector<Literal> outputs;
  const auto add = [&](Literal array) {
    outputs.push_back(array.shape().is_static() ? std::move(array) : array.ToStatic());
  };
  if (result.shape().IsArray()) {
    add(std::move(result));
    return outputs;
  }
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(result.shape())) {
    if (leaf.shape.IsArray()) add(result.SubLiteral(leaf.index));
  }
  return outputs;
}

double Tolerance::For(PrimitiveType type) const {
  if (given.has_value()) return *given;
  if (primitive_util::IsComplexType(type)) type = primitive_util::ComplexComponentType(type);
  if (!primitive_util::IsFloatingPointType(type)) return 0;
  switch (type) {
    case F64:
      return 1e-9;
    case F32:
      return 1e-4;
    case F16:
      return 1e-2;
    default:
      return 5e-2;
  }
}

std::string CheckTolerance(const std::string& value) {
  double number = 0;
  return absl::SimpleAtod(value, &number) && number >= 0 ? "" : absl::StrCat("`", value, "` is not a number from 0 up");
}

absl::StatusOr<OutputComparison> CompareOutput(const Literal& expected, const Literal& actual,
                                               const Tolerance& tolerance) {
  OutputComparison comparison;
  comparison.tolerance = tolerance.For(actual.shape().element_type());
  KASHI_ASSIGN_OR_RETURN(
      comparison.statistics,
      literal_comparison::Compare(expected, actual, ErrorSpec(comparison.tolerance, comparison.tolerance)));
  const literal_comparison::CompareStatistics& statistics = comparison.statistics;
  comparison.agrees = statistics.mismatches == 0 && (tolerance.allow_nan || !statistics.is_all_nan());
  return comparison;
}

const char* VerdictText(const OutputComparison& comparison) {
  if (comparison.agrees) return "agrees: ";
  return comparison.statistics.mismatches == 0 ? "UNKNOWN: " : "DIFFERS: ";
}

std::string ToText(const OutputComparison& comparison) {
  const bool lacks_permission = !comparison.agrees && comparison.statistics.mismatches == 0;
  return absl::StrCat(literal_comparison::ToString(comparison.statistics),
                      lacks_permission ? " (--allow-nan accepts this)" : "");
}

std::vector<std::string> OutputPathsOf(const std::string& directory, size_t device, size_t count) {
  const std::filesystem::path folder = std::filesystem::path(directory) / absl::StrCat("dev", device);
  std::vector<std::string> paths;
  for (size_t i = 0; i < count; ++i) paths.push_back((folder / absl::StrCat("out", i, ".npy")).string());
  return paths;
}

absl::StatusOr<std::vector<Literal>> ReadExpected(const std::vector<std::string>& paths,
                                                  const std::vector<Literal>& outputs) {
  if (paths.size() != outputs.size()) {
    return InvalidArgument(
        "%s given to compare with, but the program has %s",
        absl::StrCat(Count(static_cast<int64_t>(paths.size()), "file"), paths.size() == 1 ? " is" : " are"),
        Count(static_cast<int64_t>(outputs.size()), "output"));
  }
  std::vector<Literal> all;
  for (size_t i = 0; i < paths.size(); ++i) {
    absl::StatusOr<Literal> expected = ReadNpyFile(paths[i], outputs[i].shape());
    if (!expected.ok()) return InvalidArgument("expected value of out%d: %s", i, expected.status().message());
    all.push_back(*std::move(expected));
  }
  return all;
}

absl::Status MakeDirectory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return absl::OkStatus();
  return InvalidArgument("cannot create the directory %s: %s", path, error.message());
}

absl::Status WriteOutputs(const std::string& directory, const std::vector<Literal>& outputs,
                          const std::atomic<bool>& cancelled) {
  KASHI_RETURN_IF_ERROR(MakeDirectory(directory));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (cancelled.load()) return Cancelled("interrupted before out%d.npy", i);
    const std::filesystem::path path = std::filesystem::path(directory) / absl::StrCat("out", i, ".npy");
    KASHI_RETURN_IF_ERROR(WriteNpyFile(path.string(), outputs[i]));
  }
  return absl::OkStatus();
}

std::string OutputText(int64_t i, const Literal& output, const std::optional<OutputComparison>& comparison) {
  std::string text = absl::StrCat("out", i, "  ", ShapeUtil::HumanString(output.shape()), "  ",
                                  ToText(Summarize(output)), "\n  ", BeginningOf(output), "\n");
  if (!comparison.has_value()) return text;
  return absl::StrCat(text, comparison->agrees ? "  as expected: " : "  NOT as expected: ", ToText(*comparison),
                      " (tolerance ", comparison->tolerance, ")\n");
}

Json ToJson(const OutputComparison& comparison) {
  const literal_comparison::CompareStatistics& statistics = comparison.statistics;
  Json json = {{"agrees", comparison.agrees},
               {"tolerance", comparison.tolerance},
               {"elements", statistics.elements},
               {"compared", statistics.compared()},
               {"nan_on_both_sides", statistics.nan_matches},
               {"inf_on_both_sides", statistics.infinite_matches},
               {"constant", statistics.is_constant},
               {"mismatches", statistics.mismatches},
               {"max_abs", statistics.max_abs_error},
               {"max_rel", statistics.max_rel_error},
               {"max_ulp", statistics.max_ulp}};
  if (statistics.mismatches == 0) return json;
  json["first_mismatch"] =
      std::vector<int64_t>(statistics.first_mismatch_index.begin(), statistics.first_mismatch_index.end());
  return json;
}

Json OutputJson(const Literal& output, const std::optional<OutputComparison>& comparison) {
  Json json = {{"shape", ShapeUtil::HumanString(output.shape())}};
  json.update(ToJson(Summarize(output)));
  json[IsSmall(output) ? "value" : "beginning"] = BeginningOf(output);
  if (comparison.has_value()) json["comparison"] = ToJson(*comparison);
  return json;
}

}  // namespace kashi::cli
