#include "kashi/partition/partition_program.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_tree.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/hlo/spmd/sdy_sharding.h"
#include "kashi/hlo/spmd/sharded_literal.h"
#include "kashi/partition/computation_partitioner.h"
#include "kashi/partition/device_axes.h"
#include "kashi/partition/flat_program.h"
#include "kashi/partition/inspect_calls.h"
#include "kashi/partition/mesh_axes.h"
#include "kashi/partition/program_shardings.h"

namespace kashi {

using partition::AxisList;
using partition::AxisSharding;
using partition::ComputationPartitioner;
using partition::DeviceAxes;
using partition::DeviceModule;
using partition::FlatProgramOf;
using partition::InspectCall;
using partition::MeshAxes;
using partition::MeshesOf;
using partition::ProgramBorders;
using partition::ProgramShardings;
using partition::TakeInspectCalls;
using partition::TellShardings;
using partition::Variable;
namespace {

using Leaves = ComputationPartitioner::Leaves;

absl::StatusOr<int64_t> PartitionsOf(const HloModule& module, const PartitionOptions& options) {
  if (module.config().replica_count() > 1) {
    return Unimplemented("a global program of %d replicas cannot be partitioned", module.config().replica_count());
  }
  int64_t partitions = options.num_partitions;
  if (partitions == 0) {
    const ProgramScope scope = ProgramScopeOf(module);
    if (!scope.is_global()) {
      return InvalidArgument("not a global program: %s", scope.reason.empty() ? "it is for one device" : scope.reason);
    }
    partitions = scope.partitions;
  }
  if (partitions >= 1 && partitions <= PartitionOptions::kMaxPartitions) return partitions;
  return InvalidArgument("%d partitions: there may be 1 to %d", partitions, PartitionOptions::kMaxPartitions);
}

// All shardings in the order of their priority for the axes: first those at the borders of the program.
std::vector<HloSharding> AllShardings(const HloModule& module) {
  std::vector<HloSharding> all;
  const auto add = [&all](const HloSharding& sharding) {
    if (!sharding.IsTuple()) return all.push_back(sharding);
    all.insert(all.end(), sharding.tuple_elements().begin(), sharding.tuple_elements().end());
  };
  for (const HloSharding& sharding : ParameterShardings(module)) add(sharding);
  for (const std::optional<HloSharding>& sharding : ResultShardings(module)) {
    if (sharding.has_value()) add(*sharding);
  }
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->has_sharding()) add(instruction->sharding());
    }
  }
  return all;
}

int64_t FirstFreeChannel(const HloModule& module) {
  int64_t channel = 1;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      const int64_t used = instruction->channel_id().value_or(0);
      if (used < std::numeric_limits<int64_t>::max()) channel = std::max(channel, used + 1);
    }
  }
  return channel;
}

// Writes the entry computation: its parameters and its result lie on the devices as the text says.
class EntryPartitioner {
 public:
  EntryPartitioner(const HloModule& flat, const ProgramShardings& shardings, const MeshAxes& mesh_axes,
                   std::vector<bool> open_results, DeviceModule* module)
      : entry_(*flat.entry_computation()),
        open_(std::move(open_results)),
        shardings_(shardings),
        mesh_axes_(mesh_axes),
        axes_(module->axes()),
        devices_(axes_.devices()),
        partitioner_(absl::StrCat(entry_.name(), "_spmd"), shardings, module) {}

  absl::StatusOr<std::unique_ptr<HloComputation>> Run(const std::vector<HloSharding>& parameters,
                                                      const std::vector<std::optional<HloSharding>>& results) {
    for (const HloInstruction* parameter : entry_.parameter_instructions()) {
      KASHI_RETURN_IF_ERROR(AddParameter(*parameter, parameters[parameter->parameter_number()]));
    }
    KASHI_RETURN_IF_ERROR(partitioner_.Emit(entry_));
    KASHI_ASSIGN_OR_RETURN(HloInstruction * root, Result(results));
    return partitioner_.program().Build(root);
  }

 private:
  bool IsExpressible(const HloSharding& sharding, const Shape& shape) const {
    return axes_.FromSharding(sharding, shape.rank()).has_value();
  }

  absl::Status AddParameter(const HloInstruction& parameter, const HloSharding& sharding) {
    Shape local = parameter.shape();
    const std::optional<AxisList> unreduced = axes_.UnreducedAxesOf(sharding);
    if (unreduced.has_value() && !unreduced->empty() && IsExpressible(sharding, local)) {
      local = axes_.ShardOf(local, *axes_.FromSharding(sharding, local.rank()));
    } else if (!sharding.IsReplicated()) {
      absl::StatusOr<Shape> shard = ShardShape(parameter.shape(), sharding, devices_);
      if (!shard.ok()) {
        return absl::Status(shard.status().code(),
                            absl::StrCat("parameter ", parameter.name(), ": ", shard.status().message()));
      }
      local = *std::move(shard);
    }
    HloInstruction* own = partitioner_.AddParameter(parameter, local);
    own->set_sharding(sharding);
    KASHI_ASSIGN_OR_RETURN(const ShapeTree<HloSharding> tree, sharding.AsShapeTree(parameter.shape()));
    Leaves leaves = partitioner_.LeavesOf(parameter);
    size_t next = 0;
    for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(parameter.shape())) {
      HloInstruction*& value = leaves[next++];
      const HloSharding& said = tree.element(leaf.index);
      if (!leaf.shape.IsArray() || said.IsReplicated() || IsExpressible(said, leaf.shape)) continue;
      KASHI_ASSIGN_OR_RETURN(const ShardGrid grid, ShardGrid::Make(said, leaf.shape.dimensions(), devices_));
      KASHI_ASSIGN_OR_RETURN(value, partitioner_.WholeOfPieces(value, grid));
    }
    partitioner_.Bind(parameter, std::move(leaves));
    return absl::OkStatus();
  }

  // Whether the text says a sharding that only a table of devices can express.
  bool IsByTable(const std::optional<HloSharding>& said, const Shape& shape) const {
    return said.has_value() && !said->IsManual() && !said->IsUnknown() && said->Validate(shape, devices_).ok() &&
           shape.is_static() && !IsExpressible(*said, shape);
  }

  // The same, for one that its caller can have.
  bool IsByEvenTable(const std::optional<HloSharding>& said, const Shape& shape) const {
    if (!IsByTable(said, shape)) return false;
    const absl::StatusOr<ShardGrid> grid = ShardGrid::Make(*said, shape.dimensions(), devices_);
    return grid.ok() && grid->is_even();
  }

  // A leaf of the result that its caller takes with any sharding by whole axes of a mesh.
  absl::StatusOr<HloInstruction*> OpenResultLeaf(HloInstruction* value, int from, int to, HloSharding* sharding) {
    const Shape& shape = *shardings_.variable(to).shape;
    if (!shape.IsArray()) return value;
    const AxisSharding wanted = mesh_axes_.WholeAxesOf(shardings_.variable(to).sharding, shape);
    *sharding = axes_.ToSharding(wanted);
    return partitioner_.program().Reshard(partitioner_.Reduced(value, from), shape, shardings_.variable(from).sharding,
                                          wanted);
  }

  // One leaf of the result, with its sharding.
  absl::StatusOr<HloInstruction*> ResultLeaf(HloInstruction* value, int from, int to,
                                             const std::optional<HloSharding>& said, HloSharding* sharding) {
    const Variable& variable = shardings_.variable(to);
    KASHI_ASSIGN_OR_RETURN(HloInstruction * leaf, partitioner_.Convert(value, from, to));
    *sharding = HloSharding::Replicate();
    if (!variable.shape->IsArray()) return leaf;
    if (!IsByTable(said, *variable.shape)) {
      *sharding = axes_.ToSharding(variable.sharding, variable.unreduced);
      return leaf;
    }
    KASHI_ASSIGN_OR_RETURN(const ShardGrid grid, ShardGrid::Make(*said, variable.shape->dimensions(), devices_));
    *sharding = *said;
    return partitioner_.OwnPiece(leaf, grid);
  }

  absl::StatusOr<HloInstruction*> Result(const std::vector<std::optional<HloSharding>>& said) {
    const HloInstruction& root = *entry_.root_instruction();
    const std::vector<int>& from = shardings_.VariablesOf(root);
    Leaves leaves;
    std::vector<HloSharding> shardings;
    for (size_t i = 0; i < from.size(); ++i) {
      if (!shardings_.variable(from[i]).shape->IsArray()) {  // a token of a manual region is one of this device, too
        shardings.push_back(HloSharding::Replicate());
        leaves.push_back(partitioner_.LeavesOf(root)[i]);
        continue;
      }
      if (shardings_.variable(from[i]).is_manual) {
        return InvalidArgument(
            "the result of this global program is different on each device: output %d, from %s, leaves no manual "
            "region by SPMDShardToFullShape. XLA's partitioner refuses such programs too",
            i, root.name());
      }
      shardings.push_back(HloSharding::Replicate());
      HloInstruction* const value = partitioner_.LeavesOf(root)[i];
      const std::optional<HloSharding> wanted = i < said.size() ? said[i] : std::nullopt;
      const Variable& out = shardings_.variable(shardings_.results()[i]);
      const bool is_asked = (i < open_.size() && open_[i]) || !out.open.empty();
      const bool is_open = is_asked && out.unreduced.empty() && !IsByEvenTable(wanted, *out.shape);
      KASHI_ASSIGN_OR_RETURN(HloInstruction * leaf,
                             is_open ? OpenResultLeaf(value, from[i], shardings_.results()[i], &shardings.back())
                                     : ResultLeaf(value, from[i], shardings_.results()[i], wanted, &shardings.back()));
      leaves.push_back(leaf);
    }
    HloInstruction* result = partitioner_.TreeOf(root.shape(), leaves);
    if (leaves.empty()) return result;
    // A parameter that goes out as it came has a sharding already: what is told of parameters is read there.
    if (result->has_sharding()) {
      result = partitioner_.program().Add(HloInstruction::CreateUnary(result->shape(), HloOpcode::kCopy, result));
    }
    result->set_sharding(root.shape().IsTuple() ? HloSharding::FlatTuple(std::move(shardings)) : shardings[0]);
    return result;
  }

  const HloComputation& entry_;
  const std::vector<bool> open_;
  const ProgramShardings& shardings_;
  const MeshAxes& mesh_axes_;
  const DeviceAxes& axes_;
  const int64_t devices_;
  ComputationPartitioner partitioner_;
};

ProgramBorders BordersOf(const HloModule& module, const PartitionOptions& options) {
  ProgramBorders borders = {ParameterShardings(module), {}, ResultShardings(module)};
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    const size_t number = borders.open_parameters.size();
    const bool is_asked = number < options.open_parameters.size() && options.open_parameters[number];
    borders.open_parameters.push_back(is_asked && !parameter->has_sharding() && parameter->shape().IsArray());
  }
  return borders;
}

// Open parameters have the shardings that were chosen for them.
void TellOpenParameters(const HloModule& flat, const ProgramShardings& shardings, const DeviceAxes& axes,
                        ProgramBorders* borders) {
  for (const HloInstruction* parameter : flat.entry_computation()->parameter_instructions()) {
    const int64_t number = parameter->parameter_number();
    if (!borders->open_parameters[number]) continue;
    const Variable& variable = shardings.variable(shardings.VariablesOf(*parameter)[0]);
    borders->parameters[number] = axes.ToSharding(variable.sharding);
  }
}

// Aliases of outputs and parameters that still have one shape.
void CopyAliases(const HloModule& module, HloModule* to) {
  const HloComputation& entry = *to->entry_computation();
  HloInputOutputAliasConfig config(entry.root_instruction()->shape());
  for (const auto& [output, alias] : module.input_output_alias_config().aliases()) {
    const Shape& result = entry.root_instruction()->shape();
    const Shape& parameter = entry.parameter_instruction(alias.parameter_number)->shape();
    if (!ShapeUtil::IndexIsValid(result, output) || !ShapeUtil::IndexIsValid(parameter, alias.parameter_index))
      continue;
    if (!ShapeUtil::Compatible(ShapeUtil::GetSubshape(result, output),
                               ShapeUtil::GetSubshape(parameter, alias.parameter_index))) {
      continue;
    }
    config.SetUpAlias(output, alias.parameter_number, alias.parameter_index, alias.kind).IgnoreError();  // was valid
  }
  to->set_input_output_alias_config(std::move(config));
  to->set_buffer_donor_config(module.buffer_donor_config());
}

std::unique_ptr<HloModule> NewModule(const HloModule& module, int64_t partitions) {
  HloModuleConfig config = module.config();
  config.clear_entry_computation_layout();
  config.set_num_partitions(partitions);
  config.set_use_spmd_partitioning(true);
  auto made = std::make_unique<HloModule>(module.name(), std::move(config));
  FrontendAttributes attributes = module.frontend_attributes();
  attributes.mutable_map()->erase("xla.sdy.meshes");
  made->set_frontend_attributes(std::move(attributes));
  *made->mutable_stack_frame_index() = module.stack_frame_index();
  made->set_source_name(module.source_name());
  return made;
}

}  // namespace

absl::StatusOr<std::unique_ptr<HloModule>> PartitionProgram(const HloModule& module, const PartitionOptions& options) {
  KASHI_ASSIGN_OR_RETURN(const int64_t partitions, PartitionsOf(module, options));
  KASHI_RETURN_IF_ERROR(hlo::CheckSdyShardings(module));
  ProgramBorders borders = BordersOf(module, options);
  const std::vector<HloSharding> meshes = MeshesOf(module, partitions), said = AllShardings(module);
  std::vector<HloSharding> in_axes = meshes;
  in_axes.insert(in_axes.end(), said.begin(), said.end());
  const DeviceAxes axes(partitions, in_axes);
  const MeshAxes mesh_axes(axes, meshes, said);
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<HloModule> flat, FlatProgramOf(module));
  std::vector<InspectCall> inspect_calls;
  if (options.inspect) {
    KASHI_ASSIGN_OR_RETURN(inspect_calls, TakeInspectCalls(flat.get()));
  }
  KASHI_ASSIGN_OR_RETURN(const ProgramShardings shardings,
                         ProgramShardings::Make(*flat, axes, mesh_axes, borders, options));
  TellOpenParameters(*flat, shardings, axes, &borders);
  KASHI_RETURN_IF_ERROR(TellShardings(inspect_calls, shardings, axes, options));
  std::unique_ptr<HloModule> made = NewModule(module, partitions);
  DeviceModule devices(made.get(), axes, FirstFreeChannel(module));
  EntryPartitioner partitioner(*flat, shardings, mesh_axes, options.open_results, &devices);
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloComputation> entry, partitioner.Run(borders.parameters, borders.results));
  made->AddEntryComputation(std::move(entry));
  made->RemoveDeadCode();
  made->mutable_config().set_entry_computation_layout(made->compute_computation_layout());
  CopyAliases(module, made.get());
  return made;
}

}  // namespace kashi
