#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "cli/cost_report.h"
#include "cli/cost_text.h"
#include "cli/scope_note.h"
#include "cli/table_text.h"
#include "cli/verb.h"
#include "kashi/analysis/padding_report.h"
#include "kashi/analysis/source_location.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/gpu_calls/gpu_call.h"
#include "kashi/scale/collective_plans.h"

namespace kashi::cli {

using base::WithThousands;
namespace {

bool CostsNothing(const CostRow& row) {
  return row.cost.flops + row.cost.transcendentals + row.cost.bytes_accessed + row.seconds == 0;
}

// ---- Flops, transcendentals and bytes.

std::string NumbersText(const Cost& cost) {
  return absl::StrFormat("%20s%20s%20s", NumberText(cost.flops), NumberText(cost.transcendentals),
                         NumberText(cost.bytes_accessed));
}

// "1.18 Mflop, 256 transcendentals, 1.5 MiB".
std::string InWords(const Cost& cost) {
  std::string text = absl::StrCat(FlopsText(cost.flops), ", ");
  if (cost.transcendentals > 0) {
    absl::StrAppend(&text, NumberText(cost.transcendentals),
                    cost.transcendentals == 1 ? " transcendental, " : " transcendentals, ");
  }
  return absl::StrCat(text, BytesText(cost.bytes_accessed));
}

// At most a few names.
std::string NamesText(absl::Span<const HloInstruction* const> instructions) {
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < instructions.size() && i < kMost; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", instructions[i]->name());
  }
  return absl::StrCat(text, instructions.size() > kMost ? ", …" : "");
}

// What is not counted of single calls, at most a few.
std::string CallNotesText(absl::Span<const std::string> notes) {
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < notes.size() && i < kMost; ++i)
    absl::StrAppend(&text, "Not counted: ", absl::StripSuffix(notes[i], "."), ".\n");
  if (notes.size() > kMost) {
    absl::StrAppend(&text, "Not counted: ", Count(static_cast<int64_t>(notes.size() - kMost), "more call"), ".\n");
  }
  return text;
}

std::string NotesText(const CostReport& report) {
  const Cost &total = report.cost.total(), &xla = report.cost.xla_total();
  const insight::ExecutionCounts& counts = report.cost.counts();
  const auto loops = static_cast<int64_t>(counts.loops().size());
  std::string text;
  if (total.unknown > 0) {
    absl::StrAppend(&text, "The totals do not include ", Count(static_cast<int64_t>(total.unknown), "custom call"),
                    " of unknown cost.\n");
  }
  absl::StrAppend(&text, CallNotesText(report.cost.own().notes()));
  if (report.cost.is_flat()) {
    if (loops > 0) absl::StrAppend(&text, "Each loop counts as one iteration (", Count(loops, "loop"), ").\n");
    return text;
  }
  if (!counts.unknown_loops().empty()) {
    const auto unknown = static_cast<int64_t>(counts.unknown_loops().size());
    absl::StrAppend(&text, Count(unknown, "loop"), " whose trip count is not known ",
                    unknown == 1 ? "counts once: " : "count once: ", NamesText(counts.unknown_loops()), ".\n");
  }
  if (xla.flops != total.flops || xla.transcendentals != total.transcendentals ||
      xla.bytes_accessed != total.bytes_accessed) {
    absl::StrAppend(
        &text, "XLA's own count is ", InWords(xla),
        loops > 0 ? ", with each loop as one iteration (--as-xla).\n"
                  : ", by other rules for cumulative windows, scans, ragged dots and scratch memory (--as-xla).\n");
  }
  return text;
}

std::string HeadText(const HloModule& module) {
  return absl::StrFormat("%-32s%8s%20s%20s%20s\n", absl::StrCat("module ", module.name()), "count", "flops",
                         "transcendentals", "bytes");
}

std::string OpcodesText(const HloModule& module, const CostReport& report) {
  const Cost& total = report.cost.total();
  std::string text = HeadText(module);
  absl::StrAppendFormat(&text, "%-32s%8s%s\n", "in all", "", NumbersText(total));
  for (const OpcodeCostRow& row : report.opcodes) {
    if (CostsNothing(row)) continue;
    absl::StrAppendFormat(&text, "  %-30s%8s%s\n", HloOpcodeString(row.opcode), NumberText(row.count),
                          NumbersText(row.cost));
  }
  return text;
}

std::string MostExpensiveText(const CostReport& report, int64_t top) {
  std::string text;
  for (size_t i = 0; i < report.instructions.size() && i < static_cast<size_t>(top); ++i) {
    const InstructionCostRow& row = report.instructions[i];
    if (CostsNothing(row)) break;
    const std::string op_name = GetSourceLocation(*row.instruction).op_name;
    absl::StrAppendFormat(&text, "  %-30s%8s%s%s\n", row.instruction->name(), NumberText(row.count),
                          NumbersText(row.cost), op_name.empty() ? "" : absl::StrCat("  ", op_name));
  }
  return text.empty() ? text : absl::StrCat("\nMost expensive:\n", text);
}

// ---- Times.

std::vector<std::string> TimeLine(const std::string& name, const CostRow& row, double all) {
  return {name,
          row.instructions == 0 ? "" : NumberText(row.count),
          SecondsText(row.seconds),
          PercentText(row.seconds, all),
          std::string(BoundName(row.bound())),
          WithUnit(row.cost.flops + row.cost.transcendentals, "flop"),
          BytesText(row.cost.bytes_accessed)};
}

const std::vector<std::string>& TimeHead() {
  static const auto* const kHead =
      new std::vector<std::string>{"", "count", "time", "share", "bound by", "flops", "bytes"};
  return *kHead;
}

std::string TimeTable(std::vector<std::vector<std::string>> lines) {
  return TableText(std::move(lines), /*width=*/0, {true, false, false, false, true, false, false});
}

std::string OpcodeTimesText(const CostReport& report) {
  const double all = report.roofline->seconds();
  std::vector<std::vector<std::string>> lines = {TimeHead()};
  CostRow total = report.total();
  total.instructions = 0;  // no count
  lines.push_back(TimeLine("in all", total, all));
  for (const OpcodeCostRow& row : report.opcodes) {
    if (!CostsNothing(row)) lines.push_back(TimeLine(absl::StrCat("  ", HloOpcodeString(row.opcode)), row, all));
  }
  return TimeTable(std::move(lines));
}

std::string LongestText(const CostReport& report, int64_t top) {
  std::vector<std::vector<std::string>> lines = {TimeHead()};
  for (size_t i = 0; i < report.instructions.size() && i < static_cast<size_t>(top); ++i) {
    const InstructionCostRow& row = report.instructions[i];
    if (CostsNothing(row)) break;
    lines.push_back(TimeLine(absl::StrCat("  ", row.instruction->name()), row, report.roofline->seconds()));
  }
  return lines.size() == 1 ? "" : absl::StrCat("\nLongest:\n", TimeTable(std::move(lines)));
}

// "f32[64,16]{1,0:T(8,128)}", in the layout that the device chooses if the module has none.
std::string PaddedShapeText(const Shape* shape, const CostReport& report) {
  if (shape == nullptr) return "-";  // the matrix or the vector unit works on padding
  Shape in_memory = *shape;
  if (report.roofline->has_chosen_layouts()) SetTpuLayouts(*report.accelerator->tpu, &in_memory).IgnoreError();
  return in_memory.ToString(/*print_layout=*/true);
}

// "another order f32[…]", the best way to make the array smaller without another type.
std::string CheaperText(const Shape* shape, const CostReport& report) {
  if (shape == nullptr) return "-";
  MemoryTarget target;
  target.tpu = report.accelerator->tpu;
  Shape in_memory = *shape;
  if (report.roofline->has_chosen_layouts()) SetTpuLayouts(*target.tpu, &in_memory).IgnoreError();
  for (const PaddingSuggestion& suggestion : SuggestLessPadding(in_memory, target)) {
    if (suggestion.kind == PaddingSuggestion::Kind::kElementType) continue;
    return absl::StrCat(PaddingSuggestionText(suggestion), "  ", suggestion.shape.ToString(/*print_layout=*/true));
  }
  return "-";
}

// The instructions whose tiles waste most time, those of less than a thousandth of all time left out.
std::string PaddingText(const CostReport& report, int64_t top) {
  constexpr double kLeastPart = 0.001;
  std::vector<const InstructionCostRow*> rows;
  for (const InstructionCostRow& row : report.instructions) {
    if (row.wasted_seconds > kLeastPart * report.roofline->seconds()) rows.push_back(&row);
  }
  if (rows.empty() || top == 0) return "";
  absl::c_stable_sort(rows, [](const auto* a, const auto* b) { return a->wasted_seconds > b->wasted_seconds; });
  std::vector<std::vector<std::string>> lines = {{"", "time", "on padding", "of", "cheaper"}};
  for (size_t i = 0; i < rows.size() && i < static_cast<size_t>(top); ++i) {
    const InstructionCostRow& row = *rows[i];
    const bool by_memory = row.bound() == insight::Bound::kMemory;
    const Shape* shape = by_memory ? report.roofline->TimeOf(row.instruction).most_padded : nullptr;
    lines.push_back({absl::StrCat("  ", row.instruction->name()), SecondsText(row.seconds),
                     PercentText(row.wasted_seconds, row.seconds),
                     by_memory ? PaddedShapeText(shape, report) : std::string(BoundName(row.bound())),
                     CheaperText(shape, report)});
  }
  return absl::StrCat("\nMost time on the padding of tiles:\n",
                      TableText(std::move(lines), 0, {true, false, false, true, true}));
}

// "989 Tflop/s bf16, 67 Tflop/s f32, 3.35 TB/s".
std::string PeaksText(const insight::Accelerator& device) {
  std::string text;
  if (device.matrix_bf16 > 0) absl::StrAppend(&text, WithUnit(device.matrix_bf16, "flop/s"), " of bf16 products, ");
  if (device.kind == insight::AcceleratorKind::kCpu) {
    absl::StrAppend(&text, WithUnit(device.matrix_f32, "flop/s"), " of f32 products, ");
  }
  return absl::StrCat(text, WithUnit(device.vector_f32, "flop/s"), " of other arithmetic, ",
                      WithUnit(device.memory_bandwidth, "B/s"), " of memory");
}

std::string ModelText(const CostReport& report) {
  const insight::Roofline& roofline = *report.roofline;
  const insight::Accelerator& device = *report.accelerator;
  std::string text = absl::StrCat(
      "At least ", SecondsText(roofline.seconds()), " if one instruction follows the other; arithmetic alone takes ",
      SecondsText(roofline.compute_seconds()), ", memory alone ", SecondsText(roofline.memory_seconds()), ".\n");
  if (roofline.wasted_seconds() > 0) {
    absl::StrAppend(&text, "Of it ", SecondsText(roofline.wasted_seconds()), " (",
                    PercentText(roofline.wasted_seconds(), roofline.seconds()), ") are for the padding of tiles.\n");
  }
  if (roofline.has_chosen_layouts()) {
    absl::StrAppend(&text, "The module has no tiles: its arrays are measured in the layouts that a ", device.name,
                    " chooses for them.\n");
  }
  const auto collectives = absl::c_count_if(report.instructions, [](const InstructionCostRow& row) {
    return scale::CollectiveOpcode(*row.instruction).has_value();
  });
  if (collectives > 0) {
    absl::StrAppend(&text, "Messages of ", Count(collectives, "collective"),
                    " take no time here: --mesh predicts it.\n");
  }
  const auto beside = absl::c_count_if(report.instructions, [](const InstructionCostRow& row) {
    return gpu_calls::OperationQueueOf(*row.instruction) != 0;
  });
  if (beside > 0) {
    absl::StrAppend(&text, Count(beside, "instruction"), beside == 1 ? " is in a queue" : " are in queues",
                    " beside the main one, and may run while others do.\n");
  }
  return absl::StrCat(text, "This is a model, no measurement: ", PeaksText(device), " (", device.source, ").\n");
}

}  // namespace

std::string CostReportText(const HloModule& module, const CostReport& report, int64_t top) {
  std::string text;
  if (const std::string note = GlobalNote(module); !note.empty()) absl::StrAppend(&text, note, "\n");
  if (report.roofline.has_value()) {
    absl::StrAppend(&text, "module ", module.name(), " on ", report.accelerator->name, "\n");
  } else if (report.breakdown.has_value()) {
    absl::StrAppend(&text, "module ", module.name(), "\n");
  }
  if (report.breakdown.has_value()) {
    absl::StrAppend(&text, report.breakdown->ToText(top));
  } else {
    absl::StrAppend(&text, report.roofline.has_value() ? OpcodeTimesText(report) : OpcodesText(module, report));
  }
  if (report.roofline.has_value()) absl::StrAppend(&text, ModelText(report));
  absl::StrAppend(&text, "In all ", InWords(report.cost.total()), " read and written.\n", NotesText(report));
  if (report.breakdown.has_value()) return text;
  if (!report.roofline.has_value()) return absl::StrCat(text, MostExpensiveText(report, top));
  return absl::StrCat(text, LongestText(report, top), PaddingText(report, top));
}

}  // namespace kashi::cli
