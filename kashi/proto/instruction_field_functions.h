// Internal to kashi/proto: the pair of functions that reads and writes one field of instructions. KASHI_READ and
// KASHI_WRITE define them. Every pair is declared here, from fields.def, so that files may share them.
#ifndef KASHI_PROTO_INSTRUCTION_FIELD_FUNCTIONS_H_
#define KASHI_PROTO_INSTRUCTION_FIELD_FUNCTIONS_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/field_list.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/proto/hlo.pb.h"
#include "kashi/proto/instruction_fields_proto.h"

namespace kashi::proto::proto_internal {

template <HloField field>
const HloFieldType<field>* FindField(const HloInstruction& instruction) {
  return instruction.fields().Find<field>();
}

template <HloField field>
absl::Status ReadField(const InstructionReading& in, HloFieldList* fields);
template <HloField field>
void WriteField(const HloInstruction& instruction, HloInstructionProto* proto);

#define KASHI_FIELD(name, ...)                                                                \
  template <>                                                                                 \
  absl::Status ReadField<HloField::name>(const InstructionReading& in, HloFieldList* fields); \
  template <>                                                                                 \
  void WriteField<HloField::name>(const HloInstruction& instruction, HloInstructionProto* proto);
#include "kashi/hlo/ir/fields.def"

#define KASHI_READ(field)                                                                \
  template <>                                                                            \
  absl::Status ReadField<HloField::field>([[maybe_unused]] const InstructionReading& in, \
                                          [[maybe_unused]] HloFieldList* fields)
#define KASHI_WRITE(field) \
  template <>              \
  void WriteField<HloField::field>(const HloInstruction& instruction, [[maybe_unused]] HloInstructionProto* proto)

}  // namespace kashi::proto::proto_internal

#endif  // KASHI_PROTO_INSTRUCTION_FIELD_FUNCTIONS_H_
