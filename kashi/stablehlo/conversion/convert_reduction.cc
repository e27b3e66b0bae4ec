// Operations whose regions combine or compare elements, and random numbers.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {
namespace {

struct Halves {
  absl::Span<HloInstruction* const> inputs;
  absl::Span<HloInstruction* const> init_values;
};

// First all inputs, then all initial values.
absl::StatusOr<Halves> SplitOperands(const OperationConverter& c) {
  const absl::Span<HloInstruction* const> operands = c.operands();
  const size_t half = operands.size() / 2;
  if (half == 0) return InvalidArgument("needs at least one input");
  return Halves{operands.subspan(0, half), operands.subspan(half)};
}

absl::StatusOr<Window> ReductionWindow(const OperationConverter& c, bool has_dilations) {
  WindowLists lists;
  KASHI_ASSIGN_OR_RETURN(lists.sizes, c.Ints("window_dimensions"));
  KASHI_ASSIGN_OR_RETURN(lists.strides, c.Ints("window_strides"));
  KASHI_ASSIGN_OR_RETURN(lists.padding, c.Pairs("padding"));
  lists.base_dilations.resize(lists.sizes.size(), 1);
  lists.window_dilations.resize(lists.sizes.size(), 1);
  if (has_dilations) {
    KASHI_ASSIGN_OR_RETURN(lists.base_dilations, c.Ints("base_dilations"));
    KASHI_ASSIGN_OR_RETURN(lists.window_dilations, c.Ints("window_dilations"));
  }
  if (lists.padding.empty()) lists.padding.resize(lists.sizes.size());
  return WindowOf(lists);
}

absl::Status ReadScatterList(const OperationConverter& c, absl::string_view name, RepeatedField<int64_t>* list) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> values, c.Ints(name));
  list->assign(values.begin(), values.end());
  return absl::OkStatus();
}

absl::StatusOr<ScatterDimensionNumbers> ScatterNumbers(const OperationConverter& c) {
  ScatterDimensionNumbers n;
  KASHI_RETURN_IF_ERROR(ReadScatterList(c, "update_window_dims", n.mutable_update_window_dims()));
  KASHI_RETURN_IF_ERROR(ReadScatterList(c, "inserted_window_dims", n.mutable_inserted_window_dims()));
  KASHI_RETURN_IF_ERROR(ReadScatterList(c, "scatter_dims_to_operand_dims", n.mutable_scatter_dims_to_operand_dims()));
  KASHI_RETURN_IF_ERROR(ReadScatterList(c, "input_batching_dims", n.mutable_input_batching_dims()));
  KASHI_RETURN_IF_ERROR(ReadScatterList(c, "scatter_indices_batching_dims", n.mutable_scatter_indices_batching_dims()));
  KASHI_ASSIGN_OR_RETURN(*n.mutable_index_vector_dim(), c.Int("index_vector_dim"));
  return n;
}

// Input i is combined with parameter i of the reducer.
absl::StatusOr<Instructions> PromoteEach(OperationConverter& c, absl::Span<HloInstruction* const> inputs,
                                         const HloComputation& reducer) {
  Instructions promoted;
  for (HloInstruction* input : inputs) {
    KASHI_ASSIGN_OR_RETURN(HloInstruction* const value,
                           Promote(c, input, reducer, static_cast<int64_t>(promoted.size())));
    promoted.push_back(value);
  }
  return promoted;
}

}  // namespace

absl::StatusOr<Window> WindowOf(const WindowLists& lists) {
  const size_t rank = lists.sizes.size();
  for (const size_t size :
       {lists.strides.size(), lists.padding.size(), lists.base_dilations.size(), lists.window_dilations.size()}) {
    if (size != rank) return InvalidArgument("a list of the window has %d entries, not %d", size, rank);
  }
  Window window;
  for (size_t i = 0; i < rank; ++i) {
    WindowDimension* dimension = window.add_dimensions();
    dimension->set_size(lists.sizes[i]);
    dimension->set_stride(lists.strides[i]);
    dimension->set_padding_low(lists.padding[i].first);
    dimension->set_padding_high(lists.padding[i].second);
    dimension->set_base_dilation(lists.base_dilations[i]);
    dimension->set_window_dilation(lists.window_dilations[i]);
  }
  return window;
}

absl::StatusOr<HloInstruction*> Promote(OperationConverter& c, HloInstruction* operand, const HloComputation& reducer,
                                        int64_t number) {
  if (number >= reducer.num_parameters()) return operand;
  const Shape& parameter = reducer.parameter_instruction(number)->shape();
  const Shape& shape = operand->shape();
  if (!shape.IsArray() || !parameter.IsArray()) return operand;
  const PrimitiveType from = shape.element_type(), to = parameter.element_type();
  const bool is_real = primitive_util::IsFloatingPointType(from) && primitive_util::IsFloatingPointType(to);
  const bool is_integral = primitive_util::IsIntegralType(from) && primitive_util::IsIntegralType(to);
  const bool is_complex = primitive_util::IsComplexType(from) && primitive_util::IsComplexType(to);
  if (!is_real && !is_integral && !is_complex) return operand;
  if (primitive_util::BitWidth(from) >= primitive_util::BitWidth(to)) return operand;
  return c.Add(HloInstruction::CreateConvert(ShapeUtil::ChangeElementType(shape, to), operand));
}

absl::Status ConvertReduce(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  KASHI_ASSIGN_OR_RETURN(const Halves halves, SplitOperands(c));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> dimensions, c.Ints("dimensions"));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const body, c.RegionAsComputation(0));
  KASHI_ASSIGN_OR_RETURN(const Instructions inputs, PromoteEach(c, halves.inputs, *body));
  return c.Finish(HloInstruction::CreateReduce(shape, inputs, halves.init_values, dimensions, body));
}

absl::Status ConvertReduceWindow(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Halves halves, SplitOperands(c));
  KASHI_ASSIGN_OR_RETURN(const Window window, ReductionWindow(c, /*has_dilations=*/true));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const body, c.RegionAsComputation(0));
  return FinishReduceWindow(c, halves.inputs.size(), window, body);
}

absl::Status FinishReduceWindow(OperationConverter& c, size_t inputs, const Window& window, HloComputation* body) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  const absl::Span<HloInstruction* const> operands = c.operands();
  KASHI_ASSIGN_OR_RETURN(const Instructions promoted, PromoteEach(c, operands.subspan(0, inputs), *body));
  return c.Finish(HloInstruction::CreateReduceWindow(shape, promoted, operands.subspan(inputs, inputs), window, body));
}

absl::StatusOr<HloComputation*> MakeAddition(OperationConverter& c, PrimitiveType type) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Scope> scope, c.module().OpenRegion(c.scope()));
  const Shape scalar = ShapeUtil::MakeScalarShape(type);
  HloInstruction* x = scope->computation->AddParameter(HloInstruction::CreateParameter(0, scalar, "x"));
  HloInstruction* y = scope->computation->AddParameter(HloInstruction::CreateParameter(1, scalar, "y"));
  HloInstruction* sum = scope->computation->AddInstruction(HloInstruction::CreateBinary(scalar, HloOpcode::kAdd, x, y));
  return c.module().Finish(std::move(scope), sum);
}

absl::Status ConvertMap(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(HloComputation* const body, c.RegionAsComputation(0));
  return c.Finish(HloInstruction::CreateMap(shape, c.operands(), body));
}

absl::Status ConvertSort(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  KASHI_ASSIGN_OR_RETURN(int64_t dimension, c.Int("dimension"));
  KASHI_ASSIGN_OR_RETURN(const bool is_stable, c.Bool("is_stable"));
  if (c.operands().empty() || !c.operand(0)->shape().IsArray()) return c.Invalid("sorts at least one array");
  const int64_t rank = static_cast<int64_t>(c.operand(0)->shape().dimensions().size());
  if (dimension < 0) dimension += rank;
  if (dimension < 0 || dimension >= rank) return c.Invalid("dimension %d of an array of rank %d", dimension, rank);
  KASHI_ASSIGN_OR_RETURN(HloComputation* const compare, c.RegionAsComputation(0));
  return c.Finish(HloInstruction::CreateSort(shape, dimension, c.operands(), compare, is_stable));
}

// n inputs, the indices, n updates.
absl::Status ConvertScatter(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  const absl::Span<HloInstruction* const> operands = c.operands();
  const size_t n = operands.size() / 2;
  if (n == 0 || operands.size() % 2 == 0) return c.Invalid("needs inputs, indices, and as many updates as inputs");
  KASHI_ASSIGN_OR_RETURN(const ScatterDimensionNumbers numbers, ScatterNumbers(c));
  KASHI_ASSIGN_OR_RETURN(const bool is_sorted, c.Bool("indices_are_sorted"));
  KASHI_ASSIGN_OR_RETURN(const bool is_unique, c.Bool("unique_indices"));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const update, c.RegionAsComputation(0));
  KASHI_ASSIGN_OR_RETURN(const Instructions inputs, PromoteEach(c, operands.subspan(0, n), *update));
  KASHI_ASSIGN_OR_RETURN(const Instructions updates, PromoteEach(c, operands.subspan(n + 1), *update));
  return c.Finish(
      HloInstruction::CreateScatter(shape, inputs, operands[n], updates, update, numbers, is_sorted, is_unique));
}

absl::Status ConvertSelectAndScatter(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const Window window, ReductionWindow(c, /*has_dilations=*/false));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const select, c.RegionAsComputation(0));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const scatter, c.RegionAsComputation(1));
  return c.Finish(
      HloInstruction::CreateSelectAndScatter(shape, c.operand(0), select, window, c.operand(1), c.operand(2), scatter));
}

// The third operand gives the shape.
absl::Status ConvertRng(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShapeOfSizes(2));
  KASHI_ASSIGN_OR_RETURN(const absl::string_view name, c.String("rng_distribution"));
  const RandomDistribution distribution = name == "NORMAL" ? RNG_NORMAL : RNG_UNIFORM;
  return c.Finish(HloInstruction::CreateRng(shape, distribution, {c.operand(0), c.operand(1)}));
}

absl::Status ConvertRngBitGenerator(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  KASHI_ASSIGN_OR_RETURN(const absl::string_view name, c.String("rng_algorithm"));
  return c.Finish(HloInstruction::CreateRngBitGenerator(shape, c.operand(0), RandomAlgorithmNamed(name)));
}

RandomAlgorithm RandomAlgorithmNamed(absl::string_view name) {
  return name == "THREE_FRY" ? RNG_THREE_FRY : name == "PHILOX" ? RNG_PHILOX : RNG_DEFAULT;
}

}  // namespace kashi::stablehlo
