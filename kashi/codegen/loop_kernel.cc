// Kernels that compute each element of their result by itself.
//
// A dimension with segments (segments.h) is cut at them. A row is in one segment of each outer dimension, and its
// columns are a loop for each segment:
//
//   for row:                                      row segments {0}, {1 … n-1}; column segments {0}, {1 … m-1}
//     if row < 1:  for column 0;  for columns 1 … m-1
//     else:        for column 0;  for columns 1 … m-1
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "kashi/array/shape_util.h"
#include "kashi/codegen/element_emitters.h"
#include "kashi/codegen/fused_elements.h"
#include "kashi/codegen/kernel.h"
#include "kashi/codegen/kernel_support.h"
#include "kashi/codegen/loop_builder.h"
#include "kashi/passes/kernel_premises.h"
#include "kashi/passes/segments.h"

namespace kashi::codegen {
namespace {

// Below this number of columns, rows are so short that the linear index of all elements is better, though it is
// divided for each coordinate.
constexpr int64_t kShortRow = 8;

// The results: the root, or the elements of a tuple. All have the same sizes.
std::vector<const HloInstruction*> ResultsOf(const HloComputation& fused) {
  const HloInstruction* root = fused.root_instruction();
  if (root->opcode() != HloOpcode::kTuple) return {root};
  return std::vector<const HloInstruction*>(root->operands().begin(), root->operands().end());
}

// The innermost dimension that has more than one index; -1: none.
int64_t InnermostDimension(const Shape& shape) {
  int64_t i = static_cast<int64_t>(shape.dimensions().size()) - 1;
  while (i >= 0 && shape.dimensions(i) == 1) --i;
  return i;
}

class LoopKernelEmitter {
 public:
  LoopKernelEmitter(KernelBuilder& builder, Kernel* kernel)
      : builder_(builder), kernel_(kernel), results_(ResultsOf(builder.fused)), shape_(results_[0]->shape()) {
    breaks_ = passes::FindSegments(results_, [](const HloInstruction&) { return true; }).breaks;
  }

  void Emit() {
    kernel_->is_in_place = passes::IsElementByElement(builder_.fused, KernelSupport());
    const int64_t inner = InnermostDimension(shape_);
    const bool is_one_row = inner < 0 || shape_.dimensions(inner) == ShapeUtil::ElementsIn(shape_);
    const bool is_short = inner >= 0 && shape_.dimensions(inner) < kShortRow && breaks_[inner].empty();
    if (inner >= 0 && is_one_row && !breaks_[inner].empty()) {
      EmitOneRow(inner);
    } else if (kernel_->is_in_place || is_one_row || is_short) {
      EmitFlat();
    } else {
      EmitRows(inner);
    }
  }

 private:
  void EmitFlat() {
    kernel_->columns = ShapeUtil::ElementsIn(shape_);
    EmitLaneLoops(builder_.ir, builder_.column_begin, builder_.column_end,
                  builder_.Widths(kernel_->columns, /*columns_are_known=*/false), [&](int width, llvm::Value* i) {
                    EmitElements(width, i, ElementIndex::FromLinear(shape_.dimensions(), {i, 1, nullptr}));
                  });
  }

  // All elements are in the dimension `inner`, which has segments.
  void EmitOneRow(int64_t inner) {
    kernel_->columns = shape_.dimensions(inner);
    Ir& ir = builder_.ir;
    ForSegments(inner, [&](int64_t begin, int64_t end) {
      llvm::Value* first = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, builder_.column_begin, ir.getInt64(begin));
      llvm::Value* last = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, builder_.column_end, ir.getInt64(end));
      EmitLaneLoops(ir, first, last, builder_.Widths(end - begin, /*columns_are_known=*/false),
                    [&](int width, llvm::Value* i) {
                      EmitElements(width, i, RowIndex(inner, {}, i, {i, 1, nullptr, {begin, end - 1}}));
                    });
    });
  }

  void EmitRows(int64_t inner) {
    kernel_->columns = shape_.dimensions(inner);
    kernel_->rows = ShapeUtil::ElementsIn(shape_) / kernel_->columns;
    kernel_->splits_columns = false;
    Ir& ir = builder_.ir;
    EmitLoop(ir, builder_.row_begin, builder_.row_end, 1, [&](llvm::Value* row) {
      const LaneBuilder lanes = builder_.Lanes(1);
      const CoordinateMath math(lanes, builder_.lane_type);
      ElementIndex outer = ElementIndex::FromLinear(shape_.dimensions().first(inner), {row, 0, nullptr});
      EmitSegmentsOfRow(inner, 0, outer.Coordinates(math), ir.CreateNSWMul(row, ir.getInt64(kernel_->columns)));
    });
  }

  // Begin and end of each segment of a dimension.
  void ForSegments(int64_t dimension, absl::FunctionRef<void(int64_t begin, int64_t end)> emit) const {
    int64_t begin = 0;
    for (int64_t at : breaks_[dimension]) {
      emit(begin, at);
      begin = at;
    }
    emit(begin, shape_.dimensions(dimension));
  }

  // A branch for each segment of each outer dimension, from `dimension` on. first: the row's first element.
  void EmitSegmentsOfRow(int64_t inner, int64_t dimension, const std::vector<Coordinate>& outer, llvm::Value* first) {
    while (dimension < inner && breaks_[dimension].empty()) ++dimension;
    if (dimension == inner) return EmitColumns(inner, outer, first);
    Ir& ir = builder_.ir;
    llvm::Function* function = ir.GetInsertBlock()->getParent();
    llvm::BasicBlock* after = llvm::BasicBlock::Create(ir.getContext(), "row.done", function);
    ForSegments(dimension, [&](int64_t begin, int64_t end) {
      llvm::BasicBlock* next = after;
      if (end < shape_.dimensions(dimension)) {
        llvm::BasicBlock* here = llvm::BasicBlock::Create(ir.getContext(), "segment", function);
        next = llvm::BasicBlock::Create(ir.getContext(), "later.segments", function);
        ir.CreateCondBr(ir.CreateICmpSLT(outer[dimension].base, ir.getInt64(end)), here, next);
        ir.SetInsertPoint(here);
      }
      std::vector<Coordinate> within = outer;
      within[dimension].range = {begin, end - 1};
      EmitSegmentsOfRow(inner, dimension + 1, within, first);
      ir.CreateBr(after);
      ir.SetInsertPoint(next);
    });
  }

  void EmitColumns(int64_t inner, const std::vector<Coordinate>& outer, llvm::Value* first) {
    Ir& ir = builder_.ir;
    ForSegments(inner, [&](int64_t begin, int64_t end) {
      EmitLaneLoops(ir, ir.getInt64(begin), ir.getInt64(end), builder_.Widths(end - begin, /*columns_are_known=*/true),
                    [&](int width, llvm::Value* column) {
                      llvm::Value* at = ir.CreateNSWAdd(first, column);
                      EmitElements(width, at, RowIndex(inner, outer, at, {column, 1, nullptr, {begin, end - 1}}));
                    });
    });
  }

  ElementIndex RowIndex(int64_t inner, std::vector<Coordinate> coordinates, llvm::Value* at, const Coordinate& column) {
    Ir& ir = builder_.ir;
    const Coordinate zero = {ir.getInt64(0), 0, nullptr, {0, 0}};
    coordinates.resize(inner, zero);
    coordinates.push_back(column);
    coordinates.resize(shape_.dimensions().size(), zero);
    return ElementIndex::Make(shape_.dimensions(), std::move(coordinates), {at, 1, nullptr});
  }

  void EmitElements(int width, llvm::Value* at, ElementIndex where) {
    FusedElements elements(builder_.Lanes(width), builder_.lane_type, builder_.operands, !kernel_->is_in_place);
    ElementIndex* index = elements.AddIndex(std::move(where));
    std::vector<llvm::Value*> values;
    for (const HloInstruction* result : results_) values.push_back(elements.At(*result, index));
    for (size_t i = 0; i < results_.size(); ++i) {
      elements.lanes().StoreConsecutive(results_[i]->shape().element_type(), values[i], builder_.results[i], at);
    }
  }

  KernelBuilder& builder_;
  Kernel* kernel_;
  std::vector<const HloInstruction*> results_;
  const Shape& shape_;
  std::vector<std::vector<int64_t>> breaks_;  // of each dimension
};

}  // namespace

void EmitLoopKernel(KernelBuilder& builder, Kernel* kernel) { LoopKernelEmitter(builder, kernel).Emit(); }

}  // namespace kashi::codegen
