// Collectives (docs/spec/vhlo.md 6.6).
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/collective_device_list.h"
#include "kashi/hlo/attributes/mesh.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {
namespace {

absl::StatusOr<int64_t> NumberField(const Attribute& record, absl::string_view name) {
  const Attribute* field = FindField(record, name);
  if (field == nullptr) return InvalidArgument("replica_groups: a record without `%s`", name);
  return ReadInt64(*field);
}

absl::StatusOr<Mesh> MeshOf(const Attribute& record) {
  const Attribute* axes = FindField(record, "axes");
  if (axes == nullptr) return InvalidArgument("replica_groups: a mesh without axes");
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  for (const Attribute* axis : axes->elements) {
    const Attribute* name = FindField(*axis, "name");
    if (name == nullptr) return InvalidArgument("replica_groups: an axis without a name");
    names.emplace_back(name->text);
    KASHI_ASSIGN_OR_RETURN(sizes.emplace_back(), NumberField(*axis, "size"));
  }
  Mesh mesh(std::move(names), std::move(sizes));
  KASHI_RETURN_IF_ERROR(mesh.Validate());
  return mesh;
}

absl::StatusOr<AxisRef> AxisOf(const Mesh& mesh, const Attribute& record) {
  const Attribute* name = FindField(record, "name");
  const Attribute* part = FindField(record, "sub_axis");
  for (int64_t i = 0; name != nullptr && i < mesh.num_axes(); ++i) {
    if (mesh.axis_name(i) != name->text) continue;
    if (part == nullptr || part->kind == Attribute::Kind::kUnit) return AxisRef(i);
    KASHI_ASSIGN_OR_RETURN(const int64_t pre_size, NumberField(*part, "pre_size"));
    KASHI_ASSIGN_OR_RETURN(const int64_t size, NumberField(*part, "size"));
    return AxisRef(i, {pre_size, size});
  }
  return InvalidArgument("replica_groups: an axis that the mesh does not have");
}

absl::StatusOr<CollectiveDeviceList> MeshGroups(OperationConverter& c, const Attribute& groups) {
  const Attribute* mesh_record = FindField(groups, "mesh");
  if (mesh_record != nullptr && mesh_record->kind == Attribute::Kind::kSymbol) {
    mesh_record = c.module().FindMesh(mesh_record->text);
  }
  const Attribute* axes = FindField(groups, "axes");
  if (mesh_record == nullptr || axes == nullptr) return InvalidArgument("replica_groups: no such mesh");
  KASHI_ASSIGN_OR_RETURN(Mesh mesh, MeshOf(*mesh_record));
  std::vector<AxisRef> refs;
  for (const Attribute* axis : axes->elements) {
    KASHI_ASSIGN_OR_RETURN(AxisRef ref, AxisOf(mesh, *axis));
    refs.push_back(ref);
  }
  KASHI_ASSIGN_OR_RETURN(const MeshAxesReplicaGroupList list,
                         MeshAxesReplicaGroupList::Create(std::move(mesh), std::move(refs)));
  return CollectiveDeviceList(list);
}

// A row for each group; -1 fills short rows.
absl::StatusOr<CollectiveDeviceList> GroupsOf(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* groups, c.Find("replica_groups"));
  if (groups->kind == Attribute::Kind::kRecord) return MeshGroups(c, *groups);
  KASHI_ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> rows, ReadRows(*groups));
  std::vector<ReplicaGroup> list;
  for (const std::vector<int64_t>& row : rows) {
    ReplicaGroup& group = list.emplace_back();
    for (const int64_t id : row) {
      if (id >= 0) group.add_replica_ids(id);
    }
  }
  if (list.size() == 1 && list[0].replica_ids().empty()) list.clear();
  return CollectiveDeviceList(std::move(list));
}

// 0 means no channel.
absl::StatusOr<std::optional<int64_t>> ChannelOf(const OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const int64_t channel, c.Int("channel_id"));
  return channel > 0 ? std::optional<int64_t>(channel) : std::nullopt;
}

// The common data of most collectives.
struct Common {
  Shape shape;  // of the result, a tuple where there are several
  CollectiveDeviceList groups;
  std::optional<int64_t> channel;
  bool use_global_device_ids = false;
};
absl::StatusOr<Common> CommonOf(OperationConverter& c) {
  Common common;
  KASHI_ASSIGN_OR_RETURN(common.shape, c.ResultsShape());
  KASHI_ASSIGN_OR_RETURN(common.groups, GroupsOf(c));
  if (c.operation().Find("channel_id") != nullptr) {
    KASHI_ASSIGN_OR_RETURN(common.channel, ChannelOf(c));
  }
  if (c.operation().Find("use_global_device_ids") != nullptr) {
    KASHI_ASSIGN_OR_RETURN(common.use_global_device_ids, c.Bool("use_global_device_ids"));
  }
  return common;
}

// A single reducer combines all operands.
absl::StatusOr<Instructions> PromoteOperands(OperationConverter& c, const HloComputation& reducer) {
  Instructions promoted;
  for (HloInstruction* operand : c.operands()) {
    KASHI_ASSIGN_OR_RETURN(promoted.emplace_back(), Promote(c, operand, reducer, 0));
  }
  return promoted;
}

}  // namespace

absl::Status ConvertAllGather(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Common common, CommonOf(c));
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, c.Int("all_gather_dim"));
  return c.Finish(HloInstruction::CreateAllGather(common.shape, c.operands(), dimension, common.groups, false,
                                                  common.channel, common.use_global_device_ids));
}

absl::Status ConvertAllReduce(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Common common, CommonOf(c));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const body, c.RegionAsComputation(0));
  KASHI_ASSIGN_OR_RETURN(const Instructions operands, PromoteOperands(c, *body));
  return c.Finish(HloInstruction::CreateAllReduce(common.shape, operands, body, common.groups, false, common.channel,
                                                  common.use_global_device_ids));
}

absl::Status ConvertCrossReplicaSum(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Common common, CommonOf(c));
  if (!common.shape.IsArray()) return c.Invalid("sums arrays");
  KASHI_ASSIGN_OR_RETURN(HloComputation* const body, MakeAddition(c, common.shape.element_type()));
  return c.Finish(
      HloInstruction::CreateAllReduce(common.shape, c.operands(), body, common.groups, false, std::nullopt, false));
}

absl::Status ConvertReduceScatter(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Common common, CommonOf(c));
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, c.Int("scatter_dimension"));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const body, c.RegionAsComputation(0));
  KASHI_ASSIGN_OR_RETURN(const Instructions operands, PromoteOperands(c, *body));
  return c.Finish(HloInstruction::CreateReduceScatter(common.shape, operands, body, common.groups, false,
                                                      common.channel, common.use_global_device_ids, dimension));
}

namespace {

// HLO's all-to-all keeps the shape: it exchanges the parts of dimension `split`. Where the parts are to be joined along
// another dimension, the dimension of the parts moves there:
//   [.., split, .., concat, ..] -> [.., count, split/count, .., concat, ..] -> count before concat ->
//   [.., count*concat, ..]
absl::Status JoinElsewhere(OperationConverter& c, const Common& common, int64_t split, int64_t concat, int64_t count) {
  const Shape& operand = c.operand(0)->shape();
  const int64_t rank = static_cast<int64_t>(operand.dimensions().size());
  if (split < 0 || concat < 0 || split >= rank || concat >= rank || count < 1 ||
      operand.dimensions(static_cast<int>(split)) % count != 0) {
    return c.Invalid("split_dimension, concat_dimension and split_count do not fit the operand");
  }
  KASHI_ASSIGN_OR_RETURN(
      HloInstruction* const exchanged,
      c.Add(HloInstruction::CreateAllToAll(operand, c.operands(), common.groups, false, common.channel, split)));
  std::vector<int64_t> parted(operand.dimensions().begin(), operand.dimensions().end());
  parted[split] /= count;
  parted.insert(parted.begin() + split, count);
  KASHI_ASSIGN_OR_RETURN(
      HloInstruction* const parts,
      c.Add(HloInstruction::CreateReshape(ShapeUtil::MakeShape(operand.element_type(), parted), exchanged)));
  std::vector<int64_t> permutation;
  std::vector<int64_t> moved;
  for (int64_t i = 0; i <= rank; ++i) {
    if (i == split) continue;
    const int64_t old_dimension = i > split ? i - 1 : i;
    if (old_dimension == concat) permutation.push_back(split);
    permutation.push_back(i);
  }
  for (const int64_t from : permutation) moved.push_back(parted[from]);
  KASHI_ASSIGN_OR_RETURN(
      HloInstruction* const transposed,
      c.Add(HloInstruction::CreateTranspose(ShapeUtil::MakeShape(operand.element_type(), moved), parts, permutation)));
  return c.Finish(HloInstruction::CreateReshape(common.shape, transposed));
}

}  // namespace

absl::Status ConvertAllToAll(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Common common, CommonOf(c));
  if (c.operands().size() != 1) {
    return c.Finish(HloInstruction::CreateAllToAll(common.shape, c.operands(), common.groups, false, common.channel));
  }
  KASHI_ASSIGN_OR_RETURN(const int64_t split, c.Int("split_dimension"));
  KASHI_ASSIGN_OR_RETURN(const int64_t concat, c.Int("concat_dimension"));
  KASHI_ASSIGN_OR_RETURN(const int64_t count, c.Int("split_count"));
  if (!c.operand(0)->shape().IsArray()) return c.Invalid("exchanges parts of arrays");
  if (split != concat) return JoinElsewhere(c, common, split, concat, count);
  return c.Finish(
      HloInstruction::CreateAllToAll(common.shape, c.operands(), common.groups, false, common.channel, split));
}

absl::Status ConvertCollectiveBroadcast(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Common common, CommonOf(c));
  KASHI_ASSIGN_OR_RETURN(const bool has_dynamic_root, c.Bool("has_dynamic_root"));
  return c.Finish(HloInstruction::CreateCollectiveBroadcast(common.shape, c.operands(), common.groups, false,
                                                            common.channel, has_dynamic_root));
}

absl::Status ConvertCollectiveReduce(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Common common, CommonOf(c));
  KASHI_ASSIGN_OR_RETURN(const bool has_dynamic_root, c.Bool("has_dynamic_root"));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const body, c.RegionAsComputation(0));
  Instructions operands;
  for (size_t k = 0; k < c.operands().size(); ++k) {
    HloInstruction* operand = c.operand(k);
    const bool is_roots = has_dynamic_root && k + 1 == c.operands().size();
    if (!is_roots) {
      KASHI_ASSIGN_OR_RETURN(operand, Promote(c, operand, *body, 0));
    }
    operands.push_back(operand);
  }
  return c.Finish(HloInstruction::CreateCollectiveReduce(common.shape, operands, body, common.groups, false,
                                                         common.channel, common.use_global_device_ids,
                                                         has_dynamic_root));
}

absl::Status ConvertCollectivePermute(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const SourceTargetPairs pairs, c.Pairs("source_target_pairs"));
  KASHI_ASSIGN_OR_RETURN(const std::optional<int64_t> channel, ChannelOf(c));
  return c.Finish(HloInstruction::CreateCollectivePermute(shape, c.operand(0), pairs, channel));
}

absl::Status ConvertReplicaId(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  return c.Finish(HloInstruction::CreateReplicaId(shape));
}

absl::Status ConvertPartitionId(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  return c.Finish(HloInstruction::CreatePartitionId(shape));
}

namespace {

absl::Status StartAllReduce(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Common common, CommonOf(c));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const body, c.RegionAsComputation(0));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const start, c.Add(HloInstruction::CreateAllReduceStart(
                                                          common.shape, c.operands(), body, common.groups, false,
                                                          common.channel, common.use_global_device_ids)));
  c.scope().values[&c.operation().results[0]] = start;
  return absl::OkStatus();
}

Shape OperandsShape(const OperationConverter& c) {
  std::vector<const Shape*> shapes;
  for (const HloInstruction* operand : c.operands()) shapes.push_back(&operand->shape());
  return shapes.size() == 1 ? *shapes[0] : ShapeUtil::MakeTupleShapeWithPtrs(shapes);
}

absl::Status StartAllGather(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Common common, CommonOf(c));
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, c.Int("all_gather_dim"));
  const Shape shape = ShapeUtil::MakeTupleShape({OperandsShape(c), common.shape});
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const start, c.Add(HloInstruction::CreateAllGatherStart(
                                                          shape, c.operands(), dimension, common.groups, false,
                                                          common.channel, common.use_global_device_ids)));
  c.scope().values[&c.operation().results[0]] = start;
  return absl::OkStatus();
}

absl::Status StartCollectivePermute(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const SourceTargetPairs pairs, c.Pairs("source_target_pairs"));
  KASHI_ASSIGN_OR_RETURN(const std::optional<int64_t> channel, ChannelOf(c));
  const Shape state = ShapeUtil::MakeTupleShape({c.operand(0)->shape(), shape});
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const start,
                         c.Add(HloInstruction::CreateCollectivePermuteStart(state, c.operands(), pairs, channel)));
  c.scope().values[&c.operation().results[0]] = start;
  return absl::OkStatus();
}

struct AsyncRow {
  absl::string_view operation;
  ConversionFunction start;
  HloOpcode done;
};
constexpr AsyncRow kAsyncOperations[] = {
    {"stablehlo.all_reduce", &StartAllReduce, HloOpcode::kAllReduceDone},
    {"stablehlo.all_gather", &StartAllGather, HloOpcode::kAllGatherDone},
    {"stablehlo.collective_permute", &StartCollectivePermute, HloOpcode::kCollectivePermuteDone},
};

const AsyncRow* FindAsync(absl::string_view operation) {
  for (const AsyncRow& row : kAsyncOperations) {
    if (row.operation == operation) return &row;
  }
  return nullptr;
}

// The one operation in an async_start's region, whose operands are the region's arguments.
absl::StatusOr<const Operation*> WrappedOperation(const Operation& start) {
  const bool has_block = start.regions.size() == 1 && start.regions[0].blocks.size() == 1;
  if (!has_block || start.regions[0].blocks[0].operations.size() != 2) {
    return Unimplemented("asynchronous regions of anything but one collective");
  }
  const Block& block = start.regions[0].blocks[0];
  const Operation* wrapped = block.operations[0];
  bool is_plain = wrapped->operands.size() == block.arguments.size();
  for (size_t i = 0; is_plain && i < wrapped->operands.size(); ++i) {
    is_plain = wrapped->operands[i] == &block.arguments[i];
  }
  if (!is_plain) return Unimplemented("asynchronous regions whose collective does not take the arguments in order");
  return wrapped;
}

}  // namespace

absl::Status ConvertAsyncStart(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Operation* wrapped, WrappedOperation(c.operation()));
  const AsyncRow* row = FindAsync(wrapped->name);
  if (row == nullptr) return Unimplemented("asynchronous `%s`", wrapped->name);
  if (wrapped->operands.size() != c.operands().size() || wrapped->results.empty()) {
    return c.Invalid("operands and the arguments of the region differ in number");
  }
  OperationConverter inner(&c.module(), &c.scope(), *wrapped, c.operands());
  KASHI_RETURN_IF_ERROR(row->start(inner));
  c.scope().values[&c.operation().results[0]] = c.scope().values.at(&wrapped->results[0]);
  return absl::OkStatus();
}

absl::Status ConvertAsyncDone(OperationConverter& c) {
  const Value* future = c.operation().operands[0];
  if (future->definition == nullptr || future->definition->name != "stablehlo.async_start") {
    return Unimplemented("a future that no async_start of the same region made");
  }
  KASHI_ASSIGN_OR_RETURN(const Operation* wrapped, WrappedOperation(*future->definition));
  const AsyncRow* row = FindAsync(wrapped->name);
  if (row == nullptr) return Unimplemented("asynchronous `%s`", wrapped->name);
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  return c.Finish(HloInstruction::Create(row->done, shape, c.operands()));
}

}  // namespace kashi::stablehlo
