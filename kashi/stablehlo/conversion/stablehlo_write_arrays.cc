// Instructions that make, move and compare elements.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/comparison_util.h"
#include "kashi/stablehlo/conversion/stablehlo_write_functions.h"

namespace kashi::stablehlo {

absl::Status WriteBroadcast(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.broadcast_in_dim", i);
  operation.SetInts("broadcast_dimensions", i.dimensions());
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteCompare(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.compare", i);
  operation.SetEnum("compare_type", "comparison_type", ComparisonTypeToString(i.comparison_type()));
  operation.SetEnum("comparison_direction", "comparison_direction",
                    ComparisonDirectionToString(i.comparison_direction()));
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteConcatenate(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.concatenate", i);
  operation.SetInt("dimension", i.concatenate_dimension());
  return w.WriteFor(i, std::move(operation));
}

// A constant for each leaf.
absl::Status WriteConstant(StableHloWriter& w, const HloInstruction& i) {
  if (i.shared_literal().is_elided()) {
    return InvalidArgument("its elements were left out when the module was printed");
  }
  ValueNames names;
  for (const ShapeUtil::IndexedShape& leaf : ShapeUtil::GetLeafShapes(i.shape())) {
    if (!leaf.shape.IsArray() || leaf.shape.is_dynamic()) {
      return Unimplemented("StableHLO has no constants of type %s", leaf.shape.ToString());
    }
    const LiteralSlice slice(i.literal(), leaf.index);
    OperationText operation;
    operation.name = "stablehlo.constant";
    if (slice.shape().has_layout() && !LayoutUtil::IsMonotonicWithDim0Major(slice.shape().layout())) {
      const Literal rows = slice.Relayout(LayoutUtil::MakeDescendingLayout(slice.shape().dimensions_size()));
      KASHI_ASSIGN_OR_RETURN(std::string text, DenseText(rows));
      operation.Set("value", std::move(text));
    } else {
      KASHI_ASSIGN_OR_RETURN(std::string text, DenseText(slice));
      operation.Set("value", std::move(text));
    }
    if (!i.shape().IsTuple()) return w.WriteFor(i, std::move(operation));
    operation.result_shapes = {&leaf.shape};
    KASHI_ASSIGN_OR_RETURN(const ValueNames name, w.WriteOperation(operation));
    names.push_back(name[0]);
  }
  w.SetNames(&i, std::move(names));
  return absl::OkStatus();
}

absl::Status WriteDimensionSize(StableHloWriter& w, const HloInstruction& i) {
  const bool is_get = i.opcode() == HloOpcode::kGetDimensionSize;
  OperationText operation = w.Operation(is_get ? "stablehlo.get_dimension_size" : "stablehlo.set_dimension_size", i);
  operation.SetInt("dimension", i.dimension());
  return w.WriteFor(i, std::move(operation));
}

namespace {

// An old form of the instruction has one operand for all indices.
absl::Status CheckScalarStarts(const HloInstruction& i, int64_t first) {
  for (int64_t k = first; k < i.operand_count(); ++k) {
    if (!ShapeUtil::IsScalar(i.operand(k)->shape())) return Unimplemented("StableHLO takes each index as a scalar");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteDynamicSlice(StableHloWriter& w, const HloInstruction& i) {
  KASHI_RETURN_IF_ERROR(CheckScalarStarts(i, 1));
  OperationText operation = w.Operation("stablehlo.dynamic_slice", i);
  operation.SetInts("slice_sizes", i.dynamic_slice_sizes());
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteDynamicUpdateSlice(StableHloWriter& w, const HloInstruction& i) {
  KASHI_RETURN_IF_ERROR(CheckScalarStarts(i, 2));
  return w.WriteFor(i, w.Operation("stablehlo.dynamic_update_slice", i));
}

absl::Status WriteGather(StableHloWriter& w, const HloInstruction& i) {
  const GatherDimensionNumbers& n = i.gather_dimension_numbers();
  OperationText operation = w.Operation("stablehlo.gather", i);
  operation.Set("dimension_numbers",
                absl::StrCat("#stablehlo.gather<offset_dims = ", ListText(n.offset_dims()),
                             ", collapsed_slice_dims = ", ListText(n.collapsed_slice_dims()),
                             ", operand_batching_dims = ", ListText(n.operand_batching_dims()),
                             ", start_indices_batching_dims = ", ListText(n.start_indices_batching_dims()),
                             ", start_index_map = ", ListText(n.start_index_map()),
                             ", index_vector_dim = ", n.index_vector_dim(), ">"));
  operation.SetBool("indices_are_sorted", i.indices_are_sorted());
  operation.SetInts("slice_sizes", i.gather_slice_sizes());
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteIota(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.iota", i);
  operation.SetInt("iota_dimension", i.iota_dimension());
  return w.WriteFor(i, std::move(operation));
}

absl::Status WritePad(StableHloWriter& w, const HloInstruction& i) {
  std::vector<int64_t> low, high, interior;
  for (const PaddingConfigDimension& dimension : i.padding_config().dimensions()) {
    low.push_back(dimension.edge_padding_low());
    high.push_back(dimension.edge_padding_high());
    interior.push_back(dimension.interior_padding());
  }
  OperationText operation = w.Operation("stablehlo.pad", i);
  operation.SetInts("edge_padding_high", high);
  operation.SetInts("edge_padding_low", low);
  operation.SetInts("interior_padding", interior);
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteReducePrecision(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.reduce_precision", i);
  operation.SetInt32("exponent_bits", i.exponent_bits());
  operation.SetInt32("mantissa_bits", i.mantissa_bits());
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteReverse(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.reverse", i);
  operation.SetInts("dimensions", i.dimensions());
  return w.WriteFor(i, std::move(operation));
}

// The sizes of the result are an operand.
absl::Status WriteRng(StableHloWriter& w, const HloInstruction& i) {
  const Shape sizes_shape = ShapeUtil::MakeShape(S64, {i.shape().dimensions_size()});
  const absl::Span<const int64_t> sizes = i.shape().dimensions();
  OperationText constant;
  constant.name = "stablehlo.constant";
  constant.result_shapes = {&sizes_shape};
  constant.Set("value",
               absl::StrCat("dense<", sizes.empty() ? "" : ListText(sizes), "> : tensor<", sizes.size(), "xi64>"));
  KASHI_ASSIGN_OR_RETURN(const ValueNames shape, w.WriteOperation(constant));
  OperationText operation = w.Operation("stablehlo.rng", i);
  operation.operands.push_back(shape[0]);
  operation.operand_shapes.push_back(&sizes_shape);
  operation.SetEnum("rng_distribution", "rng_distribution",
                    i.random_distribution() == RNG_NORMAL ? "NORMAL" : "UNIFORM");
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteRngBitGenerator(StableHloWriter& w, const HloInstruction& i) {
  if (!i.shape().IsTuple()) return Unimplemented("StableHLO gives the state and the bits");
  const RandomAlgorithm algorithm = i.rng_algorithm();
  OperationText operation = w.Operation("stablehlo.rng_bit_generator", i);
  operation.SetEnum("rng_algorithm", "rng_algorithm",
                    algorithm == RNG_THREE_FRY ? "THREE_FRY"
                    : algorithm == RNG_PHILOX  ? "PHILOX"
                                               : "DEFAULT");
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteSlice(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.slice", i);
  operation.SetInts("limit_indices", i.slice_limits());
  operation.SetInts("start_indices", i.slice_starts());
  operation.SetInts("strides", i.slice_strides());
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteTopK(StableHloWriter& w, const HloInstruction& i) {
  if (!i.largest()) return Unimplemented("StableHLO finds only the largest elements");
  OperationText operation = w.Operation("chlo.top_k", i);
  operation.SetInt("k", i.k());
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteTranspose(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.transpose", i);
  operation.SetInts("permutation", i.dimensions());
  return w.WriteFor(i, std::move(operation));
}

}  // namespace kashi::stablehlo
