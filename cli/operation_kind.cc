#include "cli/operation_kind.h"

namespace kashi::cli {

absl::string_view OperationKindOf(HloOpcode opcode) {
  using Flags = HloOpcodeFlags;
  const auto& info = GetHloOpcodeInfo(opcode);
  if (opcode == HloOpcode::kParameter) return "parameter";
  if (opcode == HloOpcode::kConstant) return "constant";
  if (info.Has(Flags::kCollective | Flags::kAsyncCollective)) return "collective";
  if (opcode == HloOpcode::kFusion || info.Has(Flags::kControlFlow)) return "call";
  if (opcode == HloOpcode::kDot || opcode == HloOpcode::kConvolution) return "matrix";
  if (info.Has(Flags::kElementwise)) return "elementwise";
  if (info.Has(Flags::kMovesElements | Flags::kForwardsOperand | Flags::kKeepsValues)) return "move";
  return "other";
}

}  // namespace kashi::cli
