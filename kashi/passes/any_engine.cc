#include "kashi/passes/any_engine.h"

#include "absl/algorithm/container.h"
#include "kashi/passes/plain_array.h"

namespace kashi::passes {
namespace {

class ElementwiseSupport : public CodeSupport {
 public:
  bool CanCompute(const HloInstruction& x) const override { return HloInstruction::IsOpElementwise(x.opcode()); }
  bool CanFuse(const HloInstruction& x) const override {
    return IsPlainArray(x.shape()) && !x.HasControlDependencies() && (CanCompute(x) || MovesElements(x.opcode())) &&
           absl::c_all_of(x.operands(), [](const HloInstruction* operand) { return IsPlainArray(operand->shape()); });
  }
  bool MovesElements(HloOpcode opcode) const override {
    return opcode == HloOpcode::kConstant || opcode == HloOpcode::kBroadcast || opcode == HloOpcode::kReshape ||
           opcode == HloOpcode::kSlice || opcode == HloOpcode::kTranspose;
  }
  bool IsExpensive(const HloInstruction& x) const override {
    return GetHloOpcodeInfo(x.opcode()).Has(HloOpcodeFlags::kTranscendental);
  }
};

}  // namespace

const CodeSupport& AnyEngine() {
  static const ElementwiseSupport support;
  return support;
}

}  // namespace kashi::passes
