#include "kashi/editor/text_index.h"

#include <algorithm>

#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/hlo/text/text_scanner.h"

namespace kashi::editor {
namespace {

// The values of an attribute that are names.
enum class NamesIn { kNone, kComputations, kInstructions };

// Whether the attribute's value names computations, by the codecs of attributes.def. Control predecessors are an
// attribute of all instructions, and not in that table.
NamesIn NamesInAttribute(absl::string_view name) {
  static const auto* const computations = [] {
    auto* names = new absl::flat_hash_map<absl::string_view, bool>();
    enum class Codec {
#define KASHI_CODEC(codec) k##codec,
#include "kashi/hlo/ir/codecs.def"
    };
#define KASHI_ATTRIBUTE(identifier, text, codec, field, argument) \
  if (Codec::k##codec == Codec::kComputation || Codec::k##codec == Codec::kComputationList) names->emplace(text, true);
#include "kashi/hlo/ir/attributes.def"
    return names;
  }();
  if (name == "control-predecessors") return NamesIn::kInstructions;
  return computations->contains(name) ? NamesIn::kComputations : NamesIn::kNone;
}

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

bool operator==(const TextRange& a, const TextRange& b) { return a.begin == b.begin && a.end == b.end; }

// ---- Reading --------------------------------------------------------------------------------------------------------

// One pass over the text. Each Read… function consumes what it is named after, or nothing and returns false.
class TextIndexer {
 public:
  explicit TextIndexer(TextIndex* index) : index_(*index), scan_(index->text_) {}

  void Run() {
    while (!scan_.AtEnd()) {
      if (!ReadModuleLine() && !ReadComputation()) SkipToken();
    }
  }

 private:
  // A string, a bracket with all in it, an identifier, or a byte.
  void SkipToken() {
    if (scan_.AtEnd() || SkipQuotedOrBracketed() || !scan_.ReadIdentHere().empty()) return;
    SkipByte();
  }
  // Each that is not closed costs a look at the rest of the text. After some of them they are bytes like others, so
  // that the work stays linear.
  bool SkipQuotedOrBracketed() {
    constexpr int kMostUnclosed = 50;
    if (absl::string_view("\"'([{").find(scan_.PeekHere()) == absl::string_view::npos) return false;
    if (unclosed_ >= kMostUnclosed) return false;
    if (!scan_.ReadQuoted().empty() || !scan_.ReadBracketed().empty()) return true;
    ++unclosed_;
    return false;
  }
  void SkipByte() { scan_.Seek(std::min(scan_.offset() + 1, scan_.text().size())); }
  bool AtEndOfText() const { return scan_.offset() >= scan_.text().size(); }

  TextRange ReadIdentRange() {
    scan_.SkipSpace();
    const size_t begin = scan_.offset();
    scan_.ReadIdentHere();
    return {begin, scan_.offset()};
  }
  // Empty if there is no name.
  TextRange ReadNameRange() {
    if (scan_.Peek() == '%') SkipByte();
    const size_t begin = scan_.offset();
    scan_.ReadIdentHere();
    return {begin, scan_.offset()};
  }

  // `HloModule name, attributes` has brackets and names that are no computations.
  bool ReadModuleLine() {
    if (scan_.PeekIdent() != "HloModule") return false;
    while (!AtEndOfText() && scan_.PeekHere() != '\n') {
      if (IsSpace(scan_.PeekHere())) {
        SkipByte();
      } else {
        SkipToken();
      }
    }
    return true;
  }

  // [ENTRY] name [(parameters) -> shape] { instructions }
  bool ReadComputation() {
    scan_.SkipSpace();
    const size_t begin = scan_.offset();
    IndexedComputation computation;
    if (scan_.PeekIdent() == "ENTRY") {
      scan_.ReadIdent();
      computation.is_entry = true;
    }
    computation.name = ReadNameRange();
    const char next = scan_.Peek();
    if (computation.name.begin == computation.name.end || (next != '(' && next != '{')) {
      scan_.Seek(begin);
      return false;
    }
    const auto number = static_cast<int32_t>(index_.computations_.size());
    AddMention(computation.name, -1);
    if (next == '(') ReadSignature(number);
    if (!scan_.Match('{')) return true;
    index_.computation_numbers_[index_.TextOf(computation.name)] = number;
    index_.computations_.push_back(computation);
    index_.instruction_numbers_.emplace_back();
    while (scan_.Peek() != '}' && !scan_.AtEnd()) {
      if (!ReadInstruction(number)) SkipToken();
    }
    scan_.Match('}');
    index_.computations_[number].whole = {begin, scan_.offset()};
    return true;
  }

  // (name: shape, …) -> shape
  void ReadSignature(int32_t computation) {
    scan_.SkipSpace();
    const size_t begin = scan_.offset();
    if (!SkipQuotedOrBracketed()) return;
    const size_t end = scan_.offset();
    scan_.Seek(begin + 1);
    while (scan_.offset() + 1 < end) {
      const TextRange name = ReadNameRange();
      if (name.begin < name.end && scan_.PeekHere() == ':') AddMention(name, computation);
      SkipToComma(end - 1);
    }
    scan_.Seek(end);
    if (scan_.Match("->")) SkipShape();
  }
  // To the byte behind the next comma outside brackets, or to `end`.
  void SkipToComma(size_t end) {
    while (scan_.offset() < end && scan_.Peek() != ',') SkipToken();
    scan_.Seek(std::min(scan_.offset() + 1, end));
  }

  // A type with sizes and a layout that touches it, or a tuple.
  void SkipShape() {
    if (scan_.Peek() == '(') {
      SkipQuotedOrBracketed();
      return;
    }
    scan_.ReadIdent();
    while (scan_.PeekHere() == '[' || scan_.PeekHere() == '{') {
      if (!SkipQuotedOrBracketed()) return;
    }
  }

  // [ROOT] name = [shape] opcode(operands), attributes
  bool ReadInstruction(int32_t computation) {
    scan_.SkipSpace();
    const size_t begin = scan_.offset();
    IndexedInstruction instruction;
    if (scan_.PeekIdent() == "ROOT") {
      scan_.ReadIdent();
      instruction.is_root = true;
    }
    instruction.name = ReadNameRange();
    if (instruction.name.begin == instruction.name.end || !scan_.Match('=')) {
      scan_.Seek(begin);
      return false;
    }
    AddMention(instruction.name, computation);
    ReadOperation(computation, &instruction);
    instruction.whole = {begin, scan_.offset()};
    auto& instructions = index_.computations_[computation].instructions;
    index_.instruction_numbers_[computation][index_.TextOf(instruction.name)] =
        static_cast<int32_t>(instructions.size());
    instructions.push_back(instruction);
    return true;
  }

  // Whether an instruction's name and its `=` are next. Consumes nothing.
  bool BeginsInstruction() {
    const size_t begin = scan_.offset();
    if (scan_.PeekIdent() == "ROOT") scan_.ReadIdent();
    const TextRange name = ReadNameRange();
    const bool begins = name.begin < name.end && scan_.Match('=');
    scan_.Seek(begin);
    return begins;
  }

  void ReadOperation(int32_t computation, IndexedInstruction* instruction) {
    scan_.SkipSpace();
    const size_t begin = scan_.offset();
    instruction->opcode = ReadIdentRange();
    if (scan_.PeekHere() != '(' || instruction->opcode.begin == instruction->opcode.end) {
      scan_.Seek(begin);
      SkipShape();
      instruction->shape = {begin, scan_.offset()};
      instruction->opcode = ReadIdentRange();
    }
    ReadOperands(computation, index_.TextOf(instruction->opcode));
    while (scan_.Match(',')) ReadAttribute(computation);
  }

  // The name of an operand follows its shape, if that is written.
  void ReadOperands(int32_t computation, absl::string_view opcode) {
    if (scan_.Peek() != '(') return;
    const bool has_literal =
        opcode == HloOpcodeString(HloOpcode::kConstant) || opcode == HloOpcodeString(HloOpcode::kParameter);
    if (has_literal && SkipQuotedOrBracketed()) return;
    SkipByte();
    TextRange last;
    const auto add_last = [&] {
      if (last.begin < last.end) AddMention(last, computation);
      last = TextRange();
    };
    while (!scan_.AtEnd() && scan_.Peek() != ')' && scan_.Peek() != '}') {
      if (scan_.Match(',')) {
        add_last();
      } else if (const TextRange name = ReadNameRange(); name.begin < name.end) {
        last = name;
      } else {
        SkipToken();
      }
    }
    add_last();
    scan_.Match(')');
  }

  // name=value. A value ends with its line, or before a comma, a closing brace or the next instruction.
  void ReadAttribute(int32_t computation) {
    const absl::string_view name = index_.TextOf(ReadIdentRange());
    if (!scan_.Match('=')) return;
    const NamesIn names = NamesInAttribute(name);
    const int32_t scope = names == NamesIn::kInstructions ? computation : -1;
    scan_.SkipSpace();
    if (names != NamesIn::kNone && ReadNames(scope)) return;
    while (!AtEndOfText() && scan_.PeekHere() != '\n' && scan_.PeekHere() != ',' && scan_.PeekHere() != '}') {
      if (!IsSpace(scan_.PeekHere())) {
        SkipToken();
      } else if (SkipByte(); BeginsInstruction()) {
        return;
      }
    }
  }
  // name, or {name, …}
  bool ReadNames(int32_t scope) {
    const size_t begin = scan_.offset();
    const bool is_list = scan_.Match('{');
    do {
      const TextRange name = ReadNameRange();
      if (name.begin == name.end) {
        scan_.Seek(begin);
        return false;
      }
      AddMention(name, scope);
    } while (is_list && scan_.Match(','));
    if (is_list) scan_.Match('}');
    return true;
  }

  void AddMention(TextRange range, int32_t scope) { index_.mentions_.push_back({range, scope}); }

  TextIndex& index_;
  hlo::TextScanner scan_;
  int unclosed_ = 0;
};

TextIndex::TextIndex(absl::string_view text) : text_(text) {
  TextIndexer(this).Run();
  std::stable_sort(mentions_.begin(), mentions_.end(),
                   [](const Mention& a, const Mention& b) { return a.range.begin < b.range.begin; });
}

// ---- Questions ------------------------------------------------------------------------------------------------------

const TextIndex::Mention* TextIndex::MentionAt(size_t offset) const {
  // The last that begins at the offset or before it: names do not overlap.
  auto next = std::upper_bound(mentions_.begin(), mentions_.end(), offset,
                               [](size_t at, const Mention& mention) { return at < mention.range.begin; });
  if (next == mentions_.begin()) return nullptr;
  const Mention& mention = *--next;
  return mention.range.Contains(offset) ? &mention : nullptr;
}

std::optional<TextIndex::Name> TextIndex::Resolve(const Mention& mention) const {
  const absl::string_view text = TextOf(mention.range);
  if (mention.scope < 0) {
    const auto found = computation_numbers_.find(text);
    if (found == computation_numbers_.end()) return std::nullopt;
    return Name{found->second, -1};
  }
  if (static_cast<size_t>(mention.scope) >= instruction_numbers_.size()) return std::nullopt;
  const auto found = instruction_numbers_[mention.scope].find(text);
  if (found == instruction_numbers_[mention.scope].end()) return std::nullopt;
  return Name{mention.scope, found->second};
}

std::optional<TextIndex::Name> TextIndex::NameAt(size_t offset) const {
  const Mention* const mention = MentionAt(offset);
  return mention == nullptr ? std::nullopt : Resolve(*mention);
}

std::optional<TextRange> TextIndex::RangeAt(size_t offset) const {
  const Mention* const mention = MentionAt(offset);
  if (mention == nullptr) return std::nullopt;
  return mention->range;
}

TextRange TextIndex::DefinitionOf(Name name) const {
  const IndexedComputation& computation = computations_[name.computation];
  return name.instruction < 0 ? computation.name : computation.instructions[name.instruction].name;
}

std::vector<TextRange> TextIndex::PlacesOf(Name name) const {
  std::vector<TextRange> places;
  const absl::string_view text = TextOf(DefinitionOf(name));
  for (const Mention& mention : mentions_) {
    if (TextOf(mention.range) != text) continue;
    const std::optional<Name> resolved = Resolve(mention);
    if (resolved.has_value() && *resolved == name) places.push_back(mention.range);
  }
  return places;
}

bool TextIndex::IsTaken(Name name, absl::string_view text) const {
  const auto& taken = name.instruction < 0 ? computation_numbers_ : instruction_numbers_[name.computation];
  return text != TextOf(DefinitionOf(name)) && taken.contains(text);
}

int32_t TextIndex::ComputationAt(size_t offset) const {
  auto next = std::upper_bound(computations_.begin(), computations_.end(), offset,
                               [](size_t at, const IndexedComputation& c) { return at < c.whole.begin; });
  if (next == computations_.begin()) return -1;
  --next;
  return next->whole.Contains(offset) ? static_cast<int32_t>(next - computations_.begin()) : -1;
}

}  // namespace kashi::editor
