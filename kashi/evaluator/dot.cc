// Evaluates dot, ragged-dot and scaled-dot (docs/spec/hlo-ops.md 4): operands become matrices,
// kashi/kernels/matrix_product.h does the rest.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "kashi/base/status.h"
#include "kashi/evaluator/contraction.h"
#include "kashi/evaluator/dot.h"
#include "kashi/evaluator/operation.h"
#include "kashi/evaluator/parallel_for.h"
#include "kashi/kernels/matrix_product.h"
#include "kashi/kernels/matrix_product_kernels.h"
#include "kashi/kernels/packed_matrix_product.h"

namespace kashi::evaluator {
namespace {

using Dimensions = absl::Span<const int64_t>;

absl::Status SizesDisagree(const Operation& op) {
  return InvalidArgument("The sizes of the operands of %s do not match", op.instruction.name());
}

// Sizes can disagree only where they were dynamic.
bool SizesAgree(const Value& lhs, Dimensions lhs_dimensions, const Value& rhs, Dimensions rhs_dimensions) {
  for (size_t i = 0; i < lhs_dimensions.size(); ++i) {
    if (lhs.dimension(lhs_dimensions[i]) != rhs.dimension(rhs_dimensions[i])) return false;
  }
  return true;
}
bool SizesAgree(const Value& lhs, const Value& rhs, const DotDimensionNumbers& dnums) {
  return SizesAgree(lhs, dnums.lhs_contracting_dimensions(), rhs, dnums.rhs_contracting_dimensions()) &&
         SizesAgree(lhs, dnums.lhs_batch_dimensions(), rhs, dnums.rhs_batch_dimensions());
}

struct DotMatrices {
  Matrices lhs, rhs;

  kernels::MatrixProductSizes sizes() const { return {lhs.batch, lhs.rows, lhs.columns, rhs.columns}; }
};

// result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n], where b, m, k and n are any number of dimensions each.
absl::StatusOr<DotMatrices> ViewOperands(const Operation& op, Value lhs, Value rhs) {
  const DotDimensionNumbers& dnums = op.instruction.dot_dimension_numbers();
  if (!SizesAgree(lhs, rhs, dnums)) return SizesDisagree(op);
  const Dimensions lhs_batch = dnums.lhs_batch_dimensions(), rhs_batch = dnums.rhs_batch_dimensions();
  const Dimensions lhs_contracting = dnums.lhs_contracting_dimensions();
  const Dimensions rhs_contracting = dnums.rhs_contracting_dimensions();
  const DimensionVector lhs_free = OtherDimensions(lhs.rank(), lhs_batch, lhs_contracting);
  const DimensionVector rhs_free = OtherDimensions(rhs.rank(), rhs_batch, rhs_contracting);
  DotMatrices matrices;
  KASHI_ASSIGN_OR_RETURN(matrices.lhs, ViewAsMatrices(op.run, std::move(lhs), lhs_batch, lhs_free, lhs_contracting));
  KASHI_ASSIGN_OR_RETURN(matrices.rhs, ViewAsMatrices(op.run, std::move(rhs), rhs_batch, rhs_contracting, rhs_free));
  return matrices;
}

// An array for the product with elements of type T, and its matrices.
template <typename T>
struct DotResult {
  Value array;
  kernels::MatrixResult<T> matrices;
};
template <typename T>
absl::StatusOr<DotResult<T>> MakeDotResult(const Operation& op, const kernels::MatrixProductSizes& sizes,
                                           PrimitiveType type) {
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResultOf(type, op.result()->dimensions()));
  if (out.element_count() != sizes.batch * sizes.m * sizes.n) return SizesDisagree(op);
  T* const data = static_cast<T*>(out.mutable_data());
  return DotResult<T>{std::move(out), {data, sizes.m * sizes.n, sizes.n}};
}

// The operands have the accumulation type of the result.
absl::StatusOr<Value> Dot(Operation& op, Value lhs, Value rhs) {
  const PrimitiveType type = lhs.element_type();
  KASHI_ASSIGN_OR_RETURN(const DotMatrices operands, ViewOperands(op, std::move(lhs), std::move(rhs)));
  const auto multiply = [&](auto zero) -> absl::StatusOr<Value> {
    using T = decltype(zero);
    KASHI_ASSIGN_OR_RETURN(DotResult<T> out, MakeDotResult<T>(op, operands.sizes(), type));
    KASHI_RETURN_IF_ERROR(kernels::MatrixProduct<T>(operands.sizes(), operands.lhs.As<T>(), operands.rhs.As<T>(),
                                                    out.matrices, kernels::MatrixProductMode::kAssign,
                                                    [&op] { return op.run.CheckStopped(); }));
    return std::move(out.array);
  };
  KASHI_ASSIGN_OR_RETURN(Value out, kernels::AccumulationTypeSwitch(multiply, type));
  return op.run.Convert(std::move(out), op.result()->element_type());
}

// ---- Short elements ------------------------------------------------------------------------------------------------

// Below, packing costs more than it saves.
bool IsWorthPacking(const kernels::MatrixProductSizes& sizes) {
  constexpr int64_t kLeastSize = 16, kLeastWork = 1 << 15;
  return sizes.m >= kLeastSize && sizes.n >= kLeastSize &&
         static_cast<double>(sizes.m) * sizes.n * sizes.k >= kLeastWork;
}

// The conversion of operands into words of the product's kernels.
struct Packing {
  kernels::PackFunction lhs, rhs;
  uint32_t flipped_lhs = 0;  // bits of each word
};

// False if there is no memory to pack.
template <typename T>
absl::StatusOr<bool> RunPackedDot(const Operation& op, const DotMatrices& operands,
                                  const kernels::PackedKernels<T>& kernels, const Packing& packing,
                                  const kernels::MatrixResult<T>& out, bool add) {
  const Matrices &lhs = operands.lhs, &rhs = operands.rhs;
  return kernels::RunPackedProduct<T>({operands.sizes(),
                                       {lhs.value.untyped_data(), lhs.value.element_bytes(), lhs.batch_stride,
                                        lhs.row_stride, lhs.column_stride, packing.lhs, packing.flipped_lhs},
                                       {rhs.value.untyped_data(), rhs.value.element_bytes(), rhs.batch_stride,
                                        rhs.column_stride, rhs.row_stride, packing.rhs, 0},
                                       out,
                                       add,
                                       kernels,
                                       [&op] { return op.run.CheckStopped(); }});
}

// Packs operands of bf16 as f32, which saves the arrays of f32. The product is the same as theirs. Nothing if the
// product is too small, or there is no memory to pack.
absl::StatusOr<Value> TryWideningDot(Operation& op) {
  const PrimitiveType type = op.result()->element_type();
  const Packing packing = {kernels::FindPackAsFloat(op.operands[0].element_type()),
                           kernels::FindPackAsFloat(op.operands[1].element_type())};
  if ((type != F32 && type != BF16) || packing.lhs == nullptr || packing.rhs == nullptr) return Value();
  KASHI_ASSIGN_OR_RETURN(const DotMatrices operands, ViewOperands(op, op.operands[0], op.operands[1]));
  if (!kernels::IsPackedAsAWhole(operands.sizes())) return Value();
  KASHI_ASSIGN_OR_RETURN(DotResult<float> out, MakeDotResult<float>(op, operands.sizes(), F32));
  KASHI_ASSIGN_OR_RETURN(const bool is_done, RunPackedDot(op, operands, kernels::FindKernels<float>().packed, packing,
                                                          out.matrices, /*add=*/false));
  if (!is_done) return Value();
  return op.run.Convert(std::move(out.array), type);
}

// Integers of 8 and 16 bits as pairs of 16 bits. No sum of the kind that is wrapped to 32 bits can differ. Nothing as
// above.
absl::StatusOr<Value> TryInt16Dot(Operation& op) {
  const PrimitiveType type = op.result()->element_type();
  if (type != S32 && type != U32) return Value();
  const Packing packing = {kernels::FindPackAsInt16(op.operands[0].element_type()),
                           kernels::FindPackAsInt16(op.operands[1].element_type())};
  if (packing.lhs == nullptr || packing.rhs == nullptr) return Value();
  KASHI_ASSIGN_OR_RETURN(const DotMatrices operands, ViewOperands(op, op.operands[0], op.operands[1]));
  if (!IsWorthPacking(operands.sizes())) return Value();
  KASHI_ASSIGN_OR_RETURN(DotResult<uint32_t> out, MakeDotResult<uint32_t>(op, operands.sizes(), type));
  KASHI_ASSIGN_OR_RETURN(const bool is_done, RunPackedDot(op, operands, *kernels::FindInt16Kernels(), packing,
                                                          out.matrices, /*add=*/false));
  if (!is_done) return Value();
  return std::move(out.array);
}

// out[b, i, j] = -128 * sum over k of rhs[b, k, j], for all i.
absl::Status FillWithCorrection(const Operation& op, const Matrices& rhs, int64_t rows,
                                const kernels::MatrixResult<uint32_t>& out) {
  constexpr int64_t kColumns = 256;
  const int64_t blocks = (rhs.columns + kColumns - 1) / kColumns;
  return ParallelFor(op.run, rhs.batch * blocks, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t b = block / blocks, j = block % blocks * kColumns, columns = std::min(kColumns, rhs.columns - j);
      const int8_t* const from =
          static_cast<const int8_t*>(rhs.value.untyped_data()) + b * rhs.batch_stride + j * rhs.column_stride;
      uint32_t sums[kColumns] = {};
      if (rhs.column_stride == 1) {
        for (int64_t p = 0; p < rhs.rows; ++p) {
          for (int64_t c = 0; c < columns; ++c) sums[c] += static_cast<uint32_t>(from[p * rhs.row_stride + c]);
        }
      } else {
        for (int64_t c = 0; c < columns; ++c) {
          for (int64_t p = 0; p < rhs.rows; ++p)
            sums[c] += static_cast<uint32_t>(from[p * rhs.row_stride + c * rhs.column_stride]);
        }
      }
      for (int64_t i = 0; i < rows; ++i) {
        uint32_t* const row = out.data + b * out.batch_stride + i * out.row_stride + j;
        for (int64_t c = 0; c < columns; ++c) row[c] = sums[c] * uint32_t(-128);
      }
    }
  });
}

// Instructions of vectors multiply elements of 0 to 255 by elements of -128 to 127:
//
//   sum of lhs * rhs = sum of (lhs + 128) * rhs - 128 * sum of rhs        lhs + 128 is lhs with its highest bit flipped
//
// Nothing if the product is too small, or there is no memory to pack.
absl::StatusOr<Value> TryInt8Dot(Operation& op) {
  const kernels::Int8Kernels kernels = kernels::FindInt8Kernels();
  if (op.result()->element_type() != S32 || op.operands[0].element_type() != S8 ||
      op.operands[1].element_type() != S8 || kernels.packed == nullptr) {
    return Value();
  }
  KASHI_ASSIGN_OR_RETURN(const DotMatrices operands, ViewOperands(op, op.operands[0], op.operands[1]));
  if (!IsWorthPacking(operands.sizes())) return Value();
  KASHI_ASSIGN_OR_RETURN(DotResult<uint32_t> out, MakeDotResult<uint32_t>(op, operands.sizes(), S32));
  const bool is_corrected = kernels.lhs_is_unsigned;
  if (is_corrected) KASHI_RETURN_IF_ERROR(FillWithCorrection(op, operands.rhs, operands.sizes().m, out.matrices));
  const Packing packing = {kernels.packed->pack_lhs, kernels.packed->pack_rhs, is_corrected ? 0x80808080u : 0};
  KASHI_ASSIGN_OR_RETURN(const bool is_done,
                         RunPackedDot(op, operands, *kernels.packed, packing, out.matrices, /*add=*/is_corrected));
  if (!is_done) return Value();
  return std::move(out.array);
}

// ---- Ragged dot ----------------------------------------------------------------------------------------------------

// The elements of the ragged dimension in each group: group_sizes as numbers, for one index of the dimensions before
// it, or for all.
class Groups {
 public:
  Groups(const Value& sizes, int64_t ragged_size) : sizes_(sizes.data<int64_t>()), ragged_size_(ragged_size) {
    count_ = sizes.dimensions().back();
    is_shared_ = sizes.rank() == 1;
  }
  int64_t count() const { return count_; }

  // The ends of the groups, which are consecutive from 0, cut to the ragged dimension.
  std::vector<int64_t> EndsAt(int64_t prefix) const {
    std::vector<int64_t> ends;
    __int128 end = 0;
    for (int64_t j = 0; j < count_; ++j) {
      end += sizes_[is_shared_ ? j : prefix * count_ + j];
      ends.push_back(static_cast<int64_t>(std::clamp<__int128>(end, 0, ragged_size_)));
    }
    return ends;
  }

 private:
  absl::Span<const int64_t> sizes_;
  int64_t ragged_size_;
  int64_t count_;
  bool is_shared_;
};

// A ragged dot with operands in the order of its loops. The dimensions of the list before the ragged one are merged
// into `before`, those after it into `behind`.
struct RaggedDot {
  Value lhs, rhs;
  int64_t batch, before, ragged, behind;
  int64_t m, k, n;
  Groups groups;

  int64_t LengthOf(int64_t elements) const { return elements * behind; }

  template <typename T>
  const T* Lhs(int64_t offset) const {
    return static_cast<const T*>(lhs.untyped_data()) + offset;
  }
  template <typename T>
  const T* Rhs(int64_t offset) const {
    return static_cast<const T*>(rhs.untyped_data()) + offset;
  }
};

// Rows are ragged: rows of group j are multiplied by matrix j. Rows of no group stay 0.
//
//   out[b, before, r, behind, n] = sum over k of lhs[b, before, r, behind, k] * rhs[group of r, b, k, n]
template <typename T>
absl::Status RunRaggedRows(const RaggedDot& dot, T* out, StopFunction check_stopped) {
  const int64_t rows = dot.LengthOf(dot.ragged);
  for (int64_t prefix = 0; prefix < dot.batch * dot.before; ++prefix) {
    KASHI_RETURN_IF_ERROR(check_stopped());
    const std::vector<int64_t> ends = dot.groups.EndsAt(prefix);
    int64_t done = 0;
    for (size_t j = 0; j < ends.size(); ++j) {
      if (ends[j] <= done) continue;
      const int64_t first = prefix * rows + dot.LengthOf(done), matrix = j * dot.batch + prefix / dot.before;
      KASHI_RETURN_IF_ERROR(kernels::MatrixProduct<T>(
          {1, dot.LengthOf(ends[j] - done), dot.k, dot.n}, {dot.Lhs<T>(first * dot.k), 0, dot.k, 1},
          {dot.Rhs<T>(matrix * dot.k * dot.n), 0, dot.n, 1}, {out + first * dot.n, 0, dot.n},
          kernels::MatrixProductMode::kAssign, check_stopped));
      done = ends[j];
    }
  }
  return absl::OkStatus();
}

// The contracted dimension is ragged: each group has a result of its own.
//
//   out[j, b, m, n] = sum over before, r of group j, behind of
//     lhs[b, m, before, r, behind] * rhs[b, before, r, behind, n]
template <typename T>
absl::Status RunRaggedSums(const RaggedDot& dot, T* out, StopFunction check_stopped) {
  const int64_t length = dot.LengthOf(dot.ragged), k = dot.before * length;
  for (int64_t prefix = 0; prefix < dot.batch * dot.before; ++prefix) {
    KASHI_RETURN_IF_ERROR(check_stopped());
    const int64_t b = prefix / dot.before, p0 = prefix % dot.before * length;
    const std::vector<int64_t> ends = dot.groups.EndsAt(prefix);
    for (size_t j = 0; j < ends.size(); ++j) {
      const int64_t begin = j == 0 ? 0 : ends[j - 1];
      if (ends[j] <= begin) continue;
      const int64_t p = p0 + dot.LengthOf(begin);
      KASHI_RETURN_IF_ERROR(kernels::MatrixProduct<T>(
          {1, dot.m, dot.LengthOf(ends[j] - begin), dot.n}, {dot.Lhs<T>(b * dot.m * k + p), 0, k, 1},
          {dot.Rhs<T>((b * k + p) * dot.n), 0, dot.n, 1}, {out + (j * dot.batch + b) * dot.m * dot.n, 0, dot.n},
          kernels::MatrixProductMode::kAdd, check_stopped));
    }
  }
  return absl::OkStatus();
}

// Matrices are ragged: those in a group are multiplied, the others give 0.
template <typename T>
absl::Status RunRaggedBatch(const RaggedDot& dot, T* out, StopFunction check_stopped) {
  for (int64_t prefix = 0; prefix < dot.before; ++prefix) {
    KASHI_RETURN_IF_ERROR(check_stopped());
    const std::vector<int64_t> ends = dot.groups.EndsAt(prefix);
    const int64_t count = dot.LengthOf(ends.empty() ? 0 : ends.back()), b = prefix * dot.LengthOf(dot.ragged);
    KASHI_RETURN_IF_ERROR(kernels::MatrixProduct<T>(
        {count, dot.m, dot.k, dot.n}, {dot.Lhs<T>(b * dot.m * dot.k), dot.m * dot.k, dot.k, 1},
        {dot.Rhs<T>(b * dot.k * dot.n), dot.k * dot.n, dot.n, 1}, {out + b * dot.m * dot.n, dot.m * dot.n, dot.n},
        kernels::MatrixProductMode::kAssign, check_stopped));
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> Transpose(EvaluationRun& run, Value value, Dimensions a, Dimensions b, Dimensions c,
                                Dimensions d = {}) {
  const DimensionVector sizes(value.dimensions().begin(), value.dimensions().end());
  const DimensionVector strides = RowMajorStrides(sizes);
  StridedView view;
  for (Dimensions group : {a, b, c, d}) view.AddAll(sizes, strides, group);
  return MakeDense(run, std::move(value), view);
}

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kDot>(Operation& op) {
  for (const auto attempt : {&TryInt8Dot, &TryInt16Dot, &TryWideningDot}) {
    KASHI_ASSIGN_OR_RETURN(Value result, attempt(op));
    if (!result.is_nothing()) return result;
  }
  const PrimitiveType result = op.result()->element_type(), accumulation = kernels::AccumulationType(result);
  KASHI_ASSIGN_OR_RETURN(Value lhs, ConvertOperand(op.run, std::move(op.operands[0]), result, accumulation));
  KASHI_ASSIGN_OR_RETURN(Value rhs, ConvertOperand(op.run, std::move(op.operands[1]), result, accumulation));
  return Dot(op, std::move(lhs), std::move(rhs));
}

bool IsBf16Dot(const HloInstruction& dot) {
  return dot.opcode() == HloOpcode::kDot && kernels::FindBf16Kernels() != nullptr &&
         dot.operand(0)->shape().element_type() == BF16 && dot.operand(1)->shape().element_type() == BF16 &&
         (dot.shape().element_type() == BF16 || dot.shape().element_type() == F32);
}

absl::StatusOr<Value> EvaluateBf16Dot(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(const DotMatrices operands, ViewOperands(op, op.operands[0], op.operands[1]));
  if (!IsWorthPacking(operands.sizes())) return Evaluate<HloOpcode::kDot>(op);
  KASHI_ASSIGN_OR_RETURN(DotResult<float> out, MakeDotResult<float>(op, operands.sizes(), F32));
  const kernels::PackedKernels<float>& kernels = *kernels::FindBf16Kernels();
  KASHI_ASSIGN_OR_RETURN(const bool is_done, RunPackedDot(op, operands, kernels, {kernels.pack_lhs, kernels.pack_rhs},
                                                          out.matrices, /*add=*/false));
  if (!is_done) return Evaluate<HloOpcode::kDot>(op);
  return op.run.Convert(std::move(out.array), op.result()->element_type());
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kRaggedDot>(Operation& op) {
  const PrimitiveType result = op.result()->element_type(), accumulation = kernels::AccumulationType(result);
  KASHI_ASSIGN_OR_RETURN(Value lhs, ConvertOperand(op.run, std::move(op.operands[0]), result, accumulation));
  KASHI_ASSIGN_OR_RETURN(Value rhs, ConvertOperand(op.run, std::move(op.operands[1]), result, accumulation));
  KASHI_ASSIGN_OR_RETURN(const Value sizes, op.run.Convert(std::move(op.operands[2]), S64));
  const RaggedDotDimensionNumbers& ragged_dnums = op.instruction.ragged_dot_dimension_numbers();
  const DotDimensionNumbers& dnums = ragged_dnums.dot_dimension_numbers();
  if (!SizesAgree(lhs, rhs, dnums)) return SizesDisagree(op);

  const int64_t ragged = ragged_dnums.lhs_ragged_dimensions(0);
  const Dimensions lhs_batch = dnums.lhs_batch_dimensions(), rhs_batch = dnums.rhs_batch_dimensions();
  const Dimensions lhs_contracting = dnums.lhs_contracting_dimensions();
  const Dimensions rhs_contracting = dnums.rhs_contracting_dimensions();
  const Dimensions group_dimensions = ragged_dnums.rhs_group_dimensions();
  const DimensionVector lhs_free = OtherDimensions(lhs.rank(), lhs_batch, lhs_contracting);
  DimensionVector rhs_fixed(rhs_batch.begin(), rhs_batch.end());
  rhs_fixed.insert(rhs_fixed.end(), group_dimensions.begin(), group_dimensions.end());
  const DimensionVector rhs_free = OtherDimensions(rhs.rank(), rhs_fixed, rhs_contracting);

  const auto holds_ragged = [ragged](Dimensions list) {
    return std::find(list.begin(), list.end(), ragged) != list.end();
  };
  const bool is_batch = holds_ragged(lhs_batch), is_contracting = holds_ragged(lhs_contracting);
  const Dimensions list = is_batch ? lhs_batch : is_contracting ? lhs_contracting : Dimensions(lhs_free);
  const size_t place = std::find(list.begin(), list.end(), ragged) - list.begin();
  RaggedDot dot{
      Value(),
      Value(),
      SizeOf(lhs.dimensions(), lhs_batch),
      SizeOf(lhs.dimensions(), list.subspan(0, place)),
      lhs.dimension(ragged),
      SizeOf(lhs.dimensions(), list.subspan(place + 1)),
      SizeOf(lhs.dimensions(), lhs_free),
      SizeOf(lhs.dimensions(), lhs_contracting),
      SizeOf(rhs.dimensions(), rhs_free),
      Groups(sizes, lhs.dimension(ragged)),
  };
  const int64_t prefixes = is_batch ? dot.before : dot.batch * dot.before;
  if (sizes.rank() > 1 && sizes.element_count() != prefixes * dot.groups.count()) return SizesDisagree(op);
  if (!group_dimensions.empty() && rhs.dimension(group_dimensions[0]) != dot.groups.count()) return SizesDisagree(op);
  KASHI_ASSIGN_OR_RETURN(dot.lhs, Transpose(op.run, std::move(lhs), lhs_batch, lhs_free, lhs_contracting));
  KASHI_ASSIGN_OR_RETURN(dot.rhs,
                         Transpose(op.run, std::move(rhs), group_dimensions, rhs_batch, rhs_contracting, rhs_free));

  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResultOf(accumulation, op.result()->dimensions()));
  const int64_t results = is_contracting ? dot.groups.count() : 1;
  if (out.element_count() != results * dot.batch * dot.m * dot.n) return SizesDisagree(op);
  std::memset(out.mutable_data(), 0, out.byte_count());
  KASHI_RETURN_IF_ERROR(kernels::AccumulationTypeSwitch(
      [&](auto zero) {
        using T = decltype(zero);
        T* const data = static_cast<T*>(out.mutable_data());
        const auto check_stopped = [&op] { return op.run.CheckStopped(); };
        if (is_batch) return RunRaggedBatch<T>(dot, data, check_stopped);
        return is_contracting ? RunRaggedSums<T>(dot, data, check_stopped) : RunRaggedRows<T>(dot, data, check_stopped);
      },
      accumulation));
  return op.run.Convert(std::move(out), result);
}

// ---- Scaled dot ----------------------------------------------------------------------------------------------------

namespace {

// Multiplies each element of the operand by the scale of its block. A single scale, of any rank, applies to all
// elements.
//
//   operand f32[4,64], scale f32[4,2]: element (i, j) is multiplied by scale (i, j / 32)
absl::StatusOr<Value> Scale(Operation& op, const Value& operand, Value scale) {
  const bool is_lone = scale.element_count() == 1;
  if (!is_lone && scale.rank() != operand.rank()) return SizesDisagree(op);
  KASHI_ASSIGN_OR_RETURN(Value product, op.run.MakeArray(operand.dense_shape()));
  if (product.element_count() == 0) return product;
  StridedView view;
  const DimensionVector strides = RowMajorStrides(scale.dimensions());
  for (int d = 0; d < operand.rank(); ++d) {
    const int64_t size = operand.dimension(d), blocks = is_lone ? 1 : scale.dimension(d);
    if (blocks == 0 || size % blocks != 0) return SizesDisagree(op);
    view.Add(blocks, is_lone ? 0 : strides[d]);
    view.Add(size / blocks, 0);
  }
  KASHI_ASSIGN_OR_RETURN(const Value factors, MakeDense(op.run, std::move(scale), view));
  kernels::AccumulationTypeSwitch(
      [&](auto zero) {
        using T = decltype(zero);
        const T* elements = static_cast<const T*>(operand.untyped_data());
        const T* factor = static_cast<const T*>(factors.untyped_data());
        T* out = static_cast<T*>(product.mutable_data());
        for (int64_t i = 0; i < product.element_count(); ++i) out[i] = elements[i] * factor[i];
      },
      operand.element_type());
  return product;
}

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kScaledDot>(Operation& op) {
  const PrimitiveType result = op.result()->element_type(), accumulation = kernels::AccumulationType(result);
  for (Value& operand : op.operands) {
    KASHI_ASSIGN_OR_RETURN(operand, ConvertOperand(op.run, std::move(operand), result, accumulation));
  }
  KASHI_ASSIGN_OR_RETURN(Value lhs, Scale(op, op.operands[0], std::move(op.operands[2])));
  KASHI_ASSIGN_OR_RETURN(Value rhs, Scale(op, op.operands[1], std::move(op.operands[3])));
  return Dot(op, std::move(lhs), std::move(rhs));
}

}  // namespace kashi::evaluator
