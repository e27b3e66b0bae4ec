#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/text/hlo_reader.h"
#include "kashi/literal/literal_parser.h"

namespace kashi::hlo {
namespace {

// Operands that are instructions themselves, one within the other. XLA dies of some thousands.
constexpr int kMaxNestedOperands = 500;

}  // namespace

// instruction = ["ROOT"] NAME "=" right side
bool HloReader::ReadInstruction() {
  Pending pending;
  scan_.SkipSpace();
  bool is_root = false;
  if (scan_.PeekHere() == 'R' && scan_.PeekIdent() == "ROOT") {
    is_root = true;
    scan_.ReadIdent();
    scan_.SkipSpace();
  }
  pending.begin = scan_.offset();
  pending.place = PlaceOf(pending.begin);
  pending.name = ReadName();
  if (pending.name.empty()) return false;
  const size_t name_end = scan_.offset();
  Scope& scope = *scopes_.back();
  const auto failed = [&] {
    // Uses of it are not reported as further errors.
    scope.names.try_emplace(pending.name, nullptr);
    return false;
  };
  if (!scan_.Match('=')) {
    ErrorHere("'=' in instruction");
    return failed();
  }
  if (!ReadRightSide(&pending, /*nested=*/false)) return failed();
  if (!NameIsLegal(pending.name, pending.begin)) return failed();
  HloInstruction* instruction = MakeInstruction(&pending);
  if (instruction == nullptr) return failed();
  const auto [known, is_new] = scopes_.back()->names.emplace(pending.name, instruction);
  if (!is_new) {
    std::string message = absl::StrCat("instruction already exists: ", pending.name);
    if (known->second != nullptr) {
      const HloTextPlace place = known->second->text_place();
      absl::StrAppend(&message, "; instruction previously defined here: ", place.line, ":", place.column);
    }
    return Error(pending.begin, name_end, std::move(message));
  }
  scope.last = instruction;
  if (is_root) {
    if (scope.root != nullptr) return Error(pending.begin, name_end, "expects only one ROOT in a computation");
    scope.root = instruction;
  }
  return true;
}

// [shape] opcode(operands){, attribute=value}
bool HloReader::ReadRightSide(Pending* pending, bool nested) {
  if (MayBeShape()) {
    if (!ReadShape(&pending->shape)) return false;
    pending->has_shape = true;
  }
  if (!ReadOpcode(pending)) return false;
  if (!pending->has_shape &&
      (pending->wrapped_opcode.has_value() || !GetHloOpcodeInfo(pending->opcode).Has(HloOpcodeFlags::kInferable))) {
    return Error(pending->opcode_begin, TokenEnd(pending->opcode_begin),
                 absl::StrCat("cannot infer shape for opcode: ", HloOpcodeString(pending->opcode)));
  }
  const HloOpcode what = pending->wrapped_opcode.value_or(pending->opcode);
  if (what == HloOpcode::kParameter) {
    if (!ReadParameterNumber(pending)) return false;
  } else if (what == HloOpcode::kConstant) {
    if (!ReadConstant(pending)) return false;
  } else {
    if (!ReadOperands(pending)) return false;
    pending->has_operands = true;
    // For the short form, CheckArity runs when the wrapped operation is made.
    const bool is_sugar = pending->wrapped_opcode.has_value() && pending->opcode == HloOpcode::kAsyncStart;
    if (!is_sugar && !CheckArity(pending)) return false;
  }
  if (!nested && !ReadAttributes(pending)) return false;
  return CheckRequired(*pending);
}

// `add`, or `add-start` and the like if that is not an opcode itself: the short form of an async-start of an add.
bool HloReader::ReadOpcode(Pending* pending) {
  scan_.SkipSpace();
  pending->opcode_begin = scan_.offset();
  const absl::string_view word = scan_.ReadIdentHere();
  if (word.empty()) return ErrorHere("opcode");
  if (const std::optional<HloOpcode> opcode = FindHloOpcode(word)) {
    pending->opcode = *opcode;
    return true;
  }
  constexpr std::pair<absl::string_view, HloOpcode> kSteps[] = {
      {"-start", HloOpcode::kAsyncStart}, {"-update", HloOpcode::kAsyncUpdate}, {"-done", HloOpcode::kAsyncDone}};
  for (const auto& [suffix, opcode] : kSteps) {
    absl::string_view wrapped = word;
    if (!absl::ConsumeSuffix(&wrapped, suffix)) continue;
    // Operations with opcodes for their halves (send, copy, all-reduce …) have no short form.
    if (FindHloOpcode(absl::StrCat(wrapped, "-done")).has_value()) continue;
    if (std::optional<HloOpcode> found = FindHloOpcode(wrapped)) {
      pending->opcode = opcode;
      pending->wrapped_opcode = *found;
      return true;
    }
  }
  return Error(pending->opcode_begin, scan_.offset(),
               absl::StrCat("expects opcode but sees: ", word, ", error: Unknown opcode: ", word));
}

// ---- Shapes ---------------------------------------------------------------------------------------------------------

bool HloReader::MayBeShape() {
  if (scan_.Peek() == '(') return true;
  const absl::string_view word = scan_.PeekIdent();
  if (word.empty()) return false;
  const char behind = scan_.PeekHere(word.size());
  if (behind == '[') return true;
  if (behind == '(') return word == "b";
  if (word.size() > 16 || word == "tuple" || word == "buffer") return false;
  return primitive_util::IsPrimitiveTypeName(word);
}

// The text of the shape at the scanner, if its end is clear without parsing it: its brackets close, and no layout can
// follow.
absl::string_view HloReader::FindShapeText() {
  const absl::string_view text = scan_.text();
  const size_t begin = scan_.offset();
  size_t at = begin;
  if (text[at] == '(') {
    int depth = 0;
    for (; at < text.size(); ++at) {
      if (text[at] == '(') ++depth;
      if (text[at] == ')' && --depth == 0) return text.substr(begin, at + 1 - begin);
    }
    return absl::string_view();
  }
  while (at < text.size() && TextScanner::IsIdentByte(text[at])) ++at;
  if (at == text.size() || text[at] != '[') return absl::string_view();
  while (at < text.size() && text[at] != ']' && text[at] != '\n') ++at;
  if (at == text.size() || text[at] != ']') return absl::string_view();
  ++at;
  if (at < text.size() && text[at] == '{') {
    while (at < text.size() && text[at] != '}' && text[at] != '\n') ++at;
    if (at == text.size() || text[at] != '}') return absl::string_view();
    return text.substr(begin, at + 1 - begin);
  }
  // A brace after space may still begin a layout: if a number or a colon follows it.
  const auto skip_space = [&](size_t from) {
    while (from < text.size() && absl::ascii_isspace(text[from])) ++from;
    return from;
  };
  size_t next = skip_space(at);
  if (next < text.size() && text[next] == '{') next = skip_space(next + 1);
  const char behind = next < text.size() ? text[next] : '/';
  if (behind == '/' || behind == ':' || behind == '-' || absl::ascii_isdigit(behind)) return absl::string_view();
  return text.substr(begin, at - begin);
}

bool HloReader::ReadShape(SharedShape* shape) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  if (begin >= scan_.text().size()) return ErrorHere("shape");
  const absl::string_view guess = FindShapeText();
  if (!guess.empty()) {
    const auto found = shapes_.find(guess);
    if (found != shapes_.end()) {
      *shape = found->second;
      scan_.Seek(begin + guess.size());
      return true;
    }
  }
  array::Lexer lexer(scan_.text(), begin);
  ShapeParserOptions options;
  options.fill_missing_layouts = options_.fill_missing_layouts();
  const size_t diagnostics_before = diagnostics_.size();
  std::optional<Shape> parsed = ParseShapePrefix(&lexer, options, &diagnostics_);
  if (!parsed.has_value()) {
    ++errors_;
    return false;
  }
  scan_.Seek(lexer.previous_end());
  *shape = SharedShape(ShapeWithText(*std::move(parsed)));
  // A shape with a warning is not kept: it is read again each time, because a warning belongs to its place.
  if (scan_.Slice(begin) == guess && diagnostics_.size() == diagnostics_before) shapes_.emplace(guess, *shape);
  return true;
}

// ---- Operands -------------------------------------------------------------------------------------------------------

bool HloReader::ReadOperands(Pending* pending) {
  if (!scan_.Match('(')) return ErrorHere("'(' at the beginning of operands");
  if (scan_.Match(')')) return true;
  do {
    if (!ReadOperand(pending)) return false;
  } while (scan_.Match(','));
  if (!scan_.Match(')')) return ErrorHere("',' or ')' in operands");
  return true;
}

// Whether there is a `(` this number of bytes ahead, or after space from there.
bool HloReader::OpensParenthesis(size_t ahead) const {
  TextScanner scan(scan_.text());
  scan.Seek(scan_.offset() + ahead);
  return scan.Peek() == '(';
}

// operand = [shape] NAME | [shape] opcode(operands)
bool HloReader::ReadOperand(Pending* pending) {
  scan_.SkipSpace();
  Scope& scope = *scopes_.back();
  if (scan_.PeekHere() == '%' && !single_instruction_) {
    const size_t begin = scan_.offset();
    scan_.Seek(begin + 1);
    const auto found = scope.names.find(scan_.ReadIdentHere());
    if (found != scope.names.end()) {
      if (found->second == nullptr) return false;  // reported where it is defined
      pending->operands.push_back(found->second);
      return true;
    }
    scan_.Seek(begin);
  }

  const size_t begin = scan_.offset();
  SharedShape shape;
  const bool has_shape = MayBeShape();
  if (has_shape && !ReadShape(&shape)) return false;
  // XLA passes over an operand that is nothing, or only a shape; of a single instruction the shape is a parameter.
  if ((scan_.Peek() == ',' || scan_.Peek() == ')') && !(has_shape && single_instruction_)) {
    Warning(begin, scan_.offset(), "an operand is missing here");
    return true;
  }
  scan_.SkipSpace();
  const size_t name_begin = scan_.offset();
  const bool percent = scan_.PeekHere() == '%';
  if (single_instruction_) return ReadOperandOfSingleInstruction(pending, shape, has_shape);
  absl::string_view name = percent ? ReadName() : scan_.PeekIdent();
  if (percent && name.empty()) return false;
  const auto found = scope.names.find(name);
  if (found != scope.names.end() && (percent || !OpensParenthesis(name.size()))) {
    scan_.Seek(name_begin);
    if (ReadName().empty()) return false;
    if (found->second == nullptr) return false;
    if (has_shape && !ShapeUtil::Compatible(shape->shape(), found->second->shape())) {
      return Error(begin, scan_.offset(),
                   absl::StrCat("The declared operand shape ", ShapeUtil::HumanStringWithLayout(shape->shape()),
                                " is not compatible with the shape of the operand instruction ",
                                ShapeUtil::HumanStringWithLayout(found->second->shape()), "."));
    }
    pending->operands.push_back(found->second);
    return true;
  }
  scan_.Seek(name_begin);
  if (name.empty() || percent || !OpensParenthesis(name.size())) {
    if (name.empty()) return ErrorHere("operand");
    return Error(name_begin, name_begin + percent + name.size(), absl::StrCat("instruction does not exist: ", name));
  }

  Pending operand;
  operand.begin = begin;
  operand.place = PlaceOf(begin);
  operand.has_shape = has_shape;
  operand.shape = std::move(shape);
  return ReadNestedOperand(pending, &operand, name);
}

// An operand that is an instruction itself. If only the creation of the instruction fails, XLA continues without it.
bool HloReader::ReadNestedOperand(Pending* pending, Pending* operand, absl::string_view opcode) {
  if (++nesting_ > kMaxNestedOperands) {
    return Error(operand->begin, scan_.offset() + opcode.size(), "operands are nested too deep");
  }
  const size_t diagnostics_before = diagnostics_.size();
  const int64_t errors_before = errors_;
  if (MakeNestedOperand(pending, operand, opcode)) {
    --nesting_;
    return true;
  }
  if (!operand->has_operands || is_fatal_) return false;
  --nesting_;
  std::string why = diagnostics_.size() > diagnostics_before ? diagnostics_.back().message : "it is not valid";
  diagnostics_.resize(diagnostics_before);
  errors_ = errors_before;
  Warning(operand->begin, scan_.offset(), absl::StrCat("the operand is ignored, as in XLA: ", why));
  return true;
}

// Makes the instruction in the place of an operand. `name` is its opcode.
bool HloReader::MakeNestedOperand(Pending* pending, Pending* nested, absl::string_view name) {
  Pending& operand = *nested;
  if (!ReadRightSide(&operand, /*nested=*/true)) return false;
  const std::string anonymous = absl::StrCat(name, ".anon");
  std::string unique = anonymous;
  for (int64_t number = 1; !scopes_.back()->names.try_emplace(module_->arena()->Copy(unique), nullptr).second;
       ++number) {
    unique = absl::StrCat(anonymous, ".", number);
  }
  const auto entry = scopes_.back()->names.find(unique);
  operand.name = entry->first;
  HloInstruction* instruction = MakeInstruction(&operand);
  if (instruction == nullptr) return false;
  scopes_.back()->names[operand.name] = instruction;
  pending->operands.push_back(instruction);
  return true;
}

// For a text that is a single instruction: a new operand name becomes a parameter of the computation around it.
bool HloReader::ReadOperandOfSingleInstruction(Pending* pending, const SharedShape& shape, bool has_shape) {
  Scope& scope = *scopes_.back();
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  absl::string_view name;
  if (scan_.PeekHere() == '%' || TextScanner::IsIdentStart(scan_.PeekHere())) {
    name = ReadName();
    if (name.empty()) return false;
  }
  const auto found = name.empty() ? scope.names.end() : scope.names.find(name);
  if (found == scope.names.end()) {
    if (!has_shape) {
      return Error(
          begin, std::max(scan_.offset(), TokenEnd(begin)),
          absl::StrCat("cannot parse as an instruction name or as a nested instruction: an operand of a single "
                       "instruction needs a shape"));
    }
    const int64_t number = static_cast<int64_t>(scope.names.size());
    if (name.empty()) name = module_->arena()->Copy(absl::StrCat("_", number));
    HloFieldList fields;
    fields.Set<HloField::parameter_number>(number);
    HloInstruction* parameter = scope.computation->AddInArena(module_->arena(), HloOpcode::kParameter, shape, {},
                                                              std::move(fields), module_->arena()->Copy(name));
    parameter->set_text_place(PlaceOf(begin));
    scope.names.emplace(name, parameter);
    pending->operands.push_back(parameter);
    return true;
  }
  if (has_shape && !ShapeUtil::Compatible(shape->shape(), found->second->shape())) {
    return Error(begin, scan_.offset(), absl::StrCat("operand ", name, " had a different shape before"));
  }
  pending->operands.push_back(found->second);
  return true;
}

// Operands that XLA ignores are dropped.
bool HloReader::CheckArity(Pending* pending) {
  const int arity = GetHloOpcodeInfo(pending->opcode).arity;
  const int64_t count = static_cast<int64_t>(pending->operands.size());
  if (arity < 0 || count == arity || pending->opcode == HloOpcode::kRaggedAllToAll) return true;
  if (count > arity && (pending->opcode == HloOpcode::kDot || pending->is_wrapped)) {
    pending->operands.resize(arity);
    return true;
  }
  // The TPU compiler writes such steps for the sparse core; XLA's reader refuses them.
  if (count > arity && pending->opcode == HloOpcode::kAsyncUpdate && options_.keep_unknown_attributes()) {
    Warning(pending->opcode_begin, TokenEnd(pending->opcode_begin),
            absl::StrCat("async-update expects 1 operand, but has ", count, "; the others are kept unchanged"));
    return true;
  }
  return Error(pending->opcode_begin, std::max(scan_.offset(), pending->opcode_begin + 1),
               absl::StrCat("expects ", arity, " operands, but has ", count, " operands"));
}

bool HloReader::ReadParameterNumber(Pending* pending) {
  if (!scan_.Match('(')) return ErrorHere("'(' before parameter number");
  int64_t number = 0;
  const size_t begin = scan_.offset();
  if (!ReadIntValue(&number)) return false;
  if (number < 0) return Error(begin, scan_.offset(), "parameter number must be >= 0");
  if (!scan_.Match(')')) return ErrorHere("')' after parameter number");
  if (pending->wrapped_opcode.has_value()) {
    return Error(pending->opcode_begin, scan_.offset(), "a parameter cannot be asynchronous");
  }
  if (!scopes_.back()->parameter_numbers.insert(number).second) {
    return Error(begin, begin + absl::StrCat(number).size(), absl::StrCat("Duplicate parameter number ", number));
  }
  pending->fields.Set<HloField::parameter_number>(number);
  return true;
}

bool HloReader::ReadConstant(Pending* pending) {
  if (pending->wrapped_opcode.has_value()) {
    return Error(pending->opcode_begin, scan_.offset(), "a constant cannot be asynchronous");
  }
  if (!scan_.Match('(')) return ErrorHere("'(' before constant literal");
  array::Lexer lexer(scan_.text(), scan_.offset());
  LiteralParserOptions options;
  options.unlisted_bytes = &unlisted_bytes_;
  bool is_elided = false;
  options.is_elided = &is_elided;
  std::optional<Literal> literal = ParseLiteralPrefix(&lexer, pending->shape->shape(), options, &diagnostics_);
  if (!literal.has_value()) {
    ++errors_;
    return false;
  }
  scan_.Seek(lexer.previous_end());
  if (!scan_.Match(')')) return ErrorHere("')' after constant literal");
  // Uses the literal's shape: a constant is never dynamic.
  if (literal->shape() != pending->shape->shape()) pending->shape = SharedShape(ShapeWithText(literal->shape()));
  pending->fields.Set<HloField::literal>(is_elided ? SharedLiteral::Elided(*std::move(literal))
                                                   : SharedLiteral(*std::move(literal)));
  return true;
}

}  // namespace kashi::hlo
