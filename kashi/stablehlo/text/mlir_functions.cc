// module and func.func.
#include "absl/strings/str_cat.h"
#include "kashi/stablehlo/text/pretty_forms.h"

namespace kashi::stablehlo {
namespace {

// {…} of an argument or a result; an empty dictionary if there is none.
const Attribute* ReadArgumentAttributes(MlirReader* reader, bool* any) {
  if (reader->cursor().Peek() != '{') return reader->NewAttribute(Attribute::Kind::kDictionary);
  *any = true;
  return reader->ReadAttribute();
}

struct Signature {
  MlirReader::ArgumentList arguments;
  absl::InlinedVector<const Type*, 4> types;  // inputs, then results
  absl::InlinedVector<const Attribute*, 4> argument_attributes;
  absl::InlinedVector<const Attribute*, 4> result_attributes;
  bool any_argument = false;
  bool any_result = false;
};

bool ReadParameters(MlirReader* reader, Signature* signature) {
  TextCursor& cursor = reader->cursor();
  if (!reader->Expect('(', "before the arguments")) return false;
  if (cursor.Match(')')) return true;
  do {
    MlirReader::NamedArgument argument;
    if (reader->AtValue() ? !reader->ReadArgument(&argument) : (argument.type = reader->ReadType()) == nullptr)
      return false;
    const Attribute* attributes = ReadArgumentAttributes(reader, &signature->any_argument);
    if (attributes == nullptr || !reader->ReadOptionalLocation(&argument.location)) return false;
    signature->arguments.push_back(argument);
    signature->types.push_back(argument.type);
    signature->argument_attributes.push_back(attributes);
  } while (cursor.Match(','));
  return reader->Expect(')', "after the arguments");
}

bool ReadResults(MlirReader* reader, Signature* signature) {
  TextCursor& cursor = reader->cursor();
  if (!cursor.Match("->")) return true;
  const bool parenthesis = cursor.Match('(');
  if (parenthesis && cursor.Match(')')) return true;
  do {
    const Type* type = reader->ReadType();
    const Attribute* attributes = type == nullptr ? nullptr
                                  : parenthesis   ? ReadArgumentAttributes(reader, &signature->any_result)
                                                  : reader->NewAttribute(Attribute::Kind::kDictionary);
    if (attributes == nullptr) return false;
    signature->types.push_back(type);
    signature->result_attributes.push_back(attributes);
  } while (parenthesis && cursor.Match(','));
  return !parenthesis || reader->Expect(')', "after the results");
}

}  // namespace

bool ReadModule(MlirReader* reader, OperationDraft* draft) {
  if (reader->cursor().Peek() == '@') {
    const Attribute* name = reader->ReadSymbol();
    if (name == nullptr) return false;
    reader->AddAttribute("sym_name", reader->NewText(Attribute::Kind::kString, name->text), draft);
  }
  if (reader->cursor().MatchWord("attributes") && !reader->ReadOptionalAttributes(draft)) return false;
  if (!reader->ReadRegion({}, draft, true)) return false;
  if (draft->regions[0].blocks.empty()) draft->regions[0].blocks = reader->program().NewArray<Block>(1);
  return true;
}

bool ReadFunction(MlirReader* reader, OperationDraft* draft) {
  TextCursor& cursor = reader->cursor();
  for (const absl::string_view visibility : {"public", "private", "nested"}) {
    if (!cursor.MatchWord(visibility)) continue;
    reader->AddAttribute("sym_visibility", reader->NewText(Attribute::Kind::kString, visibility), draft);
  }
  const Attribute* name = reader->ReadSymbol();
  if (name == nullptr) return false;
  reader->AddAttribute("sym_name", reader->NewText(Attribute::Kind::kString, name->text), draft);
  Signature signature;
  if (!ReadParameters(reader, &signature) || !ReadResults(reader, &signature)) return false;
  Type* type = reader->program().New<Type>();
  type->kind = Type::Kind::kFunction;
  type->input_count = static_cast<int64_t>(signature.arguments.size());
  type->types = reader->program().CopyArray<const Type*>(signature.types);
  Attribute* function_type = reader->NewAttribute(Attribute::Kind::kType);
  function_type->type = type;
  reader->AddAttribute("function_type", function_type, draft);
  if (signature.any_argument) reader->AddAttribute("arg_attrs", reader->NewArray(signature.argument_attributes), draft);
  if (signature.any_result) reader->AddAttribute("res_attrs", reader->NewArray(signature.result_attributes), draft);
  if (cursor.MatchWord("attributes") && !reader->ReadOptionalAttributes(draft)) return false;
  if (cursor.Peek() == '{') return reader->ReadRegion(signature.arguments, draft, true);
  draft->regions.emplace_back();  // a declaration
  return true;
}

}  // namespace kashi::stablehlo
