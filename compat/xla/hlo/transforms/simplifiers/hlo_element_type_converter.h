// XLA's pass that makes operations of one element type compute in another: HloElementTypeConverter(F32, BF16).
#ifndef KASHI_COMPAT_XLA_HLO_TRANSFORMS_SIMPLIFIERS_HLO_ELEMENT_TYPE_CONVERTER_H_
#define KASHI_COMPAT_XLA_HLO_TRANSFORMS_SIMPLIFIERS_HLO_ELEMENT_TYPE_CONVERTER_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/pass/hlo_pass_interface.h"
#include "xla/shape_util.h"

namespace xla {

// Operands are converted before each operation, and results behind it, so that the shapes of the module stay as they
// are.
class HloElementTypeConverter : public HloModulePass {
 public:
  HloElementTypeConverter(PrimitiveType eliminate, PrimitiveType replace_with)
      : eliminate_(eliminate), replace_with_(replace_with) {}
  absl::string_view name() const override { return "element_type_converter"; }

  using HloPassInterface::Run;
  absl::StatusOr<bool> Run(HloModule* module, const absl::flat_hash_set<absl::string_view>&) override {
    bool changed = false;
    for (HloComputation* computation : module->MakeNonfusionComputations()) {
      for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
        if (KeepsItsTypes(instruction->opcode()) || !Concerns(*instruction)) continue;
        KASHI_RETURN_IF_ERROR(computation->ReplaceInstruction(instruction, Converted(instruction, computation)));
        changed = true;
      }
    }
    return changed;
  }

 private:
  // True for operations that forward values, that outsiders see, or whose computations are converted instead.
  static bool KeepsItsTypes(HloOpcode opcode) {
    return GetHloOpcodeInfo(opcode).Has(kashi::HloOpcodeFlags::kKeepsTypes);
  }
  bool IsEliminated(const Shape& shape) const { return shape.IsArray() && shape.element_type() == eliminate_; }
  bool Concerns(const HloInstruction& instruction) const {
    if (instruction.operands().empty()) return IsEliminated(instruction.shape());
    for (const HloInstruction* operand : instruction.operands()) {
      if (IsEliminated(operand->shape())) return true;
    }
    return false;
  }
  static HloInstruction* ToType(HloInstruction* instruction, PrimitiveType type) {
    return instruction->parent()->AddInstruction(
        HloInstruction::CreateConvert(ShapeUtil::ChangeElementType(instruction->shape(), type), instruction));
  }
  Shape Replaced(const Shape& shape) const {
    return IsEliminated(shape) ? ShapeUtil::ChangeElementType(shape, replace_with_) : shape;
  }
  // The result again in the type that others expect.
  HloInstruction* Restored(HloInstruction* result, const Shape& shape) const {
    return IsEliminated(shape) ? ToType(result, eliminate_) : result;
  }
  HloInstruction* Converted(HloInstruction* instruction, HloComputation* computation) const {
    std::vector<HloInstruction*> operands;
    for (HloInstruction* operand : instruction->operands()) {
      operands.push_back(IsEliminated(operand->shape()) ? ToType(operand, replace_with_) : operand);
    }
    const Shape old_shape = instruction->shape();
    if (!old_shape.IsTuple()) {
      return Restored(computation->AddInstruction(instruction->CloneWithNewOperands(Replaced(old_shape), operands)),
                      old_shape);
    }
    std::vector<Shape> shapes;
    for (const Shape& element : old_shape.tuple_shapes()) shapes.push_back(Replaced(element));
    HloInstruction* tuple =
        computation->AddInstruction(instruction->CloneWithNewOperands(ShapeUtil::MakeTupleShape(shapes), operands));
    std::vector<HloInstruction*> elements;
    for (size_t i = 0; i < shapes.size(); ++i) {
      HloInstruction* element =
          computation->AddInstruction(HloInstruction::CreateGetTupleElement(shapes[i], tuple, static_cast<int64_t>(i)));
      elements.push_back(Restored(element, old_shape.tuple_shapes(static_cast<int>(i))));
    }
    return computation->AddInstruction(HloInstruction::CreateTuple(elements));
  }

  PrimitiveType eliminate_, replace_with_;
};

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_HLO_TRANSFORMS_SIMPLIFIERS_HLO_ELEMENT_TYPE_CONVERTER_H_
