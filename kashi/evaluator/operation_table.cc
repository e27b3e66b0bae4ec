#include "kashi/evaluator/operation_table.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "kashi/evaluator/element_kernel.h"

namespace kashi::internal {
namespace {

// There is nobody to send to.
constexpr bool NeedsAHost(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kInfeed:
    case HloOpcode::kOutfeed:
    case HloOpcode::kSend:
    case HloOpcode::kSendDone:
    case HloOpcode::kRecv:
    case HloOpcode::kRecvDone:
      return true;
    default:
      return false;
  }
}

constexpr bool IsOfElements(HloOpcode opcode, uint32_t flags) {
  return (flags & HloOpcodeFlags::kElementwise) != 0 && opcode != HloOpcode::kCopy && opcode != HloOpcode::kMap &&
         opcode != HloOpcode::kBitcastConvert;
}

template <HloOpcode opcode, uint32_t flags>
constexpr EvaluationFunction FunctionOf() {
  if constexpr (NeedsAHost(opcode)) {
    return nullptr;
  } else if constexpr (IsOfElements(opcode, flags)) {
    return &EvaluateElementwise;
  } else {
    return &Evaluate<opcode>;
  }
}

// ops.def names the flags without their class.
struct Table : HloOpcodeFlags {
  static constexpr std::array<EvaluationFunction, HloOpcodeCount()> Functions() {
    return {
#define KASHI_OP(op, name, arity, rule, traits, ...) FunctionOf<HloOpcode::k##op, HloOpcodeTraits(traits).flags>(),
#include "kashi/hlo/ir/ops.def"
    };
  }
  static constexpr std::array<bool, HloOpcodeCount()> OfElements() {
    return {
#define KASHI_OP(op, name, arity, rule, traits, ...) IsOfElements(HloOpcode::k##op, HloOpcodeTraits(traits).flags),
#include "kashi/hlo/ir/ops.def"
    };
  }
};

}  // namespace

EvaluationFunction FindEvaluation(HloOpcode opcode) {
  static constexpr auto kFunctions = Table::Functions();
  return kFunctions[static_cast<size_t>(opcode)];
}

bool HasElementKernel(HloOpcode opcode) {
  static constexpr auto kOfElements = Table::OfElements();
  return kOfElements[static_cast<size_t>(opcode)];
}

}  // namespace kashi::internal
