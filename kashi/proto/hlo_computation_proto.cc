// HloComputation::ToProto, and the computations of HloProtoReader.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/proto/hlo_proto_reader.h"

namespace kashi {

HloComputationProto HloComputation::ToProto() const {
  HloComputationProto proto;
  proto.set_id(unique_id());
  proto.set_name(std::string(name()));
  for (const HloInstruction* instruction : MakeInstructionPostOrder()) {
    *proto.add_instructions() = instruction->ToProto();
  }
  *proto.mutable_program_shape() = ComputeProgramShape().ToProto();
  proto.set_root_id(root_instruction()->unique_id());
  proto.set_is_fusion_computation(IsFusionComputation());
  if (!IsMainThread()) proto.set_execution_thread(std::string(execution_thread()));
  return proto;
}

namespace proto::proto_internal {
namespace {

using InstructionList = std::vector<const HloInstructionProto*>;

bool OperandsHaveSmallerIds(const InstructionList& instructions) {
  return std::all_of(instructions.begin(), instructions.end(), [](const HloInstructionProto* instruction) {
    const auto is_smaller = [instruction](int64_t id) { return id < instruction->id(); };
    return std::all_of(instruction->operand_ids().begin(), instruction->operand_ids().end(), is_smaller) &&
           std::all_of(instruction->control_predecessor_ids().begin(), instruction->control_predecessor_ids().end(),
                       is_smaller);
  });
}

// Returns instructions in the order of their ids: that of the text from which the proto was made; the proto has them in
// post-order. This order decides in which order they print. Ids that do not put operands first are not used.
InstructionList InOrderOfIds(const HloComputationProto& proto) {
  InstructionList instructions;
  instructions.reserve(proto.instructions_size());
  for (const HloInstructionProto& instruction : proto.instructions()) instructions.push_back(&instruction);
  if (!OperandsHaveSmallerIds(instructions)) return instructions;
  std::stable_sort(instructions.begin(), instructions.end(),
                   [](const auto* a, const auto* b) { return a->id() < b->id(); });
  return instructions;
}

}  // namespace

absl::Status HloProtoReader::ReadComputation(int index) {
  const HloComputationProto& proto = proto_.computations(index);
  auto computation = std::make_unique<HloComputation>(SanitizeName(proto.name()));
  computation->SetUniqueId(proto.id());
  if (!proto.execution_thread().empty()) computation->SetExecutionThread(proto.execution_thread());
  computation->set_is_fusion_computation(proto.is_fusion_computation());
  absl::Status status = ReadInstructions(proto, computation.get());
  if (status.ok()) status = Finish(proto, computation.get());
  computations_[index] = std::move(computation);
  return status.ok() ? status : Annotate(status, absl::StrCat("computation ", proto.name()));
}

absl::Status HloProtoReader::ReadInstructions(const HloComputationProto& proto, HloComputation* computation) {
  for (const HloInstructionProto* instruction : InOrderOfIds(proto)) {
    KASHI_RETURN_IF_ERROR(ReadInstruction(*instruction, computation));
  }
  return absl::OkStatus();
}

absl::Status HloProtoReader::Finish(const HloComputationProto& proto, HloComputation* computation) {
  KASHI_RETURN_IF_ERROR(computation->FinishParameters());
  KASHI_ASSIGN_OR_RETURN(HloInstruction * root, FindInstruction(proto.root_id(), computation, "root"));
  computation->set_root_instruction(root, /*accept_different_shape=*/true);
  return absl::OkStatus();
}

}  // namespace proto::proto_internal
}  // namespace kashi
