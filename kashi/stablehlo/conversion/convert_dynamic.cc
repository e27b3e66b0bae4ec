// Operations with operands that give sizes (docs/spec/vhlo.md 6.9). HLO needs the sizes as numbers: the operands must
// depend on constants and sizes only, or the result's type must give the sizes.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal_util.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {
absl::Status ConvertDynamicBroadcastInDim(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShapeOfSizes(1));
  return BroadcastInDim(c, shape);
}

absl::Status ConvertDynamicIota(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShapeOfSizes(0));
  return FinishIota(c, shape);
}

// Into a bounded shape, the sizes are scalars of the shape operand.
absl::Status ConvertDynamicReshape(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShapeOfSizes(1));
  if (!shape.is_dynamic()) return c.Finish(HloInstruction::CreateReshape(shape, c.operand(0)));
  const PrimitiveType index = c.operand(1)->shape().element_type();
  Instructions sizes;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.dimensions().size()); ++i) {
    KASHI_ASSIGN_OR_RETURN(HloInstruction * size, c.Add(HloInstruction::CreateSlice(ShapeUtil::MakeShape(index, {1}),
                                                                                    c.operand(1), {i}, {i + 1}, {1})));
    KASHI_ASSIGN_OR_RETURN(size, c.Add(HloInstruction::CreateReshape(ShapeUtil::MakeScalarShape(index), size)));
    if (index != S32) {
      KASHI_ASSIGN_OR_RETURN(size, c.Add(HloInstruction::CreateConvert(ShapeUtil::MakeScalarShape(S32), size)));
    }
    sizes.push_back(size);
  }
  return c.Finish(HloInstruction::CreateDynamicReshape(shape, c.operand(0), sizes));
}

absl::Status ConvertDynamicPad(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> low, c.KnownOperand(2, "the padding"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> high, c.KnownOperand(3, "the padding"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> interior, c.KnownOperand(4, "the padding"));
  if (low.size() != high.size() || low.size() != interior.size()) return c.Invalid("paddings differ in length");
  return FinishPad(c, shape, low, high, interior);
}

namespace {

// The sizes of a slice whose indices are computed at run time: those of the type, or the values that are added to the
// start indices to make the limits.
absl::StatusOr<std::vector<int64_t>> SliceSizes(const OperationConverter& c, const Shape& shape) {
  if (!shape.is_dynamic()) return std::vector<int64_t>(shape.dimensions().begin(), shape.dimensions().end());
  const HloInstruction& limits = *c.operand(2);
  for (int64_t i = 0; limits.opcode() == HloOpcode::kAdd && i < 2; ++i) {
    if (limits.operand(i) != c.operand(1)) continue;
    std::optional<std::vector<int64_t>> sizes = c.KnownNumbers(limits.operand(1 - i));
    if (sizes.has_value()) return *std::move(sizes);
  }
  KASHI_RETURN_IF_ERROR(c.KnownOperand(1, "the start indices").status());
  return c.KnownOperand(2, "the limit indices");
}

}  // namespace

absl::Status ConvertRealDynamicSlice(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, c.KnownOperand(3, "the strides"));
  const absl::StatusOr<std::vector<int64_t>> starts = c.KnownOperand(1, "the start indices");
  const absl::StatusOr<std::vector<int64_t>> limits = c.KnownOperand(2, "the limit indices");
  if (starts.ok() && limits.ok()) {
    if (starts->size() != limits->size() || starts->size() != strides.size()) {
      return c.Invalid("start indices, limit indices and strides differ in length");
    }
    return c.Finish(HloInstruction::CreateSlice(shape, c.operand(0), *starts, *limits, strides));
  }
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, SliceSizes(c, shape));
  for (const int64_t stride : strides) {
    if (stride != 1) return Unimplemented("HLO has no slice with strides from indices that are computed at run time");
  }
  const PrimitiveType index = c.operand(1)->shape().element_type();
  Instructions scalars;
  for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i) {
    KASHI_ASSIGN_OR_RETURN(HloInstruction * start, c.Add(HloInstruction::CreateSlice(ShapeUtil::MakeShape(index, {1}),
                                                                                     c.operand(1), {i}, {i + 1}, {1})));
    KASHI_ASSIGN_OR_RETURN(start, c.Add(HloInstruction::CreateReshape(ShapeUtil::MakeScalarShape(index), start)));
    scalars.push_back(start);
  }
  return c.Finish(HloInstruction::CreateDynamicSlice(shape, c.operand(0), scalars, sizes));
}

absl::Status ConvertDynamicGather(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.KnownOperand(2, "the sizes of slices"));
  return ConvertGatherWithSizes(c, sizes);
}

absl::Status ConvertDynamicConv(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> flat, c.KnownOperand(2, "the padding"));
  std::vector<std::pair<int64_t, int64_t>> padding;
  for (size_t i = 0; i + 1 < flat.size(); i += 2) padding.emplace_back(flat[i], flat[i + 1]);
  return ConvertConvolutionWithPadding(c, std::move(padding));
}

// The size of a static dimension is a constant.
absl::Status ConvertGetDimensionSize(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, c.Int("dimension"));
  const Shape& operand = c.operand(0)->shape();
  if (!operand.IsArray() || dimension < 0 || dimension >= static_cast<int64_t>(operand.dimensions().size())) {
    return c.Invalid("the operand has no dimension %d", dimension);
  }
  if (!operand.is_dynamic_dimension(static_cast<int>(dimension))) {
    const int64_t size = operand.dimensions(static_cast<int>(dimension));
    return c.Finish(HloInstruction::CreateConstant(LiteralUtil::CreateR0<int32_t>(static_cast<int32_t>(size))));
  }
  return c.Finish(HloInstruction::CreateGetDimensionSize(shape, c.operand(0), dimension));
}

// Into a type without a bound, a known size is a slice. HLO's operation gives a bounded shape.
absl::Status ConvertSetDimensionSize(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, c.Int("dimension"));
  const Shape& operand = c.operand(0)->shape();
  if (shape.is_unbounded_dynamic() && operand.is_static()) {
    KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> size, c.KnownOperand(1, "the size"));
    std::vector<int64_t> limits(operand.dimensions().begin(), operand.dimensions().end());
    const bool fits = dimension >= 0 && dimension < static_cast<int64_t>(limits.size()) && size.size() == 1;
    if (!fits) return c.Invalid("the operand has no dimension %d, or the size is no scalar", dimension);
    limits[dimension] = size[0];
    const std::vector<int64_t> starts(limits.size(), 0), strides(limits.size(), 1);
    return c.Finish(HloInstruction::CreateSlice(shape, c.operand(0), starts, limits, strides));
  }
  return c.Finish(HloInstruction::CreateSetDimensionSize(shape, c.operand(0), c.operand(1), dimension));
}

}  // namespace kashi::stablehlo
