// CHLO operations as HLO instructions, as XLA converts them: chlo.erf, chlo.tan, chlo.mulhi and chlo.top_k
// have an opcode; other functions become their formulas (chlo_functions.h); chlo.broadcast_add and similar ones become
// broadcasts and the operation.
#ifndef KASHI_STABLEHLO_CONVERSION_CHLO_EXPANSION_H_
#define KASHI_STABLEHLO_CONVERSION_CHLO_EXPANSION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/stablehlo/conversion/chlo_term.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Whether ExpandChlo knows the operation: "chlo.erf".
bool IsChloOperation(absl::string_view name);

// Adds the instructions of the operation to the computation by `add`, and returns the last one, whose shape is
// `result_shape` (for chlo.top_k a tuple of both results). `operands` are the converted operands. Errors
// name the operation, but not its place. Cost: up to 500 instructions (chlo.polygamma).
absl::StatusOr<HloInstruction*> ExpandChlo(const Operation& operation, absl::Span<HloInstruction* const> operands,
                                           const Shape& result_shape, InstructionAdder add);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_CHLO_EXPANSION_H_
