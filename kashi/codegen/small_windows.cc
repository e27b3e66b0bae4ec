#include "kashi/codegen/small_windows.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/codegen/element_index.h"
#include "kashi/codegen/kernel_support.h"
#include "kashi/codegen/scalar_computation.h"
#include "kashi/codegen/small_array.h"
#include "kashi/evaluator/contraction.h"
#include "kashi/kernels/indexed_windows.h"
#include "kashi/passes/kernel_premises.h"
#include "kashi/passes/plain_array.h"

namespace kashi::codegen {
namespace {

kernels::WindowNumbers NumbersOf(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kGather) {
    const GatherDimensionNumbers& n = instruction.gather_dimension_numbers();
    return {n.offset_dims(),           n.collapsed_slice_dims(),        n.start_index_map(),
            n.operand_batching_dims(), n.start_indices_batching_dims(), n.index_vector_dim()};
  }
  const ScatterDimensionNumbers& n = instruction.scatter_dimension_numbers();
  return {n.update_window_dims(),  n.inserted_window_dims(),          n.scatter_dims_to_operand_dims(),
          n.input_batching_dims(), n.scatter_indices_batching_dims(), n.index_vector_dim()};
}

// One window: where it begins in the array (i64, counted in elements), and whether all of it lies within. Gather moves
// windows inside.
struct SmallWindow {
  llvm::Value* begin;
  llvm::Value* is_inside;
  struct Element {
    int64_t number;  // in the batch: the result of gather, the updates of scatter
    int64_t offset;  // in the array, from `begin`
  };
  std::vector<Element> elements;
};

class SmallWindows {
 public:
  // batch: the result of gather, the updates of scatter.
  SmallWindows(const LaneBuilder& lanes, const HloInstruction& instruction, const Shape& batch, llvm::Value* indices)
      : ir_(lanes.ir()),
        numbers_(NumbersOf(instruction)),
        is_clamped_(instruction.opcode() == HloOpcode::kGather),
        sizes_(instruction.operand(0)->shape().dimensions()),
        strides_(evaluator::RowMajorStrides(sizes_)),
        batch_(batch),
        indices_shape_(instruction.operand(1)->shape()),
        indices_(indices),
        window_(sizes_.size(), 1) {
    size_t next = 0;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if (absl::c_linear_search(numbers_.collapsed_dims, d) ||
          absl::c_linear_search(numbers_.operand_batching_dims, d)) {
        continue;
      }
      window_[d] = batch.dimensions(numbers_.window_dims[next]);
      offset_strides_.push_back(strides_[d]);
      ++next;
    }
  }

  // In row-major order of the dimensions that number them.
  std::vector<SmallWindow> Make() const {
    std::map<std::vector<int64_t>, SmallWindow> windows;
    for (int64_t i = 0; i < ShapeUtil::ElementsIn(batch_); ++i) {
      std::vector<int64_t> number;
      int64_t offset = 0;
      size_t next = 0;
      const std::vector<int64_t> coordinates = SmallCoordinates(i, batch_.dimensions());
      for (size_t d = 0; d < coordinates.size(); ++d) {
        if (absl::c_linear_search(numbers_.window_dims, d)) {
          offset += coordinates[d] * offset_strides_[next++];
        } else {
          number.push_back(coordinates[d]);
        }
      }
      const auto [window, is_new] = windows.try_emplace(number);
      if (is_new) window->second = At(number);
      window->second.elements.push_back({i, offset});
    }
    std::vector<SmallWindow> in_order;
    for (auto& [number, window] : windows) in_order.push_back(std::move(window));
    return in_order;
  }

 private:
  SmallWindow At(const std::vector<int64_t>& number) const {
    SmallWindow window = {ir_.getInt64(0), ir_.getTrue(), {}};
    const PrimitiveType type = indices_shape_.element_type();
    for (size_t k = 0; k < numbers_.start_map.size(); ++k) {
      const int64_t d = numbers_.start_map[k], last = sizes_[d] - window_[d];
      llvm::Value* start = IndexAt(number, static_cast<int64_t>(k));
      if (is_clamped_) {
        start = EmitSliceStart(ir_, type, start, last);
      } else {
        start = ir_.CreateIntCast(start, ir_.getInt64Ty(), primitive_util::IsSignedIntegralType(type));
        // As an unsigned number, a negative start is too large.
        llvm::Value* fits = last < 0 ? ir_.getFalse() : ir_.CreateICmpULE(start, ir_.getInt64(last));
        window.is_inside = ir_.CreateAnd(window.is_inside, fits);
      }
      window.begin = ir_.CreateAdd(window.begin, ir_.CreateMul(start, ir_.getInt64(strides_[d])));
    }
    for (size_t i = 0; i < numbers_.operand_batching_dims.size(); ++i) {
      // The indices without their vectors have the dimensions that number the windows.
      int64_t at = numbers_.indices_batching_dims[i];
      if (at > numbers_.index_vector_dim) --at;
      const int64_t offset = number[at] * strides_[numbers_.operand_batching_dims[i]];
      window.begin = ir_.CreateAdd(window.begin, ir_.getInt64(offset));
    }
    return window;
  }

  // Component k of the index of a window.
  llvm::Value* IndexAt(std::vector<int64_t> number, int64_t k) const {
    if (numbers_.index_vector_dim < static_cast<int64_t>(indices_shape_.dimensions().size())) {
      number.insert(number.begin() + numbers_.index_vector_dim, k);
    }
    const DimensionVector strides = evaluator::RowMajorStrides(indices_shape_.dimensions());
    int64_t linear = 0;
    for (size_t d = 0; d < number.size(); ++d) linear += number[d] * strides[d];
    return SmallElement(ir_, indices_, ir_.getInt64(linear));
  }

  Ir& ir_;
  const kernels::WindowNumbers numbers_;
  const bool is_clamped_;
  const absl::Span<const int64_t> sizes_;
  const DimensionVector strides_;
  const Shape& batch_;
  const Shape& indices_shape_;
  llvm::Value* const indices_;
  DimensionVector window_;          // its size in each dimension of the array
  DimensionVector offset_strides_;  // of the array, for each of the batch's window dimensions
};

bool HasSmallBatch(const HloInstruction& instruction, const Shape& batch) {
  const Shape& indices = instruction.operand(1)->shape();
  return IsSmallArray(batch) && IsSmallArray(indices) && primitive_util::IsIntegralType(indices.element_type());
}

}  // namespace

llvm::Value* EmitCombined(const LaneBuilder& lanes, const HloInstruction& scatter, llvm::Value* before,
                          llvm::Value* update) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(lanes.ir());
  lanes.ir().clearFastMathFlags();
  return EmitScalarComputation(lanes, *scatter.to_apply(), {before, update})[0];
}

bool CanEmitSmallGather(const HloInstruction& gather) {
  const Shape& array = gather.operand(0)->shape();
  return !gather.HasControlDependencies() && passes::IsPlainArray(array) &&
         gather.shape().element_type() == array.element_type() && HasSmallBatch(gather, gather.shape());
}

bool CanEmitSmallScatter(const HloInstruction& scatter) {
  return passes::IsPlainScatter(scatter, KernelSupport()) && HasSmallBatch(scatter, scatter.operand(2)->shape());
}

llvm::Value* EmitGatherFromMemory(const LaneBuilder& lanes, const HloInstruction& gather, llvm::Value* memory,
                                  llvm::Value* indices) {
  std::vector<llvm::Value*> elements(ShapeUtil::ElementsIn(gather.shape()));
  for (const SmallWindow& window : SmallWindows(lanes, gather, gather.shape(), indices).Make()) {
    for (const auto& [number, offset] : window.elements) {
      llvm::Value* index = lanes.ir().CreateAdd(window.begin, lanes.ir().getInt64(offset));
      elements[number] =
          lanes.WithLanes(1).LoadScalar(gather.shape().element_type(), memory, index, /*is_invariant=*/false);
    }
  }
  return SmallFromElements(lanes, gather.shape(), elements);
}

llvm::Value* EmitGatherFromRegisters(const LaneBuilder& lanes, const HloInstruction& gather, llvm::Value* array,
                                     llvm::Value* indices) {
  return EmitGatherFromMemory(lanes, gather, SpillSmallArray(lanes, gather.operand(0)->shape(), array), indices);
}

void EmitScatterToMemory(const LaneBuilder& lanes, const HloInstruction& scatter, llvm::Value* memory,
                         llvm::Value* indices, llvm::Value* updates) {
  Ir& ir = lanes.ir();
  const LaneBuilder one = lanes.WithLanes(1);
  const PrimitiveType type = scatter.shape().element_type();
  llvm::Function* function = ir.GetInsertBlock()->getParent();
  for (const SmallWindow& window : SmallWindows(lanes, scatter, scatter.operand(2)->shape(), indices).Make()) {
    llvm::BasicBlock* apply = llvm::BasicBlock::Create(ir.getContext(), "apply", function);
    llvm::BasicBlock* next = llvm::BasicBlock::Create(ir.getContext(), "next", function);
    ir.CreateCondBr(window.is_inside, apply, next);
    ir.SetInsertPoint(apply);
    for (const auto& [number, offset] : window.elements) {
      llvm::Value* index = ir.CreateAdd(window.begin, ir.getInt64(offset));
      llvm::Value* before = one.LoadScalar(type, memory, index, /*is_invariant=*/false);
      one.StoreConsecutive(type, EmitCombined(one, scatter, before, SmallElement(ir, updates, ir.getInt64(number))),
                           memory, index);
    }
    ir.CreateBr(next);
    ir.SetInsertPoint(next);
  }
}

llvm::Value* EmitScatterToRegisters(const LaneBuilder& lanes, const HloInstruction& scatter, llvm::Value* array,
                                    llvm::Value* indices, llvm::Value* updates) {
  Ir& ir = lanes.ir();
  const LaneBuilder one = lanes.WithLanes(1);
  for (const SmallWindow& window : SmallWindows(lanes, scatter, scatter.operand(2)->shape(), indices).Make()) {
    for (const auto& [number, offset] : window.elements) {
      llvm::Value* index = ir.CreateAdd(window.begin, ir.getInt64(offset));
      // An element beyond the array would be poison, which some operations must not see.
      index = ir.CreateSelect(window.is_inside, index, ir.getInt64(0));
      llvm::Value* after =
          EmitCombined(one, scatter, SmallElement(ir, array, index), SmallElement(ir, updates, ir.getInt64(number)));
      if (array->getType()->isVectorTy()) after = ir.CreateInsertElement(array, after, index);
      array = ir.CreateSelect(window.is_inside, after, array);
    }
  }
  return array;
}

}  // namespace kashi::codegen
