// Map, reductions, windows, scan and topk (docs/spec/hlo-ops.md, 3).
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/inference/shape_inference_internal.h"

namespace kashi {
namespace {

using hlo::shape_inference::CheckReducer;
using hlo::shape_inference::InferWindowOutputShape;
using hlo::shape_inference::ResultDimensions;

std::string JoinedShapes(absl::Span<const Shape* const> shapes) {
  return absl::StrJoin(
      shapes, ", ", [](std::string* out, const Shape* shape) { absl::StrAppend(out, ShapeUtil::HumanString(*shape)); });
}

// ---------------------------------------------------------------------------------------------------------------------
// Map
// ---------------------------------------------------------------------------------------------------------------------

// The argument whose dimensions are mapped over. All have the same dimensions, except scalars among arrays of their
// type.
absl::StatusOr<const Shape*> FullShapeOfMap(absl::Span<const Shape* const> arguments) {
  const Shape* full = arguments[0];
  // XLA dies if the only argument is not an array.
  if (arguments.size() == 1 && !full->IsArray()) return ExpectArray(*full, "operand of map");
  for (const Shape* argument : arguments.subspan(1)) {
    KASHI_RETURN_IF_ERROR(ExpectArray(*argument, "operand of map"));
    if (ShapeUtil::CompatibleIgnoringElementType(*argument, *full)) continue;
    const bool same_type = full->IsArray() && ShapeUtil::SameElementTypeIgnoringFpPrecision(*argument, *full);
    if (same_type && ShapeUtil::IsScalar(*argument)) continue;
    if (same_type && ShapeUtil::IsScalar(*full)) {
      full = argument;
      continue;
    }
    return InvalidArgument("Map operation requires all operands to have the same shape; got: %s.",
                           JoinedShapes(arguments));
  }
  return full;
}

absl::Status CheckMapDimensions(absl::Span<const int64_t> dimensions, const Shape& full) {
  if (static_cast<int64_t>(dimensions.size()) != full.rank()) {
    return InvalidArgument(
        "Map applied to a subset of dimensions currently not supported: arg_dimension_size: %d, "
        "requested_map_dimensions_size: %u.",
        full.rank(), dimensions.size());
  }
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] == static_cast<int64_t>(i)) continue;
    return InvalidArgument("Map requires monotonically increasing dimension numbers; got: %s.",
                           absl::StrJoin(dimensions, ", "));
  }
  return absl::OkStatus();
}

absl::Status CheckMapped(const ProgramShape& to_apply, absl::Span<const Shape* const> arguments) {
  if (to_apply.parameters_size() != static_cast<int>(arguments.size())) {
    return InvalidArgument("Map applied function arity must match number of arguments; got: arity: %d, arguments: %u.",
                           to_apply.parameters_size(), arguments.size());
  }
  if (!ShapeUtil::IsScalar(to_apply.result())) {
    return InvalidArgument("Mapped computation's result has to be a scalar; got: %s.",
                           ShapeUtil::HumanString(to_apply.result()));
  }
  for (int i = 0; i < to_apply.parameters_size(); ++i) {
    const Shape& parameter = to_apply.parameters(i);
    if (!ShapeUtil::IsScalar(parameter)) {
      return InvalidArgument("Mapped computation's parameter has to be a scalar; got parameter %d shape: %s.", i,
                             ShapeUtil::HumanString(parameter));
    }
    if (!ShapeUtil::SameElementTypeIgnoringFpPrecision(parameter, *arguments[i])) {
      return InvalidArgument(
          "Mapped computation's parameter type has to match argument element type; got parameter %d shape: %s, "
          "argument shape: %s.",
          i, ShapeUtil::HumanString(parameter), ShapeUtil::HumanString(*arguments[i]));
    }
  }
  return absl::OkStatus();
}

// ---------------------------------------------------------------------------------------------------------------------
// Reductions
// ---------------------------------------------------------------------------------------------------------------------

// An error unless all arrays have the sizes of the first. The `%s` of `format` are the first shape, and the number and
// the shape of the array that differs.
template <typename Format>
absl::Status CheckSameDimensions(absl::Span<const Shape* const> arrays, const Format& format) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    // XLA dies of others.
    if (!arrays[i]->IsArray()) return ExpectArray(*arrays[i], "operand of reduction");
    if (ShapeUtil::SameDimensions(*arrays[0], *arrays[i])) continue;
    return InvalidArgument(format, ShapeUtil::HumanString(*arrays[0]), i, ShapeUtil::HumanString(*arrays[i]));
  }
  return absl::OkStatus();
}

std::vector<PrimitiveType> ElementTypes(absl::Span<const Shape* const> arrays) {
  std::vector<PrimitiveType> types;
  types.reserve(arrays.size());
  for (const Shape* array : arrays) types.push_back(array->element_type());
  return types;
}

// `dimensions` with the element type that the reducer returns; for several arrays or a tuple, a tuple.
absl::StatusOr<Shape> ReducedShape(const ResultDimensions& dimensions, const Shape& reducer_result) {
  if (!reducer_result.IsTuple()) return dimensions.Make(reducer_result.element_type());
  std::vector<Shape> results;
  for (const Shape& element : reducer_result.tuple_shapes()) {
    KASHI_ASSIGN_OR_RETURN(Shape result, dimensions.Make(element.element_type()));
    results.push_back(std::move(result));
  }
  return ShapeUtil::MakeTupleShape(results);
}

// The operands' windowed shapes.
absl::StatusOr<std::vector<Shape>> WindowedShapes(absl::Span<const Shape* const> operands,
                                                  absl::Span<const Shape* const> init_values, const Window& window) {
  if (operands.size() != init_values.size()) {
    return InvalidArgument("Reduce-window has %d operands, but %d initial values.", operands.size(),
                           init_values.size());
  }
  std::vector<Shape> results;
  for (size_t i = 0; i < operands.size(); ++i) {
    KASHI_RETURN_IF_ERROR(ExpectArray(*operands[i], "operand of reduce-window"));
    KASHI_ASSIGN_OR_RETURN(Shape result, InferWindowOutputShape(*operands[i], window, init_values[i]->element_type()));
    results.push_back(std::move(result));
  }
  return results;
}

absl::Status CheckSelect(const ProgramShape& select, const Shape& operand) {
  if (select.parameters_size() != 2) {
    return InvalidArgument("Select function must take 2 parameters, but takes %d parameter(s).",
                           select.parameters_size());
  }
  if (!ShapeUtil::Compatible(select.result(), ShapeUtil::MakeScalarShape(PRED))) {
    return InvalidArgument("Select function must have rank-0 PRED result.");
  }
  const Shape element = ShapeUtil::MakeScalarShape(operand.element_type());
  for (int i = 0; i < 2; ++i) {
    if (ShapeUtil::CompatibleIgnoringFpPrecision(element, select.parameters(i))) continue;
    return InvalidArgument(
        "Select function's %s parameter shape currently must match the operand element shape, but got %s vs %s.",
        i == 0 ? "first" : "second", ShapeUtil::HumanString(select.parameters(i)), ShapeUtil::HumanString(element));
  }
  return absl::OkStatus();
}

// ---------------------------------------------------------------------------------------------------------------------
// Scan
// ---------------------------------------------------------------------------------------------------------------------

// The shape of all results of a scan, from the shape of one step's result. Bounds become sizes, as in XLA.
absl::StatusOr<Shape> StackedShape(const Shape& slice, int64_t dimension, int64_t size) {
  KASHI_RETURN_IF_ERROR(slice.IsArray() ? absl::OkStatus() : ExpectArray(slice, "result of scan"));
  if (dimension > slice.rank()) {
    return InvalidArgument("Scan dimension %d is out of bounds for a result of shape %s.", dimension,
                           ShapeUtil::HumanString(slice));
  }
  Shape array = slice.IsBuffer() ? slice.buffer_shape() : slice;
  std::vector<int64_t> unbounded;
  for (int i = 0; i < array.dimensions_size(); ++i) {
    if (!array.is_unbounded_dynamic_dimension(i)) continue;
    unbounded.push_back(i < dimension ? i : i + 1);
    array.set_dimensions(i, 0, false);
  }
  if (size == Shape::kUnboundedSize) unbounded.push_back(dimension);
  Shape result = ShapeUtil::InsertDimensionAtIndex(array, dimension, size == Shape::kUnboundedSize ? 0 : size);
  for (int64_t i : unbounded) result.set_unbounded_dynamic_dimension(static_cast<int>(i));
  KASHI_RETURN_IF_ERROR(ShapeUtil::ValidateShapeWithOptionalLayout(result));
  return result;
}

}  // namespace

absl::StatusOr<Shape> ShapeInference::InferMapShape(absl::Span<const Shape* const> arg_shapes,
                                                    const ProgramShape& to_apply,
                                                    absl::Span<const int64_t> dimensions) {
  if (arg_shapes.empty()) return InvalidArgument("Map expects at least one argument.");
  KASHI_ASSIGN_OR_RETURN(const Shape* full, FullShapeOfMap(arg_shapes));
  KASHI_RETURN_IF_ERROR(CheckMapDimensions(dimensions, *full));
  KASHI_RETURN_IF_ERROR(CheckMapped(to_apply, arg_shapes));
  ResultDimensions result;
  result.AddAllFrom(*full);
  return result.Make(to_apply.result().element_type());
}

absl::StatusOr<Shape> ShapeInference::InferReduceShape(absl::Span<const Shape* const> arg_shapes,
                                                       absl::Span<const int64_t> dimensions_to_reduce,
                                                       const ProgramShape& to_apply) {
  if (arg_shapes.empty()) return InvalidArgument("Reduce must have at least 2 arguments, has 0");
  if (arg_shapes.size() % 2 != 0) {
    return InvalidArgument("Reduce must have an even number of arguments, has %d", arg_shapes.size());
  }
  const auto arrays = arg_shapes.first(arg_shapes.size() / 2), init_values = arg_shapes.subspan(arrays.size());
  KASHI_RETURN_IF_ERROR(CheckSameDimensions(
      arrays, absl::ParsedFormat<'s', 'd', 's'>("All reduced tensors must have compatible dimension. Tensor at index 0 "
                                                "has shape %s, and tensor at index %d has shape %s.")));
  const Shape& first = *arrays[0];
  for (int64_t dimension : dimensions_to_reduce) {
    if (dimension >= 0 && dimension < first.rank()) continue;
    return InvalidArgument("Reducing out-of-bounds dimension %d in shape %s.", dimension,
                           ShapeUtil::HumanString(first));
  }
  KASHI_RETURN_IF_ERROR(CheckReducer(to_apply, init_values, ElementTypes(arrays)));
  std::vector<bool> is_reduced(first.rank());
  for (int64_t dimension : dimensions_to_reduce) {
    if (is_reduced[dimension]) return InvalidArgument("Duplicate reduction dimension: %d", dimension);
    is_reduced[dimension] = true;
  }
  ResultDimensions result;
  for (int i = 0; i < first.dimensions_size(); ++i) {
    if (!is_reduced[i]) result.AddFrom(first, i);
  }
  return ReducedShape(result, to_apply.result());
}

absl::StatusOr<Shape> ShapeInference::InferReduceWindowShape(const Shape& operand_shape, const Shape& init_value,
                                                             const Window& window) {
  KASHI_ASSIGN_OR_RETURN(std::vector<Shape> results, WindowedShapes({&operand_shape}, {&init_value}, window));
  return std::move(results[0]);
}

absl::StatusOr<Shape> ShapeInference::InferReduceWindowShape(const Shape& operand_shape, const Shape& init_value,
                                                             const Window& window, const ProgramShape& to_apply_shape) {
  KASHI_RETURN_IF_ERROR(CheckReducer(to_apply_shape, {&init_value}, {operand_shape.element_type()}));
  return InferReduceWindowShape(operand_shape, init_value, window);
}

absl::StatusOr<Shape> ShapeInference::InferReduceWindowShape(absl::Span<const Shape* const> operands,
                                                             absl::Span<const Shape* const> init_values,
                                                             const Window& window) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<Shape> results, WindowedShapes(operands, init_values, window));
  return ShapeUtil::MakeTupleShape(results);
}

absl::StatusOr<Shape> ShapeInference::InferReduceWindowShape(absl::Span<const Shape* const> operands,
                                                             absl::Span<const Shape* const> init_values,
                                                             const Window& window, const ProgramShape& to_apply_shape) {
  KASHI_RETURN_IF_ERROR(CheckSameDimensions(
      operands,
      absl::ParsedFormat<'s', 'd', 's'>(
          "All reduced tensors must have the same dimension. Tensor 0 has shape %s, Tensor %d has shape %s")));
  if (operands.size() == init_values.size()) {
    KASHI_RETURN_IF_ERROR(CheckReducer(to_apply_shape, init_values, ElementTypes(operands)));
  }
  KASHI_ASSIGN_OR_RETURN(std::vector<Shape> results, WindowedShapes(operands, init_values, window));
  if (!to_apply_shape.result().IsTuple()) return std::move(results[0]);
  return ShapeUtil::MakeTupleShape(results);
}

absl::StatusOr<Shape> ShapeInference::InferSelectAndScatterShape(const Shape& operand_shape,
                                                                 const ProgramShape& select_shape, const Window& window,
                                                                 const Shape& source_shape,
                                                                 const Shape& init_value_shape,
                                                                 const ProgramShape& scatter_shape) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand_shape, "operand of select-and-scatter"));
  KASHI_RETURN_IF_ERROR(CheckSelect(select_shape, operand_shape));
  KASHI_RETURN_IF_ERROR(CheckReducer(scatter_shape, {&init_value_shape}, {source_shape.element_type()}));
  KASHI_ASSIGN_OR_RETURN(const Shape windowed,
                         InferWindowOutputShape(operand_shape, window, operand_shape.element_type()));
  if (!ShapeUtil::CompatibleIgnoringFpPrecision(source_shape, windowed)) {
    return InvalidArgument(
        "Source shape does not match the shape of window-reduced operand: source(%s), window-reduced operand(%s).",
        ShapeUtil::HumanString(source_shape), ShapeUtil::HumanString(windowed));
  }
  return operand_shape;
}

absl::StatusOr<Shape> ShapeInference::InferTopKShape(const Shape& operand_shape, int64_t k) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand_shape, "operand of top-k operation"));
  const int last = operand_shape.dimensions_size() - 1;
  if (last < 0) return InvalidArgument("The operand of top-k is a scalar: %s.", ShapeUtil::HumanString(operand_shape));
  KASHI_RET_CHECK(operand_shape.dimensions(last) >= k, "k=%d is larger than the last dimension of size=%d", k,
                  operand_shape.dimensions(last));
  if (k < 0) return InvalidArgument("k=%d is negative", k);
  ResultDimensions result;
  for (int i = 0; i < last; ++i) result.AddFrom(operand_shape, i);
  result.Add(k);
  KASHI_ASSIGN_OR_RETURN(const Shape values, result.Make(operand_shape.element_type()));
  KASHI_ASSIGN_OR_RETURN(const Shape indices, result.Make(S32));
  return ShapeUtil::MakeTupleShape({values, indices});
}

absl::StatusOr<Shape> ShapeInference::InferScanShape(absl::Span<const Shape* const> arg_shapes,
                                                     const ProgramShape& to_apply, int64_t dimension,
                                                     int64_t num_carries) {
  const int64_t arguments = arg_shapes.size();
  if (num_carries < 0 || num_carries >= arguments) return InvalidArgument("Cannot infer shape for scan with no inputs");
  const Shape& first = *arg_shapes[0];
  if (!first.IsArray()) return ExpectArray(first, "operand of scan");
  if (dimension < 0 || dimension >= first.rank()) {
    return InvalidArgument("Scan dimension %d is out of bounds for an operand of shape %s.", dimension,
                           ShapeUtil::HumanString(first));
  }
  const bool is_tuple = to_apply.result().IsTuple();
  std::vector<Shape> results = is_tuple ? to_apply.result().tuple_shapes() : std::vector<Shape>{to_apply.result()};
  const int64_t stacked = static_cast<int64_t>(results.size()) - num_carries;
  for (int64_t i = 0; i < stacked; ++i) {
    KASHI_ASSIGN_OR_RETURN(results[i],
                           StackedShape(results[i], dimension, first.dimensions(static_cast<int>(dimension))));
  }
  return is_tuple ? ShapeUtil::MakeTupleShape(results) : results[0];
}

absl::StatusOr<Window> ShapeInference::InferWindowFromDimensions(absl::Span<const int64_t> window_dimensions,
                                                                 absl::Span<const int64_t> window_strides,
                                                                 absl::Span<const std::pair<int64_t, int64_t>> padding,
                                                                 absl::Span<const int64_t> lhs_dilation,
                                                                 absl::Span<const int64_t> rhs_dilation,
                                                                 std::optional<std::vector<bool>> window_reversal) {
  const std::vector<bool> reversal = window_reversal.value_or(std::vector<bool>());
  const std::pair<size_t, absl::string_view> lists[] = {{window_strides.size(), "window strides"},
                                                        {padding.size(), "padding entries"},
                                                        {lhs_dilation.size(), "lhs dilation factors"},
                                                        {rhs_dilation.size(), "rhs dilation factors"},
                                                        {reversal.size(), "window reversal"}};
  for (const auto& [size, name] : lists) {
    if (size == 0 || size == window_dimensions.size()) continue;
    return InvalidArgument(
        "Window has different number of window dimensions than of %s\nNumber of window dimensions: %d\nNumber of %s: "
        "%d\n",
        name, window_dimensions.size(), name, size);
  }
  Window window;
  for (size_t i = 0; i < window_dimensions.size(); ++i) {
    WindowDimension* dimension = window.add_dimensions();
    dimension->set_size(window_dimensions[i]);
    dimension->set_stride(window_strides.empty() ? 1 : window_strides[i]);
    dimension->set_padding_low(padding.empty() ? 0 : padding[i].first);
    dimension->set_padding_high(padding.empty() ? 0 : padding[i].second);
    dimension->set_base_dilation(lhs_dilation.empty() ? 1 : lhs_dilation[i]);
    dimension->set_window_dilation(rhs_dilation.empty() ? 1 : rhs_dilation[i]);
    dimension->set_window_reversal(!reversal.empty() && reversal[i]);
  }
  return window;
}

}  // namespace kashi
