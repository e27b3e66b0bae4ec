// Broadcasts, as operations and for binary operations. docs/spec/hlo-ops.md 10.2, with the order of
// instructions.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/broadcast.h"
#include "kashi/hlo/builder/xla_broadcasting.h"
#include "kashi/hlo/builder/xla_lowering.h"
#include "kashi/hlo/inference/shape_inference.h"

namespace kashi {

using hlo::AddDynamicBroadcast;
using hlo::BinaryOperands;
using hlo::Inferred;
using hlo::Lower;
using hlo::Node;
using hlo::NodeOr;
using hlo::Nodes;
using hlo::XlaLowering;
namespace {

// Adds one broadcast. Its mapped dimensions are dynamic where those of the operand are.
NodeOr AddBroadcast(XlaLowering* to, Node operand, Shape shape, absl::Span<const int64_t> dimensions) {
  for (size_t i = 0; i < dimensions.size(); ++i) {
    shape.set_dynamic_dimension(static_cast<int>(dimensions[i]),
                                operand->shape().is_dynamic_dimension(static_cast<int>(i)));
  }
  return to->Add(HloInstruction::CreateBroadcast(shape, operand, dimensions));
}

// Dimension dimensions[i] has the operand's size; the other dimensions have the result's sizes.
NodeOr ExpandRank(XlaLowering* to, Node operand, const Shape& result, absl::Span<const int64_t> dimensions) {
  std::vector<int64_t> sizes(result.dimensions().begin(), result.dimensions().end());
  for (size_t i = 0; i < dimensions.size(); ++i) {
    sizes[dimensions[i]] = operand->shape().dimensions(static_cast<int>(i));
  }
  return to->BroadcastInDim(operand, sizes, dimensions);
}

NodeOr FitStatic(XlaLowering* to, Node operand, const Shape& result) {
  return ShapeUtil::SameDimensions(operand->shape(), result) ? operand : to->AddBroadcastSequence(result, operand);
}

// ---- Sizes known at run time only: vectors of s32. -----------------------------------------------------------------

NodeOr AddSizes(XlaLowering* to, Node operand, int64_t ones_in_front) {
  const Shape& shape = operand->shape();
  std::vector<Node> sizes;
  for (int64_t i = -ones_in_front; i < shape.dimensions_size(); ++i) {
    const int dimension = static_cast<int>(i);
    if (i < 0 || shape.is_static_dimension(dimension)) {
      const int32_t size = i < 0 ? 1 : static_cast<int32_t>(shape.dimensions(dimension));
      KASHI_ASSIGN_OR_RETURN(sizes.emplace_back(), to->AddConstant(LiteralUtil::CreateR1<int32_t>({size})));
      continue;
    }
    KASHI_ASSIGN_OR_RETURN(const Node size,
                           to->AddInferred(HloInstruction::CreateGetDimensionSize(Inferred(), operand, i)));
    KASHI_ASSIGN_OR_RETURN(sizes.emplace_back(), to->Reshape(size, {1}));
  }
  return to->AddInferred(HloInstruction::CreateConcatenate(Inferred(), sizes, 0));
}

NodeOr BroadcastScalarLike(XlaLowering* to, Node scalar, Node like) {
  KASHI_ASSIGN_OR_RETURN(const Node sizes, AddSizes(to, like, /*ones_in_front=*/0));
  Shape shape = like->shape();
  shape.set_element_type(scalar->shape().element_type());
  return AddDynamicBroadcast(to, scalar, sizes, {}, shape);
}

NodeOr BroadcastTrailing(XlaLowering* to, Node operand, Node sizes, Shape result) {
  std::vector<int64_t> dimensions(operand->shape().dimensions_size());
  std::iota(dimensions.begin(), dimensions.end(), result.dimensions_size() - operand->shape().dimensions_size());
  result.set_element_type(operand->shape().element_type());
  return AddDynamicBroadcast(to, operand, sizes, dimensions, result);
}

absl::StatusOr<BinaryOperands> BroadcastUnbounded(XlaLowering* to, Node lhs, Node rhs, Shape result) {
  const bool lhs_is_scalar = ShapeUtil::IsScalar(lhs->shape());
  const bool rhs_is_scalar = ShapeUtil::IsScalar(rhs->shape());
  if (lhs_is_scalar || rhs_is_scalar) {
    Node& scalar = lhs_is_scalar ? lhs : rhs;
    KASHI_ASSIGN_OR_RETURN(scalar, BroadcastScalarLike(to, scalar, lhs_is_scalar ? rhs : lhs));
  } else if (!ShapeUtil::SameDimensions(lhs->shape(), rhs->shape())) {
    const int64_t rank = result.dimensions_size();
    KASHI_ASSIGN_OR_RETURN(const Node lhs_sizes, AddSizes(to, lhs, rank - lhs->shape().dimensions_size()));
    KASHI_ASSIGN_OR_RETURN(const Node rhs_sizes, AddSizes(to, rhs, rank - rhs->shape().dimensions_size()));
    KASHI_ASSIGN_OR_RETURN(const Node sizes, to->AddInferred(HloInstruction::CreateBinary(
                                                 Inferred(), HloOpcode::kMaximum, lhs_sizes, rhs_sizes)));
    KASHI_ASSIGN_OR_RETURN(lhs, BroadcastTrailing(to, lhs, sizes, result));
    KASHI_ASSIGN_OR_RETURN(rhs, BroadcastTrailing(to, rhs, sizes, result));
  }
  return BinaryOperands{lhs, rhs, std::move(result)};
}

}  // namespace

// ---- Of binary and ternary operations ------------------------------------------------------------------------------

absl::StatusOr<BinaryOperands> hlo::BroadcastOperands(XlaLowering* to, HloOpcode opcode, Node lhs, Node rhs,
                                                      absl::Span<const int64_t> broadcast_dimensions) {
  KASHI_ASSIGN_OR_RETURN(Shape result,
                         ShapeInference::InferBinaryOpShape(opcode, lhs->shape(), rhs->shape(), broadcast_dimensions));
  if (lhs->shape().is_unbounded_dynamic() || rhs->shape().is_unbounded_dynamic()) {
    return BroadcastUnbounded(to, lhs, rhs, std::move(result));
  }
  for (Node* operand : {&lhs, &rhs}) {
    const Shape& shape = (*operand)->shape();
    if (shape.dimensions_size() == result.dimensions_size() || ShapeUtil::IsScalar(shape)) continue;
    KASHI_ASSIGN_OR_RETURN(*operand, ExpandRank(to, *operand, result, broadcast_dimensions));
  }
  KASHI_ASSIGN_OR_RETURN(lhs, FitStatic(to, lhs, result));
  KASHI_ASSIGN_OR_RETURN(rhs, FitStatic(to, rhs, result));
  return BinaryOperands{lhs, rhs, std::move(result)};
}

absl::StatusOr<std::vector<Node>> hlo::BroadcastScalars(XlaLowering* to, Nodes operands) {
  std::vector<Node> fitting(operands.begin(), operands.end());
  std::vector<Shape> shapes;
  for (const Node operand : operands) {
    KASHI_RETURN_IF_ERROR(ExpectArray(operand->shape(), "operand of a ternary operation"));
    shapes.push_back(operand->shape());
  }
  KASHI_ASSIGN_OR_RETURN(const std::optional<Shape> sizes, ShapeInference::InferScalarBroadcastShape(shapes));
  if (!sizes) return fitting;
  const Node like =
      *std::find_if(operands.begin(), operands.end(), [](Node x) { return !ShapeUtil::IsScalar(x->shape()); });
  for (Node& operand : fitting) {
    if (!ShapeUtil::IsScalar(operand->shape())) continue;
    KASHI_ASSIGN_OR_RETURN(operand, sizes->is_unbounded_dynamic() ? BroadcastScalarLike(to, operand, like)
                                                                  : to->BroadcastScalar(operand, *sizes));
  }
  return fitting;
}

NodeOr hlo::AddDynamicBroadcast(XlaLowering* to, Node operand, Node output_dimensions,
                                absl::Span<const int64_t> broadcast_dimensions, const Shape& output_shape) {
  return to->Add(HloInstruction::CreateCustomCall(
      output_shape, {operand, output_dimensions}, "mhlo.dynamic_broadcast_in_dim",
      absl::StrCat("{broadcast_dimensions=[", absl::StrJoin(broadcast_dimensions, ","), "]}")));
}

// ---- What lowerings share ------------------------------------------------------------------------------------------

NodeOr XlaLowering::BroadcastScalar(Node scalar, const Shape& sizes) {
  return AddBroadcast(this, scalar, ShapeUtil::MakeShape(scalar->shape().element_type(), sizes.dimensions()), {});
}

NodeOr XlaLowering::AddBroadcastSequence(const Shape& output_shape, Node operand) {
  const Shape& shape = operand->shape();
  if (ShapeUtil::IsScalar(shape)) return BroadcastScalar(operand, output_shape);
  if (shape.dimensions_size() != output_shape.dimensions_size()) {
    return Internal("%s cannot be broadcast to %s", ShapeUtil::HumanString(shape),
                    ShapeUtil::HumanString(output_shape));
  }
  std::vector<int64_t> kept;
  std::vector<int64_t> kept_sizes;
  std::vector<bool> kept_flags;
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (shape.dimensions(i) == output_shape.dimensions(i)) {
      kept.push_back(i);
      kept_sizes.push_back(shape.dimensions(i));
      kept_flags.push_back(shape.is_dynamic_dimension(i));
    } else if (shape.dimensions(i) != 1 || shape.is_dynamic_dimension(i)) {
      return Internal(
          "An explicit broadcast sequence requires the broadcasted dimensions to be trivial; operand shape: %s; "
          "output_shape: %s",
          ShapeUtil::HumanString(shape), ShapeUtil::HumanString(output_shape));
    }
  }
  Node reshaped;
  {
    // The rank differs from that of the sharding.
    XlaScopedShardingAssignment none(builder_, std::nullopt);
    KASHI_ASSIGN_OR_RETURN(reshaped, Add(ShapeUtil::MakeShape(shape.element_type(), kept_sizes, kept_flags),
                                         HloOpcode::kReshape, {operand}));
  }
  return AddBroadcast(this, reshaped, ShapeUtil::MakeShape(shape.element_type(), output_shape.dimensions()), kept);
}

NodeOr XlaLowering::BroadcastInDim(Node operand, absl::Span<const int64_t> out_dim_size,
                                   absl::Span<const int64_t> broadcast_dimensions) {
  const Shape& shape = operand->shape();
  KASHI_RETURN_IF_ERROR(ExpectArray(shape, "operand of broadcast"));
  KASHI_ASSIGN_OR_RETURN(Shape output_shape, ShapeUtil::MakeValidatedShape(shape.element_type(), out_dim_size));
  if (output_shape.is_unbounded_dynamic()) {
    return Internal("BroadcastInDim output shape must be static or bounded dynamic %s",
                    ShapeUtil::HumanString(output_shape));
  }
  if (static_cast<int64_t>(broadcast_dimensions.size()) != shape.dimensions_size()) {
    return InvalidArgument(
        "Size of broadcast_dimensions has to match operand's rank; operand rank: %d, size of broadcast_dimensions %d.",
        shape.dimensions_size(), broadcast_dimensions.size());
  }
  Shape in_dim_shape = output_shape;
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (broadcast_dimensions[i] < 0 || broadcast_dimensions[i] >= static_cast<int64_t>(out_dim_size.size())) {
      return InvalidArgument("Broadcast dimension %d is out of bound", broadcast_dimensions[i]);
    }
    const int dimension = static_cast<int>(broadcast_dimensions[i]);
    output_shape.set_dynamic_dimension(dimension, shape.is_bounded_dynamic_dimension(i));
    in_dim_shape.set_dynamic_dimension(dimension, shape.is_bounded_dynamic_dimension(i));
    if (!shape.is_unbounded_dynamic_dimension(i)) in_dim_shape.set_dimensions(dimension, shape.dimensions(i));
  }
  KASHI_RETURN_IF_ERROR(ShapeInference::InferBroadcastShape(shape, output_shape, broadcast_dimensions).status());
  KASHI_ASSIGN_OR_RETURN(const Node in_dim,
                         Add(HloInstruction::CreateBroadcast(in_dim_shape, operand, broadcast_dimensions)));
  return ShapeUtil::Equal(in_dim_shape, output_shape) ? in_dim : AddBroadcastSequence(output_shape, in_dim);
}

// ---- Operations ----------------------------------------------------------------------------------------------------

XlaOp Broadcast(XlaOp operand, absl::Span<const int64_t> broadcast_sizes) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const Shape shape, ShapeInference::InferBroadcastShape(x[0]->shape(), broadcast_sizes));
    std::vector<int64_t> dimensions(x[0]->shape().dimensions_size());
    std::iota(dimensions.begin(), dimensions.end(), static_cast<int64_t>(broadcast_sizes.size()));
    return AddBroadcast(&to, x[0], shape, dimensions);
  });
}

XlaOp BroadcastInDim(XlaOp operand, absl::Span<const int64_t> out_dim_size,
                     absl::Span<const int64_t> broadcast_dimensions) {
  return Lower({operand},
               [&](XlaLowering& to, Nodes x) { return to.BroadcastInDim(x[0], out_dim_size, broadcast_dimensions); });
}

namespace {

// Each dimension of the operand goes to one of the result; it has the same size there, or 1, or any.
absl::Status CheckDynamicBroadcast(const Shape& operand, absl::Span<const int64_t> broadcast_dimensions,
                                   const Shape& result) {
  const int64_t rank = result.dimensions_size();
  if (rank < operand.dimensions_size()) {
    return InvalidArgument("result shape rank (%d) must be at least operand's rank (%d)", rank,
                           operand.dimensions_size());
  }
  for (size_t i = 0; i < broadcast_dimensions.size(); ++i) {
    const int64_t to = broadcast_dimensions[i];
    if (to < 0 || to >= rank) {
      return InvalidArgument("broadcast_dimensions has the invalid value %d for a result of rank %d", to, rank);
    }
    const int64_t size = operand.dimensions(static_cast<int>(i)), result_size = result.dimensions(static_cast<int>(to));
    if (size == 1 || size == result_size || size == Shape::kUnboundedSize) continue;
    return InvalidArgument("size of operand dimension %d (%d) is not compatible with size of result dimension %d (%d)",
                           i, size, to, result_size);
  }
  return absl::OkStatus();
}

}  // namespace

XlaOp MhloDynamicBroadcastInDim(XlaOp operand, XlaOp output_dimensions, absl::Span<const int64_t> broadcast_dimensions,
                                const Shape& output_shape) {
  return Lower({operand, output_dimensions}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    const Shape& sizes = x[1]->shape();
    KASHI_RETURN_IF_ERROR(ExpectArray(x[0]->shape(), "operand of mhlo.dynamic_broadcast_in_dim"));
    KASHI_RETURN_IF_ERROR(ExpectArray(sizes, "output_dimensions of mhlo.dynamic_broadcast_in_dim"));
    if (!output_shape.IsArray() || output_shape.element_type() != x[0]->shape().element_type()) {
      return InvalidArgument("mhlo.dynamic_broadcast_in_dim of %s cannot give %s",
                             ShapeUtil::HumanString(x[0]->shape()), ShapeUtil::HumanString(output_shape));
    }
    if (!primitive_util::IsIntegralType(sizes.element_type()) || sizes.dimensions_size() != 1) {
      return InvalidArgument("output_dimensions must be a vector of integers, but is %s",
                             ShapeUtil::HumanString(sizes));
    }
    if (static_cast<int64_t>(broadcast_dimensions.size()) != x[0]->shape().dimensions_size()) {
      return InvalidArgument("broadcast_dimensions size (%d) does not match operand's rank (%d)",
                             broadcast_dimensions.size(), x[0]->shape().dimensions_size());
    }
    KASHI_RETURN_IF_ERROR(CheckDynamicBroadcast(x[0]->shape(), broadcast_dimensions, output_shape));
    return AddDynamicBroadcast(&to, x[0], x[1], broadcast_dimensions, output_shape);
  });
}

}  // namespace kashi
