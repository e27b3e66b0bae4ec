// Kernels that compute each element of their result by itself.
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/cpu/codegen/element_emitters.h"
#include "kashi/cpu/codegen/fused_elements.h"
#include "kashi/cpu/codegen/kernel.h"
#include "kashi/cpu/codegen/loop_builder.h"

namespace kashi::internal {
namespace {

// Below this number of columns, rows are so short that the linear index of all elements is better, though it is
// divided for each coordinate.
constexpr int64_t kShortRow = 8;

// Whether every array is read at the place where the result is written.
bool IsElementByElement(const HloComputation& fused) {
  return absl::c_all_of(fused.instructions(), [](const HloInstruction* instruction) {
    const HloOpcode opcode = instruction->opcode();
    if (ShapeUtil::IsScalar(instruction->shape()) || !instruction->shape().IsArray()) return true;
    if (opcode == HloOpcode::kBroadcast) return ShapeUtil::IsScalar(instruction->operand(0)->shape());
    return opcode == HloOpcode::kParameter || opcode == HloOpcode::kReshape || opcode == HloOpcode::kBitcast ||
           !MovesElements(opcode);
  });
}

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
      : builder_(builder), kernel_(kernel), results_(ResultsOf(builder.fused)), shape_(results_[0]->shape()) {}

  void Emit() {
    kernel_->is_in_place = IsElementByElement(builder_.fused);
    const int64_t inner = InnermostDimension(shape_);
    const bool is_one_row = inner < 0 || shape_.dimensions(inner) == ShapeUtil::ElementsIn(shape_);
    if (kernel_->is_in_place || is_one_row || shape_.dimensions(inner) < kShortRow) {
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

  void EmitRows(int64_t inner) {
    kernel_->columns = shape_.dimensions(inner);
    kernel_->rows = ShapeUtil::ElementsIn(shape_) / kernel_->columns;
    kernel_->splits_columns = false;
    Ir& ir = builder_.ir;
    EmitLoop(ir, builder_.row_begin, builder_.row_end, 1, [&](llvm::Value* row) {
      llvm::Value* first = ir.CreateNSWMul(row, ir.getInt64(kernel_->columns));
      EmitLaneLoops(ir, ir.getInt64(0), ir.getInt64(kernel_->columns),
                    builder_.Widths(kernel_->columns, /*columns_are_known=*/true), [&](int width, llvm::Value* column) {
                      EmitElements(width, ir.CreateNSWAdd(first, column), RowIndex(inner, row, column, width));
                    });
    });
  }

  ElementIndex RowIndex(int64_t inner, llvm::Value* row, llvm::Value* column, int width) {
    const LaneBuilder lanes = builder_.Lanes(width);
    const CoordinateMath math(lanes, builder_.lane_type);
    const absl::Span<const int64_t> sizes = shape_.dimensions();
    ElementIndex outer = ElementIndex::FromLinear(sizes.first(inner), {row, 0, nullptr});
    std::vector<Coordinate> coordinates = outer.Coordinates(math);
    coordinates.push_back({column, 1, nullptr});
    coordinates.resize(sizes.size(), math.Constant(0));
    llvm::Value* first = builder_.ir.CreateNSWMul(row, builder_.ir.getInt64(kernel_->columns));
    return ElementIndex::Make(sizes, std::move(coordinates), {builder_.ir.CreateNSWAdd(first, column), 1, nullptr});
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
};

}  // namespace

void EmitLoopKernel(KernelBuilder& builder, Kernel* kernel) { LoopKernelEmitter(builder, kernel).Emit(); }

}  // namespace kashi::internal
