// Kernels whose root is a reduce.
//
// The trailing dimensions that are all reduced, or all kept, are one: the columns.
//
//   columns reduced                            columns kept
//   for row in kept indices:                   for row in other kept indices, for a block of columns:
//     sums = neutral (vectors)                   sums[block] = init
//     for outer in other reduced indices:        for outer in reduced indices:
//       for column: sums += x[...]                 for column in block: sums[column] += x[...]
//     result[row] = init + all lanes of sums     result[row, block] = sums
//
// The first regroups what it adds up, if the combiner allows it (ReorderableCombiner); otherwise it goes one by one.
#include <algorithm>
#include <utility>

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/cpu/codegen/fused_elements.h"
#include "kashi/cpu/codegen/kernel.h"
#include "kashi/cpu/codegen/loop_builder.h"
#include "kashi/cpu/codegen/scalar_computation.h"

#include "absl/algorithm/container.h"

namespace kashi::internal {
namespace {

// The sums of a block of columns stay in L1.
constexpr int64_t kBlockColumns = 512;

// Sums of bf16 and f16 are kept in f32.
PrimitiveType SumType(PrimitiveType type) { return type == BF16 || type == F16 ? F32 : type; }

class ReduceKernelEmitter {
 public:
  ReduceKernelEmitter(KernelBuilder& builder, Kernel* kernel)
      : builder_(builder),
        ir_(builder.ir),
        kernel_(kernel),
        reduce_(*builder.fused.root_instruction()),
        combiner_(*reduce_.to_apply()),
        count_(reduce_.operand_count() / 2),
        sizes_(reduce_.operand(0)->shape().dimensions()) {
    FindColumns();
  }

  void Emit() {
    for (int64_t i = 0; i < count_; ++i) types_.push_back(reduce_.operand(i)->shape().element_type());
    if (columns_are_reduced_) {
      EmitColumnsReduced();
    } else {
      EmitColumnsKept();
    }
  }

 private:
  bool IsReduced(int64_t dimension) const { return absl::c_linear_search(reduce_.dimensions(), dimension); }

  void FindColumns() {
    int64_t inner = static_cast<int64_t>(sizes_.size()) - 1;
    while (inner > 0 && sizes_[inner] == 1) --inner;
    columns_are_reduced_ = IsReduced(inner);
    first_column_dimension_ = static_cast<int64_t>(sizes_.size());
    while (first_column_dimension_ > 0) {
      const int64_t next = first_column_dimension_ - 1;
      if (sizes_[next] != 1 && IsReduced(next) != columns_are_reduced_) break;
      columns_ *= sizes_[next];
      first_column_dimension_ = next;
    }
    for (int64_t i = 0; i < first_column_dimension_; ++i) {
      (IsReduced(i) ? outer_ : kept_).push_back(i);
      (IsReduced(i) ? outer_count_ : row_count_) *= sizes_[i];
    }
  }

  // The index of the operands: `row` counts the kept dimensions before the columns, `outer` the reduced ones.
  ElementIndex OperandIndex(const CoordinateMath& math, llvm::Value* row, llvm::Value* outer, llvm::Value* column) {
    std::vector<Coordinate> coordinates(first_column_dimension_);
    SplitInto(math, row, kept_, &coordinates);
    SplitInto(math, outer, outer_, &coordinates);
    coordinates.push_back({column, 1, nullptr});
    std::vector<int64_t> merged(sizes_.begin(), sizes_.begin() + first_column_dimension_);
    merged.push_back(columns_);
    ElementIndex index = ElementIndex::FromCoordinates(merged, std::move(coordinates));
    index.Linear(math);
    return index.Reshape(sizes_, math);
  }

  void SplitInto(const CoordinateMath& math, llvm::Value* linear, const std::vector<int64_t>& dimensions,
                 std::vector<Coordinate>* coordinates) {
    std::vector<int64_t> sizes;
    for (int64_t dimension : dimensions) sizes.push_back(sizes_[dimension]);
    ElementIndex index = ElementIndex::FromLinear(sizes, {linear, 0, nullptr});
    for (size_t i = 0; i < dimensions.size(); ++i) (*coordinates)[dimensions[i]] = index.At(i, math);
  }

  std::vector<llvm::Value*> Operands(FusedElements& elements, ElementIndex index) {
    ElementIndex* at = elements.AddIndex(std::move(index));
    std::vector<llvm::Value*> values;
    for (int64_t i = 0; i < count_; ++i) values.push_back(elements.At(*reduce_.operand(i), at));
    return values;
  }

  std::vector<llvm::Value*> InitialValues() {
    FusedElements elements(builder_.Lanes(1), builder_.lane_type, builder_.operands, true);
    std::vector<llvm::Value*> values;
    for (int64_t i = 0; i < count_; ++i) values.push_back(elements.Scalar(*reduce_.operand(count_ + i)));
    return values;
  }

  std::vector<llvm::Value*> Combine(const LaneBuilder& lanes, std::vector<llvm::Value*> sums,
                                    const std::vector<llvm::Value*>& values) {
    sums.insert(sums.end(), values.begin(), values.end());
    return EmitScalarComputation(lanes, combiner_, sums);
  }

  // ---- Columns reduced.

  // x with which combine(x, y) = y.
  llvm::Value* Neutral(const LaneBuilder& lanes, HloOpcode opcode) const {
    const PrimitiveType type = types_[0];
    llvm::Type* scalar = lanes.ScalarRegister(type);
    const bool is_real = scalar->isFloatingPointTy();
    const int bits = static_cast<int>(scalar->getScalarSizeInBits());
    const bool is_signed = primitive_util::IsSignedIntegralType(type);
    if (opcode == HloOpcode::kMultiply && type != PRED) {
      return is_real ? lanes.Real(type, 1) : lanes.Integer(type, 1);
    }
    const bool is_minimum = opcode == HloOpcode::kMinimum;
    if (is_real && opcode == HloOpcode::kAdd) return lanes.Real(type, -0.0);
    if (is_real) return lanes.Splat(llvm::ConstantFP::getInfinity(scalar, /*Negative=*/!is_minimum));
    if (is_signed && (is_minimum || opcode == HloOpcode::kMaximum)) {
      const llvm::APInt limit =
          is_minimum ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getSignedMinValue(bits);
      return lanes.Splat(llvm::ConstantInt::get(scalar, limit));
    }
    const bool is_and = opcode == HloOpcode::kAnd || opcode == HloOpcode::kMultiply;  // of PRED, a product is an and
    return lanes.Integer(type, is_minimum || is_and ? -1 : 0);
  }

  void EmitColumnsReduced() {
    kernel_->rows = row_count_;
    kernel_->columns = 1;
    kernel_->splits_columns = false;
    kernel_->work_per_column = columns_ * outer_count_;
    const std::optional<HloOpcode> reorderable = count_ == 1 ? ReorderableCombiner(combiner_) : std::nullopt;
    std::vector<int> widths = reorderable ? builder_.Widths(columns_, /*columns_are_known=*/true) : std::vector<int>{1};
    // sums_of_width[w][i]: memory of result i's sums on widths[w] lanes; LLVM moves it to registers.
    std::vector<std::vector<llvm::Value*>> sums_of_width;
    for (int width : widths) {
      sums_of_width.emplace_back();
      for (PrimitiveType type : types_) {
        sums_of_width.back().push_back(builder_.Allocate(builder_.Lanes(width).Register(type)));
      }
    }
    EmitLoop(ir_, builder_.row_begin, builder_.row_end, 1, [&](llvm::Value* row) {
      const std::vector<llvm::Value*> initial = InitialValues();
      for (size_t w = 0; w < widths.size(); ++w) {
        const LaneBuilder lanes = builder_.Lanes(widths[w]);
        if (reorderable) ir_.CreateStore(Neutral(lanes, *reorderable), sums_of_width[w][0]);
        if (reorderable) continue;
        for (int64_t i = 0; i < count_; ++i) ir_.CreateStore(initial[i], sums_of_width[w][i]);
      }
      EmitSumsOfRow(row, widths, sums_of_width);
      if (reorderable) {
        StoreResults(row, {Total(widths, sums_of_width, initial)});
      } else {
        StoreResults(row, LoadSums(builder_.Lanes(1), sums_of_width[0]));
      }
    });
  }

  std::vector<llvm::Value*> LoadSums(const LaneBuilder& lanes, const std::vector<llvm::Value*>& memory) {
    std::vector<llvm::Value*> sums;
    for (int64_t i = 0; i < count_; ++i) sums.push_back(ir_.CreateLoad(lanes.Register(types_[i]), memory[i]));
    return sums;
  }

  void EmitSumsOfRow(llvm::Value* row, const std::vector<int>& widths,
                     const std::vector<std::vector<llvm::Value*>>& sums_of_width) {
    EmitLoop(ir_, ir_.getInt64(0), ir_.getInt64(outer_count_), 1, [&](llvm::Value* outer) {
      size_t w = 0;
      EmitLaneLoops(ir_, ir_.getInt64(0), ir_.getInt64(columns_), widths, [&](int width, llvm::Value* column) {
        FusedElements elements(builder_.Lanes(width), builder_.lane_type, builder_.operands, true);
        const std::vector<llvm::Value*> values = Operands(elements, OperandIndex(elements.math(), row, outer, column));
        const std::vector<llvm::Value*>& memory = sums_of_width[w++];
        const std::vector<llvm::Value*> sums = Combine(elements.lanes(), LoadSums(elements.lanes(), memory), values);
        for (int64_t i = 0; i < count_; ++i) ir_.CreateStore(sums[i], memory[i]);
      });
    });
  }

  llvm::Value* Total(const std::vector<int>& widths, const std::vector<std::vector<llvm::Value*>>& sums_of_width,
                     const std::vector<llvm::Value*>& initial) {
    llvm::Value* total = initial[0];
    for (size_t w = 0; w < widths.size(); ++w) {
      llvm::Value* sums = ir_.CreateLoad(builder_.Lanes(widths[w]).Register(types_[0]), sums_of_width[w][0]);
      for (int half = widths[w] / 2; half > 0; half /= 2) {
        const LaneBuilder lanes = builder_.Lanes(half);
        llvm::Value* low = lanes.Part(sums, 0, half);
        llvm::Value* high = lanes.Part(sums, half, half);
        if (half == 1) {
          low = ir_.CreateExtractElement(sums, uint64_t{0});
          high = ir_.CreateExtractElement(sums, uint64_t{1});
        }
        sums = Combine(lanes, {low}, {high})[0];
      }
      total = Combine(builder_.Lanes(1), {total}, {sums})[0];
    }
    return total;
  }

  void StoreResults(llvm::Value* at, const std::vector<llvm::Value*>& values) {
    for (int64_t i = 0; i < count_; ++i)
      builder_.Lanes(1).StoreConsecutive(types_[i], values[i], builder_.results[i], at);
  }

  // ---- Columns kept.

  void EmitColumnsKept() {
    kernel_->rows = row_count_;
    kernel_->columns = columns_;
    kernel_->work_per_column = outer_count_;
    for (PrimitiveType type : types_) {
      block_sums_.push_back(builder_.Allocate(builder_.Lanes(1).ScalarMemory(SumType(type)), kBlockColumns));
    }
    EmitLoop(ir_, builder_.row_begin, builder_.row_end, 1, [&](llvm::Value* row) {
      // Blocks of kBlockColumns, the last one shorter.
      llvm::Value* width = ir_.CreateNSWSub(builder_.column_end, builder_.column_begin);
      llvm::Value* blocks =
          ir_.CreateUDiv(ir_.CreateNSWAdd(width, ir_.getInt64(kBlockColumns - 1)), ir_.getInt64(kBlockColumns));
      EmitLoop(ir_, ir_.getInt64(0), blocks, 1, [&](llvm::Value* block) {
        llvm::Value* begin =
            ir_.CreateNSWAdd(builder_.column_begin, ir_.CreateNSWMul(block, ir_.getInt64(kBlockColumns)));
        llvm::Value* end = ir_.CreateBinaryIntrinsic(
            llvm::Intrinsic::smin, ir_.CreateNSWAdd(begin, ir_.getInt64(kBlockColumns)), builder_.column_end);
        EmitBlock(row, begin, end);
      });
    });
  }

  void EmitBlock(llvm::Value* row, llvm::Value* begin, llvm::Value* end) {
    const std::vector<int> widths = builder_.Widths(columns_, /*columns_are_known=*/false);
    const std::vector<llvm::Value*> initial = InitialValues();
    EmitLaneLoops(ir_, begin, end, widths, [&](int width, llvm::Value* column) {
      const LaneBuilder lanes = builder_.Lanes(width);
      std::vector<llvm::Value*> values;
      for (llvm::Value* value : initial) values.push_back(lanes.Splat(value));
      StoreBlock(lanes, values, ir_.CreateNSWSub(column, begin));
    });
    EmitLoop(ir_, ir_.getInt64(0), ir_.getInt64(outer_count_), 1, [&](llvm::Value* outer) {
      EmitLaneLoops(ir_, begin, end, widths, [&](int width, llvm::Value* column) {
        FusedElements elements(builder_.Lanes(width), builder_.lane_type, builder_.operands, true);
        const std::vector<llvm::Value*> values = Operands(elements, OperandIndex(elements.math(), row, outer, column));
        llvm::Value* at = ir_.CreateNSWSub(column, begin);
        StoreBlock(elements.lanes(), Combine(elements.lanes(), LoadBlock(elements.lanes(), at), values), at);
      });
    });
    EmitLaneLoops(ir_, begin, end, widths, [&](int width, llvm::Value* column) {
      const LaneBuilder lanes = builder_.Lanes(width);
      const std::vector<llvm::Value*> sums = LoadBlock(lanes, ir_.CreateNSWSub(column, begin));
      llvm::Value* at = ir_.CreateNSWAdd(ir_.CreateNSWMul(row, ir_.getInt64(columns_)), column);
      for (int64_t i = 0; i < count_; ++i) lanes.StoreConsecutive(types_[i], sums[i], builder_.results[i], at);
    });
  }

  std::vector<llvm::Value*> LoadBlock(const LaneBuilder& lanes, llvm::Value* at) {
    std::vector<llvm::Value*> sums;
    for (int64_t i = 0; i < count_; ++i) {
      sums.push_back(lanes.LoadConsecutive(SumType(types_[i]), block_sums_[i], at, /*is_invariant=*/false));
    }
    return sums;
  }

  void StoreBlock(const LaneBuilder& lanes, const std::vector<llvm::Value*>& sums, llvm::Value* at) {
    for (int64_t i = 0; i < count_; ++i) lanes.StoreConsecutive(SumType(types_[i]), sums[i], block_sums_[i], at);
  }

  KernelBuilder& builder_;
  Ir& ir_;
  Kernel* kernel_;
  const HloInstruction& reduce_;
  const HloComputation& combiner_;
  const int64_t count_;
  const absl::Span<const int64_t> sizes_;
  std::vector<PrimitiveType> types_;
  bool columns_are_reduced_ = false;
  int64_t first_column_dimension_ = 0;
  int64_t columns_ = 1, row_count_ = 1, outer_count_ = 1;
  std::vector<int64_t> kept_, outer_;  // dimensions before the columns
  std::vector<llvm::Value*> block_sums_;
};

}  // namespace

void EmitReduceKernel(KernelBuilder& builder, Kernel* kernel) { ReduceKernelEmitter(builder, kernel).Emit(); }

}  // namespace kashi::internal
