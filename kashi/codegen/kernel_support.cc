#include "kashi/codegen/kernel_support.h"

#include "kashi/codegen/element_emitters.h"
#include "kashi/codegen/fused_elements.h"

namespace kashi::codegen {
namespace {

class EmitterSupport : public passes::CodeSupport {
 public:
  bool CanCompute(const HloInstruction& instruction) const override {
    return FindElementEmitter(instruction) != nullptr;
  }
  bool CanFuse(const HloInstruction& instruction) const override { return codegen::CanFuse(instruction); }
  bool MovesElements(HloOpcode opcode) const override { return codegen::MovesElements(opcode); }
  bool IsExpensive(const HloInstruction& instruction) const override {
    const ElementEmitterRow* row = FindElementEmitter(instruction);
    return row != nullptr && row->is_expensive;
  }
};

}  // namespace

const passes::CodeSupport& KernelSupport() {
  static const EmitterSupport support;
  return support;
}

}  // namespace kashi::codegen
