// The sizes of results where sizes are only known when the program runs (docs/spec/hlo-ops.md 2, set-dimension-size).
//
// Shape inference gives the sizes of most results, from operands with their real sizes. A few
// operations give sizes themselves; they have rules of their own (dynamic_sizes.h).
#include "kashi/evaluator/dynamic_sizes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/computation_plan.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/hlo/inference/instruction_shape.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::evaluator {
namespace {

using Sizes = std::vector<int64_t>;

Sizes SizesOf(const Shape& shape) { return Sizes(shape.dimensions().begin(), shape.dimensions().end()); }

absl::StatusOr<int64_t> ScalarOf(const Value& value) {
  if (value.element_count() != 1) return InvalidArgument("A size must be a scalar");
  switch (value.element_type()) {
    case S32:
      return value.data<int32_t>()[0];
    case S64:
      return value.data<int64_t>()[0];
    default:
      return InvalidArgument("A size must be an S32 or S64");
  }
}

}  // namespace

// One dynamic dimension of the result has the size that the number of elements leaves. Several have the sizes of the
// operand's dynamic dimensions, in order.
absl::StatusOr<Sizes> SizesOfReshape(const HloInstruction& reshape, absl::Span<const Value> operands) {
  const Value& operand = operands[0];
  const Shape& shape = reshape.shape();
  Sizes sizes = SizesOf(shape);
  std::vector<size_t> dynamic;
  std::optional<int64_t> fixed = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (shape.is_dynamic_dimension(static_cast<int64_t>(i))) {
      dynamic.push_back(i);
    } else {
      fixed = fixed.has_value() ? CheckedMultiply(*fixed, sizes[i]) : fixed;
    }
  }
  if (dynamic.size() == 1 && fixed.value_or(0) != 0 && operand.element_count() % *fixed == 0) {
    sizes[dynamic[0]] = operand.element_count() / *fixed;
    return sizes;
  }
  const Shape& from = reshape.operand(0)->shape();
  size_t next = 0;
  for (size_t i = 0; i < from.dimensions().size() && next < dynamic.size(); ++i) {
    if (from.is_dynamic_dimension(static_cast<int64_t>(i))) {
      sizes[dynamic[next++]] = operand.dimension(static_cast<int64_t>(i));
    }
  }
  std::optional<int64_t> count = 1;
  for (int64_t size : sizes) count = count.has_value() ? CheckedMultiply(*count, size) : count;
  if (count != operand.element_count()) {
    return Unimplemented("%s: its dynamic sizes cannot be derived from those of %s", reshape.name(),
                         ShapeUtil::HumanString(operand.shape()));
  }
  return sizes;
}

absl::StatusOr<Sizes> SizesOfSlice(const HloInstruction& slice, absl::Span<const Value> operands) {
  const Value& operand = operands[0];
  Sizes sizes(operand.dimensions().size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t limit = std::min(slice.slice_limits()[i], operand.dimensions()[i]);
    const int64_t start = slice.slice_starts()[i];
    sizes[i] = limit <= start ? 0 : (limit - start - 1) / slice.slice_strides()[i] + 1;
  }
  return sizes;
}

absl::StatusOr<Sizes> SizesOfSetDimensionSize(const HloInstruction& set, absl::Span<const Value> operands) {
  Sizes sizes = SizesOf(operands[0].shape());
  KASHI_ASSIGN_OR_RETURN(const int64_t size, ScalarOf(operands[1]));
  sizes[set.dimension()] = std::clamp<int64_t>(size, 0, set.shape().dimensions(set.dimension()));
  return sizes;
}

absl::StatusOr<Sizes> SizesOfBroadcast(const HloInstruction& broadcast, absl::Span<const Value> operands) {
  Sizes sizes = SizesOf(broadcast.shape());
  for (int i = 0; i < operands[0].rank(); ++i) sizes[broadcast.dimensions(i)] = operands[0].dimension(i);
  return sizes;
}

absl::StatusOr<Sizes> SizesOfDynamicSlice(const HloInstruction& slice, absl::Span<const Value> operands) {
  Sizes sizes = SizesOf(slice.shape());
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = std::min(sizes[i], operands[0].dimensions()[i]);
  return sizes;
}

absl::StatusOr<Sizes> SizesOfDynamicReshape(const HloInstruction& reshape, absl::Span<const Value> operands) {
  Sizes sizes;
  for (size_t i = 1; i < operands.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(const int64_t size, ScalarOf(operands[i]));
    sizes.push_back(std::clamp<int64_t>(size, 0, reshape.shape().dimensions(static_cast<int64_t>(i) - 1)));
  }
  return sizes;
}

namespace {

// The shape that inference gives the instruction with operands of these shapes.
absl::StatusOr<Shape> InferredFor(const HloInstruction& instruction, absl::Span<const Value> operands) {
  std::vector<std::unique_ptr<HloInstruction>> stand_ins;
  std::vector<HloInstruction*> new_operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& shape = operands[i].is_array() ? operands[i].shape() : instruction.operand(i)->shape();
    stand_ins.push_back(HloInstruction::CreateParameter(static_cast<int64_t>(i), shape, absl::StrCat("operand", i)));
    new_operands.push_back(stand_ins.back().get());
  }
  const std::unique_ptr<HloInstruction> clone = instruction.CloneWithNewOperands(instruction.shape(), new_operands);
  return hlo::InferInstructionShape(*clone);
}

// The arrays of `declared` with the sizes that were inferred for them. The types are those of `declared`, since text
// may have f32[<=4] add(bf16[<=4] …).
absl::StatusOr<std::vector<DenseShape>> ShapesWithSizesOf(const Shape& inferred, const Shape& declared) {
  std::vector<DenseShape> shapes = ResultShapes(declared);
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Shape* const sizes = !declared.IsTuple()                                        ? &inferred
                               : inferred.IsTuple() && i < inferred.tuple_shapes().size() ? &inferred.tuple_shapes(i)
                                                                                          : nullptr;
    if (shapes[i] == nullptr || sizes == nullptr || !sizes->IsArray()) continue;
    KASHI_ASSIGN_OR_RETURN(shapes[i], MakeCheckedDenseShape(shapes[i]->element_type(), sizes->dimensions()));
  }
  return shapes;
}

}  // namespace

absl::StatusOr<std::vector<DenseShape>> DynamicResultShapes(const HloInstruction& instruction,
                                                            absl::Span<const Value> operands) {
  if (const SizesFunction sizes_of = TraitsOf(instruction.opcode()).sizes; sizes_of != nullptr) {
    KASHI_ASSIGN_OR_RETURN(const Sizes sizes, sizes_of(instruction, operands));
    KASHI_ASSIGN_OR_RETURN(DenseShape shape, MakeCheckedDenseShape(instruction.shape().element_type(), sizes));
    return std::vector<DenseShape>{std::move(shape)};
  }
  absl::StatusOr<Shape> inferred = InferredFor(instruction, operands);
  // Operations that shape inference has no rule for (bitcast, custom calls, …) have the sizes of their shape.
  if (absl::IsUnimplemented(inferred.status())) return ResultShapes(instruction.shape());
  KASHI_RETURN_IF_ERROR(inferred.status());
  return ShapesWithSizesOf(*inferred, instruction.shape());
}

}  // namespace kashi::evaluator
