#include "kashi/hlo/inference/shape_inference_internal.h"

#include <algorithm>
#include <optional>

#include "kashi/array/primitive_util.h"
#include "kashi/base/math.h"
#include "kashi/hlo/attributes/window_util.h"

namespace kashi::hlo {
namespace shape_inference {
namespace {

// The shapes of the reducer's accumulators: its result, or the elements of the tuple that it returns.
absl::StatusOr<std::vector<const Shape*>> Accumulators(const Shape& result, int64_t inputs) {
  std::vector<const Shape*> accumulators;
  if (result.IsArrayExcludingBuffer()) {
    if (inputs != 1) {
      return InvalidArgument("Reduction function must produce a tuple with %d elements, but produces a scalar", inputs);
    }
    accumulators.push_back(&result);
  } else if (result.IsTuple()) {
    if (result.tuple_shapes_size() != inputs) {
      return InvalidArgument("Reduction function must produce a tuple with %d elements, but has %d elements", inputs,
                             result.tuple_shapes_size());
    }
    accumulators = PointersTo(result.tuple_shapes());
  } else {
    return InvalidArgument("Reduction function must produce a scalar or tuple of scalars, but has shape: %s",
                           ShapeUtil::HumanString(result));
  }
  for (const Shape* accumulator : accumulators) {
    if (!ShapeUtil::IsScalar(*accumulator)) {
      return InvalidArgument("Reduction function must return a scalar or tuple of scalars but returns shape: %s",
                             ShapeUtil::HumanString(result));
    }
  }
  return accumulators;
}

// Checks that input i fits: its accumulator, initial value and elements, and the reducer's two parameters for it.
absl::Status CheckReducerOfInput(const ProgramShape& reducer, int64_t inputs, int64_t i, const Shape& accumulator,
                                 const Shape& init_value, PrimitiveType input_type) {
  const Shape& accumulator_parameter = reducer.parameters(static_cast<int>(i));
  const Shape& input_parameter = reducer.parameters(static_cast<int>(inputs + i));
  if (!ShapeUtil::Compatible(accumulator, accumulator_parameter)) {
    return InvalidArgument("Reduction function's %d-th parameter shape differs from the result shape: %s vs %s", i,
                           ShapeUtil::HumanString(accumulator_parameter), ShapeUtil::HumanString(accumulator));
  }
  if (!ShapeUtil::CompatibleIgnoringFpPrecision(accumulator, init_value)) {
    return InvalidArgument(
        "Reduction function's accumulator shape at index %d differs from the init_value shape: %s vs %s", i,
        ShapeUtil::HumanString(accumulator), ShapeUtil::HumanString(init_value));
  }
  KASHI_ASSIGN_OR_RETURN(const Shape element, ShapeUtil::MakeValidatedScalarShape(input_type));
  if (!ShapeUtil::CompatibleIgnoringFpPrecision(element, input_parameter)) {
    return InvalidArgument(
        "Reduction function's %d-th parameter shape differs from the input type element type: %s vs %s", inputs + i,
        ShapeUtil::HumanString(input_parameter), ShapeUtil::HumanString(element));
  }
  if (!ShapeUtil::CompatibleIgnoringFpPrecision(accumulator, input_parameter)) {
    return InvalidArgument("Reduction function's %d-th parameter shape must match the result shape, but got %s vs %s.",
                           inputs + i, ShapeUtil::HumanString(input_parameter), ShapeUtil::HumanString(accumulator));
  }
  return absl::OkStatus();
}

absl::Status CheckWindowDimension(const Window& window, const WindowDimension& dimension) {
  const auto error = [&](absl::string_view what) {
    return InvalidArgument("Window %s has a non-positive %s.", window_util::ToString(window), what);
  };
  if (dimension.size() <= 0) return error("dimension");
  if (dimension.stride() <= 0) return error("stride");
  if (dimension.base_dilation() < 1) return error("base area dilation factor");
  if (dimension.window_dilation() < 1) return error("window dilation factor");
  return absl::OkStatus();
}

// The size of `size` elements with dilation - 1 holes between neighbours.
std::optional<int64_t> DilatedSize(int64_t size, int64_t dilation) {
  if (size == 0) return 0;
  const std::optional<int64_t> all_but_last = CheckedMultiply(size - 1, dilation);
  return all_but_last.has_value() ? CheckedAdd(*all_but_last, 1) : std::nullopt;
}

// The number of positions of the window over `size` elements of the base.
absl::StatusOr<int64_t> WindowOutputSize(int64_t size, const WindowDimension& dimension) {
  const std::optional<int64_t> window = DilatedSize(dimension.size(), dimension.window_dilation());
  std::optional<int64_t> padded = DilatedSize(size, dimension.base_dilation());
  if (padded.has_value()) padded = CheckedAdd(*padded, dimension.padding_low());
  if (padded.has_value()) padded = CheckedAdd(*padded, dimension.padding_high());
  if (!window.has_value() || !padded.has_value()) {
    return InvalidArgument("A window over a dimension of size %d does not fit 64 bits.", size);
  }
  // XLA dies.
  if (*padded < 0) return InvalidArgument("Padding makes the size %d of a dimension negative: %d.", size, *padded);
  if (*padded == 0 || *window > *padded) return 0;
  return (*padded - *window) / dimension.stride() + 1;
}

}  // namespace

const std::string& TypeName(const Shape& shape) { return PrimitiveType_Name(shape.element_type()); }

bool CompatibleSizes(int64_t a, int64_t b) {
  return a == b || a == Shape::kUnboundedSize || b == Shape::kUnboundedSize;
}

absl::StatusOr<PrimitiveType> HigherPrecision(const Shape& a, const Shape& b) {
  const PrimitiveType type = primitive_util::TryHigherPrecisionType(a.element_type(), b.element_type());
  if (type != PRIMITIVE_TYPE_INVALID) return type;
  return InvalidArgument("Neither of the element types of %s and %s is the more precise one.",
                         ShapeUtil::HumanString(a), ShapeUtil::HumanString(b));
}

bool AllUnique(absl::Span<const int64_t> dimensions) {
  std::vector<int64_t> sorted(dimensions.begin(), dimensions.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

Shape MaybeTuple(absl::Span<const Shape> shapes) { return ShapeUtil::MakeMaybeTupleShape(shapes); }

std::vector<Shape> CopyShapes(absl::Span<const Shape* const> shapes) {
  std::vector<Shape> copies;
  copies.reserve(shapes.size());
  for (const Shape* shape : shapes) copies.push_back(*shape);
  return copies;
}

std::vector<const Shape*> PointersTo(absl::Span<const Shape> shapes) {
  std::vector<const Shape*> pointers;
  pointers.reserve(shapes.size());
  for (const Shape& shape : shapes) pointers.push_back(&shape);
  return pointers;
}

absl::Status CheckReducer(const ProgramShape& reducer, absl::Span<const Shape* const> init_values,
                          absl::Span<const PrimitiveType> input_types) {
  const int64_t inputs = input_types.size();
  if (reducer.parameters_size() != 2 * inputs) {
    return InvalidArgument("Reduction function must take %d parameters, but takes %d parameter(s).", 2 * inputs,
                           reducer.parameters_size());
  }
  KASHI_ASSIGN_OR_RETURN(const std::vector<const Shape*> accumulators, Accumulators(reducer.result(), inputs));
  for (int64_t i = 0; i < inputs; ++i) {
    KASHI_RETURN_IF_ERROR(CheckReducerOfInput(reducer, inputs, i, *accumulators[i], *init_values[i], input_types[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> InferWindowOutputShape(const Shape& base, const Window& window, PrimitiveType element_type) {
  if (window.dimensions_size() != base.dimensions_size()) {
    return InvalidArgument("Window has dimension %d but base shape has dimension %d.", window.dimensions_size(),
                           base.dimensions_size());
  }
  ResultDimensions result;
  for (int i = 0; i < base.dimensions_size(); ++i) {
    KASHI_RETURN_IF_ERROR(CheckWindowDimension(window, window.dimensions(i)));
    int64_t size = base.dimensions(i);
    if (!base.is_unbounded_dynamic_dimension(i)) {
      KASHI_ASSIGN_OR_RETURN(size, WindowOutputSize(size, window.dimensions(i)));
    }
    result.Add(size, base.is_dynamic_dimension(i));
  }
  return result.Make(element_type);
}

}  // namespace shape_inference
}  // namespace kashi::hlo
