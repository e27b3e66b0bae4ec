#include "kashi/hlo/spmd/asynchronous_collectives.h"

#include "absl/algorithm/container.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::hlo {
namespace {

bool HasFlag(const HloInstruction& instruction, uint32_t flag) {
  return GetHloOpcodeInfo(instruction.opcode()).Has(flag);
}

}  // namespace

bool WrapsCollective(const HloComputation& computation) {
  const HloInstruction* const root = computation.root_instruction();
  const auto is_parameter = [](const HloInstruction* operand) { return operand->opcode() == HloOpcode::kParameter; };
  return root != nullptr && HasFlag(*root, HloOpcodeFlags::kCollective) &&
         !HasFlag(*root, HloOpcodeFlags::kAsyncCollective) && absl::c_all_of(root->operands(), is_parameter);
}

const HloInstruction* CollectiveBegunBy(const HloInstruction& instruction) {
  if (HasFlag(instruction, HloOpcodeFlags::kCollective)) return &instruction;
  if (instruction.opcode() != HloOpcode::kAsyncStart) return nullptr;
  const HloComputation* const computation = instruction.async_wrapped_computation();
  return computation != nullptr && WrapsCollective(*computation) ? computation->root_instruction() : nullptr;
}

const HloInstruction* StartOfCollective(const HloInstruction& done) {
  const HloInstruction* start = nullptr;
  if (HasFlag(done, HloOpcodeFlags::kAsyncCollective) && !HasFlag(done, HloOpcodeFlags::kCollective)) {
    start = done.operand(0);
  } else if (done.opcode() == HloOpcode::kAsyncDone) {
    start = done.async_chain_start();
  }
  return start != nullptr && CollectiveBegunBy(*start) != nullptr ? start : nullptr;
}

}  // namespace kashi::hlo
