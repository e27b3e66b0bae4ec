#include "cli/memory_report.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/memory_breakdown.h"
#include "cli/memory_json.h"
#include "cli/scope_note.h"
#include "cli/table_text.h"
#include "cli/verb.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/analysis/padding_report.h"
#include "kashi/analysis/source_location.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

using base::HumanBytes;
namespace {

// "S(1) VMEM"
std::string SpaceText(const MemoryTarget& target, int64_t memory_space) {
  const std::string name = MemorySpaceName(target, memory_space);
  return absl::StrCat("S(", memory_space, ")", name.empty() ? "" : " ", name);
}

// The buffers at the peak of a memory space, the largest first.
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

// The buffer of a tuple has only pointers, and the text of its shape can be very long.
std::string BufferShapeText(const Shape& shape) {
  if (shape.IsTuple()) return absl::StrCat("table of a tuple of ", shape.tuple_shapes_size());
  return shape.ToString(/*print_layout=*/true);
}

std::string LifeText(const MemoryAnalysis& memory, const MemoryBuffer& buffer) {
  if (buffer.kind != MemoryBuffer::Kind::kTemporary) return "the whole program";
  const auto& sequence = memory.sequences[buffer.region];
  return absl::StrCat("steps ", buffer.first_step, " to ", buffer.last_step, " of ", sequence.size(), ", last user ",
                      sequence[buffer.last_step]->name());
}

void AppendBuffer(const MemoryAnalysis& memory, const MemoryBuffer& buffer, size_t rank, std::string* text) {
  const BufferValue& value = buffer.main_value();
  absl::StrAppend(text, "\n  ", rank, ". Size: ", HumanBytes(buffer.bytes), "\n");
  absl::StrAppend(text, "     Operator: ", OperatorText(*value.instruction), "\n");
  absl::StrAppend(text, "     Shape: ", BufferShapeText(*value.shape), "\n");
  if (const std::string target = ScratchTargetOf(value); !target.empty())
    absl::StrAppend(text, "     Scratch memory of ", target, "\n");
  absl::StrAppend(text, "     Unpadded size: ", HumanBytes(buffer.unpadded_bytes), "\n");
  if (buffer.bytes != buffer.unpadded_bytes) {
    absl::StrAppend(text, "     Padding: ", ExpansionText(buffer.bytes, buffer.unpadded_bytes), "\n");
  }
  absl::StrAppend(text, "     Buffer: ", value.name);
  if (buffer.values.size() > 1) absl::StrAppend(text, " and ", buffer.values.size() - 1, " more in the same place");
  absl::StrAppend(text, "\n     Allocation type: ", MemoryBufferKindName(buffer.kind), ", ", LifeText(memory, buffer),
                  "\n");
}

void AppendSpaces(const MemoryAnalysis& memory, std::string* text) {
  std::vector<std::vector<std::string>> rows = {
      {"memory space", "peak", "arguments", "outputs", "aliased", "constants", "temporaries", "fullest at"}};
  for (const MemorySpaceUsage& space : memory.spaces) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(SpaceText(memory.target, space.memory_space));
    for (int64_t bytes : {space.peak_bytes, space.argument_bytes, space.output_bytes, space.alias_bytes,
                          space.constant_bytes, space.temp_bytes}) {
      row.push_back(bytes == 0 ? "-" : HumanBytes(bytes));
    }
    row.push_back(space.levels.empty() ? "-" : std::string(memory.entry_sequence()[space.peak_step]->name()));
  }
  absl::StrAppend(text, TableText(rows));
}

bool HasTemporaries(const MemoryAnalysis& memory) {
  return absl::c_any_of(memory.buffers,
                        [](const MemoryBuffer& buffer) { return buffer.kind == MemoryBuffer::Kind::kTemporary; });
}

// Explains the source of the figures about temporaries.
void AppendBasis(const MemoryAnalysis& memory, const std::string& xla_file, std::string* text) {
  switch (memory.basis) {
    case MemoryBasis::kXlaAssignment:
      absl::StrAppend(text, "Temporaries are from XLA's buffer assignment, ", xla_file, ".\n");
      break;
    case MemoryBasis::kXlaUsage:
      absl::StrAppend(text, "The totals are from XLA's memory usage report, ", xla_file, ".\n");
      break;
    case MemoryBasis::kPlacement:
      if (HasTemporaries(memory)) {
        absl::StrAppend(text, "Temporaries are placed as XLA's compiler for ", memory.target.is_gpu ? "GPUs" : "hosts",
                        " places them.\n");
      }
      break;
    case MemoryBasis::kEstimate:
      if (memory.is_scheduled && HasTemporaries(memory))
        absl::StrAppend(text, "The temporaries are an estimate: the sum of those that are alive at the same time.\n");
      break;
    case MemoryBasis::kSchedule:
      break;
  }
  int64_t count = 0, bytes = 0;
  for (const MemoryBuffer& buffer : memory.buffers) {
    if (buffer.lies_in < 0) continue;
    ++count;
    bytes += buffer.bytes;
  }
  if (count > 0) {
    absl::StrAppend(text, Count(count, "more buffer"), " for temporaries (", HumanBytes(bytes), ") ",
                    count == 1 ? "uses" : "use", " the memory of outputs while the outputs do not need it.\n");
  }
  for (const MemorySpaceUsage& space : memory.spaces) {
    if (space.gap_bytes > 0 && space.memory_space == memory.default_space().memory_space) {
      absl::StrAppend(text, "The peak includes ", HumanBytes(space.gap_bytes), " of gaps between temporaries.\n");
    }
  }
}

// Of the calls that are alive at the peak of a space.
void AppendScratchOfCalls(const MemoryAnalysis& memory, const MemorySpaceUsage& space, std::string* text) {
  int64_t count = 0, bytes = 0;
  for (const int32_t i : BuffersAtPeak(memory, space)) {
    const MemoryBuffer& buffer = memory.buffers[i];
    if (buffer.bytes == 0 || ScratchTargetOf(buffer.main_value()).empty()) continue;
    ++count;
    bytes += buffer.bytes;
  }
  if (count == 0) return;
  absl::StrAppend(text, "The peak of ", SpaceText(memory.target, space.memory_space), " includes ", HumanBytes(bytes),
                  " of scratch memory of ", Count(count, "call"), " of cuBLAS and cuDNN.\n");
}

void AppendNotes(const MemoryAnalysis& memory, std::string* text) {
  if (!memory.is_scheduled) {
    absl::StrAppend(text,
                    "The module has no schedule. Kashi chose an order of its instructions that needs little memory, so "
                    "the bytes of "
                    "temporaries are an estimate.\n");
  }
  if (memory.has_chosen_layouts) absl::StrAppend(text, ChosenLayoutsNote(memory.target), "\n");
  if (memory.target.is_guess && memory.target.is_tpu()) {
    absl::StrAppend(text, "The TPU generation is a guess; --target sets it.\n");
  }
  for (const MemorySpaceUsage& space : memory.spaces) {
    if (space.unused_donor_bytes > 0) {
      absl::StrAppend(text, "Arguments of ", HumanBytes(space.unused_donor_bytes), " in ",
                      SpaceText(memory.target, space.memory_space), " are donated, but no output uses their memory.\n");
    }
    AppendScratchOfCalls(memory, space, text);
    if (space.scratch_bytes == 0) continue;
    absl::StrAppend(text, "An instruction needs up to ", HumanBytes(space.scratch_bytes), " of scratch memory in ",
                    SpaceText(memory.target, space.memory_space), " while it runs.\n");
  }
}

void AppendLargest(const MemoryAnalysis& memory, int64_t top, int64_t memory_space, std::string* text) {
  const MemorySpaceUsage* space = FindSpace(memory, memory_space);
  const std::vector<int32_t> buffers = space == nullptr ? std::vector<int32_t>() : BuffersAtPeak(memory, *space);
  if (buffers.empty()) {
    absl::StrAppend(text, "\nNo buffer is in ", SpaceText(memory.target, memory_space), ".\n");
    return;
  }
  if (top == 0) return;
  absl::StrAppend(text, "\nLargest of ", Count(static_cast<int64_t>(buffers.size()), "buffer"), " at the peak of ",
                  SpaceText(memory.target, memory_space), ":\n");
  for (size_t i = 0; i < buffers.size() && i < top; ++i) {
    AppendBuffer(memory, memory.buffers[buffers[i]], i + 1, text);
  }
}

void AppendPeakByScope(const HloModule& module, const MemoryAnalysis& memory, int64_t memory_space, std::string* text) {
  const std::string table = PeakByScopeText(module, memory, memory_space);
  if (table.empty()) return;
  absl::StrAppend(text, "\nThe peak of ", SpaceText(memory.target, memory_space), " by scope:\n", table);
}

void AppendPadding(const MemoryAnalysis& memory, int64_t top, std::string* text) {
  const std::vector<PaddingEntry> entries = RankPadding(memory, top);
  if (entries.empty()) return;
  absl::StrAppend(text, "\nMost padding:\n");
  size_t rank = 0;
  for (const PaddingEntry& entry : entries) {
    absl::StrAppend(text, "\n  ", ++rank, ". ", entry.shape->ToString(/*print_layout=*/true), "  ",
                    HumanBytes(entry.bytes), ", unpadded ", HumanBytes(entry.unpadded_bytes), ", padding ",
                    ExpansionText(entry.bytes, entry.unpadded_bytes), "\n     ",
                    Count(static_cast<int64_t>(entry.buffers.size()), "buffer"), ": ",
                    memory.buffers[entry.buffers[0]].main_value().name, entry.buffers.size() == 1 ? "\n" : ", …\n");
    for (const PaddingSuggestion& suggestion : entry.suggestions) {
      absl::StrAppend(text, "     cheaper: ", PaddingSuggestionText(suggestion), "  ",
                      suggestion.shape.ToString(/*print_layout=*/true), "  ", HumanBytes(suggestion.bytes), "\n");
    }
  }
}

// The table of memory spaces, and what the figures mean.
std::string TotalsText(const HloModule& module, const MemoryAnalysis& memory, const std::string& xla_file) {
  std::string text =
      absl::StrCat("module ", module.name(), ", ", memory.target.name(), memory.target.is_guess ? " (guessed)" : "",
                   ", ", Count(static_cast<int64_t>(memory.buffers.size()), "buffer"), "\n\n");
  if (const std::string note = GlobalNote(module); !note.empty()) absl::StrAppend(&text, note, "\n");
  AppendSpaces(memory, &text);
  AppendBasis(memory, xla_file, &text);
  AppendNotes(memory, &text);
  return text;
}

}  // namespace

std::string ChosenLayoutsNote(const MemoryTarget& target) {
  return absl::StrCat(
      "The module is not compiled for a TPU: its arrays have no tiles. They are measured in the layouts ", "that a ",
      target.name(),
      " chooses for them; XLA's compiler may choose another order of "
      "dimensions.");
}

std::string MemoryByText(const HloModule& module, const MemoryAnalysis& memory, const std::string& xla_file,
                         const BreakdownTable& table, int64_t top, int64_t memory_space) {
  std::string text = TotalsText(module, memory, xla_file);
  absl::StrAppend(&text, "\nThe peak of ", SpaceText(memory.target, memory_space), " by ", table.grouping_name(), ":\n",
                  table.ToText(top));
  return text;
}

std::string MemoryReport(const HloModule& module, const MemoryAnalysis& memory, const std::string& xla_file,
                         int64_t top, int64_t memory_space) {
  std::string text = TotalsText(module, memory, xla_file);
  AppendPeakByScope(module, memory, memory_space, &text);
  AppendLargest(memory, top, memory_space, &text);
  AppendPadding(memory, top, &text);
  return text;
}

}  // namespace kashi::cli
