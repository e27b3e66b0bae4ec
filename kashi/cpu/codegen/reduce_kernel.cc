// Kernels whose root is a reduce.
//
// The trailing dimensions that are all reduced, or all kept, are one: the columns.
//
//   columns reduced                            columns kept
//   for row in kept indices:                   for row in other kept indices, for a block of columns:
//     sums = neutral (vectors)                   sums[block] = init
//     for outer in other reduced indices:        for outer in reduced indices, some at a time:
//       for column: sums += x[...]                 for column in block: sums[column] += x[...]
//     result[row] = init + all lanes of sums     result[row, block] = sums
//
// The first regroups what it adds up, if the combiner allows it (ReorderableCombiner). Otherwise each row goes one by
// one, as that of an argmax, and the lanes of a vector are rows side by side.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "kashi/array/shape_util.h"
#include "kashi/cpu/codegen/accumulator.h"
#include "kashi/cpu/codegen/fused_elements.h"
#include "kashi/cpu/codegen/kernel.h"
#include "kashi/cpu/codegen/loop_builder.h"
#include "kashi/cpu/codegen/row_sums.h"
#include "kashi/cpu/codegen/scalar_computation.h"
#include "kashi/passes/combiner.h"

namespace kashi::internal {
namespace {

// The sums of a block of columns stay in L1.
constexpr int64_t kBlockColumns = 512;
// Several rows are added to a block at a time, so that its sums are loaded and stored less often; not if the code of a
// row is long.
constexpr int64_t kRowsAtOnce = 4;
constexpr int64_t kFewInstructions = 12;

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
    if (count_ == 1 && ReorderableCombiner(combiner_).has_value()) {
      accumulator_.emplace(combiner_, types_[0], builder_.numbers);
    }
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

  // What the lanes of a vector are.
  enum class LanesAre { kColumns, kRows };

  // The index of the operands: `row` counts the kept dimensions before the columns, `outer` the reduced ones.
  ElementIndex OperandIndex(const CoordinateMath& math, llvm::Value* row, llvm::Value* outer, llvm::Value* column,
                            LanesAre lanes_are = LanesAre::kColumns) {
    std::vector<Coordinate> coordinates(first_column_dimension_);
    SplitInto(math, {row, lanes_are == LanesAre::kRows ? 1 : 0, nullptr}, kept_, &coordinates);
    SplitInto(math, {outer, 0, nullptr}, outer_, &coordinates);
    coordinates.push_back({column, lanes_are == LanesAre::kColumns ? 1 : 0, nullptr});
    std::vector<int64_t> merged(sizes_.begin(), sizes_.begin() + first_column_dimension_);
    merged.push_back(columns_);
    ElementIndex index = ElementIndex::FromCoordinates(merged, std::move(coordinates));
    index.Linear(math);
    return index.Reshape(sizes_, math);
  }

  void SplitInto(const CoordinateMath& math, const Coordinate& linear, const std::vector<int64_t>& dimensions,
                 std::vector<Coordinate>* coordinates) {
    std::vector<int64_t> sizes;
    for (int64_t dimension : dimensions) sizes.push_back(sizes_[dimension]);
    ElementIndex index = ElementIndex::FromLinear(sizes, linear);
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

  // Sums and values are of the types of the elements.
  std::vector<llvm::Value*> CombineInOrder(const LaneBuilder& lanes, std::vector<llvm::Value*> sums,
                                           const std::vector<llvm::Value*>& values) {
    sums.insert(sums.end(), values.begin(), values.end());
    return EmitScalarComputation(lanes, combiner_, sums);
  }

  // ---- Columns reduced.

  void EmitColumnsReduced() {
    kernel_->rows = row_count_;
    kernel_->columns = 1;
    kernel_->splits_columns = false;
    kernel_->work_per_column = columns_ * outer_count_;
    if (accumulator_.has_value()) {
      EmitRowsRegrouped();
    } else {
      EmitRowsInOrder();
    }
  }

  void EmitRowsRegrouped() {
    const std::vector<int> widths = builder_.Widths(columns_, /*columns_are_known=*/true);
    RowSums sums(builder_, reduce_, widths);
    EmitLoop(ir_, builder_.row_begin, builder_.row_end, 1, [&](llvm::Value* row) {
      const std::vector<llvm::Value*> initial = InitialValues();
      sums.Clear();
      ForElementsOfRow(row, widths, [&](size_t w, const LaneBuilder&, const std::vector<llvm::Value*>& values) {
        sums.Add(w, values[0]);
      });
      StoreResults(builder_.Lanes(1), row, {sums.Total(initial[0])});
    });
  }

  // One element of a row after the other, and several rows side by side.
  void EmitRowsInOrder() {
    // One vector of rows at a time, for each lane is a load of its own; then the rows that are left.
    const std::vector<int> widths = builder_.Widths(row_count_, /*columns_are_known=*/false);
    const std::vector<int> row_widths(widths.end() - std::min<size_t>(2, widths.size()), widths.end());
    EmitLaneLoops(ir_, builder_.row_begin, builder_.row_end, row_widths,
                  [&](int width, llvm::Value* row) { EmitRowsSideBySide(builder_.Lanes(width), row); });
  }

  void EmitRowsSideBySide(const LaneBuilder& lanes, llvm::Value* row) {
    std::vector<llvm::Value*> memory;  // of each result; LLVM moves it to registers
    for (PrimitiveType type : types_) memory.push_back(builder_.Allocate(lanes.Register(type)));
    const std::vector<llvm::Value*> initial = InitialValues();
    for (int64_t i = 0; i < count_; ++i) ir_.CreateStore(lanes.Splat(initial[i]), memory[i]);
    EmitLoop(ir_, ir_.getInt64(0), ir_.getInt64(outer_count_), 1, [&](llvm::Value* outer) {
      EmitLoop(ir_, ir_.getInt64(0), ir_.getInt64(columns_), 1, [&](llvm::Value* column) {
        FusedElements elements(lanes, builder_.lane_type, builder_.operands, true);
        ElementIndex index = OperandIndex(elements.math(), row, outer, column, LanesAre::kRows);
        const std::vector<llvm::Value*> values = Operands(elements, std::move(index));
        const std::vector<llvm::Value*> sums = CombineInOrder(lanes, LoadSums(lanes, memory), values);
        for (int64_t i = 0; i < count_; ++i) ir_.CreateStore(sums[i], memory[i]);
      });
    });
    StoreResults(lanes, row, LoadSums(lanes, memory));
  }

  std::vector<llvm::Value*> LoadSums(const LaneBuilder& lanes, const std::vector<llvm::Value*>& memory) {
    std::vector<llvm::Value*> sums;
    for (int64_t i = 0; i < count_; ++i) sums.push_back(ir_.CreateLoad(lanes.Register(types_[i]), memory[i]));
    return sums;
  }

  // use: the number of the width, and the operands' elements.
  void ForElementsOfRow(llvm::Value* row, const std::vector<int>& widths,
                        absl::FunctionRef<void(size_t, const LaneBuilder&, const std::vector<llvm::Value*>&)> use) {
    EmitLoop(ir_, ir_.getInt64(0), ir_.getInt64(outer_count_), 1, [&](llvm::Value* outer) {
      size_t w = 0;
      EmitLaneLoops(ir_, ir_.getInt64(0), ir_.getInt64(columns_), widths, [&](int width, llvm::Value* column) {
        FusedElements elements(builder_.Lanes(width), builder_.lane_type, builder_.operands, true);
        use(w++, elements.lanes(), Operands(elements, OperandIndex(elements.math(), row, outer, column)));
      });
    });
  }

  void StoreResults(const LaneBuilder& lanes, llvm::Value* at, const std::vector<llvm::Value*>& values) {
    for (int64_t i = 0; i < count_; ++i) lanes.StoreConsecutive(types_[i], values[i], builder_.results[i], at);
  }

  // ---- Columns kept.

  void EmitColumnsKept() {
    kernel_->rows = row_count_;
    kernel_->columns = columns_;
    kernel_->work_per_column = outer_count_;
    if (builder_.fused.instruction_count() <= kFewInstructions) rows_at_once_ = std::min(kRowsAtOnce, outer_count_);
    for (PrimitiveType type : types_) {
      block_types_.push_back(accumulator_.has_value() ? accumulator_->type() : type);
      block_sums_.push_back(builder_.Allocate(builder_.Lanes(1).ScalarMemory(block_types_.back()), kBlockColumns));
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
      if (accumulator_.has_value()) values[0] = accumulator_->FromElements(lanes, values[0]);
      StoreBlock(lanes, values, ir_.CreateNSWSub(column, begin));
    });
    const int64_t rest = outer_count_ % rows_at_once_;
    EmitLoop(ir_, ir_.getInt64(0), ir_.getInt64(outer_count_ - rest), rows_at_once_,
             [&](llvm::Value* outer) { AddRows(row, outer, rows_at_once_, begin, end, widths); });
    if (rest > 0) {
      EmitLoop(ir_, ir_.getInt64(outer_count_ - rest), ir_.getInt64(outer_count_), 1,
               [&](llvm::Value* outer) { AddRows(row, outer, 1, begin, end, widths); });
    }
    EmitLaneLoops(ir_, begin, end, widths, [&](int width, llvm::Value* column) {
      const LaneBuilder lanes = builder_.Lanes(width);
      std::vector<llvm::Value*> sums = LoadBlock(lanes, ir_.CreateNSWSub(column, begin));
      if (accumulator_.has_value()) sums[0] = accumulator_->ToElements(lanes, sums[0]);
      llvm::Value* at = ir_.CreateNSWAdd(ir_.CreateNSWMul(row, ir_.getInt64(columns_)), column);
      StoreResults(lanes, at, sums);
    });
  }

  // Adds `count` rows of the operand to the sums of a block, from `outer` on.
  void AddRows(llvm::Value* row, llvm::Value* outer, int64_t count, llvm::Value* begin, llvm::Value* end,
               const std::vector<int>& widths) {
    EmitLaneLoops(ir_, begin, end, widths, [&](int width, llvm::Value* column) {
      llvm::Value* at = ir_.CreateNSWSub(column, begin);
      // The code is repeated only where most of the time goes.
      const int64_t at_once = width == widths.front() ? count : 1;
      EmitLoop(ir_, ir_.getInt64(0), ir_.getInt64(count), at_once, [&](llvm::Value* i) {
        const LaneBuilder lanes = builder_.Lanes(width);
        std::vector<llvm::Value*> sums = LoadBlock(lanes, at);
        for (int64_t k = 0; k < at_once; ++k) {
          llvm::Value* next = ir_.CreateNSWAdd(outer, ir_.CreateNSWAdd(i, ir_.getInt64(k)));
          FusedElements elements(lanes, builder_.lane_type, builder_.operands, true);
          sums = CombineWithBlock(lanes, std::move(sums),
                                  Operands(elements, OperandIndex(elements.math(), row, next, column)));
        }
        StoreBlock(lanes, sums, at);
      });
    });
  }

  std::vector<llvm::Value*> CombineWithBlock(const LaneBuilder& lanes, std::vector<llvm::Value*> sums,
                                             const std::vector<llvm::Value*>& values) {
    if (!accumulator_.has_value()) return CombineInOrder(lanes, std::move(sums), values);
    return {accumulator_->Combine(lanes, sums[0], accumulator_->FromElements(lanes, values[0]))};
  }

  std::vector<llvm::Value*> LoadBlock(const LaneBuilder& lanes, llvm::Value* at) {
    std::vector<llvm::Value*> sums;
    for (int64_t i = 0; i < count_; ++i) {
      sums.push_back(lanes.LoadConsecutive(block_types_[i], block_sums_[i], at, /*is_invariant=*/false));
    }
    return sums;
  }

  void StoreBlock(const LaneBuilder& lanes, const std::vector<llvm::Value*>& sums, llvm::Value* at) {
    for (int64_t i = 0; i < count_; ++i) lanes.StoreConsecutive(block_types_[i], sums[i], block_sums_[i], at);
  }

  KernelBuilder& builder_;
  Ir& ir_;
  Kernel* kernel_;
  const HloInstruction& reduce_;
  const HloComputation& combiner_;
  const int64_t count_;
  const absl::Span<const int64_t> sizes_;
  std::vector<PrimitiveType> types_;
  std::optional<Accumulator> accumulator_;  // none: several arrays, or a combiner that keeps the order
  bool columns_are_reduced_ = false;
  int64_t first_column_dimension_ = 0;
  int64_t columns_ = 1, row_count_ = 1, outer_count_ = 1;
  std::vector<int64_t> kept_, outer_;  // dimensions before the columns
  int64_t rows_at_once_ = 1;
  std::vector<PrimitiveType> block_types_;
  std::vector<llvm::Value*> block_sums_;
};

}  // namespace

void EmitReduceKernel(KernelBuilder& builder, Kernel* kernel) { ReduceKernelEmitter(builder, kernel).Emit(); }

}  // namespace kashi::internal
