// Operations that move elements.
#include <cstdint>
#include <utility>
#include <vector>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {
namespace {

int64_t RankOf(const HloInstruction* array) { return static_cast<int64_t>(array->shape().dimensions().size()); }

absl::StatusOr<HloInstruction*> AddReshape(OperationConverter& c, HloInstruction* operand,
                                           absl::Span<const int64_t> dimensions) {
  const Shape shape = ShapeUtil::MakeShape(operand->shape().element_type(), dimensions);
  return c.Add(HloInstruction::CreateReshape(shape, operand));
}

}  // namespace

// New major dimensions.
absl::Status ConvertBroadcast(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.Ints("broadcast_sizes"));
  std::vector<int64_t> dimensions;
  if (shape.is_unbounded_dynamic() && c.operand(0)->shape().IsArray()) {
    std::vector<int64_t> all = sizes;
    const absl::Span<const int64_t> last = c.operand(0)->shape().dimensions();
    all.insert(all.end(), last.begin(), last.end());
    KASHI_ASSIGN_OR_RETURN(shape, ShapeUtil::MakeValidatedShape(shape.element_type(), all));
  }
  for (int64_t i = 0; i < RankOf(c.operand(0)); ++i) dimensions.push_back(static_cast<int64_t>(sizes.size()) + i);
  return c.Finish(HloInstruction::CreateBroadcast(shape, c.operand(0), dimensions));
}

absl::Status ConvertBroadcastInDim(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  return BroadcastInDim(c, shape);
}

absl::Status BroadcastInDim(OperationConverter& c, const Shape& shape) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> dimensions, c.Ints("broadcast_dimensions"));
  HloInstruction* operand = c.operand(0);
  if (!operand->shape().IsArray() || static_cast<int64_t>(dimensions.size()) != RankOf(operand)) {
    return c.Invalid("broadcast_dimensions needs one number for each dimension of the operand");
  }
  std::vector<int64_t> kept;
  std::vector<int64_t> kept_sizes;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t d = dimensions[i];
    if (d < 0 || d >= static_cast<int64_t>(shape.dimensions().size())) {
      return c.Invalid("broadcast_dimensions has %d, which is not a dimension of %s", d, ShapeUtil::HumanString(shape));
    }
    const int64_t size = operand->shape().dimensions(static_cast<int>(i));
    if (size == 1 && shape.dimensions(static_cast<int>(d)) != 1) continue;
    kept.push_back(d);
    kept_sizes.push_back(size);
  }
  if (kept.size() < dimensions.size()) {
    KASHI_ASSIGN_OR_RETURN(operand, AddReshape(c, operand, kept_sizes));
  }
  return c.Finish(HloInstruction::CreateBroadcast(shape, operand, kept));
}

absl::Status ConvertReshape(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  return c.Finish(HloInstruction::CreateReshape(shape, c.operand(0)));
}

absl::Status ConvertTranspose(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> permutation, c.Ints("permutation"));
  return c.Finish(HloInstruction::CreateTranspose(shape, c.operand(0), permutation));
}

absl::Status ConvertReverse(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> dimensions, c.Ints("dimensions"));
  return c.Finish(HloInstruction::CreateReverse(shape, c.operand(0), dimensions));
}

absl::Status ConvertConcatenate(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, c.Int("dimension"));
  return c.Finish(HloInstruction::CreateConcatenate(shape, c.operands(), dimension));
}

absl::Status ConvertSlice(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, c.Ints("start_indices"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> limits, c.Ints("limit_indices"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, c.Ints("strides"));
  if (starts.size() != limits.size() || starts.size() != strides.size()) {
    return c.Invalid("start_indices, limit_indices and strides differ in length");
  }
  return c.Finish(HloInstruction::CreateSlice(shape, c.operand(0), starts, limits, strides));
}

absl::Status FinishPad(OperationConverter& c, const Shape& shape, absl::Span<const int64_t> low,
                       absl::Span<const int64_t> high, absl::Span<const int64_t> interior) {
  PaddingConfig config;
  for (size_t i = 0; i < low.size(); ++i) {
    PaddingConfigDimension* dimension = config.add_dimensions();
    dimension->set_edge_padding_low(low[i]);
    dimension->set_edge_padding_high(high[i]);
    dimension->set_interior_padding(interior[i]);
  }
  return c.Finish(HloInstruction::CreatePad(shape, c.operand(0), c.operand(1), config));
}

absl::Status ConvertPad(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> low, c.Ints("edge_padding_low"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> high, c.Ints("edge_padding_high"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> interior, c.Ints("interior_padding"));
  if (low.size() != high.size() || low.size() != interior.size()) {
    return c.Invalid("edge_padding_low, edge_padding_high and interior_padding differ in length");
  }
  return FinishPad(c, shape, low, high, interior);
}

absl::Status ConvertDynamicSlice(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.Ints("slice_sizes"));
  if (static_cast<int64_t>(c.operands().size()) != 1 + RankOf(c.operand(0))) {
    return c.Invalid("needs one start index for each dimension of the operand");
  }
  return c.Finish(
      HloInstruction::CreateDynamicSlice(shape, c.operand(0), absl::MakeConstSpan(c.operands()).subspan(1), sizes));
}

absl::Status ConvertDynamicUpdateSlice(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  if (static_cast<int64_t>(c.operands().size()) != 2 + RankOf(c.operand(0))) {
    return c.Invalid("needs one start index for each dimension of the operand");
  }
  return c.Finish(HloInstruction::CreateDynamicUpdateSlice(shape, c.operand(0), c.operand(1),
                                                           absl::MakeConstSpan(c.operands()).subspan(2)));
}

absl::Status ConvertGatherWithSizes(OperationConverter& c, const std::vector<int64_t>& slice_sizes) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  GatherDimensionNumbers numbers;
  const auto read = [&c](absl::string_view name, auto* list) -> absl::Status {
    KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> values, c.Ints(name));
    list->assign(values.begin(), values.end());
    return absl::OkStatus();
  };
  KASHI_RETURN_IF_ERROR(read("offset_dims", numbers.mutable_offset_dims()));
  KASHI_RETURN_IF_ERROR(read("collapsed_slice_dims", numbers.mutable_collapsed_slice_dims()));
  KASHI_RETURN_IF_ERROR(read("start_index_map", numbers.mutable_start_index_map()));
  KASHI_RETURN_IF_ERROR(read("operand_batching_dims", numbers.mutable_operand_batching_dims()));
  KASHI_RETURN_IF_ERROR(read("start_indices_batching_dims", numbers.mutable_start_indices_batching_dims()));
  KASHI_ASSIGN_OR_RETURN(const int64_t vector_dimension, c.Int("index_vector_dim"));
  numbers.set_index_vector_dim(vector_dimension);
  KASHI_ASSIGN_OR_RETURN(const bool is_sorted, c.Bool("indices_are_sorted"));
  return c.Finish(HloInstruction::CreateGather(shape, c.operand(0), c.operand(1), numbers, slice_sizes, is_sorted));
}

absl::Status ConvertGather(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> slice_sizes, c.Ints("slice_sizes"));
  return ConvertGatherWithSizes(c, slice_sizes);
}

// out[b…, o…, i…, s…] = operand[b…, o…, index[b…, i…], s…]: b are batch_dims dimensions that both share, the index
// picks in `dim`, and its other dimensions stand in the place of `dim`. A gather with batching dimensions.
absl::Status ConvertTorchIndexSelect(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(int64_t dim, c.Int("dim"));
  KASHI_ASSIGN_OR_RETURN(int64_t batch_dims, c.Int("batch_dims"));
  if (!c.operand(0)->shape().IsArray() || !c.operand(1)->shape().IsArray()) return c.Invalid("selects from arrays");
  const int64_t rank = RankOf(c.operand(0));
  const int64_t index_rank = RankOf(c.operand(1));
  if (dim < 0) dim += rank;
  if (batch_dims < 0) batch_dims += index_rank;
  if (dim < 0 || dim >= rank || batch_dims < 0 || batch_dims > dim || batch_dims > index_rank) {
    return c.Invalid("dim %d and batch_dims %d do not fit the operands", dim, batch_dims);
  }
  GatherDimensionNumbers numbers;
  std::vector<int64_t> slice_sizes(c.operand(0)->shape().dimensions().begin(),
                                   c.operand(0)->shape().dimensions().end());
  for (int64_t b = 0; b < batch_dims; ++b) {
    numbers.add_operand_batching_dims(b);
    numbers.add_start_indices_batching_dims(b);
    slice_sizes[b] = 1;
  }
  for (int64_t o = batch_dims; o < dim; ++o) numbers.add_offset_dims(o);
  for (int64_t s = dim + 1; s < rank; ++s) numbers.add_offset_dims(s - 1 + index_rank - batch_dims);
  slice_sizes[dim] = 1;
  numbers.add_collapsed_slice_dims(dim);
  numbers.add_start_index_map(dim);
  numbers.set_index_vector_dim(index_rank);
  return c.Finish(HloInstruction::CreateGather(shape, c.operand(0), c.operand(1), numbers, slice_sizes, false));
}

}  // namespace kashi::stablehlo
