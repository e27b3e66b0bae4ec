#include "kashi/passes/mask_updates.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal_util.h"
#include "kashi/passes/inline_calls.h"

namespace kashi::passes {
namespace {

// The scalar that chooses between the arrays of a select; null: each element has its own.
HloInstruction* ChoosingScalar(HloInstruction* select) {
  HloInstruction* predicate = select->mutable_operand(0);
  if (predicate->opcode() == HloOpcode::kBroadcast) predicate = predicate->mutable_operand(0);
  return predicate->shape().dimensions().empty() ? predicate : nullptr;
}

bool HasTypeOf(const HloInstruction& x, const Shape& shape) {
  return x.shape().IsArray() && x.shape().is_static() && x.shape().element_type() == shape.element_type();
}

// An update of operand 0 that can be masked: its starts are scalars, or some of its indices are signed, so that -1 is
// beyond the array.
bool CanMask(const HloInstruction& update) {
  if (update.HasControlDependencies() || update.user_count() != 1 || !update.shape().IsArray()) return false;
  if (!update.shape().is_static()) return false;
  if (update.opcode() == HloOpcode::kDynamicUpdateSlice) {
    const int64_t rank = update.shape().dimensions_size();
    return update.operand_count() == 2 + rank && HasTypeOf(*update.operand(0), update.shape()) &&
           HasTypeOf(*update.operand(1), update.shape()) &&
           (rank == 0 || update.operand(2)->shape().dimensions().empty());
  }
  return update.opcode() == HloOpcode::kScatter && update.operand_count() == 3 &&
         HasTypeOf(*update.operand(0), update.shape()) && update.operand(1)->shape().is_static() &&
         primitive_util::IsSignedIntegralType(update.operand(1)->shape().element_type()) &&
         update.scatter_dimension_numbers().scatter_dims_to_operand_dims_size() > 0;
}

// The updates that lead from one array to the other, last one first; none if there are others on the way.
std::vector<HloInstruction*> UpdatesBetween(const HloInstruction* array, HloInstruction* updated) {
  std::vector<HloInstruction*> updates;
  while (updated != array) {
    if (!CanMask(*updated)) return {};
    updates.push_back(updated);
    updated = updated->mutable_operand(0);
  }
  return updates;
}

class Masker {
 public:
  Masker(HloComputation* computation, HloInstruction* is_wanted) : computation_(computation), is_wanted_(is_wanted) {}

  // The update of `array`, if it is wanted; otherwise the array.
  HloInstruction* Mask(const HloInstruction& update, HloInstruction* array) {
    std::vector<HloInstruction*> operands(update.operands().begin(), update.operands().end());
    operands[0] = array;
    if (update.opcode() == HloOpcode::kScatter) {
      const Shape& shape = operands[1]->shape();
      HloInstruction* minus_one =
          Add(HloInstruction::CreateConstant(LiteralUtil::CreateR0<int64_t>(shape.element_type(), -1)));
      operands[1] = Select(operands[1], Broadcast(minus_one, shape));
    } else {
      const Shape& shape = operands[1]->shape();
      const absl::Span<HloInstruction* const> starts = absl::MakeConstSpan(operands).subspan(2);
      operands[1] =
          Select(operands[1], Add(HloInstruction::CreateDynamicSlice(shape, array, starts, shape.dimensions())));
    }
    return Add(update.CloneWithNewOperands(update.shape(), operands));
  }

 private:
  HloInstruction* Add(std::unique_ptr<HloInstruction> instruction) {
    return computation_->AddInstruction(std::move(instruction));
  }
  HloInstruction* Broadcast(HloInstruction* scalar, const Shape& sizes) {
    const Shape shape = ShapeUtil::MakeShape(scalar->shape().element_type(), sizes.dimensions());
    return sizes.dimensions().empty() ? scalar : Add(HloInstruction::CreateBroadcast(shape, scalar, {}));
  }
  HloInstruction* Select(HloInstruction* wanted, HloInstruction* other) {
    const Shape shape = ShapeUtil::MakeShape(wanted->shape().element_type(), wanted->shape().dimensions());
    return Add(HloInstruction::CreateTernary(shape, HloOpcode::kSelect, Broadcast(is_wanted_, shape), wanted, other));
  }

  HloComputation* computation_;
  HloInstruction* is_wanted_;
};

absl::Status MaskUpdatesOf(HloInstruction* select) {
  HloInstruction* is_wanted = ChoosingScalar(select);
  if (is_wanted == nullptr || select->HasControlDependencies() || !select->shape().is_static()) return absl::OkStatus();
  HloComputation* const computation = select->parent();
  std::vector<HloInstruction*> updates = UpdatesBetween(select->operand(2), select->mutable_operand(1));
  HloInstruction* array = select->mutable_operand(2);
  if (updates.empty()) {
    updates = UpdatesBetween(select->operand(1), select->mutable_operand(2));
    array = select->mutable_operand(1);
    if (updates.empty()) return absl::OkStatus();
    is_wanted =
        computation->AddInstruction(HloInstruction::CreateUnary(is_wanted->shape(), HloOpcode::kNot, is_wanted));
  }
  if (!HasTypeOf(*array, select->shape())) return absl::OkStatus();
  Masker masker(computation, is_wanted);
  for (size_t i = updates.size(); i-- > 0;) array = masker.Mask(*updates[i], array);
  return computation->ReplaceInstruction(select, array);
}

}  // namespace

absl::Status MaskUpdates(HloModule* module, const PassContext& context) {
  for (HloComputation* computation : ComputationsRunAsAWhole(module)) {
    KASHI_RETURN_IF_ERROR(context.check_stopped());
    std::vector<HloInstruction*> selects;
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() == HloOpcode::kSelect && instruction->shape().IsArray()) selects.push_back(instruction);
    }
    for (HloInstruction* select : selects) KASHI_RETURN_IF_ERROR(MaskUpdatesOf(select));
  }
  return absl::OkStatus();
}

}  // namespace kashi::passes
