#include "kashi/codegen/small_dot.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/codegen/dot_matrices.h"
#include "kashi/codegen/loop_builder.h"
#include "kashi/codegen/small_array.h"
#include "kashi/evaluator/contraction.h"

namespace kashi::codegen {
namespace {

// Unrolled. LLVM takes some 10 microseconds for each product.
constexpr int64_t kMostProducts = 512, kMostSteps = 16;

// The offsets of an operand's elements: of each element of the result, and of each step of the sum.
struct OperandOffsets {
  std::vector<int64_t> of_result, of_sum;
};

// Offsets of all indices of some dimensions, row-major.
std::vector<int64_t> OffsetsOf(const Shape& shape, absl::Span<const int64_t> dimensions) {
  const DimensionVector strides = evaluator::RowMajorStrides(shape.dimensions());
  std::vector<int64_t> offsets = {0};
  for (int64_t d : dimensions) {
    std::vector<int64_t> next;
    for (int64_t offset : offsets) {
      for (int64_t i = 0; i < shape.dimensions(static_cast<int>(d)); ++i) next.push_back(offset + i * strides[d]);
    }
    offsets = std::move(next);
  }
  return offsets;
}

// The result's dimensions are batch, rows of lhs, columns of rhs.
std::pair<OperandOffsets, OperandOffsets> OffsetsOf(const HloInstruction& dot) {
  const DotDimensionNumbers& dnums = dot.dot_dimension_numbers();
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape();
  const std::vector<int64_t> rows =
      OffsetsOf(lhs, evaluator::OtherDimensions(lhs.dimensions_size(), dnums.lhs_batch_dimensions(),
                                                dnums.lhs_contracting_dimensions()));
  const std::vector<int64_t> columns =
      OffsetsOf(rhs, evaluator::OtherDimensions(rhs.dimensions_size(), dnums.rhs_batch_dimensions(),
                                                dnums.rhs_contracting_dimensions()));
  const std::vector<int64_t> left_batch = OffsetsOf(lhs, dnums.lhs_batch_dimensions()),
                             right_batch = OffsetsOf(rhs, dnums.rhs_batch_dimensions());
  OperandOffsets left, right;
  for (size_t b = 0; b < left_batch.size(); ++b) {
    for (int64_t row : rows) {
      for (int64_t column : columns) {
        left.of_result.push_back(left_batch[b] + row);
        right.of_result.push_back(right_batch[b] + column);
      }
    }
  }
  left.of_sum = OffsetsOf(lhs, dnums.lhs_contracting_dimensions());
  right.of_sum = OffsetsOf(rhs, dnums.rhs_contracting_dimensions());
  return {std::move(left), std::move(right)};
}

class LoopDot {
 public:
  LoopDot(const LaneBuilder& lanes, const DotMatrices& matrices, llvm::Value* lhs, llvm::Value* rhs, llvm::Value* out)
      : ir_(lanes.ir()), lanes_(lanes), matrices_(matrices), lhs_(lhs), rhs_(rhs), out_(out) {
    const int element_bits = matrices.type == F64 ? 64 : 32;
    for (int width = std::max(1, lanes.target().vector_bits / element_bits); width > 1; width /= 2) {
      widths_.push_back(width);
    }
    widths_.push_back(1);
  }

  void Emit() {
    const kernels::MatrixProductSizes& sizes = matrices_.sizes;
    ForEach(sizes.batch, [&](llvm::Value* b) {
      batch_ = b;
      if (sizes.n == 1 && matrices_.lhs.column == 1 && sizes.k >= kLeastVectorSum) {
        ForRows([&](int64_t rows, llvm::Value* i) { EmitRowSums(rows, i); });
      } else if (sizes.n == 1) {
        ForLanes(sizes.m, [&](int width, llvm::Value* i) { EmitSums(width, 1, i, Zero(), /*over_rows=*/true); });
      } else {
        ForRows([&](int64_t rows, llvm::Value* i) {
          ForLanes(sizes.n, [&](int width, llvm::Value* j) { EmitSums(width, rows, i, j, /*over_rows=*/false); });
        });
      }
    });
  }

 private:
  static constexpr int64_t kLeastVectorSum = 8;

  llvm::Value* Zero() const { return ir_.getInt64(0); }
  llvm::Value* Number(int64_t n) const { return ir_.getInt64(static_cast<uint64_t>(n)); }
  void ForEach(int64_t count, absl::FunctionRef<void(llvm::Value*)> body) {
    count == 1 ? body(Zero()) : static_cast<void>(EmitLoop(ir_, Zero(), Number(count), 1, body));
  }
  // Four rows at once, and the rest one by one.
  void ForRows(absl::FunctionRef<void(int64_t rows, llvm::Value* i)> body) {
    constexpr int64_t kRows = 4;
    const int64_t m = matrices_.sizes.m, end = m / kRows * kRows;
    if (end == kRows) {
      body(kRows, Zero());
    } else if (end > 0) {
      EmitLoop(ir_, Zero(), Number(end), kRows, [&](llvm::Value* i) { body(kRows, i); });
    }
    for (int64_t i = end; i < m; ++i) body(1, Number(i));
  }
  // Only widths that fit into what is left.
  void ForLanes(int64_t count, absl::FunctionRef<void(int, llvm::Value*)> body) {
    int64_t begin = 0;
    for (int width : widths_) {
      const int64_t end = begin + (count - begin) / width * width;
      if (end == begin) continue;
      const auto with_width = [&](llvm::Value* i) { body(width, i); };
      end - begin == width ? with_width(Number(begin))
                           : static_cast<void>(EmitLoop(ir_, Number(begin), Number(end), width, with_width));
      begin = end;
    }
  }
  llvm::Value* Index(const DotMatrices::Strides& strides, llvm::Value* row, llvm::Value* column) const {
    llvm::Value* const in_row =
        ir_.CreateAdd(ir_.CreateMul(row, Number(strides.row)), ir_.CreateMul(column, Number(strides.column)));
    return ir_.CreateAdd(ir_.CreateMul(batch_, Number(strides.batch)), in_row);
  }
  llvm::Value* LoadLanes(int width, llvm::Value* pointer, llvm::Value* index, int64_t step) const {
    const LaneBuilder lanes = lanes_.WithLanes(width);
    if (width == 1) return lanes.LoadScalar(matrices_.type, pointer, index, /*is_invariant=*/false);
    return step == 1 ? lanes.LoadConsecutive(matrices_.type, pointer, index, /*is_invariant=*/false)
                     : lanes.LoadStrided(matrices_.type, pointer, index, step, /*is_invariant=*/false);
  }
  // A variable in the frame of the function, which LLVM moves to registers.
  llvm::Value* Variable(llvm::Type* type) {
    llvm::BasicBlock& entry = ir_.GetInsertBlock()->getParent()->getEntryBlock();
    return Ir(&entry, entry.begin()).CreateAlloca(type);
  }
  llvm::Value* MultiplyAdd(llvm::Value* a, llvm::Value* b, llvm::Value* sum) {
    return ir_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {a->getType()}, {a, b, sum});
  }

  // Rows i … i + rows - 1 and columns j … j + width - 1 of the result; or over_rows: rows i … i + width - 1 of column
  // j.
  // Several rows at once keep several sums going, and share what they read of rhs.
  void EmitSums(int width, int64_t rows, llvm::Value* i, llvm::Value* j, bool over_rows) {
    const LaneBuilder lanes = lanes_.WithLanes(width);
    llvm::Type* const type = lanes.Register(matrices_.type);
    std::vector<llvm::Value*> sums;
    for (int64_t r = 0; r < rows; ++r) {
      sums.push_back(Variable(type));
      ir_.CreateStore(llvm::Constant::getNullValue(type), sums.back());
    }
    ForEach(matrices_.sizes.k, [&](llvm::Value* k) {
      llvm::Value* b = LoadLanes(over_rows ? 1 : width, rhs_, Index(matrices_.rhs, k, j), matrices_.rhs.column);
      if (width > 1 && over_rows) b = lanes.Splat(b);
      for (int64_t r = 0; r < rows; ++r) {
        llvm::Value* const row = ir_.CreateAdd(i, Number(r));
        llvm::Value* a = LoadLanes(over_rows ? width : 1, lhs_, Index(matrices_.lhs, row, k), matrices_.lhs.row);
        if (width > 1 && !over_rows) a = lanes.Splat(a);
        ir_.CreateStore(MultiplyAdd(a, b, ir_.CreateLoad(type, sums[r])), sums[r]);
      }
    });
    for (int64_t r = 0; r < rows; ++r) Store(lanes, ir_.CreateLoad(type, sums[r]), ir_.CreateAdd(i, Number(r)), j);
  }

  // Rows i … i + rows - 1 of a result of one column.
  void EmitRowSums(int64_t rows, llvm::Value* i) {
    std::vector<llvm::Value*> totals(static_cast<size_t>(rows));
    int64_t begin = 0;
    for (int width : widths_) {
      const int64_t k = matrices_.sizes.k, end = begin + (k - begin) / width * width;
      if (end == begin) continue;
      llvm::Type* const type = lanes_.WithLanes(width).Register(matrices_.type);
      std::vector<llvm::Value*> sums;
      for (int64_t r = 0; r < rows; ++r) {
        sums.push_back(Variable(type));
        ir_.CreateStore(llvm::Constant::getNullValue(type), sums.back());
      }
      EmitLoop(ir_, Number(begin), Number(end), width, [&](llvm::Value* at) {
        llvm::Value* const b = LoadLanes(width, rhs_, Index(matrices_.rhs, at, Zero()), matrices_.rhs.row);
        for (int64_t r = 0; r < rows; ++r) {
          llvm::Value* const row = ir_.CreateAdd(i, Number(r));
          llvm::Value* const a = LoadLanes(width, lhs_, Index(matrices_.lhs, row, at), 1);
          ir_.CreateStore(MultiplyAdd(a, b, ir_.CreateLoad(type, sums[r])), sums[r]);
        }
      });
      for (int64_t r = 0; r < rows; ++r) {
        llvm::Value* const part = SumOfLanes(width, ir_.CreateLoad(type, sums[r]));
        totals[r] = totals[r] == nullptr ? part : ir_.CreateFAdd(totals[r], part);
      }
      begin = end;
    }
    for (int64_t r = 0; r < rows; ++r) Store(lanes_.WithLanes(1), totals[r], ir_.CreateAdd(i, Number(r)), Zero());
  }

  llvm::Value* SumOfLanes(int width, llvm::Value* vector) {
    for (int half = width / 2; half >= 1; half /= 2) {
      const LaneBuilder lanes = lanes_.WithLanes(2 * half);
      vector = ir_.CreateFAdd(lanes.Part(vector, 0, half), lanes.Part(vector, half, half));
    }
    return vector;
  }

  void Store(const LaneBuilder& lanes, llvm::Value* value, llvm::Value* i, llvm::Value* j) {
    const kernels::MatrixProductSizes& sizes = matrices_.sizes;
    llvm::Value* const row = ir_.CreateAdd(ir_.CreateMul(batch_, Number(sizes.m)), i);
    lanes.StoreConsecutive(matrices_.type, value, out_, ir_.CreateAdd(ir_.CreateMul(row, Number(sizes.n)), j));
  }

  Ir& ir_;
  LaneBuilder lanes_;
  const DotMatrices& matrices_;
  llvm::Value *lhs_, *rhs_, *out_;
  llvm::Value* batch_ = nullptr;
  std::vector<int> widths_;
};

}  // namespace

bool CanEmitSmallDot(const HloInstruction& dot) {
  const PrimitiveType type = dot.shape().element_type();
  if (dot.opcode() != HloOpcode::kDot || (type != F32 && type != F64) || !IsSmallArray(dot.shape())) return false;
  for (const HloInstruction* operand : dot.operands()) {
    if (operand->shape().element_type() != type || ShapeUtil::IsZeroElementArray(operand->shape())) return false;
  }
  int64_t steps = 1;
  for (int64_t d : dot.dot_dimension_numbers().lhs_contracting_dimensions()) {
    steps *= dot.operand(0)->shape().dimensions(static_cast<int>(d));
  }
  return steps <= kMostSteps && steps * ShapeUtil::ElementsIn(dot.shape()) <= kMostProducts;
}

llvm::Value* EmitSmallDot(const LaneBuilder& lanes, const HloInstruction& dot, OperandElement lhs, OperandElement rhs) {
  const auto [left, right] = OffsetsOf(dot);
  const LaneBuilder small = SmallLanes(lanes, dot.shape());
  llvm::Value* sum = nullptr;  // begins at 0: a sum of products that are -0 is 0, as in the evaluator
  for (size_t k = 0; k < left.of_sum.size(); ++k) {
    std::vector<llvm::Value*> a, b;
    for (size_t i = 0; i < left.of_result.size(); ++i) {
      a.push_back(lhs(left.of_result[i] + left.of_sum[k]));
      b.push_back(rhs(right.of_result[i] + right.of_sum[k]));
    }
    llvm::Value *x = SmallFromElements(lanes, dot.shape(), a), *y = SmallFromElements(lanes, dot.shape(), b);
    if (sum == nullptr) sum = llvm::Constant::getNullValue(x->getType());
    sum = small.ir().CreateIntrinsic(llvm::Intrinsic::fmuladd, {x->getType()}, {x, y, sum});
  }
  return sum;
}

bool CanEmitLoopDot(const HloInstruction& dot) {
  constexpr int64_t kMostLoopProducts = 8192;  // for more, the kernels of matrix_product.h are faster
  if (dot.opcode() != HloOpcode::kDot || ShapeUtil::IsZeroElementArray(dot.shape())) return false;
  const std::optional<DotMatrices> matrices = DotMatricesOf(dot);
  if (!matrices.has_value() || matrices->sizes.k == 0) return false;
  return SaturatingMultiply(ShapeUtil::ElementsIn(dot.shape()), matrices->sizes.k) <= kMostLoopProducts;
}

void EmitLoopDot(const LaneBuilder& lanes, const HloInstruction& dot, llvm::Value* lhs, llvm::Value* rhs,
                 llvm::Value* out) {
  const DotMatrices matrices = *DotMatricesOf(dot);
  LoopDot(lanes, matrices, lhs, rhs, out).Emit();
}

}  // namespace kashi::codegen
