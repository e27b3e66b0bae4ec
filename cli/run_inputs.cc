#include "cli/run_inputs.h"

#include <cstdio>
#include <filesystem>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cli/npy_file.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/machine.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/hlo_computation.h"
#include "kashi/hlo/hlo_module.h"
#include "kashi/literal/fake_literal.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/npy.h"
#include "kashi/proto/hlo_proto_io.h"

namespace kashi::cli {
namespace {

constexpr int64_t kLargestRandomInteger = 127;

// In the order in which elements lie in files.
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

// An array with dynamic dimensions takes any sizes up to its bounds.
absl::StatusOr<Literal> ReadDynamicArray(absl::string_view bytes, const Shape& shape) {
  KASHI_ASSIGN_OR_RETURN(const DimensionVector sizes, ReadNpySizes(bytes));
  KASHI_ASSIGN_OR_RETURN(Shape actual, ShapeUtil::MakeValidatedShape(shape.element_type(), shape.dimensions()));
  if (sizes.size() != shape.dimensions().size()) return ReadNpy(bytes, actual);  // says what is wrong
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

// Reads files from the front of `paths` and takes them away. `declared`: the parameter's shape, or that of a shard of it.
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

// One a line: what the program takes.
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

// in0.npy, in1.npy … as many as there are.
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
    return InvalidArgument("the snapshot has %d arguments, the program %d parameters", arguments.size(),
                           entry.num_parameters());
  }
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    const Shape& actual = arguments[parameter->parameter_number()].shape();
    if (ShapeUtil::Compatible(parameter->shape(), actual)) continue;
    return InvalidArgument("%s is %s, and %s in the snapshot", DescribeLeaf(*parameter, {}),
                           ShapeUtil::HumanString(parameter->shape()), ShapeUtil::HumanString(actual));
  }
  return absl::OkStatus();
}

absl::StatusOr<Arguments> ReadArgumentsOf(const HloModule& module, const std::vector<std::string>& paths,
                                          absl::Span<const Shape> shapes) {
  const int64_t wanted = CountArrays(module);
  if (static_cast<int64_t>(paths.size()) != wanted) {
    return InvalidArgument("%s takes %d input arrays; files given: %d%s", module.entry_computation()->name(), wanted,
                           paths.size(), DescribeParameters(module));
  }
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
                                                           absl::Span<const Shape> shapes) {
  std::vector<Arguments> all;
  std::error_code error;
  while (true) {
    const std::filesystem::path folder = std::filesystem::path(directory) / absl::StrCat("dev", all.size());
    if (!std::filesystem::is_directory(folder, error)) break;
    absl::StatusOr<Arguments> arguments = ReadArgumentsOf(module, InputFilesOf(folder), shapes);
    if (!arguments.ok()) return Prefix(folder.string(), arguments.status());
    all.push_back(*std::move(arguments));
  }
  if (all.empty()) return InvalidArgument("%s holds no folder dev0 with in0.npy, in1.npy ...", directory);
  return all;
}

namespace {

// Bytes that literals of the parameters take; a large number where that is beyond counting.
double BytesOfParameters(const HloModule& module) {
  double bytes = 0;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    ShapeUtil::ForEachSubshape(parameter->shape(), [&](const Shape& part, const ShapeIndex&) {
      if (!part.IsArray()) return;
      double array = static_cast<double>(ShapeUtil::ByteSizeOfPrimitiveType(part.element_type()));
      for (int64_t size : part.dimensions()) array *= static_cast<double>(size);
      bytes += array;
    });
  }
  return bytes;
}

}  // namespace

absl::StatusOr<Arguments> MakeRandomArguments(const HloModule& module, uint64_t seed, uint64_t memory_limit) {
  const double limit = static_cast<double>(memory_limit > 0 ? memory_limit : DefaultMemoryLimit());
  if (const double bytes = BytesOfParameters(module); bytes > limit) {
    return WithLimitKind(ResourceExhausted("the inputs take %.0f bytes; the limit is %.0f", bytes, limit),
                         LimitKind::kMemory);
  }
  std::minstd_rand0 engine(static_cast<std::minstd_rand0::result_type>(seed));
  Arguments arguments;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    absl::StatusOr<Literal> argument =
        MakeFakeLiteral(RowMajor(parameter->shape()), &engine, std::make_pair<int64_t>(0, kLargestRandomInteger),
                        /*is_sorted=*/false, /*no_duplicates=*/false, /*use_large_range=*/false, std::nullopt);
    if (!argument.ok()) return Prefix(DescribeLeaf(*parameter, {}), argument.status());
    arguments.push_back(*std::move(argument));
  }
  return arguments;
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

void SayRandom(uint64_t seed) {
  std::fprintf(stderr, "kashi: no --input: random numbers, --seed %llu\n", static_cast<unsigned long long>(seed));
}

absl::StatusOr<Arguments> ChooseArguments(const ModuleFile& file, const std::vector<std::string>& paths, uint64_t seed,
                                          uint64_t memory_limit) {
  if (!paths.empty()) return ReadArguments(*file.module, paths);
  KASHI_ASSIGN_OR_RETURN(std::optional<Arguments> from_snapshot, SnapshotArguments(file));
  if (from_snapshot.has_value()) {
    std::fputs("kashi: no --input: the arguments of the snapshot\n", stderr);
    return *std::move(from_snapshot);
  }
  if (CountArrays(*file.module) > 0) SayRandom(seed);
  return MakeRandomArguments(*file.module, seed, memory_limit);
}

}  // namespace kashi::cli
