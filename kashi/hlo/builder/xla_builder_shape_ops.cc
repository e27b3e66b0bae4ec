// Inputs, and operations that move data or change its shape (docs/spec/hlo-ops.md 10.3).
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "kashi/array/broadcast.h"
#include "kashi/hlo/builder/xla_lowering.h"
#include "kashi/hlo/inference/shape_inference.h"

namespace kashi {

using hlo::Inferred;
using hlo::Joined;
using hlo::Lower;
using hlo::LowerInferred;
using hlo::NewInstruction;
using hlo::Node;
using hlo::NodeOr;
using hlo::Nodes;
using hlo::XlaLowering;
namespace {

XlaOp MakeParameter(XlaBuilder* builder, int64_t number, const Shape& shape, const std::string& name,
                    const std::vector<bool>* replicated) {
  return Lower(builder, {}, [&](XlaLowering& to, Nodes) -> NodeOr {
    KASHI_RETURN_IF_ERROR(to.RegisterParameter(number, name));
    NewInstruction parameter = HloInstruction::CreateParameter(number, shape, name);
    if (replicated != nullptr) {
      const int64_t leaves = ShapeUtil::GetLeafCount(shape);
      if (static_cast<int64_t>(replicated->size()) != leaves) {
        return InvalidArgument("parameter %d has %d leaf buffers, but replication is given for %d", number, leaves,
                               replicated->size());
      }
      parameter->set_parameter_replicated_at_leaf_buffers(*replicated);
    }
    return to.Add(std::move(parameter));
  });
}

// An s32 scalar that lowering needs.
NodeOr AddSize(XlaLowering& to, int64_t size) {
  return to.AddConstant(LiteralUtil::CreateR0<int32_t>(static_cast<int32_t>(size)));
}

absl::Status CheckDimension(const Shape& shape, int64_t dimension) {
  if (shape.IsArray() && dimension >= 0 && dimension < shape.dimensions_size()) return absl::OkStatus();
  return InvalidArgument("%s has no dimension %d.", ShapeUtil::HumanString(shape), dimension);
}

}  // namespace

// ---- Inputs --------------------------------------------------------------------------------------------------------

XlaOp Parameter(XlaBuilder* builder, int64_t parameter_number, const Shape& shape, const std::string& name) {
  return MakeParameter(builder, parameter_number, shape, name, /*replicated=*/nullptr);
}
XlaOp Parameter(XlaBuilder* builder, int64_t parameter_number, const Shape& shape, const std::string& name,
                const std::vector<bool>& replicated_at_leaf_buffers) {
  return MakeParameter(builder, parameter_number, shape, name, &replicated_at_leaf_buffers);
}

XlaOp ConstantLiteral(XlaBuilder* builder, const LiteralSlice& literal) {
  return Lower(builder, {}, [&](XlaLowering& to, Nodes) -> NodeOr {
    const Shape& shape = literal.shape();
    if (!shape.IsArray() || literal.element_count() < 2 || !literal.IsAllFirst()) {
      return to.AddConstant(literal.Clone());
    }
    Node scalar;
    {
      // The sharding is the array's.
      XlaScopedShardingAssignment none(builder, std::nullopt);
      KASHI_ASSIGN_OR_RETURN(scalar, to.AddConstant(LiteralUtil::GetFirstScalarLiteral(literal)));
    }
    return to.BroadcastScalar(scalar, shape);
  });
}

XlaOp Iota(XlaBuilder* builder, const Shape& shape, int64_t iota_dimension) {
  return Lower(builder, {}, [&](XlaLowering& to, Nodes) -> NodeOr {
    if (!shape.is_static()) {
      return InvalidArgument("The output of iota must not have dynamic dimensions: %s", ShapeUtil::HumanString(shape));
    }
    KASHI_RETURN_IF_ERROR(CheckDimension(shape, iota_dimension));
    return to.Add(HloInstruction::CreateIota(shape, iota_dimension));
  });
}
XlaOp Iota(XlaBuilder* builder, PrimitiveType type, int64_t size) {
  return Iota(builder, ShapeUtil::MakeShape(type, {size}), /*iota_dimension=*/0);
}

// ---- Reshapes ------------------------------------------------------------------------------------------------------

NodeOr XlaLowering::Reshape(Node operand, absl::Span<const int64_t> dimensions, int64_t inferred_dimension) {
  if (std::find(dimensions.begin(), dimensions.end(), Shape::kUnboundedSize) != dimensions.end()) {
    return InvalidArgument("reshape to unbounded dimensions is not supported");
  }
  HloFieldList fields;
  if (inferred_dimension != -1) fields.Set<HloField::inferred_dimension>(inferred_dimension);
  return Add(ShapeInference::InferReshapeShape(operand->shape(), dimensions, inferred_dimension), HloOpcode::kReshape,
             {operand}, std::move(fields));
}

XlaOp Reshape(XlaOp operand, absl::Span<const int64_t> dimensions) {
  return ReshapeWithInferredDimension(operand, dimensions, /*inferred_dimension=*/-1);
}
XlaOp ReshapeWithInferredDimension(XlaOp operand, absl::Span<const int64_t> dimensions, int64_t inferred_dimension) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) { return to.Reshape(x[0], dimensions, inferred_dimension); });
}
XlaOp Reshape(const Shape& shape, XlaOp operand) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_RETURN_IF_ERROR(ExpectArray(x[0]->shape(), "operand of reshape"));
    KASHI_RETURN_IF_ERROR(ExpectArray(shape, "result of reshape"));
    if (shape.is_unbounded_dynamic()) {
      return InvalidArgument("reshape to an unbounded result shape is not supported: %s",
                             ShapeUtil::HumanString(shape));
    }
    if (!x[0]->shape().is_unbounded_dynamic() && ShapeUtil::ElementsIn(shape) != ShapeUtil::ElementsIn(x[0]->shape())) {
      return InvalidArgument("Reshape of %s cannot give %s: the numbers of elements differ.",
                             ShapeUtil::HumanString(x[0]->shape()), ShapeUtil::HumanString(shape));
    }
    return to.Add(shape, HloOpcode::kReshape, x);
  });
}

XlaOp DynamicReshape(XlaOp operand, absl::Span<const XlaOp> dim_sizes, absl::Span<const int64_t> new_size_bounds,
                     const std::vector<bool>& dims_are_dynamic) {
  return Lower(operand.builder(), Joined({operand}, dim_sizes), [&](XlaLowering& to, Nodes x) {
    std::vector<const Shape*> sizes;
    for (const Node size : x.subspan(1)) sizes.push_back(&size->shape());
    return to.Add(ShapeInference::InferDynamicReshapeShape(x[0]->shape(), sizes, new_size_bounds, dims_are_dynamic),
                  HloOpcode::kDynamicReshape, x);
  });
}

XlaOp MhloDynamicReshape(XlaOp operand, XlaOp output_shape, const Shape& shape) {
  return Lower({operand, output_shape}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    const Shape& sizes = x[1]->shape();
    KASHI_RETURN_IF_ERROR(ExpectArray(shape, "result of mhlo.dynamic_reshape"));
    KASHI_RETURN_IF_ERROR(ExpectArray(sizes, "output_shape of mhlo.dynamic_reshape"));
    if (x[0]->shape().element_type() != shape.element_type()) {
      return InvalidArgument("Element type of operand %s and output %s must match",
                             ShapeUtil::HumanString(x[0]->shape()), ShapeUtil::HumanString(shape));
    }
    const Shape& from = x[0]->shape();
    if (from.is_static() && shape.is_static() && ShapeUtil::ElementsIn(from) != ShapeUtil::ElementsIn(shape)) {
      return InvalidArgument("mhlo.dynamic_reshape has mismatched element counts: from=%d (%s) to=%d (%s)",
                             ShapeUtil::ElementsIn(from), ShapeUtil::HumanString(from), ShapeUtil::ElementsIn(shape),
                             ShapeUtil::HumanString(shape));
    }
    if (sizes.dimensions_size() != 1 || !primitive_util::IsIntegralType(sizes.element_type())) {
      return InvalidArgument("output_shape must be a vector of integers, but is %s", ShapeUtil::HumanString(sizes));
    }
    if (sizes.dimensions(0) != shape.dimensions_size()) {
      return InvalidArgument("output_shape dimension size=%d (%s) and rank of shape=%d (%s) must match",
                             sizes.dimensions(0), ShapeUtil::HumanString(sizes), shape.dimensions_size(),
                             ShapeUtil::HumanString(shape));
    }
    return to.Add(HloInstruction::CreateCustomCall(shape, x, "mhlo.dynamic_reshape"));
  });
}

XlaOp Collapse(XlaOp operand, absl::Span<const int64_t> dimensions) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    if (dimensions.size() <= 1) return x[0];
    for (size_t i = 1; i < dimensions.size(); ++i) {
      if (dimensions[i] - 1 != dimensions[i - 1]) {
        return InvalidArgument("Collapsed dimensions are not in consecutive order.");
      }
    }
    const Shape& shape = x[0]->shape();
    KASHI_RETURN_IF_ERROR(CheckDimension(shape, dimensions.front()));
    KASHI_RETURN_IF_ERROR(CheckDimension(shape, dimensions.back()));
    std::vector<int64_t> sizes;
    for (int i = 0; i < shape.dimensions_size(); ++i) {
      if (i <= dimensions.front() || i > dimensions.back()) {
        sizes.push_back(shape.dimensions(i));
      } else {
        sizes.back() *= shape.dimensions(i);
      }
    }
    return to.Reshape(x[0], sizes);
  });
}

// ---- Moving --------------------------------------------------------------------------------------------------------

XlaOp Transpose(XlaOp operand, absl::Span<const int64_t> permutation) {
  return LowerInferred({operand},
                       [&](Nodes x) { return HloInstruction::CreateTranspose(Inferred(), x[0], permutation); });
}

XlaOp Rev(XlaOp operand, absl::Span<const int64_t> dimensions) {
  return LowerInferred({operand}, [&](Nodes x) { return HloInstruction::CreateReverse(Inferred(), x[0], dimensions); });
}

XlaOp Pad(XlaOp operand, XlaOp padding_value, const PaddingConfig& padding_config) {
  return LowerInferred({operand, padding_value},
                       [&](Nodes x) { return HloInstruction::CreatePad(Inferred(), x[0], x[1], padding_config); });
}

XlaOp PadInDim(XlaOp operand, XlaOp padding_value, int64_t dimno, int64_t pad_lo, int64_t pad_hi) {
  return Lower({operand, padding_value}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_RETURN_IF_ERROR(CheckDimension(x[0]->shape(), dimno));
    PaddingConfig config;
    for (int i = 0; i < x[0]->shape().dimensions_size(); ++i) config.add_dimensions();
    config.mutable_dimensions(static_cast<int>(dimno))->set_edge_padding_low(pad_lo);
    config.mutable_dimensions(static_cast<int>(dimno))->set_edge_padding_high(pad_hi);
    return to.AddInferred(HloInstruction::CreatePad(Inferred(), x[0], x[1], config));
  });
}

XlaOp Slice(XlaOp operand, absl::Span<const int64_t> start_indices, absl::Span<const int64_t> limit_indices,
            absl::Span<const int64_t> strides) {
  return LowerInferred({operand}, [&](Nodes x) {
    return HloInstruction::CreateSlice(Inferred(), x[0], start_indices, limit_indices, strides);
  });
}

XlaOp SliceInDim(XlaOp operand, int64_t start_index, int64_t limit_index, int64_t stride, int64_t dimno) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    const Shape& shape = x[0]->shape();
    KASHI_RETURN_IF_ERROR(CheckDimension(shape, dimno));
    std::vector<int64_t> starts(shape.dimensions_size(), 0), strides(shape.dimensions_size(), 1);
    std::vector<int64_t> limits(shape.dimensions().begin(), shape.dimensions().end());
    starts[dimno] = start_index;
    limits[dimno] = limit_index;
    strides[dimno] = stride;
    return to.AddInferred(HloInstruction::CreateSlice(Inferred(), x[0], starts, limits, strides));
  });
}

XlaOp DynamicSlice(XlaOp operand, absl::Span<const XlaOp> start_indices, absl::Span<const int64_t> slice_sizes) {
  return Lower(operand.builder(), Joined({operand}, start_indices), [&](XlaLowering& to, Nodes x) {
    return to.AddInferred(HloInstruction::CreateDynamicSlice(Inferred(), x[0], x.subspan(1), slice_sizes));
  });
}

XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, absl::Span<const XlaOp> start_indices) {
  return Lower(operand.builder(), Joined({operand, update}, start_indices), [&](XlaLowering& to, Nodes x) {
    return to.AddInferred(HloInstruction::CreateDynamicUpdateSlice(Inferred(), x[0], x[1], x.subspan(2)));
  });
}

XlaOp ConcatInDim(XlaBuilder* builder, absl::Span<const XlaOp> operands, int64_t dimension) {
  return Lower(builder, operands, [&](XlaLowering& to, Nodes x) {
    return to.AddInferred(HloInstruction::CreateConcatenate(Inferred(), x, dimension));
  });
}

// ---- Dynamic sizes -------------------------------------------------------------------------------------------------

XlaOp GetDimensionSize(XlaOp operand, int64_t dimension) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_RETURN_IF_ERROR(ShapeInference::InferGetDimensionSizeShape(x[0]->shape(), dimension).status());
    if (x[0]->shape().is_static_dimension(static_cast<int>(dimension))) {
      return AddSize(to, x[0]->shape().dimensions(static_cast<int>(dimension)));
    }
    return to.AddInferred(HloInstruction::CreateGetDimensionSize(Inferred(), x[0], dimension));
  });
}

XlaOp SetDimensionSize(XlaOp operand, XlaOp val, int64_t dimension) {
  return LowerInferred({operand, val}, [&](Nodes x) {
    return HloInstruction::CreateSetDimensionSize(Inferred(), x[0], x[1], dimension);
  });
}

XlaOp RemoveDynamicDimension(XlaOp operand, int64_t dimension) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_RETURN_IF_ERROR(CheckDimension(x[0]->shape(), dimension));
    Shape shape = x[0]->shape();
    shape.set_dynamic_dimension(static_cast<int>(dimension), false);
    KASHI_ASSIGN_OR_RETURN(const Node size, AddSize(to, shape.dimensions(static_cast<int>(dimension))));
    return to.Add(HloInstruction::CreateSetDimensionSize(shape, x[0], size, dimension));
  });
}

// ---- Tuples --------------------------------------------------------------------------------------------------------

XlaOp Tuple(XlaBuilder* builder, absl::Span<const XlaOp> elements) {
  return Lower(builder, elements, [](XlaLowering& to, Nodes x) { return to.AddTuple(x); });
}

XlaOp GetTupleElement(XlaOp tuple_data, int64_t index) {
  return Lower({tuple_data}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    const Shape& shape = x[0]->shape();
    if (!shape.IsTuple()) {
      return InvalidArgument("Operand to GetTupleElement() is not a tuple; got %s", ShapeUtil::HumanString(shape));
    }
    if (index < 0 || index >= ShapeUtil::TupleElementCount(shape)) {
      return InvalidArgument("GetTupleElement() index (%d) out of range for tuple shape %s", index,
                             ShapeUtil::HumanString(shape));
    }
    return to.AddElement(x[0], index);
  });
}

}  // namespace kashi
