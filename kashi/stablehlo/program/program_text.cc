#include "kashi/stablehlo/program/program_text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/stablehlo/program/program.h"
#include "kashi/stablehlo/program/type_text.h"

namespace kashi::stablehlo {
namespace {

void AppendAttribute(const Attribute& attribute, std::string* text);

void AppendQuoted(absl::string_view raw, std::string* text) {
  absl::StrAppend(text, "\"", absl::CHexEscape(raw), "\"");
}

void AppendFields(absl::Span<const NamedAttribute> fields, std::string* text) {
  text->append("{");
  for (size_t i = 0; i < fields.size(); ++i) {
    absl::StrAppend(text, i == 0 ? "" : ", ", fields[i].name, " = ");
    AppendAttribute(*fields[i].value, text);
  }
  text->append("}");
}

void AppendTyped(absl::string_view value, const Type* type, std::string* text) {
  text->append(value.data(), value.size());
  if (type != nullptr) absl::StrAppend(text, " : ", TypeText(*type));
}

void AppendAttribute(const Attribute& attribute, std::string* text) {
  switch (attribute.kind) {
    case Attribute::Kind::kUnit:
      return void(text->append("unit"));
    case Attribute::Kind::kBool:
      return void(text->append(attribute.integer != 0 ? "true" : "false"));
    case Attribute::Kind::kInteger:
      return AppendTyped(absl::StrCat(attribute.integer), attribute.type, text);
    case Attribute::Kind::kFloat:
      return AppendTyped(absl::StrCat("0x", absl::Hex(attribute.integer)), attribute.type, text);
    case Attribute::Kind::kString:
      return AppendQuoted(attribute.text, text);
    case Attribute::Kind::kSymbol:
      return absl::StrAppend(text, "@", attribute.text);
    case Attribute::Kind::kEnum:
    case Attribute::Kind::kOther:
      return absl::StrAppend(text, "#", attribute.text);
    case Attribute::Kind::kType:
      return absl::StrAppend(text, TypeText(*attribute.type));
    case Attribute::Kind::kArray:
      text->append("[");
      for (size_t i = 0; i < attribute.elements.size(); ++i) {
        if (i > 0) text->append(", ");
        AppendAttribute(*attribute.elements[i], text);
      }
      return void(text->append("]"));
    case Attribute::Kind::kDictionary:
      return AppendFields(attribute.fields, text);
    case Attribute::Kind::kTensor:
      return AppendTyped(
          absl::StrCat("dense<", attribute.is_splat ? "splat " : "", absl::BytesToHexString(attribute.text), ">"),
          attribute.type, text);
    case Attribute::Kind::kRecord:
      absl::StrAppend(text, "#", attribute.text);
      return AppendFields(attribute.fields, text);
  }
}

class ProgramWriter {
 public:
  std::string Write(const Operation& module) {
    AppendOperation(module, 0);
    return std::move(text_);
  }

 private:
  void AppendIndent(size_t depth) { text_.append(2 * depth, ' '); }
  void AppendValueNames(absl::Span<Value> values);
  void AppendSignature(const Operation& operation);
  void AppendRegion(const Region& region, size_t depth);
  void AppendBlock(const Block& block, size_t depth);
  void AppendOperation(const Operation& operation, size_t depth);

  std::string text_;
  int64_t next_ = 0;
};

void ProgramWriter::AppendValueNames(absl::Span<Value> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    values[i].number = next_++;
    absl::StrAppend(&text_, i == 0 ? "" : ", ", "%", values[i].number);
  }
}

void ProgramWriter::AppendSignature(const Operation& operation) {
  text_.append(" : (");
  for (size_t i = 0; i < operation.operands.size(); ++i) {
    absl::StrAppend(&text_, i == 0 ? "" : ", ", TypeText(*operation.operands[i]->type));
  }
  text_.append(") -> (");
  for (size_t i = 0; i < operation.results.size(); ++i) {
    absl::StrAppend(&text_, i == 0 ? "" : ", ", TypeText(*operation.results[i].type));
  }
  text_.append(")\n");
}

void ProgramWriter::AppendBlock(const Block& block, size_t depth) {
  AppendIndent(depth);
  text_.append("^(");
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    if (i > 0) text_.append(", ");
    AppendValueNames(block.arguments.subspan(i, 1));
    absl::StrAppend(&text_, ": ", TypeText(*block.arguments[i].type));
  }
  text_.append("):\n");
  for (const Operation* operation : block.operations) AppendOperation(*operation, depth + 1);
}

void ProgramWriter::AppendRegion(const Region& region, size_t depth) {
  text_.append(" {\n");
  for (const Block& block : region.blocks) AppendBlock(block, depth);
  AppendIndent(depth);
  text_.append("}");
}

void ProgramWriter::AppendOperation(const Operation& operation, size_t depth) {
  AppendIndent(depth);
  AppendValueNames(operation.results);
  absl::StrAppend(&text_, operation.results.empty() ? "" : " = ", "\"", operation.name, "\"(");
  for (size_t i = 0; i < operation.operands.size(); ++i) {
    absl::StrAppend(&text_, i == 0 ? "" : ", ", "%", operation.operands[i]->number);
  }
  text_.append(")");
  if (!operation.attributes.empty()) {
    text_.append(" <");
    AppendFields(operation.attributes, &text_);
    text_.append(">");
  }
  for (const Region& region : operation.regions) AppendRegion(region, depth);
  AppendSignature(operation);
}

void AppendLocation(const Location& location, std::string* text) {
  if (location.kind == Location::Kind::kUnknown) return void(text->append("unknown"));
  if (location.kind == Location::Kind::kCallSite) text->append("callsite");
  if (location.kind == Location::Kind::kFused) text->append("fused");
  if (!location.name.empty() || location.kind == Location::Kind::kName) AppendQuoted(location.name, text);
  if (location.kind == Location::Kind::kFile) {
    absl::StrAppend(text, ":", location.line, ":", location.column);
    if (location.end_line != 0) absl::StrAppend(text, " to ", location.end_line, ":", location.end_column);
  }
  if (location.children.empty()) return;
  text->append("(");
  for (size_t i = 0; i < location.children.size(); ++i) {
    if (i > 0) text->append(location.kind == Location::Kind::kCallSite ? " at " : ", ");
    AppendLocation(*location.children[i], text);
  }
  text->append(")");
}

}  // namespace

std::string ProgramText(const Program& program) { return ProgramWriter().Write(*program.module); }

std::string LocationText(const Location& location) {
  std::string text = "loc(";
  AppendLocation(location, &text);
  return text.append(")");
}

}  // namespace kashi::stablehlo
