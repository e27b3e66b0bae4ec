#include "cli/memory_html.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cli/memory_json.h"
#include "cli/memory_report.h"
#include "cli/page_json.h"
#include "cli/pages.h"
#include "cli/scope_note.h"
#include "cli/verb.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/analysis/padding_report.h"
#include "kashi/analysis/source_location.h"
#include "kashi/base/text.h"
#include "kashi/draw/layout_figure.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

using base::HumanBytes;
using base::WithThousands;
namespace {

constexpr size_t kPaddingRows = 10;
// The most bytes of figures in the page: about 130 figures.
constexpr size_t kMaxFigureBytes = 4 << 20;

std::string ShapeText(const Shape& shape) { return shape.ToString(/*print_layout=*/true); }

std::string SpaceText(const MemoryTarget& target, int64_t memory_space) {
  const std::string name = MemorySpaceName(target, memory_space);
  return absl::StrCat("S(", memory_space, ")", name.empty() ? "" : " ", name);
}

// The HBM of a device in bytes: the published size of a chip, divided by the devices of a chip. 0 if unknown.
int64_t CapacityOf(const MemoryTarget& target, int64_t memory_space) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  if (!target.is_tpu() || memory_space != 0) return 0;
  switch (*target.tpu) {
    case TpuGeneration::kV2:
      return 8 * kGiB;
    case TpuGeneration::kV3:
    case TpuGeneration::kV5e:
      return 16 * kGiB;
    case TpuGeneration::kV4:
    case TpuGeneration::kV6e:
      return 32 * kGiB;
    case TpuGeneration::kV5p:
      return 95 * kGiB;
    case TpuGeneration::kTpu7x:
      return 96 * kGiB;
  }
  return 0;
}

// The members of a JSON object. memory_page.js explains them.
class MemoryColumns {
 public:
  MemoryColumns(const HloModule& module, const MemoryAnalysis& memory, PageTexts* texts)
      : memory_(memory), texts_(*texts) {
    AddPageText("module", module.name(), &json_);
    AddSpaces();
    AddSteps();
    AddBuffers();
    AddOtherValues();
    AddPlaces();
    AddFigures();
  }

  std::string Take() { return std::move(json_); }

 private:
  template <typename Elements, typename NumberOf>
  void AddNumbers(absl::string_view key, const Elements& elements, NumberOf number_of) {
    cli::AddNumbers(key, elements, number_of, &json_);
  }

  void AddSpaces();
  void AddSteps();
  void AddBuffers();
  void AddOtherValues();
  void AddPlaces();
  void AddFigures();
  // The array shapes among the buffers, those of the largest buffers first.
  std::vector<const Shape*> LargestShapes() const;

  const MemoryAnalysis& memory_;
  PageTexts& texts_;
  std::string json_;
};

void MemoryColumns::AddSpaces() {
  absl::StrAppend(&json_, "\"spaces\":[");
  for (const MemorySpaceUsage& space : memory_.spaces) {
    absl::StrAppend(&json_, &space == &memory_.spaces.front() ? "{" : ",{");
    AddPageText("name", SpaceText(memory_.target, space.memory_space), &json_);
    AddNumbers("level_steps", space.levels, [](const MemoryLevel& level) { return level.step; });
    AddNumbers("level_bytes", space.levels, [](const MemoryLevel& level) { return level.bytes; });
    AddNumbers("temporaries", space.temporaries, [](int32_t buffer) { return buffer; });
    absl::StrAppend(&json_, "\"number\":", space.memory_space, ",\"peak\":", space.peak_bytes,
                    ",\"temp\":", space.temp_bytes, ",\"capacity\":", CapacityOf(memory_.target, space.memory_space),
                    ",\"peak_step\":", space.peak_step, "}");
  }
  absl::StrAppend(&json_, "],\n");
}

void MemoryColumns::AddSteps() {
  AddNumbers("step_names", memory_.entry_sequence(),
             [this](const HloInstruction* step) { return texts_.Number(std::string(step->name())); });
  AddNumbers("step_operators", memory_.entry_sequence(), [this](const HloInstruction* step) {
    return texts_.Number(std::string(HloOpcodeString(step->opcode())));
  });
  AddNumbers("step_op_names", memory_.entry_sequence(),
             [this](const HloInstruction* step) { return texts_.Number(GetSourceLocation(*step).op_name); });
}

void MemoryColumns::AddBuffers() {
  const std::vector<MemoryBuffer>& buffers = memory_.buffers;
  const auto number = [this](const std::string& text) { return texts_.Number(text); };
  AddNumbers("values", buffers, [&](const MemoryBuffer& buffer) { return number(buffer.main_value().name); });
  AddNumbers("operators", buffers, [&](const MemoryBuffer& buffer) {
    return number(std::string(HloOpcodeString(buffer.main_value().instruction->opcode())));
  });
  AddNumbers("shapes", buffers,
             [&](const MemoryBuffer& buffer) { return number(ShapeText(*buffer.main_value().shape)); });
  AddNumbers("kinds", buffers,
             [&](const MemoryBuffer& buffer) { return number(std::string(MemoryBufferKindName(buffer.kind))); });
  AddNumbers("op_names", buffers, [&](const MemoryBuffer& buffer) {
    return number(GetSourceLocation(*buffer.main_value().instruction).op_name);
  });
  AddNumbers("sources", buffers, [&](const MemoryBuffer& buffer) {
    const SourceLocation source = GetSourceLocation(*buffer.main_value().instruction);
    return number(source.file.empty() ? "" : absl::StrCat(source.file, ":", source.line));
  });
  AddNumbers("buffer_spaces", buffers, [](const MemoryBuffer& buffer) { return buffer.memory_space; });
  AddNumbers("bytes", buffers, [](const MemoryBuffer& buffer) { return buffer.bytes; });
  AddNumbers("unpadded", buffers, [](const MemoryBuffer& buffer) { return buffer.unpadded_bytes; });
  AddNumbers("first", buffers, [](const MemoryBuffer& buffer) { return buffer.first_step; });
  AddNumbers("lasts", buffers, [](const MemoryBuffer& buffer) { return buffer.last_step - buffer.first_step; });
  // The buffer is resident, a temporary of the entry's steps, a temporary of a computation with several callers, or
  // placed in another buffer.
  const auto entry_region = static_cast<int32_t>(memory_.sequences.size()) - 1;
  AddNumbers("lives", buffers, [&](const MemoryBuffer& buffer) {
    if (buffer.kind != MemoryBuffer::Kind::kTemporary) return 0;
    if (buffer.lies_in >= 0) return 3;
    return buffer.region == entry_region ? 1 : 2;
  });
}

void MemoryColumns::AddOtherValues() {
  absl::StrAppend(&json_, "\"others\":{");
  absl::string_view comma;
  for (size_t i = 0; i < memory_.buffers.size(); ++i) {
    const std::vector<BufferValue>& values = memory_.buffers[i].values;
    if (values.size() == 1) continue;
    absl::StrAppend(&json_, comma, "\"", i, "\":[");
    for (size_t k = 1; k < values.size(); ++k) {
      absl::StrAppend(&json_, k == 1 ? "" : ",", texts_.Number(values[k].name));
    }
    absl::StrAppend(&json_, "]");
    comma = ",";
  }
  absl::StrAppend(&json_, "},\n");
}

void MemoryColumns::AddPlaces() {
  absl::StrAppend(&json_, "\"places\":{");
  absl::string_view comma;
  for (size_t i = 0; i < memory_.buffers.size(); ++i) {
    if (memory_.buffers[i].lies_in < 0) continue;
    absl::StrAppend(&json_, comma, "\"", i, "\":", memory_.buffers[i].lies_in);
    comma = ",";
  }
  absl::StrAppend(&json_, "},\n");
}

std::vector<const Shape*> MemoryColumns::LargestShapes() const {
  std::vector<std::pair<int64_t, const Shape*>> shapes;
  absl::flat_hash_set<const Shape*> seen;
  for (const MemoryBuffer& buffer : memory_.buffers) {
    const BufferValue& value = buffer.main_value();
    if (value.shape->IsArray() && seen.insert(value.shape).second) shapes.emplace_back(-value.bytes, value.shape);
  }
  std::stable_sort(shapes.begin(), shapes.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Shape*> result;
  for (const auto& [bytes, shape] : shapes) result.push_back(shape);
  return result;
}

void MemoryColumns::AddFigures() {
  LayoutFigureOptions options;
  options.max_rows = 10;
  options.max_columns = 10;
  options.max_slices = 1;
  absl::flat_hash_set<int64_t> tried;
  absl::string_view comma;
  size_t bytes = 0;
  absl::StrAppend(&json_, "\"figures\":{");
  for (const Shape* shape : LargestShapes()) {
    if (bytes > kMaxFigureBytes) break;
    const int64_t text = texts_.Number(ShapeText(*shape));
    if (!tried.insert(text).second) continue;
    const absl::StatusOr<LayoutFigure> figure = MakeLayoutFigure(*shape, options);
    if (!figure.ok()) continue;
    absl::StrAppend(&json_, comma, "\"", text, "\":[");
    for (const bool dark : {false, true}) {
      SvgOptions style;
      style.dark = dark;
      const std::string svg = ToSvg(*figure, style);
      if (dark) json_ += ',';
      AppendPageString(svg, &json_);
      bytes += svg.size();
    }
    json_ += ']';
    comma = ",";
  }
  absl::StrAppend(&json_, "},\n");
}

// A long text is cut, so that the other columns have room.
std::string Clamped(absl::string_view text) {
  return absl::StrCat("<div class=\"clamped\">", EscapeHtml(text), "</div>");
}

// The columns of a table. Each cell knows the heading of its column: in a narrow window a row becomes a list, and the
// headings stand before the values.
using ColumnNames = absl::Span<const absl::string_view>;
constexpr absl::string_view kTotalsColumns[] = {"space",   "peak",      "padding",     "arguments", "outputs",
                                                "aliased", "constants", "temporaries", "scratch",   "fullest at"};
constexpr absl::string_view kPaddingColumns[] = {"shape", "size", "unpadded", "buffers", "for example", "cheaper"};
constexpr absl::string_view kModuleColumns[] = {"module",  "stage",     "peak",        "arguments", "outputs",
                                                "aliased", "constants", "temporaries", "basis"};

std::string Head(ColumnNames columns) {
  std::string html = "<tr>";
  for (const absl::string_view column : columns) absl::StrAppend(&html, "<th scope=\"col\">", column, "</th>");
  return absl::StrCat(html, "</tr>\n");
}

class TableRow {
 public:
  explicit TableRow(ColumnNames columns) : columns_(columns) {}

  TableRow& Heading(absl::string_view text) {
    ++next_;
    absl::StrAppend(&html_, "<th scope=\"row\">", EscapeHtml(text), "</th>");
    return *this;
  }
  TableRow& Text(absl::string_view text) { return Html(Clamped(text)); }
  TableRow& Html(absl::string_view html) { return Add("", html); }
  TableRow& Bytes(int64_t bytes) {
    return Add(absl::StrCat(" class=\"number", bytes == 0 ? " zero" : "", "\" title=\"", Count(bytes, "byte"), "\""),
               HumanBytes(bytes));
  }
  TableRow& Number(int64_t number) { return Add(" class=\"number\"", WithThousands(number)); }
  std::string Finish() const { return absl::StrCat("<tr>", html_, "</tr>\n"); }

 private:
  TableRow& Add(absl::string_view attributes, absl::string_view content) {
    absl::StrAppend(&html_, "<td data-column=\"", columns_[next_++], "\"", attributes, ">", content, "</td>");
    return *this;
  }

  ColumnNames columns_;
  size_t next_ = 0;
  std::string html_;
};

std::string TotalsRows(const MemoryAnalysis& memory) {
  std::string html;
  for (const MemorySpaceUsage& space : memory.spaces) {
    TableRow row(kTotalsColumns);
    row.Heading(SpaceText(memory.target, space.memory_space));
    for (int64_t bytes : {space.peak_bytes, space.padding_bytes, space.argument_bytes, space.output_bytes,
                          space.alias_bytes, space.constant_bytes, space.temp_bytes, space.scratch_bytes}) {
      row.Bytes(bytes);
    }
    row.Text(space.levels.empty() ? "-" : memory.entry_sequence()[space.peak_step]->name());
    absl::StrAppend(&html, row.Finish());
  }
  return html;
}

std::string PaddingRows(const MemoryAnalysis& memory) {
  std::string html;
  for (const PaddingEntry& entry : RankPadding(memory, kPaddingRows)) {
    std::vector<std::string> cheaper;
    for (const PaddingSuggestion& suggestion : entry.suggestions) {
      cheaper.push_back(Clamped(absl::StrCat(PaddingSuggestionText(suggestion), ": ", ShapeText(suggestion.shape), ", ",
                                             HumanBytes(suggestion.bytes))));
    }
    TableRow row(kPaddingColumns);
    row.Text(ShapeText(*entry.shape)).Bytes(entry.bytes).Bytes(entry.unpadded_bytes);
    row.Number(static_cast<int64_t>(entry.buffers.size()));
    row.Text(memory.buffers[entry.buffers[0]].main_value().name).Html(absl::StrJoin(cheaper, ""));
    absl::StrAppend(&html, row.Finish());
  }
  return html.empty() ? "<tr><td colspan=\"6\">none</td></tr>\n" : html;
}

std::string Notes(const MemoryAnalysis& memory, const std::string& xla_file) {
  std::string html;
  if (!xla_file.empty()) {
    absl::StrAppend(&html, "<p class=\"note\">Figures of temporaries are from what XLA has written: <bdi>",
                    EscapeHtml(xla_file), "</bdi>.</p>\n");
  } else if (memory.basis == MemoryBasis::kEstimate) {
    absl::StrAppend(&html, "<p class=\"note\">The temporaries are an estimate: what is alive at once.</p>\n");
  }
  if (memory.default_space().gap_bytes > 0) {
    absl::StrAppend(&html, "<p class=\"note\">The peak has ", HumanBytes(memory.default_space().gap_bytes),
                    " of gaps between temporaries, which the chart leaves out.</p>\n");
  }
  if (!memory.is_scheduled) {
    absl::StrAppend(
        &html,
        "<p class=\"note\">The module has no schedule. Kashi chose the order of its instructions to need little "
        "memory.</p>\n");
  }
  if (memory.has_chosen_layouts) {
    absl::StrAppend(&html, "<p class=\"note\">", ChosenLayoutsNote(memory.target), "</p>\n");
  }
  if (memory.target.is_guess && memory.target.is_tpu()) {
    absl::StrAppend(&html, "<p class=\"note\">The generation of TPU was guessed; --target sets it.</p>\n");
  }
  return html;
}

std::string GlobalNoteHtml(const HloModule& module) {
  const std::string note = GlobalNote(module);
  return note.empty() ? "" : absl::StrCat("<p class=\"note\">", EscapeHtml(note), "</p>\n");
}

// "model.hlo, 2026-11-22 23:44 UTC; "
std::string FileText(const MemoryPageHead& head) {
  return absl::StrCat("<bdi>", EscapeHtml(head.file), "</bdi>", head.date.empty() ? "" : ", ", EscapeHtml(head.date),
                      "; ");
}

// The rows of the table.
std::string IndexRows(const std::vector<MemoryIndexRow>& rows) {
  std::string html;
  for (const MemoryIndexRow& each : rows) {
    const ModuleStage stage = StageOf(each.memory.file);
    TableRow row(kModuleColumns);
    row.Html(absl::StrCat("<a href=\"",
                          EscapeHtml(absl::StrReplaceAll(each.page, {{"%", "%25"}, {"#", "%23"}, {"?", "%3F"}})), "\">",
                          Clamped(stage.module), "</a>"));
    row.Text(stage.stage);
    for (int64_t bytes : {each.memory.peak_bytes, each.memory.argument_bytes, each.memory.output_bytes,
                          each.memory.alias_bytes, each.memory.constant_bytes, each.memory.temp_bytes}) {
      row.Bytes(bytes);
    }
    absl::StrAppend(&html, row.Text(each.memory.basis).Finish());
  }
  return html;
}

}  // namespace

std::string MemoryIndexHtml(const std::string& directory, const std::vector<MemoryIndexRow>& rows) {
  constexpr absl::string_view kPage = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{directory}}: memory</title>
<style>
{{style}}</style>
</head>
<body>
<header><h1>Memory of the modules in <bdi>{{directory}}</bdi></h1>
<p>{{count}}; the figures are of memory space S(0)</p></header>
<div class="wide"><table id="modules">
<thead>{{head}}</thead>
<tbody>
{{rows}}</tbody>
</table></div>
</body>
</html>
)html";
  const std::string count = Count(static_cast<int64_t>(rows.size()), "module");
  return absl::StrReplaceAll(kPage, {{"{{directory}}", EscapeHtml(directory)},
                                     {"{{style}}", kMemoryPageCss},
                                     {"{{count}}", count},
                                     {"{{head}}", Head(kModuleColumns)},
                                     {"{{rows}}", IndexRows(rows)}});
}

std::string MemoryPageData(const HloModule& module, const MemoryAnalysis& memory, PageTexts* texts) {
  return MemoryColumns(module, memory, texts).Take();
}

// One pass replaces all names, so that inserted text is not searched.
std::string MemoryHtml(const HloModule& module, const MemoryAnalysis& memory, const MemoryPageHead& head) {
  PageTexts texts;
  const std::string columns = MemoryPageData(module, memory, &texts);
  const std::string about = absl::StrCat(EscapeHtml(memory.target.name()), memory.target.is_guess ? " (guessed)" : "",
                                         ", ", Count(static_cast<int64_t>(memory.buffers.size()), "buffer"), ", ",
                                         Count(static_cast<int64_t>(memory.entry_sequence().size()), "step"));
  return absl::StrReplaceAll(kMemoryPageHtml,
                             {{"{{style}}", kMemoryPageCss},
                              {"{{script}}", absl::StrCat(kPageCommonJs, kMemoryPageJs, kMemoryPageMainJs)},
                              {"{{explorer}}", kMemoryExplorerHtml},
                              {"{{module}}", EscapeHtml(module.name())},
                              {"{{about}}", about},
                              {"{{file}}", FileText(head)},
                              {"{{notes}}", absl::StrCat(GlobalNoteHtml(module), Notes(memory, head.xla_file))},
                              {"{{totals_head}}", Head(kTotalsColumns)},
                              {"{{totals}}", TotalsRows(memory)},
                              {"{{padding_head}}", Head(kPaddingColumns)},
                              {"{{padding}}", PaddingRows(memory)},
                              {"{{data}}", absl::StrCat("{", columns, "\"texts\":[", texts.json(), "]}")}});
}

}  // namespace kashi::cli
