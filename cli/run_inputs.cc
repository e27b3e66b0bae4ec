#include "cli/run_inputs.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "cli/npy_file.h"
#include "cli/verb.h"
#include "kashi/analysis/fake_arguments.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/npy.h"
#include "kashi/proto/hlo_proto_io.h"

namespace kashi::cli {
namespace {

// The shape in the element order of .npy files.
Shape RowMajor(Shape shape) {
  LayoutUtil::SetToDefaultLayout(&shape);
  return shape;
}

// "parameter 1 (b) {0}"
std::string DescribeLeaf(const HloInstruction& parameter, const ShapeIndex& index) {
  return absl::StrCat("parameter ", parameter.parameter_number(), " (", parameter.name(), ")", index.empty() ? "" : " ",
                      index.empty() ? "" : index.ToString());
}

absl::Status Prefix(absl::string_view prefix, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(prefix, ": ", status.message()));
}

// Reads an array with dynamic dimensions: its sizes may be smaller than the bounds.
absl::StatusOr<Literal> ReadDynamicArray(absl::string_view bytes, const Shape& shape) {
  KASHI_ASSIGN_OR_RETURN(const DimensionVector sizes, ReadNpySizes(bytes));
  KASHI_ASSIGN_OR_RETURN(Shape actual, ShapeUtil::MakeValidatedShape(shape.element_type(), shape.dimensions()));
  if (sizes.size() != shape.dimensions().size()) return ReadNpy(bytes, actual);  // returns the error
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t dimension = static_cast<int64_t>(i);
    if (shape.is_dynamic_dimension(dimension) &&
        (sizes[i] <= shape.dimensions(dimension) || shape.is_unbounded_dynamic_dimension(dimension))) {
      actual.set_dimensions(static_cast<int>(i), sizes[i]);
    }
  }
  KASHI_ASSIGN_OR_RETURN(Literal literal, ReadNpy(bytes, actual));
  if (shape.is_unbounded_dynamic()) return literal;
  return literal.ToBoundedDynamic(shape);
}

absl::StatusOr<Literal> ReadArray(const std::string& path, const Shape& shape) {
  if (shape.is_static()) return ReadNpyFile(path, shape);
  KASHI_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<Literal> literal = ReadDynamicArray(bytes, shape);
  if (!literal.ok()) return Prefix(path, literal.status());
  return literal;
}

// Reads the first files of `paths` and removes them from the list. `declared` is the shape of the parameter or of its
// shard.
absl::StatusOr<Literal> ReadArgument(const HloInstruction& parameter, const Shape& declared,
                                     absl::Span<const std::string>* paths) {
  const Shape shape = RowMajor(declared);
  const auto read = [&](const Shape& leaf, const ShapeIndex& index) -> absl::StatusOr<Literal> {
    absl::StatusOr<Literal> literal = ReadArray(paths->front(), leaf);
    paths->remove_prefix(1);
    if (!literal.ok()) return Prefix(DescribeLeaf(parameter, index), literal.status());
    return literal;
  };
  if (shape.IsArray()) return read(shape, {});
  KASHI_ASSIGN_OR_RETURN(Literal argument, Literal::Make(shape));
  KASHI_RETURN_IF_ERROR(
      ShapeUtil::ForEachLeafShapeWithStatus(shape, [&](const Shape& leaf, const ShapeIndex& index) -> absl::Status {
        if (!leaf.IsArray()) return absl::OkStatus();
        KASHI_ASSIGN_OR_RETURN(Literal literal, read(leaf, index));
        return argument.MoveFrom(std::move(literal), index);
      }));
  return argument;
}

// One line per input array of the program.
std::string DescribeParameters(const HloModule& module) {
  std::string text;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    ShapeUtil::ForEachLeafShape(parameter->shape(), [&](const Shape& leaf, const ShapeIndex& index) {
      if (!leaf.IsArray()) return;
      absl::StrAppend(&text, "\n  ", DescribeLeaf(*parameter, index), " ", ShapeUtil::HumanString(leaf));
    });
  }
  return text;
}

int64_t CountArrays(const HloModule& module) {
  int64_t count = 0;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    ShapeUtil::ForEachLeafShape(parameter->shape(),
                                [&](const Shape& leaf, const ShapeIndex&) { count += leaf.IsArray() ? 1 : 0; });
  }
  return count;
}

// in0.npy, in1.npy … up to the first missing one.
std::vector<std::string> InputFilesOf(const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  while (true) {
    const std::filesystem::path path = folder / absl::StrCat("in", paths.size(), ".npy");
    if (!std::filesystem::exists(path, error)) return paths;
    paths.push_back(path.string());
  }
}

absl::Status CheckSnapshotArguments(const HloModule& module, const Arguments& arguments) {
  const HloComputation& entry = *module.entry_computation();
  if (arguments.size() != static_cast<size_t>(entry.num_parameters())) {
    return InvalidArgument("the snapshot has %s, but the program has %s",
                           Count(static_cast<int64_t>(arguments.size()), "argument"),
                           Count(entry.num_parameters(), "parameter"));
  }
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    const Shape& actual = arguments[parameter->parameter_number()].shape();
    if (ShapeUtil::Compatible(parameter->shape(), actual)) continue;
    return InvalidArgument("%s is %s in the program, but %s in the snapshot", DescribeLeaf(*parameter, {}),
                           ShapeUtil::HumanString(parameter->shape()), ShapeUtil::HumanString(actual));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckArgumentCount(const HloModule& module, const std::vector<std::string>& paths) {
  const int64_t wanted = CountArrays(module);
  if (static_cast<int64_t>(paths.size()) == wanted) return absl::OkStatus();
  return InvalidArgument("%s needs %s, not %d%s", module.entry_computation()->name(), Count(wanted, "input array"),
                         paths.size(), DescribeParameters(module));
}

namespace {

absl::StatusOr<Arguments> ReadArgumentsOf(const HloModule& module, const std::vector<std::string>& paths,
                                          absl::Span<const Shape> shapes) {
  KASHI_RETURN_IF_ERROR(CheckArgumentCount(module, paths));
  Arguments arguments;
  absl::Span<const std::string> rest = paths;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    const Shape& shape = shapes.empty() ? parameter->shape() : shapes[arguments.size()];
    KASHI_ASSIGN_OR_RETURN(Literal argument, ReadArgument(*parameter, shape, &rest));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace

absl::StatusOr<Arguments> ReadArguments(const HloModule& module, const std::vector<std::string>& paths) {
  return ReadArgumentsOf(module, paths, {});
}

absl::StatusOr<std::vector<Arguments>> ReadDeviceArguments(const HloModule& module, const std::string& directory,
                                                           absl::Span<const Shape> shapes,
                                                           const DeviceFilter& is_wanted) {
  const auto folder_of = [&](int64_t device) { return std::filesystem::path(directory) / absl::StrCat("dev", device); };
  std::error_code error;
  int64_t devices = 0;
  while (std::filesystem::is_directory(folder_of(devices), error)) ++devices;
  if (devices == 0) return InvalidArgument("%s has no directory dev0 with in0.npy, in1.npy ...", directory);
  std::vector<Arguments> all(devices);
  for (int64_t device = 0; device < devices; ++device) {
    if (is_wanted && !is_wanted(device, devices)) continue;
    absl::StatusOr<Arguments> arguments = ReadArgumentsOf(module, InputFilesOf(folder_of(device)), shapes);
    if (!arguments.ok()) return Prefix(folder_of(device).string(), arguments.status());
    all[device] = *std::move(arguments);
  }
  return all;
}

namespace {

// A rule for all parameters, or for one parameter.
struct RandomRule {
  std::optional<int64_t> parameter;
  FakeRule rule;
};

absl::StatusOr<RandomRule> ParseRandomRule(absl::string_view text) {
  RandomRule rule;
  const size_t equals = text.find('=');
  if (equals != absl::string_view::npos) {
    rule.parameter.emplace();
    if (!absl::SimpleAtoi(text.substr(0, equals), &*rule.parameter) || *rule.parameter < 0) {
      return InvalidArgument("`%s` is not the number of a parameter", text.substr(0, equals));
    }
    text.remove_prefix(equals + 1);
  }
  KASHI_ASSIGN_OR_RETURN(rule.rule, ParseFakeRule(text));
  return rule;
}

absl::StatusOr<FakeArgumentOptions> FakeOptionsOf(const RandomOptions& options) {
  FakeArgumentOptions fake;
  fake.seed = options.seed;
  fake.memory_limit_bytes =
      static_cast<int64_t>(std::min<uint64_t>(options.memory_limit, std::numeric_limits<int64_t>::max()));
  fake.meter = options.meter;
  for (const std::string& text : options.rules) {
    KASHI_ASSIGN_OR_RETURN(const RandomRule rule, ParseRandomRule(text));
    if (rule.parameter.has_value()) {
      fake.rules[*rule.parameter] = rule.rule;
    } else {
      fake.rule = rule.rule;
    }
  }
  return fake;
}

Json ToJson(const HloInstruction& parameter, const FakeArray& array) {
  Json json = {{"parameter", parameter.parameter_number()}, {"name", parameter.name()}};
  if (!array.index.empty()) json["leaf"] = array.index.ToString();
  json["shape"] = ShapeUtil::HumanString(array.shape);
  json["rule"] = array.rule;
  json["first"] = array.first;
  json["last"] = array.last;
  if (!array.user.empty()) json["for"] = array.user;
  return json;
}

}  // namespace

std::string CheckRandomRule(const std::string& text) { return std::string(ParseRandomRule(text).status().message()); }

absl::StatusOr<ChosenArguments> MakeRandomArguments(const HloModule& module, const RandomOptions& options) {
  KASHI_ASSIGN_OR_RETURN(const FakeArgumentOptions fake, FakeOptionsOf(options));
  KASHI_ASSIGN_OR_RETURN(std::vector<FakeArgument> made, MakeFakeArguments(module, fake));
  ChosenArguments chosen;
  chosen.made_up = Json::array();
  for (size_t i = 0; i < made.size(); ++i) {
    const HloInstruction& parameter = *module.entry_computation()->parameter_instruction(static_cast<int64_t>(i));
    for (const FakeArray& array : made[i].arrays) {
      chosen.made_up.push_back(ToJson(parameter, array));
      if (array.user.empty() && options.rules.empty()) continue;
      absl::StrAppend(&chosen.text, "  ", DescribeLeaf(parameter, array.index), " ",
                      ShapeUtil::HumanString(array.shape), ": ", array.ToString(), "\n");
    }
    chosen.arguments.push_back(std::move(made[i].literal));
  }
  return chosen;
}

absl::StatusOr<std::optional<Arguments>> SnapshotArguments(const ModuleFile& file) {
  const HloUnoptimizedSnapshot& unoptimized = file.proto->unoptimized_snapshot;
  if (unoptimized.partitions_size() > 1) return std::nullopt;
  const auto& protos =
      unoptimized.partitions_size() == 1 ? unoptimized.partitions(0).arguments() : file.proto->snapshot.arguments();
  if (protos.empty()) return std::nullopt;
  Arguments arguments;
  for (const LiteralProto& proto : protos) {
    KASHI_ASSIGN_OR_RETURN(Literal argument, Literal::CreateFromProto(proto));
    arguments.push_back(std::move(argument));
  }
  KASHI_RETURN_IF_ERROR(CheckSnapshotArguments(*file.module, arguments));
  return arguments;
}

absl::StatusOr<std::optional<Literal>> SnapshotResult(const ModuleFile& file) {
  if (!file.proto->snapshot.has_result()) return std::nullopt;
  KASHI_ASSIGN_OR_RETURN(Literal result, Literal::CreateFromProto(file.proto->snapshot.result()));
  return result;
}

void PrintRandomNote(uint64_t seed, const ChosenArguments& chosen) {
  constexpr int kMostLines = 12;
  std::string note = absl::StrCat("kashi: no --input: using random arguments, --seed ", seed, "\n");
  const std::vector<absl::string_view> lines = absl::StrSplit(chosen.text, '\n', absl::SkipEmpty());
  for (size_t i = 0; i < lines.size() && i < kMostLines; ++i) {
    absl::StrAppend(&note, lines[i], "\n");
  }
  if (lines.size() > kMostLines) {
    absl::StrAppend(&note, "  and ", Count(static_cast<int64_t>(lines.size() - kMostLines), "more input"),
                    " (--json lists all)\n");
  }
  PrintNote(note);
}

absl::StatusOr<ChosenArguments> ChooseArguments(const ModuleFile& file, const std::vector<std::string>& paths,
                                                const RandomOptions& random) {
  ChosenArguments chosen;
  if (!paths.empty()) {
    KASHI_ASSIGN_OR_RETURN(chosen.arguments, ReadArguments(*file.module, paths));
    return chosen;
  }
  if (random.rules.empty()) {
    KASHI_ASSIGN_OR_RETURN(std::optional<Arguments> from_snapshot, SnapshotArguments(file));
    if (from_snapshot.has_value()) {
      if (random.prints_note) PrintNote("kashi: no --input: using the arguments of the snapshot\n");
      chosen.arguments = *std::move(from_snapshot);
      return chosen;
    }
  }
  KASHI_ASSIGN_OR_RETURN(chosen, MakeRandomArguments(*file.module, random));
  if (random.prints_note && CountArrays(*file.module) > 0) PrintRandomNote(random.seed, chosen);
  return chosen;
}

}  // namespace kashi::cli
