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
// The first form regroups its sums, if the combiner allows it (ReorderableCombiner). Otherwise the elements of each row
// are reduced in order, as for an argmax, and the lanes of a vector are rows side by side.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "kashi/array/shape_util.h"
#include "kashi/codegen/accumulator.h"
#include "kashi/codegen/fused_elements.h"
#include "kashi/codegen/kernel.h"
#include "kashi/codegen/loop_builder.h"
#include "kashi/codegen/row_sums.h"
#include "kashi/codegen/scalar_computation.h"
#include "kashi/passes/combiner.h"

namespace kashi::codegen {
namespace {

// The sums of a block of columns stay in L1.
constexpr int64_t kBlockColumns = 512;
// Several rows are added to a block at a time, so that its sums are loaded and stored less often; not if the code of a
// row is long.
constexpr int64_t kRowsAtOnce = 4;
constexpr int64_t kFewInstructions = 12;

// The meaning of the lanes of a vector.
enum class LanesAre { kColumns, kRows };

// The loops of a reduce, and what their bodies read and write.
class ReduceLoops {
 public:
  explicit ReduceLoops(KernelBuilder& builder)
      : builder(builder),
        reduce(*builder.fused.root_instruction()),
        combiner(*reduce.to_apply()),
        count(reduce.operand_count() / 2),
        sizes_(reduce.operand(0)->shape().dimensions()) {
    FindColumns();
    for (int64_t i = 0; i < count; ++i) types.push_back(reduce.operand(i)->shape().element_type());
    if (count == 1 && hlo::ReorderableCombiner(combiner).has_value()) {
      accumulator.emplace(combiner, types[0], builder.numbers);
    }
  }

  // The index of the operands: `row` counts the kept dimensions before the columns, `outer` the reduced ones.
  ElementIndex OperandIndex(const CoordinateMath& math, llvm::Value* row, llvm::Value* outer, llvm::Value* column,
                            LanesAre lanes_are = LanesAre::kColumns) {
    std::vector<Coordinate> coordinates(first_column_dimension_);
    SplitInto(math, {row, lanes_are == LanesAre::kRows ? 1 : 0, nullptr}, kept_, &coordinates);
    SplitInto(math, {outer, 0, nullptr}, outer_, &coordinates);
    coordinates.push_back({column, lanes_are == LanesAre::kColumns ? 1 : 0, nullptr});
    std::vector<int64_t> merged(sizes_.begin(), sizes_.begin() + first_column_dimension_);
    merged.push_back(columns);
    ElementIndex index = ElementIndex::FromCoordinates(merged, std::move(coordinates));
    index.Linear(math);
    return index.Reshape(sizes_, math);
  }

  std::vector<llvm::Value*> Operands(FusedElements& elements, ElementIndex index) {
    ElementIndex* at = elements.AddIndex(std::move(index));
    std::vector<llvm::Value*> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(elements.At(*reduce.operand(i), at));
    return values;
  }

  std::vector<llvm::Value*> InitialValues() {
    FusedElements elements(builder.Lanes(1), builder.lane_type, builder.operands, true);
    std::vector<llvm::Value*> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(elements.Scalar(*reduce.operand(count + i)));
    return values;
  }

  // Sums and values are of the types of the elements.
  std::vector<llvm::Value*> CombineInOrder(const LaneBuilder& lanes, std::vector<llvm::Value*> sums,
                                           const std::vector<llvm::Value*>& values) {
    sums.insert(sums.end(), values.begin(), values.end());
    return EmitScalarComputation(lanes, combiner, sums);
  }

  void StoreResults(const LaneBuilder& lanes, llvm::Value* at, const std::vector<llvm::Value*>& values) {
    for (int64_t i = 0; i < count; ++i) lanes.StoreConsecutive(types[i], values[i], builder.results[i], at);
  }

  KernelBuilder& builder;
  const HloInstruction& reduce;
  const HloComputation& combiner;
  const int64_t count;  // of arrays
  std::vector<PrimitiveType> types;
  std::optional<Accumulator> accumulator;  // none: several arrays, or a combiner that keeps the order
  bool columns_are_reduced = false;
  int64_t columns = 1, row_count = 1, outer_count = 1;

 private:
  bool IsReduced(int64_t dimension) const { return absl::c_linear_search(reduce.dimensions(), dimension); }

  void FindColumns() {
    int64_t inner = static_cast<int64_t>(sizes_.size()) - 1;
    while (inner > 0 && sizes_[inner] == 1) --inner;
    columns_are_reduced = IsReduced(inner);
    first_column_dimension_ = static_cast<int64_t>(sizes_.size());
    while (first_column_dimension_ > 0) {
      const int64_t next = first_column_dimension_ - 1;
      if (sizes_[next] != 1 && IsReduced(next) != columns_are_reduced) break;
      columns *= sizes_[next];
      first_column_dimension_ = next;
    }
    for (int64_t i = 0; i < first_column_dimension_; ++i) {
      (IsReduced(i) ? outer_ : kept_).push_back(i);
      (IsReduced(i) ? outer_count : row_count) *= sizes_[i];
    }
  }

  void SplitInto(const CoordinateMath& math, const Coordinate& linear, const std::vector<int64_t>& dimensions,
                 std::vector<Coordinate>* coordinates) {
    std::vector<int64_t> sizes;
    for (int64_t dimension : dimensions) sizes.push_back(sizes_[dimension]);
    ElementIndex index = ElementIndex::FromLinear(sizes, linear);
    for (size_t i = 0; i < dimensions.size(); ++i) (*coordinates)[dimensions[i]] = index.At(i, math);
  }

  const absl::Span<const int64_t> sizes_;
  int64_t first_column_dimension_ = 0;
  std::vector<int64_t> kept_, outer_;  // dimensions before the columns
};

class ColumnsReducedEmitter {
 public:
  explicit ColumnsReducedEmitter(ReduceLoops& loops) : in_(loops), ir_(loops.builder.ir) {}

  void Emit(Kernel* kernel) {
    kernel->rows = in_.row_count;
    kernel->columns = 1;
    kernel->splits_columns = false;
    kernel->work_per_column = in_.columns * in_.outer_count;
    if (in_.accumulator.has_value()) {
      EmitRowsRegrouped();
    } else {
      EmitRowsInOrder();
    }
  }

 private:
  void EmitRowsRegrouped() {
    const std::vector<int> widths = in_.builder.Widths(in_.columns, /*columns_are_known=*/true);
    RowSums sums(in_.builder, in_.reduce, widths);
    EmitLoop(ir_, in_.builder.row_begin, in_.builder.row_end, 1, [&](llvm::Value* row) {
      const std::vector<llvm::Value*> initial = in_.InitialValues();
      sums.Clear();
      ForElementsOfRow(row, widths, [&](size_t w, const LaneBuilder&, const std::vector<llvm::Value*>& values) {
        sums.Add(w, values[0]);
      });
      in_.StoreResults(in_.builder.Lanes(1), row, {sums.Total(initial[0])});
    });
  }

  // Reduces the elements of a row one after the other, and several rows side by side.
  void EmitRowsInOrder() {
    // One vector of rows at a time, because each lane is a separate load; then the remaining rows.
    const std::vector<int> widths = in_.builder.Widths(in_.row_count, /*columns_are_known=*/false);
    const std::vector<int> row_widths(widths.end() - std::min<size_t>(2, widths.size()), widths.end());
    EmitLaneLoops(ir_, in_.builder.row_begin, in_.builder.row_end, row_widths,
                  [&](int width, llvm::Value* row) { EmitRowsSideBySide(in_.builder.Lanes(width), row); });
  }

  void EmitRowsSideBySide(const LaneBuilder& lanes, llvm::Value* row) {
    std::vector<llvm::Value*> memory;  // of each result; LLVM moves it to registers
    for (PrimitiveType type : in_.types) memory.push_back(in_.builder.Allocate(lanes.Register(type)));
    const std::vector<llvm::Value*> initial = in_.InitialValues();
    for (int64_t i = 0; i < in_.count; ++i) ir_.CreateStore(lanes.Splat(initial[i]), memory[i]);
    EmitLoop(ir_, ir_.getInt64(0), ir_.getInt64(in_.outer_count), 1, [&](llvm::Value* outer) {
      EmitLoop(ir_, ir_.getInt64(0), ir_.getInt64(in_.columns), 1, [&](llvm::Value* column) {
        FusedElements elements(lanes, in_.builder.lane_type, in_.builder.operands, true);
        ElementIndex index = in_.OperandIndex(elements.math(), row, outer, column, LanesAre::kRows);
        const std::vector<llvm::Value*> values = in_.Operands(elements, std::move(index));
        const std::vector<llvm::Value*> sums = in_.CombineInOrder(lanes, LoadSums(lanes, memory), values);
        for (int64_t i = 0; i < in_.count; ++i) ir_.CreateStore(sums[i], memory[i]);
      });
    });
    in_.StoreResults(lanes, row, LoadSums(lanes, memory));
  }

  std::vector<llvm::Value*> LoadSums(const LaneBuilder& lanes, const std::vector<llvm::Value*>& memory) {
    std::vector<llvm::Value*> sums;
    for (int64_t i = 0; i < in_.count; ++i) sums.push_back(ir_.CreateLoad(lanes.Register(in_.types[i]), memory[i]));
    return sums;
  }

  // use: the number of the width, and the operands' elements.
  void ForElementsOfRow(llvm::Value* row, const std::vector<int>& widths,
                        absl::FunctionRef<void(size_t, const LaneBuilder&, const std::vector<llvm::Value*>&)> use) {
    EmitLoop(ir_, ir_.getInt64(0), ir_.getInt64(in_.outer_count), 1, [&](llvm::Value* outer) {
      size_t w = 0;
      EmitLaneLoops(ir_, ir_.getInt64(0), ir_.getInt64(in_.columns), widths, [&](int width, llvm::Value* column) {
        FusedElements elements(in_.builder.Lanes(width), in_.builder.lane_type, in_.builder.operands, true);
        use(w++, elements.lanes(), in_.Operands(elements, in_.OperandIndex(elements.math(), row, outer, column)));
      });
    });
  }

  ReduceLoops& in_;
  Ir& ir_;
};

class ColumnsKeptEmitter {
 public:
  explicit ColumnsKeptEmitter(ReduceLoops& loops) : in_(loops), ir_(loops.builder.ir) {}

  void Emit(Kernel* kernel) {
    kernel->rows = in_.row_count;
    kernel->columns = in_.columns;
    kernel->work_per_column = in_.outer_count;
    if (CodeSize(in_.builder.fused) <= kFewInstructions) rows_at_once_ = std::min(kRowsAtOnce, in_.outer_count);
    for (PrimitiveType type : in_.types) {
      block_types_.push_back(in_.accumulator.has_value() ? in_.accumulator->type() : type);
      block_sums_.push_back(
          in_.builder.Allocate(in_.builder.Lanes(1).ScalarMemory(block_types_.back()), kBlockColumns));
    }
    EmitLoop(ir_, in_.builder.row_begin, in_.builder.row_end, 1, [&](llvm::Value* row) {
      // Blocks of kBlockColumns, the last one shorter.
      llvm::Value* width = ir_.CreateNSWSub(in_.builder.column_end, in_.builder.column_begin);
      llvm::Value* blocks =
          ir_.CreateUDiv(ir_.CreateNSWAdd(width, ir_.getInt64(kBlockColumns - 1)), ir_.getInt64(kBlockColumns));
      EmitLoop(ir_, ir_.getInt64(0), blocks, 1, [&](llvm::Value* block) {
        llvm::Value* begin =
            ir_.CreateNSWAdd(in_.builder.column_begin, ir_.CreateNSWMul(block, ir_.getInt64(kBlockColumns)));
        llvm::Value* end = ir_.CreateBinaryIntrinsic(
            llvm::Intrinsic::smin, ir_.CreateNSWAdd(begin, ir_.getInt64(kBlockColumns)), in_.builder.column_end);
        EmitBlock(row, begin, end);
      });
    });
  }

 private:
  void EmitBlock(llvm::Value* row, llvm::Value* begin, llvm::Value* end) {
    const std::vector<int> widths = in_.builder.Widths(in_.columns, /*columns_are_known=*/false);
    const std::vector<llvm::Value*> initial = in_.InitialValues();
    EmitLaneLoops(ir_, begin, end, widths, [&](int width, llvm::Value* column) {
      const LaneBuilder lanes = in_.builder.Lanes(width);
      std::vector<llvm::Value*> values;
      for (llvm::Value* value : initial) values.push_back(lanes.Splat(value));
      if (in_.accumulator.has_value()) values[0] = in_.accumulator->FromElements(lanes, values[0]);
      StoreBlock(lanes, values, ir_.CreateNSWSub(column, begin));
    });
    const int64_t rest = in_.outer_count % rows_at_once_;
    EmitLoop(ir_, ir_.getInt64(0), ir_.getInt64(in_.outer_count - rest), rows_at_once_,
             [&](llvm::Value* outer) { AddRows(row, outer, rows_at_once_, begin, end, widths); });
    if (rest > 0) {
      EmitLoop(ir_, ir_.getInt64(in_.outer_count - rest), ir_.getInt64(in_.outer_count), 1,
               [&](llvm::Value* outer) { AddRows(row, outer, 1, begin, end, widths); });
    }
    EmitLaneLoops(ir_, begin, end, widths, [&](int width, llvm::Value* column) {
      const LaneBuilder lanes = in_.builder.Lanes(width);
      std::vector<llvm::Value*> sums = LoadBlock(lanes, ir_.CreateNSWSub(column, begin));
      if (in_.accumulator.has_value()) sums[0] = in_.accumulator->ToElements(lanes, sums[0]);
      llvm::Value* at = ir_.CreateNSWAdd(ir_.CreateNSWMul(row, ir_.getInt64(in_.columns)), column);
      in_.StoreResults(lanes, at, sums);
    });
  }

  // Adds `count` rows of the operand to the sums of a block, from `outer` on.
  void AddRows(llvm::Value* row, llvm::Value* outer, int64_t count, llvm::Value* begin, llvm::Value* end,
               const std::vector<int>& widths) {
    EmitLaneLoops(ir_, begin, end, widths, [&](int width, llvm::Value* column) {
      llvm::Value* at = ir_.CreateNSWSub(column, begin);
      // The code is repeated only where most of the time is spent.
      const int64_t at_once = width == widths.front() ? count : 1;
      EmitLoop(ir_, ir_.getInt64(0), ir_.getInt64(count), at_once, [&](llvm::Value* i) {
        const LaneBuilder lanes = in_.builder.Lanes(width);
        std::vector<llvm::Value*> sums = LoadBlock(lanes, at);
        for (int64_t k = 0; k < at_once; ++k) {
          llvm::Value* next = ir_.CreateNSWAdd(outer, ir_.CreateNSWAdd(i, ir_.getInt64(k)));
          FusedElements elements(lanes, in_.builder.lane_type, in_.builder.operands, true);
          sums = CombineWithBlock(lanes, std::move(sums),
                                  in_.Operands(elements, in_.OperandIndex(elements.math(), row, next, column)));
        }
        StoreBlock(lanes, sums, at);
      });
    });
  }

  std::vector<llvm::Value*> CombineWithBlock(const LaneBuilder& lanes, std::vector<llvm::Value*> sums,
                                             const std::vector<llvm::Value*>& values) {
    if (!in_.accumulator.has_value()) return in_.CombineInOrder(lanes, std::move(sums), values);
    return {in_.accumulator->Combine(lanes, sums[0], in_.accumulator->FromElements(lanes, values[0]))};
  }

  std::vector<llvm::Value*> LoadBlock(const LaneBuilder& lanes, llvm::Value* at) {
    std::vector<llvm::Value*> sums;
    for (int64_t i = 0; i < in_.count; ++i) {
      sums.push_back(lanes.LoadConsecutive(block_types_[i], block_sums_[i], at, /*is_invariant=*/false));
    }
    return sums;
  }

  void StoreBlock(const LaneBuilder& lanes, const std::vector<llvm::Value*>& sums, llvm::Value* at) {
    for (int64_t i = 0; i < in_.count; ++i) lanes.StoreConsecutive(block_types_[i], sums[i], block_sums_[i], at);
  }

  ReduceLoops& in_;
  Ir& ir_;
  int64_t rows_at_once_ = 1;
  std::vector<PrimitiveType> block_types_;
  std::vector<llvm::Value*> block_sums_;
};

}  // namespace

void EmitReduceKernel(KernelBuilder& builder, Kernel* kernel) {
  ReduceLoops loops(builder);
  if (loops.columns_are_reduced) {
    ColumnsReducedEmitter(loops).Emit(kernel);
  } else {
    ColumnsKeptEmitter(loops).Emit(kernel);
  }
}

}  // namespace kashi::codegen
