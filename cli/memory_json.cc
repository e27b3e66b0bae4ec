#include "cli/memory_json.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "cli/scope_note.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/analysis/padding_report.h"
#include "kashi/analysis/source_location.h"
#include "kashi/array/shape_util.h"
#include "kashi/gpu_calls/gpu_call.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {
namespace {

Json SpaceJson(const MemoryAnalysis& memory, const MemorySpaceUsage& space) {
  Json json;
  json["memory_space"] = space.memory_space;
  json["name"] = MemorySpaceName(memory.target, space.memory_space);
  json["argument_bytes"] = space.argument_bytes;
  json["output_bytes"] = space.output_bytes;
  json["alias_bytes"] = space.alias_bytes;
  json["unused_donor_bytes"] = space.unused_donor_bytes;
  json["constant_bytes"] = space.constant_bytes;
  json["temp_bytes"] = space.temp_bytes;
  json["gap_bytes"] = space.gap_bytes;
  json["peak_bytes"] = space.peak_bytes;
  json["padding_bytes"] = space.padding_bytes;
  json["scratch_bytes"] = space.scratch_bytes;
  json["peak_step"] = space.levels.empty() ? Json() : Json(space.peak_step);
  json["peak_instruction"] =
      space.levels.empty() ? Json() : Json(std::string(memory.entry_sequence()[space.peak_step]->name()));
  json["temporaries"] = space.temporaries;
  return json;
}

Json ValueJson(const BufferValue& value) {
  Json json;
  json["value"] = value.name;
  json["bytes"] = value.bytes;
  json["memory_space"] = value.memory_space;
  json["shape"] = ShapeUtil::HumanStringWithLayout(*value.shape);
  return json;
}

Json BufferJson(const MemoryAnalysis& memory, const MemoryBuffer& buffer) {
  const BufferValue& value = buffer.main_value();
  const SourceLocation source = GetSourceLocation(*value.instruction);
  Json json;
  json["value"] = value.name;
  json["operator"] = std::string(HloOpcodeString(value.instruction->opcode()));
  json["shape"] = ShapeUtil::HumanStringWithLayout(*value.shape);
  json["bytes"] = buffer.bytes;
  json["unpadded_bytes"] = buffer.unpadded_bytes;
  json["memory_space"] = buffer.memory_space;
  json["kind"] = std::string(MemoryBufferKindName(buffer.kind));
  json["first_step"] = buffer.first_step;
  json["last_step"] = buffer.last_step;
  if (buffer.lies_in >= 0) json["lies_in"] = memory.buffers[buffer.lies_in].main_value().name;
  if (buffer.offset >= 0) json["offset"] = buffer.offset;
  if (const std::string target = ScratchTargetOf(value); !target.empty()) json["scratch_of"] = target;
  // The steps are those of the entry computation, or those of this computation, which has several callers.
  if (buffer.region + 1 != memory.sequences.size()) json["region"] = buffer.region;
  if (!source.op_name.empty()) json["op_name"] = source.op_name;
  if (!source.file.empty()) json["source"] = absl::StrCat(source.file, ":", source.line);
  if (buffer.values.size() == 1) return json;
  Json& others = json["other_values"] = Json::array();
  for (size_t i = 1; i < buffer.values.size(); ++i) others.push_back(ValueJson(buffer.values[i]));
  return json;
}

Json PaddingJson(const MemoryAnalysis& memory, const PaddingEntry& entry) {
  Json json;
  json["shape"] = ShapeUtil::HumanStringWithLayout(*entry.shape);
  json["bytes"] = entry.bytes;
  json["unpadded_bytes"] = entry.unpadded_bytes;
  json["padding_bytes"] = entry.padding_bytes();
  Json& buffers = json["buffers"] = Json::array();
  for (int32_t i : entry.buffers) buffers.push_back(memory.buffers[i].main_value().name);
  Json& suggestions = json["suggestions"] = Json::array();
  for (const PaddingSuggestion& suggestion : entry.suggestions) {
    suggestions.push_back({{"what", PaddingSuggestionText(suggestion)},
                           {"shape", ShapeUtil::HumanStringWithLayout(suggestion.shape)},
                           {"bytes", suggestion.bytes}});
  }
  return json;
}

}  // namespace

int64_t OutputBytes(const MemoryAnalysis& memory) {
  const bool has_table = !memory.target.is_tpu() || !memory.target.is_guess;
  return memory.default_space().output_bytes + (has_table ? memory.output_table_bytes : 0);
}

std::string MemorySpaceName(const MemoryTarget& target, int64_t memory_space) {
  if (memory_space == Layout::kHostMemorySpace && !target.is_host()) return "host";
  if (target.is_gpu) return memory_space == 0 ? "memory" : memory_space == 1 ? "collectives" : "";
  if (!target.is_tpu()) return memory_space == 0 ? "memory" : "";
  const bool is_v4 = target.tpu == TpuGeneration::kV4;
  switch (memory_space) {
    case 0:
      return "HBM";
    case 1:
      return "VMEM";
    case 2:
      return "sync flags";
    case 3:
      return is_v4 ? "CMEM" : "";
    case 6:
      return "SMEM";
    default:
      return "";
  }
}

std::string ScratchTargetOf(const BufferValue& value) {
  if (gpu_calls::FindGpuCall(*value.instruction) == nullptr) return "";
  const Shape* const scratch = gpu_calls::ScratchOf(*value.instruction);
  return scratch != nullptr && *scratch == *value.shape ? value.instruction->custom_call_target() : "";
}

Json MemoryJson(const HloModule& module, const MemoryAnalysis& memory, const std::string& file,
                const std::string& xla_file, int64_t top) {
  const MemorySpaceUsage& device = memory.default_space();
  Json json;
  json["file"] = file;
  json["module"] = module.name();
  if (Json scope = ScopeJson(ProgramScopeOf(module)); !scope.is_null()) json["program"] = std::move(scope);
  json["target"] = memory.target.name();
  json["target_is_guess"] = memory.target.is_guess;
  json["is_scheduled"] = memory.is_scheduled;
  json["layouts_are_chosen"] = memory.has_chosen_layouts;
  json["basis"] = std::string(MemoryBasisName(memory.basis));
  if (!xla_file.empty()) json["xla_file"] = xla_file;
  json["argument_bytes"] = device.argument_bytes;
  json["output_bytes"] = OutputBytes(memory);
  json["output_table_bytes"] = memory.output_table_bytes;
  json["alias_bytes"] = device.alias_bytes;
  json["constant_bytes"] = device.constant_bytes;
  json["temp_bytes"] = device.temp_bytes;
  json["thread_local_bytes"] = memory.thread_local_bytes;
  json["peak_bytes"] = device.peak_bytes;
  json["xla_peak_bytes"] = memory.XlaPeakBytes();
  Json& spaces = json["spaces"] = Json::array();
  for (const MemorySpaceUsage& space : memory.spaces) spaces.push_back(SpaceJson(memory, space));
  Json& padding = json["padding"] = Json::array();
  for (const PaddingEntry& entry : RankPadding(memory, top)) padding.push_back(PaddingJson(memory, entry));
  Json& buffers = json["buffers"] = Json::array();
  for (const MemoryBuffer& buffer : memory.buffers) buffers.push_back(BufferJson(memory, buffer));
  return json;
}

}  // namespace kashi::cli
