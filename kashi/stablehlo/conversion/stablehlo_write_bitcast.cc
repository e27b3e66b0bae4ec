// A bitcast keeps the elements of its operand in the order of memory. StableHLO has no
// layouts, so its operations describe how elements move:
//
//   f32[2,3]{1,0} -> f32[6]{0}              reshape
//   f32[2,3]{1,0} -> f32[3,2]{0,1}          transpose
//   f32[2,3,4]{1,0,2} -> f32[4,6]{1,0}      transpose into the order of memory, reshape
//   f32[4] -> s32[4]                        bitcast_convert
//
// If layouts have tiles, the same operations are right as long as both orders in memory stay equal.
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/permutation_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/kernels/physical_order.h"
#include "kashi/stablehlo/conversion/stablehlo_write_functions.h"

namespace kashi::stablehlo {
namespace {

// Without tiles.
Shape Untiled(const Shape& shape) {
  if (!shape.has_layout()) return ShapeUtil::MakeShape(shape.element_type(), shape.dimensions());
  return ShapeUtil::MakeShapeWithDenseLayout(shape.element_type(), shape.dimensions(), shape.layout().minor_to_major());
}

// The array of the same memory whose dimensions are in the order of memory.
Shape InOrderOfMemory(const Shape& shape) {
  const Shape untiled = Untiled(shape);
  std::vector<int64_t> dimensions;
  for (auto d = untiled.layout().minor_to_major().rbegin(); d != untiled.layout().minor_to_major().rend(); ++d) {
    dimensions.push_back(shape.dimensions(static_cast<int>(*d)));
  }
  Shape ordered = ShapeUtil::MakeShape(shape.element_type(), dimensions);
  if (!shape.has_layout()) return ordered;
  const absl::Span<const int64_t> descending = ordered.layout().minor_to_major();
  const std::vector<int64_t> order(descending.begin(), descending.end());
  Layout layout = shape.layout();
  for (size_t i = 0; i < order.size(); ++i) layout.set_minor_to_major(static_cast<int>(i), order[i]);
  *ordered.mutable_layout() = std::move(layout);
  return ordered;
}

bool HasTiles(const Shape& shape) { return shape.has_layout() && !shape.layout().tiles().empty(); }

absl::Status CheckMemory(const Shape& from, const Shape& to) {
  if (ShapeUtil::ElementsIn(from) != ShapeUtil::ElementsIn(to)) {
    return Unimplemented("StableHLO has no form for a bitcast to another number of elements");
  }
  if (!HasTiles(from) && !HasTiles(to)) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const kernels::PhysicalOrder from_order, kernels::PhysicalOrder::Make(InOrderOfMemory(from)));
  KASHI_ASSIGN_OR_RETURN(const kernels::PhysicalOrder to_order, kernels::PhysicalOrder::Make(InOrderOfMemory(to)));
  if (kernels::PhysicalOrder::AreEqual(from_order, to_order)) return absl::OkStatus();
  return Unimplemented("StableHLO has no form for a bitcast whose tiles change the order of elements: %s to %s",
                       from.ToString(/*print_layout=*/true), to.ToString(/*print_layout=*/true));
}

// A value on its way from the operand to the result.
class Steps {
 public:
  Steps(StableHloWriter& w, const HloInstruction& i)
      : w_(w), value_(w.NamesOf(i.operand(0))[0]), shape_(Plain(i.operand(0)->shape())) {}

  const Shape& shape() const { return shape_; }
  ValueName value() const { return value_; }

  absl::Status Transpose(absl::Span<const int64_t> permutation) {
    if (absl::c_is_sorted(permutation)) return absl::OkStatus();
    OperationText operation;
    operation.name = "stablehlo.transpose";
    operation.SetInts("permutation", permutation);
    return Write(std::move(operation),
                 ShapeUtil::MakeShape(shape_.element_type(), ComposePermutations(shape_.dimensions(), permutation)));
  }
  absl::Status Reshape(absl::Span<const int64_t> dimensions) {
    if (shape_.dimensions() == dimensions) return absl::OkStatus();
    OperationText operation;
    operation.name = "stablehlo.reshape";
    return Write(std::move(operation), ShapeUtil::MakeShape(shape_.element_type(), dimensions));
  }
  absl::Status Convert(PrimitiveType type) {
    if (shape_.element_type() == type) return absl::OkStatus();
    OperationText operation;
    operation.name = "stablehlo.bitcast_convert";
    return Write(std::move(operation), ShapeUtil::MakeShape(type, shape_.dimensions()));
  }

 private:
  static Shape Plain(const Shape& shape) { return ShapeUtil::MakeShape(shape.element_type(), shape.dimensions()); }

  absl::Status Write(OperationText operation, Shape result) {
    operation.operands = {value_};
    operation.operand_shapes = {&shape_};
    operation.result_shapes = {&result};
    KASHI_ASSIGN_OR_RETURN(const ValueNames results, w_.WriteOperation(operation));
    value_ = results[0];
    shape_ = std::move(result);
    return absl::OkStatus();
  }

  StableHloWriter& w_;
  ValueName value_;
  Shape shape_;
};

// Types of PRED and of less than a byte have other widths in memory than StableHLO gives them.
absl::Status CheckElementTypes(PrimitiveType from, PrimitiveType to) {
  if (from == to) return absl::OkStatus();
  const bool is_same_width = primitive_util::BitWidth(from) == primitive_util::BitWidth(to);
  if (is_same_width && from != PRED && to != PRED) return absl::OkStatus();
  return Unimplemented("StableHLO has no form for a bitcast from %s to %s",
                       primitive_util::LowercasePrimitiveTypeName(from),
                       primitive_util::LowercasePrimitiveTypeName(to));
}

}  // namespace

absl::Status WriteBitcast(StableHloWriter& w, const HloInstruction& i) {
  const Shape& from = i.operand(0)->shape();
  const Shape& to = i.shape();
  if (!from.IsArray() || !to.IsArray()) {
    if (!ShapeUtil::Compatible(from, to)) return Unimplemented("StableHLO has no form for a bitcast of tuples");
    w.SetNames(&i, ValueNames(w.NamesOf(i.operand(0))));
    return absl::OkStatus();
  }
  if (from.is_dynamic() || to.is_dynamic()) {
    return Unimplemented("StableHLO has no form for a bitcast of arrays with dynamic sizes");
  }
  KASHI_RETURN_IF_ERROR(CheckElementTypes(from.element_type(), to.element_type()));
  KASHI_RETURN_IF_ERROR(CheckMemory(from, to));
  const ShapeUtil::BitcastDecomposition parts = ShapeUtil::DecomposeBitcast(Untiled(from), Untiled(to));
  if (!parts.has_value()) return Unimplemented("StableHLO has no form for it");
  Steps steps(w, i);
  if (const auto* transpose = std::get_if<ShapeUtil::BitcastDecompositionTranspose>(&*parts)) {
    KASHI_RETURN_IF_ERROR(steps.Transpose(transpose->transpose_dims));
  } else if (const auto* trt = std::get_if<ShapeUtil::BitcastDecompositionTrt>(&*parts)) {
    KASHI_RETURN_IF_ERROR(steps.Transpose(trt->transpose1_dims));
    KASHI_RETURN_IF_ERROR(steps.Reshape(trt->reshape_shape.dimensions()));
    KASHI_RETURN_IF_ERROR(steps.Transpose(trt->transpose2_dims));
  } else {
    KASHI_RETURN_IF_ERROR(steps.Reshape(to.dimensions()));
  }
  KASHI_RETURN_IF_ERROR(steps.Convert(to.element_type()));
  w.SetNames(&i, {steps.value()});
  return absl::OkStatus();
}

}  // namespace kashi::stablehlo
