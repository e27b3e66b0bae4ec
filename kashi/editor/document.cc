#include "kashi/editor/document.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kashi/analysis/source_location.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/text.h"
#include "kashi/draw/shape_explanation.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/text/hlo_place.h"
#include "kashi/hlo/text/text_scanner.h"

namespace kashi::editor {

using base::Count;
namespace {

// A page that an editor shows beside the text has room for some lines.
constexpr size_t kMostLines = 40;
constexpr size_t kMostColumns = 300;

// At most kMostLines lines, and kMostColumns bytes of each.
std::string Shortened(absl::string_view text) {
  std::string result;
  size_t lines = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (++lines > kMostLines) return absl::StrCat(result, "…\n");
    absl::StrAppend(&result, text.substr(0, std::min(end, kMostColumns)), end > kMostColumns ? "…\n" : "\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string CodeBlock(absl::string_view language, absl::string_view text) {
  return absl::StrCat("```", language, "\n", base::Printable(Shortened(text)), "```\n");
}

std::string ShapeBlock(const Shape& shape) { return CodeBlock("", ExplainShape(shape)); }

std::string OpcodeMarkdown(HloOpcode opcode) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(opcode);
  std::string text = absl::StrCat("**", info.name, "**: ", info.doc, "\n");
  if (info.attributes.empty()) return text;
  absl::StrAppend(&text, "\nAttributes:");
  for (const HloOpcodeAttribute& entry : info.attributes) {
    absl::StrAppend(&text, " `", HloAttributeName(entry.attribute), "`",
                    entry.need == HloOpcodeAttribute::kRequired ? "" : " (optional)");
  }
  return text + "\n";
}

std::string InstructionMarkdown(const HloInstruction& instruction) {
  std::string text = CodeBlock("hlo", instruction.ToString());
  absl::StrAppend(&text, OpcodeMarkdown(instruction.opcode()), "\n", Count(instruction.user_count(), "user"));
  if (instruction.IsRoot()) absl::StrAppend(&text, ", the root of ", instruction.parent()->name());
  const SourceLocation source = GetSourceLocation(instruction);
  if (!source.op_name.empty()) absl::StrAppend(&text, "  \n`", base::Printable(source.op_name), "`");
  if (!source.file.empty()) absl::StrAppend(&text, "  \n", base::Printable(source.file), ":", source.line);
  return absl::StrCat(text, "\n\n", ShapeBlock(instruction.shape()));
}

std::string ComputationMarkdown(const HloComputation& computation) {
  std::string text = absl::StrCat("computation **", computation.name(), "**: ");
  absl::StrAppend(&text, Count(computation.instruction_count(), "instruction"), ", ");
  absl::StrAppend(&text, Count(computation.num_parameters(), "parameter"), "\n");
  return absl::StrCat(text, CodeBlock("hlo", computation.root_instruction()->ToString()));
}

bool IsNameInText(absl::string_view name) {
  hlo::TextScanner scan(name);
  return !name.empty() && scan.ReadIdentHere().size() == name.size();
}

// The line up to `offset`, cut into what decides which words fit there.
struct LineBefore {
  absl::string_view word;       // the identifier that ends at the offset
  absl::string_view operation;  // from behind the `=` of the instruction to the word; empty: there is none
  bool has_operation = false;
};

LineBefore SplitLine(absl::string_view text, size_t offset) {
  LineBefore line;
  const absl::string_view before = text.substr(0, offset);
  const size_t begin = before.rfind('\n') == absl::string_view::npos ? 0 : before.rfind('\n') + 1;
  size_t word = offset;
  while (word > begin && hlo::TextScanner::IsIdentByte(text[word - 1])) --word;
  line.word = before.substr(word);
  const absl::string_view rest = before.substr(begin, word - begin);
  const size_t equals = rest.find('=');
  line.has_operation = equals != absl::string_view::npos;
  if (line.has_operation) line.operation = rest.substr(equals + 1);
  return line;
}

// The place of a word in an operation, by the brackets before it.
enum class WordPlace { kOpcode, kOperand, kAttributeName, kAttributeValue };

// `operation`: " f32[2] add(" and so on. The parentheses of operands follow a letter, those of a tuple shape do not.
WordPlace PlaceInOperation(absl::string_view operation, absl::string_view* opcode) {
  int depth = 0;
  bool has_operands = false;
  for (size_t i = 0; i < operation.size(); ++i) {
    const char c = operation[i];
    if (c == '(' || c == '[' || c == '{') {
      if (c == '(' && depth == 0 && !has_operands && i > 0 && hlo::TextScanner::IsIdentByte(operation[i - 1])) {
        has_operands = true;
        size_t begin = i;
        while (begin > 0 && hlo::TextScanner::IsIdentByte(operation[begin - 1])) --begin;
        *opcode = operation.substr(begin, i - begin);
      }
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    }
  }
  if (!has_operands) return WordPlace::kOpcode;
  const size_t last = operation.find_last_not_of(" %");
  const char previous = last == absl::string_view::npos ? '\0' : operation[last];
  if (previous == '=' || (depth > 0 && absl::StrContains(operation, ")"))) return WordPlace::kAttributeValue;
  return depth > 0 ? WordPlace::kOperand : WordPlace::kAttributeName;
}

void AddOpcodes(absl::string_view word, std::vector<Completion>* completions) {
  for (uint32_t i = 0; i < HloOpcodeCount(); ++i) {
    const HloOpcodeInfo& info = GetHloOpcodeInfo(static_cast<HloOpcode>(i));
    if (!absl::StartsWith(info.name, word)) continue;
    completions->push_back({std::string(info.name), Completion::Kind::kOpcode, std::string(info.doc)});
  }
}

void AddAttributes(absl::string_view opcode, absl::string_view word, std::vector<Completion>* completions) {
  const std::optional<HloOpcode> found = FindHloOpcode(opcode);
  if (!found.has_value()) return;
  for (const HloOpcodeAttribute& entry : GetHloOpcodeInfo(*found).attributes) {
    const absl::string_view name = HloAttributeName(entry.attribute);
    if (!absl::StartsWith(name, word)) continue;
    completions->push_back({absl::StrCat(name, "="), Completion::Kind::kAttribute,
                            entry.need == HloOpcodeAttribute::kRequired ? "" : "optional"});
  }
}

}  // namespace

Document::Document(std::string name, std::string text, const VerifyFunction& verify)
    : name_(std::move(name)),
      text_(std::make_unique<const std::string>(std::move(text))),
      index_(*text_),
      positions_(*text_) {
  HloParserOptions options;
  options.set_source_name(name_);
  auto module = ParseAndReturnUnverifiedModule(*text_, HloModuleConfig(), options, &diagnostics_);
  if (module.ok()) {
    module_ = std::move(*module);
    AddFindings(verify(*module_));
  } else if (diagnostics_.empty()) {
    diagnostics_.push_back({Diagnostic::Severity::kError, 0, 0, std::string(module.status().message())});
  }
  absl::c_stable_sort(diagnostics_, [](const Diagnostic& a, const Diagnostic& b) { return a.begin < b.begin; });
}

void Document::AddFindings(const std::vector<HloFinding>& findings) {
  const SourceText source{name_, *text_};
  for (const HloFinding& finding : findings) {
    const std::string message = absl::StrCat("[", finding.rule, "] ", finding.message);
    std::optional<Diagnostic> diagnostic;
    if (finding.instruction != nullptr) diagnostic = DiagnosticAt(source, PlaceOf(*finding.instruction), message);
    if (!diagnostic.has_value()) {
      TextRange range;
      for (const IndexedComputation& computation : index_.computations()) {
        const bool is_it = finding.computation == nullptr
                               ? computation.is_entry
                               : index_.TextOf(computation.name) == finding.computation->name();
        if (is_it) range = computation.name;
      }
      diagnostic = Diagnostic{Diagnostic::Severity::kError, range.begin, range.end, message};
    }
    diagnostics_.push_back(*std::move(diagnostic));
  }
}

const HloComputation* Document::FindComputation(TextIndex::Name name) const {
  if (module_ == nullptr) return nullptr;
  return module_->GetComputationWithName(index_.TextOf(index_.computations()[name.computation].name));
}

const HloInstruction* Document::Find(TextIndex::Name name) const {
  const HloComputation* const computation = FindComputation(name);
  if (computation == nullptr || name.instruction < 0) return nullptr;
  return computation->GetInstructionWithName(index_.TextOf(index_.DefinitionOf(name)));
}

std::optional<TextIndex::Name> Document::InstructionAround(size_t offset) const {
  const int32_t number = index_.ComputationAt(offset);
  if (number < 0) return std::nullopt;
  const auto& instructions = index_.computations()[number].instructions;
  auto next = std::upper_bound(instructions.begin(), instructions.end(), offset,
                               [](size_t at, const IndexedInstruction& i) { return at < i.whole.begin; });
  if (next == instructions.begin() || !(--next)->whole.Contains(offset)) return std::nullopt;
  return TextIndex::Name{number, static_cast<int32_t>(next - instructions.begin())};
}

std::optional<Hover> Document::HoverOfOperation(size_t offset) const {
  const std::optional<TextIndex::Name> around = InstructionAround(offset);
  if (!around.has_value()) return std::nullopt;
  const IndexedInstruction& instruction = index_.computations()[around->computation].instructions[around->instruction];
  if (instruction.opcode.begin < instruction.opcode.end && instruction.opcode.Contains(offset)) {
    const std::optional<HloOpcode> opcode = FindHloOpcode(index_.TextOf(instruction.opcode));
    if (opcode.has_value()) return Hover{instruction.opcode, OpcodeMarkdown(*opcode)};
  }
  if (instruction.shape.begin < instruction.shape.end && instruction.shape.Contains(offset)) {
    const absl::StatusOr<Shape> shape = ParseShape(index_.TextOf(instruction.shape));
    if (shape.ok()) return Hover{instruction.shape, ShapeBlock(*shape)};
  }
  return std::nullopt;
}

std::optional<Hover> Document::HoverAt(size_t offset) const {
  const std::optional<TextIndex::Name> name = index_.NameAt(offset);
  if (!name.has_value()) return HoverOfOperation(offset);
  const TextRange range = *index_.RangeAt(offset);
  if (const HloInstruction* const instruction = Find(*name)) return Hover{range, InstructionMarkdown(*instruction)};
  if (name->instruction < 0) {
    const HloComputation* const computation = FindComputation(*name);
    if (computation == nullptr) return std::nullopt;
    return Hover{range, ComputationMarkdown(*computation)};
  }
  // Without a module: the line of the definition.
  const IndexedInstruction& definition = index_.computations()[name->computation].instructions[name->instruction];
  return Hover{range, CodeBlock("hlo", index_.TextOf(definition.whole))};
}

std::optional<TextRange> Document::DefinitionAt(size_t offset) const {
  const std::optional<TextIndex::Name> name = index_.NameAt(offset);
  if (!name.has_value()) return std::nullopt;
  return index_.DefinitionOf(*name);
}

std::vector<TextRange> Document::PlacesAt(size_t offset) const {
  const std::optional<TextIndex::Name> name = index_.NameAt(offset);
  if (!name.has_value()) return {};
  return index_.PlacesOf(*name);
}

std::vector<OutlineItem> Document::Outline() const {
  std::vector<OutlineItem> items;
  for (const IndexedComputation& computation : index_.computations()) {
    OutlineItem item;
    item.name = std::string(index_.TextOf(computation.name));
    item.detail = absl::StrCat(computation.is_entry ? "ENTRY, " : "",
                               Count(static_cast<int64_t>(computation.instructions.size()), "instruction"));
    item.whole = computation.whole;
    item.selection = computation.name;
    for (const IndexedInstruction& instruction : computation.instructions) {
      OutlineItem& child = item.children.emplace_back();
      child.name = std::string(index_.TextOf(instruction.name));
      const absl::string_view shape = index_.TextOf(instruction.shape);
      child.detail = absl::StrCat(shape.substr(0, kMostColumns), shape.empty() ? "" : " ",
                                  index_.TextOf(instruction.opcode), instruction.is_root ? ", root" : "");
      child.whole = instruction.whole;
      child.selection = instruction.name;
    }
    items.push_back(std::move(item));
  }
  return items;
}

std::vector<Completion> Document::CompletionsAt(size_t offset) const {
  std::vector<Completion> completions;
  const LineBefore line = SplitLine(*text_, std::min(offset, text_->size()));
  const int32_t computation = index_.ComputationAt(offset);
  if (!line.has_operation || computation < 0) return completions;
  absl::string_view opcode;
  const WordPlace place = PlaceInOperation(line.operation, &opcode);
  if (place == WordPlace::kOpcode) AddOpcodes(line.word, &completions);
  if (place == WordPlace::kAttributeName) AddAttributes(opcode, line.word, &completions);
  const auto add_name = [&](TextRange name, Completion::Kind kind, absl::string_view detail) {
    if (!absl::StartsWith(index_.TextOf(name), line.word) || name.end == offset) return;
    completions.push_back({std::string(index_.TextOf(name)), kind, std::string(detail.substr(0, kMostColumns))});
  };
  if (place == WordPlace::kOperand) {
    for (const IndexedInstruction& instruction : index_.computations()[computation].instructions) {
      if (instruction.whole.begin >= offset) break;
      add_name(instruction.name, Completion::Kind::kInstruction, index_.TextOf(instruction.shape));
    }
  }
  if (place == WordPlace::kAttributeValue) {
    for (const IndexedComputation& other : index_.computations()) {
      add_name(other.name, Completion::Kind::kComputation, other.is_entry ? "ENTRY" : "");
    }
  }
  return completions;
}

absl::StatusOr<std::vector<TextRange>> Document::Rename(size_t offset, absl::string_view name) const {
  if (absl::StartsWith(name, "%")) name.remove_prefix(1);
  const std::optional<TextIndex::Name> old = index_.NameAt(offset);
  if (!old.has_value()) return absl::InvalidArgumentError("no name of an instruction or a computation is here");
  if (!IsNameInText(name)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "`", name, "` is no name in HLO: letters, digits, `_`, `.` and `-`, beginning with a letter or `_`"));
  }
  if (index_.IsTaken(*old, name)) {
    return absl::InvalidArgumentError(absl::StrCat("`", name, "` is the name of another ",
                                                   old->instruction < 0 ? "computation" : "instruction here"));
  }
  return index_.PlacesOf(*old);
}

}  // namespace kashi::editor
