// The attributes of operations as values of Python, and back. A value follows from the attribute's text (docs/ops.md):
//
//   true -> True    3 -> 3    {0,1} -> (0, 1)    {{0,1},{2,3}} -> ((0, 1), (2, 3))    "f" -> 'f'
//   to_apply=add -> a Computation, branch_computations={a, b} -> a tuple of them
//   all others, such as window={size=3x3} or direction=LT, are the text
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "arrays.h"
#include "kashi/hlo/attributes/string_escapes.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "module.h"

namespace kashi::python {
namespace {

// The codecs (codecs.def) whose values do not follow from their text alone.
enum class Codec {
#define KASHI_CODEC(name) k##name,
#include "kashi/hlo/ir/codecs.def"
};
Codec CodecOf(HloAttribute attribute) {
  static constexpr Codec kCodecs[] = {
#define KASHI_ATTRIBUTE(identifier, name, codec, ...) Codec::k##codec,
#include "kashi/hlo/ir/attributes.def"
  };
  return kCodecs[static_cast<size_t>(attribute)];
}

const HloOpcodeAttribute* FindAttribute(HloOpcode opcode, absl::string_view name) {
  for (const HloOpcodeAttribute& entry : GetHloOpcodeInfo(opcode).attributes) {
    if (HloAttributeName(entry.attribute) == name) return &entry;
  }
  return nullptr;
}

// The pieces of a text between `, ` outside of brackets and quotes.
std::vector<absl::string_view> SplitAtTop(absl::string_view text) {
  std::vector<absl::string_view> pieces;
  int64_t depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '(' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ')' || c == ']') {
      --depth;
    } else if (c == ',' && depth == 0 && i + 1 < text.size() && text[i + 1] == ' ') {
      pieces.push_back(text.substr(begin, i - begin));
      begin = i + 2;
    }
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

// `{0,1}` and `{{0,1},{2}}` as nested tuples; nullopt for any other text. At most two levels are written so.
std::optional<nb::tuple> NestedIntegers(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "{") || !absl::ConsumeSuffix(&text, "}")) return std::nullopt;
  nb::list outer, inner;
  bool nested = false;
  while (!text.empty()) {
    if (absl::ConsumePrefix(&text, "{")) {
      if (nested) return std::nullopt;
      nested = true;
      inner = nb::list();
    } else if (absl::ConsumePrefix(&text, "}")) {
      if (!nested) return std::nullopt;
      nested = false;
      outer.append(nb::tuple(inner));
    } else if (!absl::ConsumePrefix(&text, ",") && !absl::ConsumePrefix(&text, " ")) {
      const size_t end = std::min(text.find_first_of(",{} "), text.size());
      int64_t number = 0;
      if (!absl::SimpleAtoi(text.substr(0, end), &number)) return std::nullopt;
      (nested ? inner : outer).append(number);
      text.remove_prefix(end);
    }
  }
  if (nested) return std::nullopt;
  return nb::tuple(outer);
}

nb::object ComputationsNamed(const InstructionRef& instruction, absl::string_view text) {
  const bool is_list = absl::ConsumePrefix(&text, "{") && absl::ConsumeSuffix(&text, "}");
  nb::list found;
  for (absl::string_view name : SplitAtTop(text)) {
    absl::ConsumePrefix(&name, "%");
    for (const HloComputation* computation : instruction->called_computations()) {
      if (computation->name() != name) continue;
      found.append(nb::cast(RefTo(instruction.state(), computation)));
      break;
    }
  }
  if (is_list) return nb::tuple(found);
  return nb::len(found) == 1 ? nb::object(found[0]) : nb::object(nb::none());
}

nb::object ValueOf(const InstructionRef& instruction, HloAttribute attribute, absl::string_view text) {
  const Codec codec = CodecOf(attribute);
  if (codec == Codec::kComputation || codec == Codec::kComputationList) return ComputationsNamed(instruction, text);
  if (codec == Codec::kString && text.size() >= 2 && text.front() == '"') {
    std::string unescaped;
    if (hlo::CUnescapeTo(text.substr(1, text.size() - 2), &unescaped)) return ToStr(unescaped);
  }
  if (text == "true" || text == "false") return nb::bool_(text == "true");
  int64_t integer = 0;
  if (absl::SimpleAtoi(text, &integer)) return nb::int_(integer);
  double number = 0;
  if (codec == Codec::kFloat && absl::SimpleAtod(text, &number)) return nb::float_(number);
  if (std::optional<nb::tuple> numbers = NestedIntegers(text)) return *std::move(numbers);
  return ToStr(text);
}

// ---- From Python. -------------------------------------------------------------------------------------------------

std::string TextOfValue(Codec codec, nb::handle value, std::vector<HloComputation*>* called);

std::string TextOfSequence(Codec codec, nb::handle values, std::vector<HloComputation*>* called) {
  std::vector<std::string> texts;
  for (const nb::handle value : values) {
    const bool nests = nb::isinstance<nb::tuple>(value) || nb::isinstance<nb::list>(value);
    if (nests) {  // two levels at most
      std::vector<std::string> inner;
      for (const nb::handle number : value) inner.push_back(absl::StrCat(nb::cast<int64_t>(number)));
      texts.push_back(absl::StrCat("{", absl::StrJoin(inner, ","), "}"));
    } else {
      texts.push_back(TextOfValue(codec, value, called));
    }
  }
  return absl::StrCat("{", absl::StrJoin(texts, ","), "}");
}

std::string TextOfValue(Codec codec, nb::handle value, std::vector<HloComputation*>* called) {
  if (nb::isinstance<ComputationRef>(value)) {
    HloComputation* const computation = nb::cast<ComputationRef>(value).get();
    called->push_back(computation);
    return std::string(computation->name());
  }
  if (nb::isinstance<nb::tuple>(value) || nb::isinstance<nb::list>(value)) return TextOfSequence(codec, value, called);
  if (value.is(nb::handle(Py_True)) || value.is(nb::handle(Py_False))) {
    return value.is(nb::handle(Py_True)) ? "true" : "false";
  }
  const std::string text = ToBytes(nb::str(value));
  if (codec == Codec::kString) return absl::StrCat("\"", hlo::CEscaped(text), "\"");
  return text;
}

}  // namespace

nb::dict AttributesOf(const InstructionRef& instruction) {
  HloPrintOptions options = HloPrintOptions::ShortParsable();
  options.set_print_large_constants(false);
  const std::string text = instruction->ToString(options);
  nb::dict attributes;
  std::vector<absl::string_view> pieces = SplitAtTop(text);
  for (size_t i = 1; i < pieces.size(); ++i) {
    const size_t equal = pieces[i].find('=');
    if (equal == absl::string_view::npos) continue;
    const absl::string_view name = pieces[i].substr(0, equal);
    const HloOpcodeAttribute* const entry = FindAttribute(instruction->opcode(), name);
    if (entry == nullptr) continue;  // of any instruction, as metadata: it has a property of its own
    attributes[ToStr(name)] = ValueOf(instruction, entry->attribute, pieces[i].substr(equal + 1));
  }
  return attributes;
}

std::string AttributeText(HloOpcode opcode, const std::string& name, nb::handle value,
                          std::vector<HloComputation*>* called) {
  const HloOpcodeAttribute* const entry = FindAttribute(opcode, name);
  if (entry == nullptr) {
    ThrowTypeError(absl::StrCat(HloOpcodeString(opcode), " has no attribute `", name, "`"));
  }
  return absl::StrCat(name, "=", TextOfValue(CodecOf(entry->attribute), value, called));
}

}  // namespace kashi::python
