#include "kashi/analysis/source_location.h"

#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {
namespace {

// Entry `id` of a table whose ids count from 1; null if there is none.
template <typename T>
const T* Find(const std::vector<T>& table, int32_t id) {
  return id >= 1 && id <= table.size() ? &table[id - 1] : nullptr;
}

void AddFrame(const StackFrameIndex& index, int32_t frame_id, SourceLocation* location) {
  const auto* frame = Find(index.stack_frames, frame_id);
  if (frame == nullptr) return;
  const auto* place = Find(index.file_locations, frame->file_location_id);
  if (place == nullptr) return;
  const std::string* file = Find(index.file_names, place->file_name_id);
  if (file == nullptr) return;
  location->file = *file;
  location->line = place->line;
}

const HloInstruction& WithMetadata(const HloInstruction& instruction) {
  if (instruction.has_metadata()) return instruction;
  if (instruction.opcode() != HloOpcode::kFusion && instruction.opcode() != HloOpcode::kAsyncStart) return instruction;
  if (instruction.called_computations().size() != 1) return instruction;
  return *instruction.called_computations()[0]->root_instruction();
}

}  // namespace

SourceLocation GetSourceLocation(const HloInstruction& instruction) {
  const OpMetadata& metadata = WithMetadata(instruction).metadata();
  SourceLocation location{metadata.op_name(), metadata.source_file(), metadata.source_line()};
  const HloModule* module = instruction.GetModule();
  if (location.file.empty() && module != nullptr) {
    AddFrame(module->stack_frame_index(), metadata.stack_frame_id(), &location);
  }
  return location;
}

}  // namespace kashi
