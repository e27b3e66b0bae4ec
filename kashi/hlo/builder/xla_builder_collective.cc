// Collectives (docs/spec/hlo-ops.md 10.3).
#include <numeric>

#include "absl/algorithm/container.h"
#include "kashi/hlo/builder/xla_lowering.h"
#include "kashi/hlo/inference/shape_inference.h"

namespace kashi {

using hlo::Inferred;
using hlo::Lower;
using hlo::Node;
using hlo::NodeOr;
using hlo::Nodes;
using hlo::XlaLowering;
namespace {

using Groups = absl::Span<const ReplicaGroup>;

CollectiveDeviceList DeviceList(Groups groups) { return CollectiveDeviceList(groups); }

std::optional<int64_t> ChannelId(const std::optional<ChannelHandle>& channel) {
  return channel ? std::optional<int64_t>(channel->handle()) : std::nullopt;
}

std::vector<const Shape*> ShapesOf(Nodes operands) {
  std::vector<const Shape*> shapes;
  for (const Node operand : operands) shapes.push_back(&operand->shape());
  return shapes;
}

// The elements of a tuple, or the operand itself.
absl::StatusOr<std::vector<Node>> ElementsOf(XlaLowering& to, Node operand) {
  if (!operand->shape().IsTuple()) return std::vector<Node>{operand};
  std::vector<Node> elements;
  for (int64_t i = 0; i < operand->shape().tuple_shapes_size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(elements.emplace_back(), to.AddElement(operand, i));
  }
  return elements;
}

// One operation reduces all elements, so their types must be equal.
absl::Status CheckElementsOfReduction(Nodes elements, absl::string_view operation) {
  if (elements.empty()) return Unimplemented("0 element tuple %s is not supported", operation);
  for (const Node element : elements) {
    if (element->shape().element_type() == elements[0]->shape().element_type()) continue;
    return Unimplemented("All the shapes of a tuple input of %s must have the same element type", operation);
  }
  return absl::OkStatus();
}

// The result's shape with a layout that the compiler must keep.
absl::StatusOr<Shape> Constrained(const Shape& inferred, const Shape& wanted) {
  if (!LayoutUtil::HasLayout(wanted)) {
    return InvalidArgument("shape_with_layout must have the layout set: %s", ShapeUtil::HumanString(wanted));
  }
  // A tuple of one element: the operation works on the element.
  const bool is_single = wanted.IsTuple() && wanted.tuple_shapes_size() == 1 && !inferred.IsTuple();
  const Shape& shape = is_single ? wanted.tuple_shapes(0) : wanted;
  if (ShapeUtil::Compatible(shape, inferred)) return shape;
  return InvalidArgument("Provided shape_with_layout must be compatible with the operand shape: %s vs %s",
                         ShapeUtil::HumanString(wanted), ShapeUtil::HumanString(inferred));
}

absl::Status ConstrainLayout(const std::optional<Layout>& layout, Shape* shape) {
  if (!layout) return absl::OkStatus();
  if (!shape->IsArray()) return InvalidArgument("a layout for %s", ShapeUtil::HumanString(*shape));
  *shape->mutable_layout() = *layout;
  return ShapeUtil::ValidateShapeWithOptionalLayout(*shape);
}

NodeOr AddAllReduce(XlaLowering& to, Nodes operands, const XlaComputationRef& computation, Groups groups,
                    const std::optional<ChannelHandle>& channel, const std::optional<Shape>& shape_with_layout,
                    std::optional<bool> use_global_device_ids) {
  KASHI_RETURN_IF_ERROR(CheckElementsOfReduction(operands, "AllReduce"));
  KASHI_ASSIGN_OR_RETURN(Shape shape, ShapeInference::InferAllReduceShape(ShapesOf(operands)));
  if (shape_with_layout) {
    KASHI_ASSIGN_OR_RETURN(shape, Constrained(shape, *shape_with_layout));
  }
  KASHI_ASSIGN_OR_RETURN(HloComputation * reducer, to.Embed(computation));
  return to.Add(HloInstruction::CreateAllReduce(shape, operands, reducer, DeviceList(groups),
                                                shape_with_layout.has_value(), ChannelId(channel),
                                                use_global_device_ids.value_or(false)));
}

NodeOr AddAllGather(XlaLowering& to, Nodes operands, int64_t dimension, int64_t shard_count, Groups groups,
                    const std::optional<ChannelHandle>& channel, const std::optional<Layout>& layout,
                    std::optional<bool> use_global_device_ids) {
  KASHI_ASSIGN_OR_RETURN(Shape shape, ShapeInference::InferAllGatherShape(ShapesOf(operands), dimension, shard_count));
  KASHI_RETURN_IF_ERROR(ConstrainLayout(layout, &shape));
  return to.Add(HloInstruction::CreateAllGather(shape, operands, dimension, DeviceList(groups), layout.has_value(),
                                                ChannelId(channel), use_global_device_ids.value_or(false)));
}

// ---- All-to-all.

// Without groups, the first `split_count` devices are one group.
CollectiveDeviceList SplitGroups(Groups groups, int64_t split_count) {
  if (!groups.empty()) return DeviceList(groups);
  ReplicaGroup all;
  for (int64_t i = 0; i < split_count; ++i) all.add_replica_ids(i);
  return CollectiveDeviceList(std::vector<ReplicaGroup>{all});
}

// ---- Reshapes of arrays with unbounded dimensions: sizes are values, s32[1] each.

NodeOr AddSize(XlaLowering& to, int64_t size) {
  return to.AddConstant(LiteralUtil::CreateR1<int32_t>({static_cast<int32_t>(size)}));
}

// The sizes of an array, known to the program or only at run time.
absl::StatusOr<std::vector<Node>> AddSizes(XlaLowering& to, Node array) {
  std::vector<Node> sizes;
  for (int i = 0; i < array->shape().dimensions_size(); ++i) {
    if (!array->shape().is_unbounded_dynamic_dimension(i)) {
      KASHI_ASSIGN_OR_RETURN(sizes.emplace_back(), AddSize(to, array->shape().dimensions(i)));
      continue;
    }
    KASHI_ASSIGN_OR_RETURN(const Node size,
                           to.AddInferred(HloInstruction::CreateGetDimensionSize(Inferred(), array, i)));
    KASHI_ASSIGN_OR_RETURN(sizes.emplace_back(), to.Reshape(size, {1}));
  }
  return sizes;
}

NodeOr AddDynamicReshape(XlaLowering& to, Node array, Nodes sizes, const Shape& result) {
  KASHI_ASSIGN_OR_RETURN(const Node list, to.AddInferred(HloInstruction::CreateConcatenate(Inferred(), sizes, 0)));
  return to.Add(HloInstruction::CreateCustomCall(result, {array, list}, "mhlo.dynamic_reshape"));
}

// The split dimension becomes two: the pieces, and the elements of each.
NodeOr AddPieces(XlaLowering& to, Node array, int64_t split, int64_t count) {
  const Shape& shape = array->shape();
  std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
  if (sizes[split] != Shape::kUnboundedSize) sizes[split] /= count;
  sizes.insert(sizes.begin() + split, count);
  if (!shape.is_unbounded_dynamic()) return to.Reshape(array, sizes);
  std::vector<bool> flags;
  for (int64_t size : sizes) flags.push_back(size == Shape::kUnboundedSize);
  KASHI_ASSIGN_OR_RETURN(const Shape result, ShapeUtil::MakeValidatedShape(shape.element_type(), sizes, flags));
  KASHI_ASSIGN_OR_RETURN(std::vector<Node> values, AddSizes(to, array));
  KASHI_ASSIGN_OR_RETURN(const Node factor, AddSize(to, count));
  KASHI_ASSIGN_OR_RETURN(values[split], to.AddInferred(HloInstruction::CreateBinary(Inferred(), HloOpcode::kDivide,
                                                                                    values[split], factor)));
  values.insert(values.begin() + split, factor);
  return AddDynamicReshape(to, array, values, result);
}

// From pieces that are consecutive along `split` to pieces that are consecutive along `concat`.
NodeOr MovePieces(XlaLowering& to, Node exchanged, int64_t split, int64_t concat, int64_t count, const Shape& result) {
  const Shape& shape = exchanged->shape();
  std::vector<int64_t> permutation;
  for (int64_t i = 0; i < shape.dimensions_size(); ++i) {
    if (i == concat) permutation.push_back(split);
    permutation.push_back(i < split ? i : i + 1);
  }
  KASHI_ASSIGN_OR_RETURN(const Node pieces, AddPieces(to, exchanged, split, count));
  KASHI_ASSIGN_OR_RETURN(const Node moved,
                         to.AddInferred(HloInstruction::CreateTranspose(Inferred(), pieces, permutation)));
  if (!result.is_unbounded_dynamic()) return to.Add(result, HloOpcode::kReshape, {moved});
  KASHI_ASSIGN_OR_RETURN(std::vector<Node> sizes, AddSizes(to, exchanged));
  const Node parts = sizes[split];
  KASHI_ASSIGN_OR_RETURN(const Node factor, AddSize(to, count));
  KASHI_ASSIGN_OR_RETURN(sizes[split],
                         to.AddInferred(HloInstruction::CreateBinary(Inferred(), HloOpcode::kDivide, parts, factor)));
  KASHI_ASSIGN_OR_RETURN(sizes[concat], to.AddInferred(HloInstruction::CreateBinary(Inferred(), HloOpcode::kMultiply,
                                                                                    sizes[concat], factor)));
  return AddDynamicReshape(to, moved, sizes, result);
}

NodeOr AddAllToAllTuple(XlaLowering& to, Nodes operands, const CollectiveDeviceList& devices,
                        const std::optional<Layout>& layout, const std::optional<ChannelHandle>& channel) {
  KASHI_ASSIGN_OR_RETURN(Shape shape, ShapeInference::InferAllToAllTupleShape(ShapesOf(operands)));
  for (int i = 0; layout && i < shape.tuple_shapes_size(); ++i) {
    const Shape& element = shape.tuple_shapes(i);
    if (layout->minor_to_major_size() != element.dimensions_size()) {
      return InvalidArgument("Provided layout must be compatible with the operands' shape: %s",
                             ShapeUtil::HumanString(element));
    }
    KASHI_RETURN_IF_ERROR(ConstrainLayout(layout, shape.mutable_tuple_shapes(i)));
  }
  return to.Add(HloInstruction::CreateAllToAll(shape, operands, devices, layout.has_value(), ChannelId(channel)));
}

NodeOr SplitAndExchange(XlaLowering& to, Node operand, int64_t split, int64_t concat, int64_t count, Groups groups,
                        const std::optional<Layout>& layout, const std::optional<ChannelHandle>& channel) {
  const Shape& shape = operand->shape();
  KASHI_RETURN_IF_ERROR(ShapeInference::InferAllToAllShape(shape, split, concat, count).status());
  if (shape.is_unbounded_dynamic()) {
    return InvalidArgument("AllToAllTuple does not support unbounded dynamic shapes: %s",
                           ShapeUtil::HumanString(shape));
  }
  const int64_t piece = shape.dimensions(static_cast<int>(split)) / count;
  std::vector<int64_t> starts(shape.dimensions_size(), 0), strides(shape.dimensions_size(), 1);
  std::vector<int64_t> limits(shape.dimensions().begin(), shape.dimensions().end());
  std::vector<Node> pieces;
  for (int64_t i = 0; i < count; ++i) {
    starts[split] = i * piece;
    limits[split] = (i + 1) * piece;
    KASHI_ASSIGN_OR_RETURN(pieces.emplace_back(),
                           to.AddInferred(HloInstruction::CreateSlice(Inferred(), operand, starts, limits, strides)));
  }
  KASHI_ASSIGN_OR_RETURN(const Node exchanged, AddAllToAllTuple(to, pieces, DeviceList(groups), layout, channel));
  KASHI_ASSIGN_OR_RETURN(pieces, ElementsOf(to, exchanged));
  return to.AddInferred(HloInstruction::CreateConcatenate(Inferred(), pieces, concat));
}

}  // namespace

// ---- Reductions ----------------------------------------------------------------------------------------------------

XlaOp CrossReplicaSum(XlaOp operand, absl::Span<const ReplicaGroup> replica_groups) {
  XlaBuilder* const builder = operand.builder();
  const absl::StatusOr<const Shape*> shape = builder->GetShapePtr(operand);
  if (!shape.ok()) return builder->ReportError(shape.status());
  const bool has_elements = (*shape)->IsTuple() && (*shape)->tuple_shapes_size() > 0;
  const PrimitiveType type = (has_elements ? (*shape)->tuple_shapes(0) : **shape).element_type();
  if (!primitive_util::IsArrayType(type)) {
    return builder->ReportError(Unimplemented("sum of %s", ShapeUtil::HumanString(**shape)));
  }
  const Shape scalar = ShapeUtil::MakeShape(type, {});
  const std::unique_ptr<XlaBuilder> sum = builder->CreateSubBuilder("sum");
  const XlaOp x = Parameter(sum.get(), 0, scalar, "x");
  const XlaOp y = Parameter(sum.get(), 1, scalar, "y");
  type == PRED ? Or(x, y) : Add(x, y);
  const absl::StatusOr<XlaComputation> computation = sum->Build();
  if (!computation.ok()) return builder->ReportError(computation.status());
  return AllReduce(operand, *computation, replica_groups);
}

XlaOp AllReduce(XlaOp operand, const XlaComputationRef& computation, absl::Span<const ReplicaGroup> replica_groups,
                const std::optional<ChannelHandle>& channel_id, const std::optional<Shape>& shape_with_layout,
                std::optional<bool> use_global_device_ids) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const std::vector<Node> elements, ElementsOf(to, x[0]));
    KASHI_ASSIGN_OR_RETURN(const Node sum, AddAllReduce(to, elements, computation, replica_groups, channel_id,
                                                        shape_with_layout, use_global_device_ids));
    const bool is_single = x[0]->shape().IsTuple() && !sum->shape().IsTuple();
    return is_single ? to.AddTuple({sum}) : sum;
  });
}

XlaOp AllReduceTuple(absl::Span<const XlaOp> operands, const XlaComputationRef& computation,
                     absl::Span<const ReplicaGroup> replica_groups, const std::optional<ChannelHandle>& channel_id,
                     const std::optional<Shape>& shape_with_layout, std::optional<bool> use_global_device_ids) {
  KASHI_CHECK(!operands.empty());
  return Lower(operands[0].builder(), operands, [&](XlaLowering& to, Nodes x) {
    return AddAllReduce(to, x, computation, replica_groups, channel_id, shape_with_layout, use_global_device_ids);
  });
}

XlaOp ReduceScatter(XlaOp operand, const XlaComputationRef& computation, int64_t scatter_dimension, int64_t shard_count,
                    absl::Span<const ReplicaGroup> replica_groups, const std::optional<ChannelHandle>& channel_id,
                    const std::optional<Layout>& layout, std::optional<bool> use_global_device_ids) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const std::vector<Node> elements, ElementsOf(to, x[0]));
    KASHI_RETURN_IF_ERROR(CheckElementsOfReduction(elements, "ReduceScatter"));
    KASHI_ASSIGN_OR_RETURN(Shape shape,
                           ShapeInference::InferReduceScatterShape(ShapesOf(elements), scatter_dimension, shard_count));
    KASHI_RETURN_IF_ERROR(ConstrainLayout(layout, &shape));
    KASHI_ASSIGN_OR_RETURN(HloComputation * reducer, to.Embed(computation));
    return to.Add(HloInstruction::CreateReduceScatter(shape, elements, reducer, DeviceList(replica_groups),
                                                      layout.has_value(), ChannelId(channel_id),
                                                      use_global_device_ids.value_or(false), scatter_dimension));
  });
}

// ---- Exchanges -----------------------------------------------------------------------------------------------------

XlaOp AllGather(XlaOp operand, int64_t all_gather_dimension, int64_t shard_count,
                absl::Span<const ReplicaGroup> replica_groups, const std::optional<ChannelHandle>& channel_id,
                const std::optional<Layout>& layout, std::optional<bool> use_global_device_ids) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const std::vector<Node> elements, ElementsOf(to, x[0]));
    return AddAllGather(to, elements, all_gather_dimension, shard_count, replica_groups, channel_id, layout,
                        use_global_device_ids);
  });
}

XlaOp AllGatherTuple(absl::Span<const XlaOp> operands, int64_t all_gather_dimension, int64_t shard_count,
                     absl::Span<const ReplicaGroup> replica_groups, const std::optional<ChannelHandle>& channel_id,
                     const std::optional<Layout>& layout, std::optional<bool> use_global_device_ids) {
  KASHI_CHECK(!operands.empty());
  return Lower(operands[0].builder(), operands, [&](XlaLowering& to, Nodes x) {
    return AddAllGather(to, x, all_gather_dimension, shard_count, replica_groups, channel_id, layout,
                        use_global_device_ids);
  });
}

XlaOp AllToAll(XlaOp operand, int64_t split_dimension, int64_t concat_dimension, int64_t split_count,
               absl::Span<const ReplicaGroup> replica_groups, const std::optional<Layout>& layout,
               const std::optional<ChannelHandle>& channel_id) {
  if (layout) {
    return AllToAllTuple(operand, split_dimension, concat_dimension, split_count, replica_groups, layout, channel_id);
  }
  return Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const Shape result, ShapeInference::InferAllToAllShape(x[0]->shape(), split_dimension,
                                                                                  concat_dimension, split_count));
    KASHI_ASSIGN_OR_RETURN(
        const Node exchanged,
        to.Add(HloInstruction::CreateAllToAll(x[0]->shape(), x, SplitGroups(replica_groups, split_count),
                                              /*constrain_layout=*/false, ChannelId(channel_id), split_dimension)));
    if (split_dimension == concat_dimension) return exchanged;
    return MovePieces(to, exchanged, split_dimension, concat_dimension, split_count, result);
  });
}

XlaOp AllToAllTuple(absl::Span<const XlaOp> operands, absl::Span<const ReplicaGroup> replica_groups,
                    const std::optional<Layout>& layout, const std::optional<ChannelHandle>& channel_id) {
  KASHI_CHECK(!operands.empty());
  return Lower(operands[0].builder(), operands, [&](XlaLowering& to, Nodes x) {
    return AddAllToAllTuple(to, x, DeviceList(replica_groups), layout, channel_id);
  });
}

XlaOp AllToAllTuple(XlaOp operand, int64_t split_dimension, int64_t concat_dimension, int64_t split_count,
                    absl::Span<const ReplicaGroup> replica_groups, const std::optional<Layout>& layout,
                    const std::optional<ChannelHandle>& channel_id) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) {
    return SplitAndExchange(to, x[0], split_dimension, concat_dimension, split_count, replica_groups, layout,
                            channel_id);
  });
}

XlaOp RaggedAllToAll(XlaOp input, XlaOp input_offsets, XlaOp send_sizes, XlaOp output, XlaOp output_offsets,
                     XlaOp recv_sizes, absl::Span<const ReplicaGroup> replica_groups,
                     const std::optional<ChannelHandle>& channel_id) {
  // The instruction has the output second.
  return Lower({input, output, input_offsets, send_sizes, output_offsets, recv_sizes},
               [&](XlaLowering& to, Nodes x) -> NodeOr {
                 KASHI_ASSIGN_OR_RETURN(const Shape shape, ShapeInference::InferRaggedAllToAllShape(ShapesOf(x)));
                 return to.Add(
                     HloInstruction::CreateRaggedAllToAll(shape, x, DeviceList(replica_groups), ChannelId(channel_id)));
               });
}

XlaOp CollectiveBroadcast(XlaOp operand, absl::Span<const ReplicaGroup> replica_groups,
                          const std::optional<ChannelHandle>& channel_id) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const Shape shape, ShapeInference::InferCollectiveBroadcastShape(ShapesOf(x)));
    return to.Add(HloInstruction::CreateCollectiveBroadcast(shape, x, DeviceList(replica_groups),
                                                            /*constrain_layout=*/false, ChannelId(channel_id)));
  });
}

XlaOp CollectivePermute(XlaOp operand, const std::vector<std::pair<int64_t, int64_t>>& source_target_pairs,
                        const std::optional<ChannelHandle>& channel_id, bool inplace) {
  return MultiCollectivePermute(absl::MakeConstSpan(&operand, 1), source_target_pairs, channel_id, inplace);
}

XlaOp MultiCollectivePermute(absl::Span<const XlaOp> operands,
                             const std::vector<std::pair<int64_t, int64_t>>& source_target_pairs,
                             const std::optional<ChannelHandle>& channel_id, bool inplace) {
  KASHI_CHECK(!operands.empty());
  return Lower(operands[0].builder(), operands, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const Shape shape, ShapeInference::InferCollectivePermuteShape(ShapesOf(x), inplace));
    return to.Add(HloInstruction::CreateCollectivePermute(shape, x, source_target_pairs, ChannelId(channel_id)));
  });
}

XlaOp ReplicaId(XlaBuilder* builder) {
  return Lower(builder, {}, [](XlaLowering& to, Nodes) { return to.Add(HloInstruction::CreateReplicaId()); });
}

}  // namespace kashi
