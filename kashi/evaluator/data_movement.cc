// Operations that only move elements (docs/spec/hlo-ops.md 2). All are copies of boxes, which differ in the begin and
// the strides of the box in source and target. MoveBox (kashi/kernels/array_mover.h) runs them. Operations that only
// rename dimensions share the operand's memory.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/element_convert.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/operation.h"
#include "kashi/kernels/array_mover.h"
#include "kashi/literal/strided_walk.h"
#include "kashi/values/writable.h"

namespace kashi::evaluator {
namespace {

// An error that a module causes if a value of one size reaches an instruction that declares a different size (f32[<=5]
// to f32[5]).
absl::Status SizesDoNotFit(const Operation& op) {
  return InvalidArgument("%s: an operand of %s does not match a result of %s", op.instruction.name(),
                         ShapeUtil::HumanString(op.operands[0].shape()), ShapeUtil::HumanString(*op.result()));
}

bool AllLessOrEqual(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](int64_t x, int64_t y) { return x <= y; });
}

int64_t Dot(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The operand under the shape of the result.
absl::StatusOr<Value> Renamed(Operation& op) {
  if (op.operands[0].element_count() != ShapeUtil::ElementsIn(*op.result())) return SizesDoNotFit(op);
  return Value::WithShape(std::move(op.operands[0]), op.result());
}

// out[i] = operand[offset + sum_d i_d * strides_d], positions in elements. Pre: there are elements.
absl::StatusOr<Value> CopyFrom(Operation& op, int64_t offset, absl::Span<const int64_t> strides) {
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  const Value& in = op.operands[0];
  KASHI_RETURN_IF_ERROR(kernels::MoveBox(
      out.dimensions(), in.element_bytes(), {in.bytes() + offset * in.element_bytes(), strides},
      {out.mutable_bytes(), literal::ElementStrides(out.shape())}, [&op] { return op.run.CheckStopped(); }));
  return out;
}

// Copies `from` to the box that begins at `starts`. Pre: it is within `to`.
absl::Status CopyIntoBox(const EvaluationRun& run, const Value& from, absl::Span<const int64_t> starts, Value& to) {
  const DimensionVector strides = literal::ElementStrides(to.shape());
  return kernels::MoveBox(
      from.dimensions(), from.element_bytes(), {from.bytes(), literal::ElementStrides(from.shape())},
      {to.mutable_bytes() + Dot(starts, strides) * to.element_bytes(), strides}, [&run] { return run.CheckStopped(); });
}

// Element i of an array of integers; of unsigned ones that no int64_t holds the largest that it does.
int64_t IntegerAt(const Value& integers, int64_t i) {
  return primitive_util::IntegralTypeSwitch<int64_t>(
      [&](auto type) {
        using T = primitive_util::NativeTypeOf<type>;
        const T x = static_cast<const T*>(integers.untyped_data())[i];
        if constexpr (std::is_same_v<T, uint64_t>) {
          return static_cast<int64_t>(std::min<uint64_t>(x, INT64_MAX));
        } else {
          return static_cast<int64_t>(x);
        }
      },
      integers.element_type());
}

// The beginning of the box of a dynamic slice: start_d clamped to [0, dim_d - size_d]. The starts are one scalar per
// dimension or, in old modules, one vector.
//   Pre: sizes <= dims
absl::StatusOr<DimensionVector> ClampedStarts(absl::Span<const Value> starts, absl::Span<const int64_t> dims,
                                              absl::Span<const int64_t> sizes, const HloInstruction& instruction) {
  const bool is_vector = starts.size() == 1 && starts[0].rank() == 1;
  const int64_t count = is_vector ? starts[0].dimension(0) : static_cast<int64_t>(starts.size());
  if (count != static_cast<int64_t>(dims.size())) {
    return InvalidArgument("%s: %d start indices for %d dimensions", instruction.name(), count, dims.size());
  }
  DimensionVector clamped(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t start = is_vector ? IntegerAt(starts[0], d) : IntegerAt(starts[d], 0);
    clamped[d] = std::clamp<int64_t>(start, 0, dims[d] - sizes[d]);
  }
  return clamped;
}

// Writes one element everywhere in the box of `out` that begins at `starts`.
absl::Status FillBox(const EvaluationRun& run, const Value& element, absl::Span<const int64_t> starts,
                     absl::Span<const int64_t> sizes, Value& out) {
  const DimensionVector strides = literal::ElementStrides(out.shape());
  return kernels::MoveBox(sizes, out.element_bytes(), {element.bytes(), DimensionVector(sizes.size(), 0)},
                          {out.mutable_bytes() + Dot(starts, strides) * out.element_bytes(), strides},
                          [&run] { return run.CheckStopped(); });
}

}  // namespace

// out[i] = in[i_dims[0], i_dims[1], …]: a dimension of the result that `dims` does not name has source stride 0.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kBroadcast>(Operation& op) {
  if (ShapeUtil::IsZeroElementArray(*op.result())) return op.MakeResult();
  const Value& in = op.operands[0];
  const DimensionVector in_strides = literal::ElementStrides(in.shape());
  DimensionVector strides(op.result()->dimensions().size(), 0);
  int64_t previous = -1;
  bool is_ascending = true;
  for (int d = 0; d < in.rank(); ++d) {
    const int64_t to = op.instruction.dimensions(d);
    if (in.dimension(d) != op.result()->dimensions(to)) return SizesDoNotFit(op);
    strides[to] += in_strides[d];
    is_ascending = is_ascending && to > previous;
    previous = to;
  }
  if (is_ascending && in.element_count() == ShapeUtil::ElementsIn(*op.result())) return Renamed(op);
  return CopyFrom(op, 0, strides);
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kReshape>(Operation& op) {
  return Renamed(op);
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kDynamicReshape>(Operation& op) {
  return Renamed(op);
}

// out[i_perm[0], i_perm[1], …] = in[i], that is, dimension d of the result is dimension perm[d] of the operand.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kTranspose>(Operation& op) {
  if (ShapeUtil::IsZeroElementArray(*op.result())) return op.MakeResult();
  const Value& in = op.operands[0];
  const DimensionVector in_strides = literal::ElementStrides(in.shape());
  DimensionVector strides(in.rank());
  int64_t previous = -1;
  bool keeps_order = true;  // except for dimensions of size 1
  for (int d = 0; d < in.rank(); ++d) {
    const int64_t from = op.instruction.dimensions(d);
    if (in.dimension(from) != op.result()->dimensions(d)) return SizesDoNotFit(op);
    strides[d] = in_strides[from];
    if (in.dimension(from) == 1) continue;
    keeps_order = keeps_order && from > previous;
    previous = from;
  }
  if (keeps_order) return Renamed(op);
  return CopyFrom(op, 0, strides);
}

// out[…, i_d, …] = in[…, n_d - 1 - i_d, …]: reads from the last element backwards.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kReverse>(Operation& op) {
  const Value& in = op.operands[0];
  if (in.dimensions() != op.result()->dimensions()) return SizesDoNotFit(op);
  if (ShapeUtil::IsZeroElementArray(*op.result())) return op.MakeResult();
  DimensionVector strides = literal::ElementStrides(in.shape());
  int64_t offset = 0;
  bool is_in_order = true;
  for (int64_t d : op.instruction.dimensions()) {
    offset += (in.dimension(d) - 1) * strides[d];
    strides[d] = -strides[d];
    is_in_order = is_in_order && in.dimension(d) <= 1;
  }
  if (is_in_order) return Renamed(op);
  return CopyFrom(op, offset, strides);
}

// out[i] = in[start + i * stride]
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kSlice>(Operation& op) {
  const Value& in = op.operands[0];
  const absl::Span<const int64_t> sizes = op.result()->dimensions();
  if (sizes == in.dimensions()) return Renamed(op);
  if (ShapeUtil::IsZeroElementArray(*op.result())) return op.MakeResult();
  DimensionVector strides = literal::ElementStrides(in.shape());
  int64_t offset = 0;
  for (int d = 0; d < in.rank(); ++d) {
    const int64_t start = op.instruction.slice_starts(d), stride = op.instruction.slice_strides(d);
    // Sizes of at least 1; a stride that no second element needs may be any number.
    if (start >= in.dimension(d) || sizes[d] - 1 > (in.dimension(d) - 1 - start) / stride) return SizesDoNotFit(op);
    offset += start * strides[d];
    strides[d] *= sizes[d] == 1 ? 1 : stride;
  }
  return CopyFrom(op, offset, strides);
}

// out[i] = in[start + i], start clamped
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kDynamicSlice>(Operation& op) {
  const Value& in = op.operands[0];
  const absl::Span<const int64_t> sizes = op.result()->dimensions();
  if (!AllLessOrEqual(sizes, in.dimensions())) return SizesDoNotFit(op);
  if (sizes == in.dimensions()) return Renamed(op);
  if (ShapeUtil::IsZeroElementArray(*op.result())) return op.MakeResult();
  KASHI_ASSIGN_OR_RETURN(const DimensionVector starts,
                         ClampedStarts(op.operands.subspan(1), in.dimensions(), sizes, op.instruction));
  const DimensionVector strides = literal::ElementStrides(in.shape());
  return CopyFrom(op, Dot(starts, strides), strides);
}

// out = in; out[start + i] = update[i], start clamped. In place if the operand is unique.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kDynamicUpdateSlice>(Operation& op) {
  const Value& in = op.operands[0];
  if (in.dimensions() != op.result()->dimensions()) return SizesDoNotFit(op);
  KASHI_ASSIGN_OR_RETURN(Value update, op.run.Convert(std::move(op.operands[1]), in.element_type()));
  if (!AllLessOrEqual(update.dimensions(), in.dimensions())) return SizesDoNotFit(op);
  if (update.dimensions() == in.dimensions()) return Value::WithShape(std::move(update), op.result());
  KASHI_ASSIGN_OR_RETURN(const DimensionVector starts,
                         ClampedStarts(op.operands.subspan(2), in.dimensions(), update.dimensions(), op.instruction));
  KASHI_ASSIGN_OR_RETURN(Value out, values::MakeWritable(op.run.budget(), std::move(op.operands[0])));
  if (update.element_count() > 0) KASHI_RETURN_IF_ERROR(CopyIntoBox(op.run, update, starts, out));
  return out;
}

// Copies one box after the other.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kConcatenate>(Operation& op) {
  const int64_t dimension = op.instruction.concatenate_dimension();
  DimensionVector covered(op.result()->dimensions().begin(), op.result()->dimensions().end());
  covered[dimension] = 0;
  for (const Value& operand : op.operands) {
    const int64_t size = operand.dimension(dimension);
    for (int d = 0; d < operand.rank(); ++d) {
      if (d != dimension && operand.dimension(d) != covered[d]) return SizesDoNotFit(op);
    }
    covered[dimension] += size;
  }
  if (absl::MakeConstSpan(covered) != op.result()->dimensions()) return SizesDoNotFit(op);

  if (op.operands.size() == 1) return op.run.Convert(std::move(op.operands[0]), op.result()->element_type());
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  DimensionVector starts(out.rank(), 0);
  for (Value& operand : op.operands) {
    KASHI_ASSIGN_OR_RETURN(const Value part, op.run.Convert(std::move(operand), out.element_type()));
    if (part.element_count() > 0) KASHI_RETURN_IF_ERROR(CopyIntoBox(op.run, part, starts, out));
    starts[dimension] += part.dimension(dimension);
    KASHI_RETURN_IF_ERROR(op.run.CheckStopped());
  }
  return out;
}

namespace {

// Padding along one dimension: element i of the operand moves to low + i * step. The elements [begin, end) are inside
// the result; the first of them is at `start`.
//
//   low 1, step 2, 3 elements      v 0 v 1 v 2 v v          low -1: . v 1 v 2 v     begin 1, start 1
struct PaddedDimension {
  int64_t begin;
  int64_t end;
  int64_t start;
  int64_t step;
};

// Paddings may be as large as int64_t; sums of two of them fit 128 bits.
PaddedDimension PadDimension(const PaddingConfigDimension& config, int64_t in_size, int64_t out_size) {
  const __int128 low = config.edge_padding_low();
  const __int128 step = static_cast<__int128>(config.interior_padding()) + 1;
  const __int128 begin = low >= 0 ? 0 : (-low + step - 1) / step;
  const __int128 last = low < out_size ? (out_size - 1 - low) / step : -1;
  const __int128 end = std::min<__int128>(in_size, last + 1);
  if (begin >= end) return {0, 0, 0, 1};
  const bool is_single = end - begin == 1;
  return {static_cast<int64_t>(begin), static_cast<int64_t>(end), static_cast<int64_t>(low + begin * step),
          is_single ? 1 : static_cast<int64_t>(step)};
}

// Fills the elements outside of the box: for each dimension, those before and after the box, inside the box in the
// earlier dimensions.
//
//   0 0 0 0 0      dimension 0: rows 0 and 3
//   1 . . 1 1      dimension 1: the rest of the columns 0, 3 and 4
//   1 . . 1 1
//   0 0 0 0 0
absl::Status FillAround(const EvaluationRun& run, const Value& element, absl::Span<const int64_t> starts,
                        absl::Span<const int64_t> sizes, Value& out) {
  DimensionVector slab_starts(out.rank(), 0);
  DimensionVector slab_sizes(out.dimensions().begin(), out.dimensions().end());
  for (int d = 0; d < out.rank(); ++d) {
    slab_sizes[d] = starts[d];
    KASHI_RETURN_IF_ERROR(FillBox(run, element, slab_starts, slab_sizes, out));
    slab_starts[d] = starts[d] + sizes[d];
    slab_sizes[d] = out.dimension(d) - slab_starts[d];
    KASHI_RETURN_IF_ERROR(FillBox(run, element, slab_starts, slab_sizes, out));
    slab_starts[d] = starts[d];
    slab_sizes[d] = sizes[d];
  }
  return absl::OkStatus();
}

}  // namespace

// out = v everywhere; out[low + i * (interior + 1)] = in[i] where that is inside.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kPad>(Operation& op) {
  const PrimitiveType type = op.result()->element_type();
  KASHI_ASSIGN_OR_RETURN(const Value in, op.run.Convert(std::move(op.operands[0]), type));
  KASHI_ASSIGN_OR_RETURN(const Value element, op.run.Convert(std::move(op.operands[1]), type));
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  if (out.element_count() == 0) return out;
  if (in.element_count() == 0) {
    KASHI_RETURN_IF_ERROR(FillBox(op.run, element, DimensionVector(out.rank(), 0), out.dimensions(), out));
    return out;
  }

  const DimensionVector in_strides = literal::ElementStrides(in.shape()),
                        out_strides = literal::ElementStrides(out.shape());
  DimensionVector starts(in.rank()), sizes(in.rank()), target_strides(in.rank());
  int64_t offset = 0;
  bool has_holes = false;
  for (int d = 0; d < in.rank(); ++d) {
    const PaddedDimension padded =
        PadDimension(op.instruction.padding_config().dimensions(d), in.dimension(d), out.dimension(d));
    starts[d] = padded.start;
    sizes[d] = padded.end - padded.begin;
    target_strides[d] = out_strides[d] * padded.step;
    offset += padded.begin * in_strides[d];
    has_holes = has_holes || padded.step > 1;
  }
  if (has_holes) {
    KASHI_RETURN_IF_ERROR(FillBox(op.run, element, DimensionVector(out.rank(), 0), out.dimensions(), out));
  } else {
    KASHI_RETURN_IF_ERROR(FillAround(op.run, element, starts, sizes, out));
  }
  KASHI_RETURN_IF_ERROR(
      kernels::MoveBox(sizes, out.element_bytes(), {in.bytes() + offset * in.element_bytes(), in_strides},
                       {out.mutable_bytes() + Dot(starts, out_strides) * out.element_bytes(), target_strides},
                       [&op] { return op.run.CheckStopped(); }));
  return out;
}

namespace {

// 0, 1, … n-1 by the rules of convert: narrow integers wrap, floats round.
void WriteCounts(PrimitiveType type, int64_t n, void* out) {
  primitive_util::ArrayTypeSwitch<void>(
      [&](auto constant) {
        using T = primitive_util::NativeTypeOf<constant>;
        for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = array::ConvertElement<T>(i);
      },
      type);
}

}  // namespace

// out[i] = i_d: the counts 0, 1, … once, and then a broadcast of them.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kIota>(Operation& op) {
  const int64_t dimension = op.instruction.iota_dimension();
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  const int64_t n = out.dimension(dimension);
  if (out.element_count() == n) {
    WriteCounts(out.element_type(), n, out.mutable_data());
    return out;
  }
  if (out.element_count() == 0) return out;
  KASHI_ASSIGN_OR_RETURN(Value counts, op.run.MakeArray(out.element_type(), {n}));
  WriteCounts(out.element_type(), n, counts.mutable_data());
  DimensionVector strides(out.rank(), 0);
  strides[dimension] = 1;
  KASHI_RETURN_IF_ERROR(kernels::MoveBox(out.dimensions(), out.element_bytes(), {counts.bytes(), strides},
                                         {out.mutable_bytes(), literal::ElementStrides(out.shape())},
                                         [&op] { return op.run.CheckStopped(); }));
  return out;
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kGetDimensionSize>(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  out.mutable_data<int32_t>()[0] = static_cast<int32_t>(op.operands[0].dimension(op.instruction.dimension()));
  return out;
}

// Cuts the dimension to the first n elements, or extends it within its bound. New elements are zeros, because the old
// elements are gone.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kSetDimensionSize>(Operation& op) {
  const Value& in = op.operands[0];
  const absl::Span<const int64_t> sizes = op.result()->dimensions();
  if (sizes == in.dimensions()) return Renamed(op);
  DimensionVector kept(sizes.begin(), sizes.end());
  for (int d = 0; d < in.rank(); ++d) kept[d] = std::min(sizes[d], in.dimension(d));
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  if (absl::MakeConstSpan(kept) != sizes) std::memset(out.mutable_data(), 0, out.byte_count());
  if (out.element_count() == 0 || in.element_count() == 0) return out;
  KASHI_RETURN_IF_ERROR(kernels::MoveBox(kept, in.element_bytes(), {in.bytes(), literal::ElementStrides(in.shape())},
                                         {out.mutable_bytes(), literal::ElementStrides(out.shape())},
                                         [&op] { return op.run.CheckStopped(); }));
  return out;
}

}  // namespace kashi::evaluator
