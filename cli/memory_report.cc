#include "cli/memory_report.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/memory_json.h"
#include "kashi/analysis/padding_report.h"
#include "kashi/analysis/source_location.h"
#include "kashi/base/text.h"

namespace kashi::cli {
namespace {

// "S(1) VMEM"
std::string SpaceText(const MemoryTarget& target, int64_t memory_space) {
  const std::string name = MemorySpaceName(target, memory_space);
  return absl::StrCat("S(", memory_space, ")", name.empty() ? "" : " ", name);
}

const MemorySpaceUsage* FindSpace(const MemoryAnalysis& memory, int64_t number) {
  const auto found =
      absl::c_find_if(memory.spaces, [number](const MemorySpaceUsage& space) { return space.memory_space == number; });
  return found == memory.spaces.end() ? nullptr : &*found;
}

// What is there when the space is fullest, the largest first.
std::vector<int32_t> BuffersAtPeak(const MemoryAnalysis& memory, const MemorySpaceUsage& space) {
  std::vector<int32_t> numbers = space.temporaries;
  for (int32_t i = 0; i < memory.buffers.size(); ++i) {
    const MemoryBuffer& buffer = memory.buffers[i];
    if (buffer.kind != MemoryBuffer::Kind::kTemporary && buffer.memory_space == space.memory_space)
      numbers.push_back(i);
  }
  absl::c_stable_sort(numbers, [&](int32_t a, int32_t b) { return memory.buffers[a].bytes > memory.buffers[b].bytes; });
  return numbers;
}

std::string ExpansionText(int64_t bytes, int64_t unpadded_bytes) {
  if (unpadded_bytes == 0) return HumanBytes(bytes - unpadded_bytes);
  return absl::StrFormat("%s (%.1fx expansion)", HumanBytes(bytes - unpadded_bytes),
                         static_cast<double>(bytes) / static_cast<double>(unpadded_bytes));
}

std::string OperatorText(const HloInstruction& instruction) {
  const SourceLocation source = GetSourceLocation(instruction);
  std::string text = absl::StrCat("op_type=\"", HloOpcodeString(instruction.opcode()), "\"");
  if (!source.op_name.empty()) absl::StrAppend(&text, " op_name=\"", source.op_name, "\"");
  if (!source.file.empty()) absl::StrAppend(&text, " source=", source.file, ":", source.line);
  return text;
}

std::string LifeText(const MemoryAnalysis& memory, const MemoryBuffer& buffer) {
  if (buffer.kind != MemoryBuffer::Kind::kTemporary) return "the whole program";
  const auto& sequence = memory.sequences[buffer.region];
  return absl::StrCat("steps ", buffer.first_step, " to ", buffer.last_step, " of ", sequence.size(),
                      ", last needed by ", sequence[buffer.last_step]->name());
}

void AppendBuffer(const MemoryAnalysis& memory, const MemoryBuffer& buffer, size_t rank, std::string* text) {
  const BufferValue& value = buffer.main_value();
  absl::StrAppend(text, "\n  ", rank, ". Size: ", HumanBytes(buffer.bytes), "\n");
  absl::StrAppend(text, "     Operator: ", OperatorText(*value.instruction), "\n");
  absl::StrAppend(text, "     Shape: ", value.shape->ToString(/*print_layout=*/true), "\n");
  absl::StrAppend(text, "     Unpadded size: ", HumanBytes(buffer.unpadded_bytes), "\n");
  if (buffer.bytes != buffer.unpadded_bytes) {
    absl::StrAppend(text, "     Extra memory due to padding: ", ExpansionText(buffer.bytes, buffer.unpadded_bytes),
                    "\n");
  }
  absl::StrAppend(text, "     XLA label: ", value.name);
  if (buffer.values.size() > 1) absl::StrAppend(text, " and ", buffer.values.size() - 1, " more in its place");
  absl::StrAppend(text, "\n     Allocation type: ", MemoryBufferKindName(buffer.kind), ", ", LifeText(memory, buffer),
                  "\n");
}

void AppendSpaces(const MemoryAnalysis& memory, std::string* text) {
  absl::StrAppendFormat(text, "%-16s%12s%12s%12s%12s%12s%12s  %s\n", "memory space", "peak", "arguments", "outputs",
                        "aliased", "constants", "temporaries", "fullest at");
  for (const MemorySpaceUsage& space : memory.spaces) {
    absl::StrAppendFormat(
        text, "%-16s%12s%12s%12s%12s%12s%12s  %s\n", SpaceText(memory.target, space.memory_space),
        HumanBytes(space.peak_bytes), HumanBytes(space.argument_bytes), HumanBytes(space.output_bytes),
        HumanBytes(space.alias_bytes), HumanBytes(space.constant_bytes), HumanBytes(space.temp_bytes),
        space.levels.empty() ? absl::string_view("-") : memory.entry_sequence()[space.peak_step]->name());
  }
}

void AppendNotes(const MemoryAnalysis& memory, std::string* text) {
  if (!memory.is_scheduled) {
    absl::StrAppend(text,
                    "The module has no schedule: the order of its instructions was chosen here, to need little "
                    "memory.\n");
  }
  if (memory.target.is_guess && memory.target.is_tpu()) {
    absl::StrAppend(text, "The generation of TPU was guessed; --target says it.\n");
  }
  for (const MemorySpaceUsage& space : memory.spaces) {
    if (space.unused_donor_bytes > 0) {
      absl::StrAppend(text, "Arguments of ", HumanBytes(space.unused_donor_bytes), " in ",
                      SpaceText(memory.target, space.memory_space),
                      " are given away, but no result takes their memory.\n");
    }
    if (space.scratch_bytes == 0) continue;
    absl::StrAppend(text, "One instruction uses up to ", HumanBytes(space.scratch_bytes), " more of ",
                    SpaceText(memory.target, space.memory_space), " as scratch while it runs.\n");
  }
}

void AppendPadding(const MemoryAnalysis& memory, int64_t top, std::string* text) {
  const std::vector<PaddingEntry> entries = RankPadding(memory, top);
  if (entries.empty()) return;
  absl::StrAppend(text, "\nMost padding:\n");
  size_t rank = 0;
  for (const PaddingEntry& entry : entries) {
    absl::StrAppend(text, "\n  ", ++rank, ". ", entry.shape->ToString(/*print_layout=*/true), "  ",
                    HumanBytes(entry.bytes), " for ", HumanBytes(entry.unpadded_bytes), " of data, ",
                    ExpansionText(entry.bytes, entry.unpadded_bytes), "\n     ", entry.buffers.size(),
                    entry.buffers.size() == 1 ? " buffer: " : " buffers: ",
                    memory.buffers[entry.buffers[0]].main_value().name, entry.buffers.size() == 1 ? "\n" : ", …\n");
    for (const PaddingSuggestion& suggestion : entry.suggestions) {
      absl::StrAppend(text, "     cheaper: ", PaddingSuggestionText(suggestion), "  ",
                      suggestion.shape.ToString(/*print_layout=*/true), "  ", HumanBytes(suggestion.bytes), "\n");
    }
  }
}

}  // namespace

std::string MemoryReport(const HloModule& module, const MemoryAnalysis& memory, int64_t top, int64_t memory_space) {
  std::string text =
      absl::StrCat("module ", module.name(), ", ", memory.target.name(), memory.target.is_guess ? " (guessed)" : "",
                   ", ", memory.buffers.size(), " buffers\n\n");
  AppendSpaces(memory, &text);
  AppendNotes(memory, &text);
  if (const MemorySpaceUsage* space = FindSpace(memory, memory_space)) {
    const std::vector<int32_t> buffers = BuffersAtPeak(memory, *space);
    absl::StrAppend(&text, "\nLargest of ", buffers.size(), " buffers in ", SpaceText(memory.target, memory_space),
                    " when it is fullest:\n");
    for (size_t i = 0; i < buffers.size() && i < top; ++i) {
      AppendBuffer(memory, memory.buffers[buffers[i]], i + 1, &text);
    }
  }
  AppendPadding(memory, top, &text);
  return text;
}

}  // namespace kashi::cli
