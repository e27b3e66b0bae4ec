#include "cli/partition_module.h"

#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cli/module_check.h"
#include "cli/npy_file.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_tree.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/spmd/program_shards.h"
#include "kashi/hlo/spmd/shard_grid.h"
#include "kashi/hlo/spmd/sharded_literal.h"
#include "kashi/partition/partition_program.h"

namespace kashi::cli {
namespace {

absl::Status AtLeaf(const HloInstruction& parameter, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("parameter ", parameter.parameter_number(), " (", parameter.name(),
                                                  "): ", status.message()));
}

// The part of the array that a device holds; zeros as padding.
absl::StatusOr<Literal> ReadShard(const std::string& path, const Shape& whole, const ShardGrid& grid, int64_t device) {
  KASHI_ASSIGN_OR_RETURN(Literal shard,
                         Literal::Make(ShapeUtil::MakeShape(whole.element_type(), grid.shard_dimensions())));
  const DimensionVector sizes = grid.SizesOf(device);
  const bool is_full = sizes == grid.shard_dimensions();
  if (!is_full || !grid.Holds(device)) std::memset(shard.untyped_data(), 0, static_cast<size_t>(shard.size_bytes()));
  if (!grid.Holds(device)) return shard;
  KASHI_ASSIGN_OR_RETURN(Literal part, ReadNpyFilePart(path, whole, grid.OffsetsOf(device), sizes));
  const DimensionVector zeros(sizes.size(), 0);
  KASHI_RETURN_IF_ERROR(shard.CopySliceFrom(part, zeros, zeros, sizes));
  return shard;
}

// The shards of one array, for the wanted devices. Devices that hold the same part share the data that was read.
absl::StatusOr<std::vector<Literal>> ReadShards(const std::string& path, const Shape& whole,
                                                const HloSharding& sharding, const std::vector<bool>& wanted) {
  const int64_t devices = static_cast<int64_t>(wanted.size());
  std::vector<Literal> shards(devices);
  if (!whole.is_static()) return Unimplemented("%s has dynamic dimensions", ShapeUtil::HumanString(whole));
  KASHI_ASSIGN_OR_RETURN(const ShardGrid grid, ShardGrid::Make(sharding, whole.dimensions(), devices));
  const std::vector<int64_t> holders = grid.FirstHolders();
  std::map<int64_t, int64_t> read;  // by the first holder of the part: a device that has read it
  for (int64_t device = 0; device < devices; ++device) {
    if (!wanted[device]) continue;
    const auto found = grid.Holds(device) ? read.find(holders[device]) : read.end();
    if (found != read.end()) {
      shards[device] = shards[found->second].Clone();
      continue;
    }
    KASHI_ASSIGN_OR_RETURN(shards[device], ReadShard(path, whole, grid, device));
    if (grid.Holds(device)) read[holders[device]] = device;
  }
  return shards;
}

// Reads the arrays of one parameter, the next of `paths`, and adds it to the arguments of the devices.
absl::Status ReadParameterParts(const HloInstruction& parameter, const HloSharding& sharding,
                                const std::vector<bool>& wanted, absl::Span<const std::string>* paths,
                                std::vector<Arguments>* arguments) {
  const int64_t devices = static_cast<int64_t>(wanted.size());
  KASHI_ASSIGN_OR_RETURN(Shape local, ShardShape(parameter.shape(), sharding, devices));
  LayoutUtil::SetToDefaultLayout(&local);
  KASHI_ASSIGN_OR_RETURN(const ShapeTree<HloSharding> tree, sharding.AsShapeTree(parameter.shape()));
  for (int64_t device = 0; device < devices; ++device) {
    if (!wanted[device]) continue;
    KASHI_ASSIGN_OR_RETURN(Literal argument, Literal::Make(local));
    (*arguments)[device].push_back(std::move(argument));
  }
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(parameter.shape())) {
    if (!leaf.shape.IsArray()) continue;
    KASHI_ASSIGN_OR_RETURN(std::vector<Literal> shards,
                           ReadShards(paths->front(), leaf.shape, tree.element(leaf.index), wanted));
    paths->remove_prefix(1);
    for (int64_t device = 0; device < devices; ++device) {
      if (!wanted[device]) continue;
      KASHI_RETURN_IF_ERROR((*arguments)[device].back().MoveFrom(std::move(shards[device]), leaf.index));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddPartitionFlag(Verb* verb, bool* partitions, const std::string& description) {
  verb->AddFlag("--partition", partitions, description);
}

absl::Status NeedsGlobalProgram(const ProgramScope& scope) {
  return InvalidArgument("partitioning needs a program that is not partitioned yet: %s",
                         scope.reason.empty() ? "this one is for one device" : scope.reason);
}

bool PartitionModuleFile(ModuleFile* file, Answers* answers) {
  if (!CheckModule(*file, answers)) return false;
  const ProgramScope scope = ProgramScopeOf(*file->module);
  if (!scope.is_global()) {
    const absl::Status error = NeedsGlobalProgram(scope);
    answers->AddFileError(file->name, WithMessage(error, absl::StrCat(file->name, ": ", error.message())));
    return false;
  }
  absl::StatusOr<std::unique_ptr<HloModule>> parts = PartitionProgram(*file->module);
  if (!parts.ok()) {
    AddModuleError(*file, parts.status(), answers);
    return false;
  }
  file->module = *std::move(parts);
  return true;
}

absl::StatusOr<std::vector<Arguments>> ReadArgumentParts(const HloModule& module, int64_t devices,
                                                         const std::vector<std::string>& paths,
                                                         const DeviceFilter& is_wanted) {
  KASHI_RETURN_IF_ERROR(CheckArgumentCount(module, paths));
  const std::vector<HloSharding> shardings = ParameterShardings(module);
  std::vector<bool> wanted(devices, true);
  for (int64_t device = 0; device < devices && is_wanted; ++device) wanted[device] = is_wanted(device, devices);
  std::vector<Arguments> arguments(devices);
  absl::Span<const std::string> rest = paths;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    const absl::Status read =
        ReadParameterParts(*parameter, shardings[parameter->parameter_number()], wanted, &rest, &arguments);
    if (!read.ok()) return AtLeaf(*parameter, read);
  }
  return arguments;
}

absl::StatusOr<Literal> JoinResults(const HloModule& partitioned, std::vector<Literal> results, const Shape& whole) {
  std::vector<HloSharding> shardings;
  for (const std::optional<HloSharding>& sharding : ResultShardings(partitioned)) {
    shardings.push_back(sharding.value_or(HloSharding::Replicate()));
  }
  if (shardings.empty()) return std::move(results[0]);  // no leaf
  const HloSharding sharding = whole.IsTuple() ? HloSharding::Tuple(whole, shardings) : shardings[0];
  std::vector<LiteralSlice> shards(results.begin(), results.end());
  KASHI_ASSIGN_OR_RETURN(const std::optional<DifferentCopy> different, FindDifferentCopy(shards, sharding, whole));
  if (different.has_value()) {
    return InvalidArgument("%s of the result", different->ToString());
  }
  return JoinLiterals(shards, sharding, whole);
}

}  // namespace kashi::cli
