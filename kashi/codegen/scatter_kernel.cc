// Kernels of scatter, for windows of one element. Update after update, on one thread, so that the order is that of the
// updates:
//
//   for w = column_begin … column_end - 1:
//     S = the index of w, computed here if that is fused          beyond the operand: next w
//     result[S] = to_apply(result[S], update[w])
//
// The result's memory begins as a copy of the operand, or is the operand's own (KernelStep). Where the order does not
// matter, threads make parts of the updates on arrays of their own (Kernel::scatter).
#include <cmath>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/codegen/fused_elements.h"
#include "kashi/codegen/kernel.h"
#include "kashi/codegen/loop_builder.h"
#include "kashi/codegen/small_windows.h"
#include "kashi/evaluator/contraction.h"
#include "kashi/hlo/ir/combiner.h"

namespace kashi::codegen {
namespace {

class ScatterKernelEmitter {
 public:
  explicit ScatterKernelEmitter(KernelBuilder& builder)
      : builder_(builder),
        ir_(builder.ir),
        scatter_(*builder.fused.root_instruction()),
        numbers_(scatter_.scatter_dimension_numbers()) {}

  void Emit() {
    const LaneBuilder lanes = builder_.Lanes(1);
    const Shape& updates = scatter_.operand(2)->shape();
    EmitLoop(ir_, builder_.column_begin, builder_.column_end, 1, [&](llvm::Value* w) {
      FusedElements elements(lanes, builder_.lane_type, builder_.operands, /*loads_are_invariant=*/true);
      ElementIndex* index = elements.AddIndex(ElementIndex::FromLinear(updates.dimensions(), {w, 1, nullptr}));
      llvm::Value* update = elements.At(*scatter_.operand(2), index);
      const Place place = PlaceOf(elements, *index);
      llvm::BasicBlock *apply = NewBlock("apply"), *after = NewBlock("next");
      ir_.CreateCondBr(place.is_inside, apply, after);
      ir_.SetInsertPoint(apply);
      const PrimitiveType type = scatter_.shape().element_type();
      llvm::Value* before = lanes.LoadScalar(type, builder_.results[0], place.linear, /*is_invariant=*/false);
      llvm::Value* result = EmitCombined(lanes, scatter_, before, update);
      lanes.StoreConsecutive(type, result, builder_.results[0], place.linear);
      ir_.CreateBr(after);
      ir_.SetInsertPoint(after);
    });
  }

 private:
  struct Place {
    llvm::Value* linear;  // in the operand, i64
    llvm::Value* is_inside;
  };

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(ir_.getContext(), name, ir_.GetInsertBlock()->getParent());
  }

  Place PlaceOf(FusedElements& elements, ElementIndex& index) {
    const absl::Span<const int64_t> sizes = scatter_.operand(0)->shape().dimensions();
    const DimensionVector strides = evaluator::RowMajorStrides(sizes);
    Place place = {ir_.getInt64(0), ir_.getTrue()};
    const auto add = [&](llvm::Value* coordinate, int64_t dimension) {
      place.linear = ir_.CreateAdd(place.linear, ir_.CreateMul(coordinate, ir_.getInt64(strides[dimension])));
    };
    const HloInstruction& indices = *scatter_.operand(1);
    const bool is_signed = primitive_util::IsSignedIntegralType(indices.shape().element_type());
    for (int k = 0; k < numbers_.scatter_dims_to_operand_dims_size(); ++k) {
      const int64_t dimension = numbers_.scatter_dims_to_operand_dims(k);
      ElementIndex* at = elements.AddIndex(
          ElementIndex::FromCoordinates(indices.shape().dimensions(), IndexCoordinates(elements, index, k)));
      llvm::Value* start = ir_.CreateIntCast(elements.At(indices, at), ir_.getInt64Ty(), is_signed);
      // As an unsigned number, a negative start is too large.
      place.is_inside = ir_.CreateAnd(place.is_inside, ir_.CreateICmpULT(start, ir_.getInt64(sizes[dimension])));
      add(start, dimension);
    }
    const std::vector<Coordinate> of_index = IndexCoordinates(elements, index, 0);
    for (int i = 0; i < numbers_.input_batching_dims_size(); ++i) {
      add(elements.math().AsLanes(of_index[numbers_.scatter_indices_batching_dims(i)]),
          numbers_.input_batching_dims(i));
    }
    return place;
  }

  // The coordinates of component k of the index of an update: the update's dimensions that number windows, and k.
  std::vector<Coordinate> IndexCoordinates(const FusedElements& elements, ElementIndex& index, int64_t k) {
    std::vector<Coordinate> coordinates;
    for (int64_t d = 0; d < static_cast<int64_t>(scatter_.operand(2)->shape().dimensions().size()); ++d) {
      if (!absl::c_linear_search(numbers_.update_window_dims(), d)) {
        coordinates.push_back(index.At(d, elements.math()));
      }
    }
    if (numbers_.index_vector_dim() < static_cast<int64_t>(scatter_.operand(1)->shape().dimensions().size())) {
      coordinates.insert(coordinates.begin() + numbers_.index_vector_dim(), elements.math().Constant(k));
    }
    return coordinates;
  }

  KernelBuilder& builder_;
  Ir& ir_;
  const HloInstruction& scatter_;
  const ScatterDimensionNumbers& numbers_;
};

// The number that all updates are; nothing: they differ, or it is not known.
std::optional<double> UpdateOf(const HloInstruction& scatter) {
  const HloInstruction* update = scatter.operand(2);
  while (update->opcode() == HloOpcode::kBroadcast || update->opcode() == HloOpcode::kReshape) {
    update = update->operand(0);
  }
  if (!update->IsConstant() || !ShapeUtil::IsScalar(update->shape())) return std::nullopt;
  return update->literal().GetAsDouble({});
}

std::optional<ScatterCombiner> CombinerOf(const HloInstruction& scatter) {
  const std::optional<HloOpcode> opcode = hlo::ReorderableCombiner(*scatter.to_apply());
  if (!opcode.has_value()) return std::nullopt;
  const PrimitiveType type = scatter.shape().element_type();
  ScatterCombiner combiner = {*opcode, type, ShapeUtil::ElementsIn(scatter.shape())};
  if (primitive_util::IsIntegralType(type)) return combiner;
  const std::optional<double> update = UpdateOf(scatter);
  const bool is_sum_of_integers = (type == F32 || type == F64) && *opcode == HloOpcode::kAdd && update.has_value() &&
                                  std::isfinite(*update) && std::trunc(*update) == *update;
  if (!is_sum_of_integers) return std::nullopt;
  combiner.update = *update;
  return combiner;
}

}  // namespace

void EmitScatterKernel(KernelBuilder& builder, Kernel* kernel) {
  const HloInstruction& scatter = *builder.fused.root_instruction();
  kernel->columns = ShapeUtil::ElementsIn(scatter.operand(2)->shape());
  kernel->updated_operand = scatter.operand(0)->parameter_number();
  // A user may read it twice: scatter(x, i, x).
  kernel->is_in_place =
      scatter.operand(0)->user_count() == 1 && absl::c_count(scatter.operands(), scatter.operand(0)) == 1;
  kernel->scatter = CombinerOf(scatter);
  ScatterKernelEmitter(builder).Emit();
}

}  // namespace kashi::codegen
