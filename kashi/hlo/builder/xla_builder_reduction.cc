// Reductions, windows, maps and sorting (docs/spec/hlo-ops.md 10.3).
#include <numeric>

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

using Sizes = absl::Span<const int64_t>;
using EdgePadding = std::vector<std::pair<int64_t, int64_t>>;

absl::StatusOr<EdgePadding> PaddingFor(const Shape& shape, Sizes window_dimensions, Sizes window_strides,
                                       Padding padding) {
  if (!shape.IsArray()) return InvalidArgument("a window cannot move over %s", ShapeUtil::HumanString(shape));
  KASHI_RETURN_IF_ERROR(ValidatePaddingValues(shape.dimensions(), window_dimensions, window_strides));
  return MakePadding(shape.dimensions(), window_dimensions, window_strides, padding);
}

// "Same" padding of a dimension with a size known only at run time is also known only then: a custom call computes it.
bool IsDynamicSamePadding(const Shape& shape, Sizes window_dimensions, Padding padding) {
  if (padding != Padding::kSame) return false;
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (shape.is_dynamic_dimension(i) && window_dimensions[i] != 1) return true;
  }
  return false;
}

// The operation as a custom call of this target.
NewInstruction AsCustomCall(const HloInstruction& operation, absl::string_view target) {
  NewInstruction call = HloInstruction::CreateCustomCall(operation.shape(), operation.operands(),
                                                         operation.called_computations(), target);
  call->set_window(operation.window());
  return call;
}

NodeOr AddReduceWindow(XlaLowering& to, Nodes operands_and_inits, const XlaComputationRef& computation,
                       const Window& window, bool is_dynamic_same_padding) {
  const size_t count = operands_and_inits.size() / 2;
  KASHI_ASSIGN_OR_RETURN(HloComputation * reducer, to.Embed(computation));
  NewInstruction reduce = HloInstruction::CreateReduceWindow(Inferred(), operands_and_inits.first(count),
                                                             operands_and_inits.subspan(count), window, reducer);
  if (!is_dynamic_same_padding) return to.AddInferred(std::move(reduce));
  KASHI_RETURN_IF_ERROR(to.InferShapeOf(reduce.get()));
  return to.Add(AsCustomCall(*reduce, "DynamicReduceWindowSamePadding"));
}

NodeOr AddSelectAndScatter(XlaLowering& to, Nodes x, const XlaComputationRef& select, const Window& window,
                           const XlaComputationRef& scatter, bool is_dynamic_same_padding) {
  KASHI_ASSIGN_OR_RETURN(HloComputation * selector, to.Embed(select));
  KASHI_ASSIGN_OR_RETURN(HloComputation * scatterer, to.Embed(scatter));
  NewInstruction operation =
      HloInstruction::CreateSelectAndScatter(Inferred(), x[0], selector, window, x[1], x[2], scatterer);
  if (!is_dynamic_same_padding) return to.AddInferred(std::move(operation));
  KASHI_RETURN_IF_ERROR(to.InferShapeOf(operation.get()));
  return to.Add(AsCustomCall(*operation, "DynamicSelectAndScatterSamePadding"));
}

}  // namespace

// ---- Reduce --------------------------------------------------------------------------------------------------------

XlaOp Reduce(XlaOp operand, XlaOp init_value, const XlaComputationRef& computation,
             absl::Span<const int64_t> dimensions_to_reduce) {
  return Reduce(operand.builder(), {operand}, {init_value}, computation, dimensions_to_reduce);
}

XlaOp Reduce(XlaBuilder* builder, absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
             const XlaComputationRef& computation, absl::Span<const int64_t> dimensions_to_reduce) {
  return Lower(builder, Joined(operands, init_values), [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(HloComputation * reducer, to.Embed(computation));
    return to.AddInferred(HloInstruction::CreateReduce(Inferred(), x.first(operands.size()), x.subspan(operands.size()),
                                                       dimensions_to_reduce, reducer));
  });
}

XlaOp ReduceAll(XlaOp operand, XlaOp init_value, const XlaComputationRef& computation) {
  const absl::StatusOr<const Shape*> shape = operand.builder()->GetShapePtr(operand);
  if (!shape.ok()) return operand.builder()->ReportError(shape.status());
  if (absl::Status status = ExpectArray(**shape, "operand of reduce"); !status.ok()) {
    return operand.builder()->ReportError(status);
  }
  std::vector<int64_t> all((*shape)->dimensions_size());
  std::iota(all.begin(), all.end(), 0);
  return Reduce(operand, init_value, computation, all);
}

// ---- Windows -------------------------------------------------------------------------------------------------------

XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputationRef& computation,
                   absl::Span<const int64_t> window_dimensions, absl::Span<const int64_t> window_strides,
                   Padding padding) {
  return ReduceWindow(absl::MakeConstSpan(&operand, 1), absl::MakeConstSpan(&init_value, 1), computation,
                      window_dimensions, window_strides, padding);
}

XlaOp ReduceWindow(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                   const XlaComputationRef& computation, absl::Span<const int64_t> window_dimensions,
                   absl::Span<const int64_t> window_strides, Padding padding) {
  KASHI_CHECK(!operands.empty());
  return Lower(operands[0].builder(), Joined(operands, init_values), [&](XlaLowering& to, Nodes x) -> NodeOr {
    const Shape& shape = x[0]->shape();
    KASHI_ASSIGN_OR_RETURN(const EdgePadding edges, PaddingFor(shape, window_dimensions, window_strides, padding));
    KASHI_ASSIGN_OR_RETURN(const Window window,
                           ShapeInference::InferWindowFromDimensions(window_dimensions, window_strides, edges, {}, {}));
    return AddReduceWindow(to, x, computation, window, IsDynamicSamePadding(shape, window_dimensions, padding));
  });
}

XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init_value, const XlaComputationRef& computation,
                                     absl::Span<const int64_t> window_dimensions,
                                     absl::Span<const int64_t> window_strides, absl::Span<const int64_t> base_dilations,
                                     absl::Span<const int64_t> window_dilations,
                                     absl::Span<const std::pair<int64_t, int64_t>> padding) {
  return ReduceWindowWithGeneralPadding(absl::MakeConstSpan(&operand, 1), absl::MakeConstSpan(&init_value, 1),
                                        computation, window_dimensions, window_strides, base_dilations,
                                        window_dilations, padding);
}

XlaOp ReduceWindowWithGeneralPadding(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                                     const XlaComputationRef& computation, absl::Span<const int64_t> window_dimensions,
                                     absl::Span<const int64_t> window_strides, absl::Span<const int64_t> base_dilations,
                                     absl::Span<const int64_t> window_dilations,
                                     absl::Span<const std::pair<int64_t, int64_t>> padding) {
  KASHI_CHECK(!operands.empty());
  return Lower(operands[0].builder(), Joined(operands, init_values), [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const Window window,
                           ShapeInference::InferWindowFromDimensions(window_dimensions, window_strides, padding,
                                                                     base_dilations, window_dilations));
    return AddReduceWindow(to, x, computation, window, /*is_dynamic_same_padding=*/false);
  });
}

XlaOp SelectAndScatter(XlaOp operand, const XlaComputationRef& select, absl::Span<const int64_t> window_dimensions,
                       absl::Span<const int64_t> window_strides, Padding padding, XlaOp source, XlaOp init_value,
                       const XlaComputationRef& scatter) {
  return Lower({operand, source, init_value}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    const Shape& shape = x[0]->shape();
    KASHI_ASSIGN_OR_RETURN(const EdgePadding edges, PaddingFor(shape, window_dimensions, window_strides, padding));
    KASHI_ASSIGN_OR_RETURN(const Window window,
                           ShapeInference::InferWindowFromDimensions(window_dimensions, window_strides, edges, {}, {}));
    return AddSelectAndScatter(to, x, select, window, scatter, IsDynamicSamePadding(shape, window_dimensions, padding));
  });
}

XlaOp SelectAndScatterWithGeneralPadding(XlaOp operand, const XlaComputationRef& select,
                                         absl::Span<const int64_t> window_dimensions,
                                         absl::Span<const int64_t> window_strides,
                                         absl::Span<const std::pair<int64_t, int64_t>> padding, XlaOp source,
                                         XlaOp init_value, const XlaComputationRef& scatter) {
  return Lower({operand, source, init_value}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const Window window, ShapeInference::InferWindowFromDimensions(
                                                    window_dimensions, window_strides, padding, {}, {}));
    return AddSelectAndScatter(to, x, select, window, scatter, /*is_dynamic_same_padding=*/false);
  });
}

// ---- Maps and sorting ----------------------------------------------------------------------------------------------

XlaOp Map(XlaBuilder* builder, absl::Span<const XlaOp> operands, const XlaComputationRef& computation,
          absl::Span<const int64_t> dimensions, absl::Span<const XlaOp> static_operands) {
  return Lower(builder, operands, [&](XlaLowering& to, Nodes x) -> NodeOr {
    if (!static_operands.empty()) return Unimplemented("static_operands is not supported in Map");
    KASHI_ASSIGN_OR_RETURN(HloComputation * function, to.Embed(computation));
    std::vector<const Shape*> shapes;
    for (const Node operand : x) shapes.push_back(&operand->shape());
    KASHI_ASSIGN_OR_RETURN(const Shape shape,
                           ShapeInference::InferMapShape(shapes, function->ComputeProgramShape(), dimensions));
    std::vector<Node> fitting(x.begin(), x.end());
    for (Node& operand : fitting) {
      if (ShapeUtil::SameDimensions(operand->shape(), shape)) continue;
      KASHI_ASSIGN_OR_RETURN(operand, to.AddBroadcastSequence(shape, operand));
    }
    return to.Add(HloInstruction::CreateMap(shape, fitting, function));
  });
}

XlaOp Sort(absl::Span<const XlaOp> operands, const XlaComputationRef& comparator, int64_t dimension, bool is_stable) {
  KASHI_CHECK(!operands.empty());
  return Lower(operands[0].builder(), operands, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(HloComputation * compare, to.Embed(comparator));
    const Shape& keys = x[0]->shape();
    if (!keys.IsArray())
      return InvalidArgument("the operand of sort is not an array: %s", ShapeUtil::HumanString(keys));
    const int64_t along = dimension == -1 ? keys.dimensions_size() - 1 : dimension;
    return to.AddInferred(HloInstruction::CreateSort(Inferred(), along, x, compare, is_stable));
  });
}

XlaOp TopK(XlaOp operand, int64_t k, bool largest) {
  return LowerInferred({operand}, [&](Nodes x) { return HloInstruction::CreateTopK(Inferred(), x[0], k, largest); });
}

}  // namespace kashi
