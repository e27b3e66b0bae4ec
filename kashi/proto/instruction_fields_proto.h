// Internal to kashi/proto: the fields of instructions (kashi/hlo/ir/fields.def) in HloInstructionProto. One pair of
// functions a field, whatever the opcode; which fields an opcode has is said by ops.def.
#ifndef KASHI_PROTO_INSTRUCTION_FIELDS_PROTO_H_
#define KASHI_PROTO_INSTRUCTION_FIELDS_PROTO_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/proto/hlo.pb.h"

namespace kashi::proto::proto_internal {

// The facts about an instruction that are known before it is made.
struct InstructionReading {
  const HloInstructionProto& proto;
  HloOpcode opcode;
  const Shape& shape;
  absl::Span<HloInstruction* const> operands;
  absl::Span<HloComputation* const> called_computations;
  bool prohibit_empty_literal;
  int64_t* unlisted_bytes;  // bytes that literals without values may still take
};

// Gives the instruction exactly the fields that reading its text would. Errors do not name the instruction.
absl::Status ReadFields(const InstructionReading& reading, HloFieldList* fields);

// Writes what XLA writes: also some fields that the instruction does not have, with their implied values.
void WriteFields(const HloInstruction& instruction, HloInstructionProto* proto);

}  // namespace kashi::proto::proto_internal

#endif  // KASHI_PROTO_INSTRUCTION_FIELDS_PROTO_H_
