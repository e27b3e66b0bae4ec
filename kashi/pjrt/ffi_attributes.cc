#include "kashi/pjrt/ffi_attributes.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/program/attribute_access.h"
#include "kashi/stablehlo/text/text_reader.h"

namespace kashi::pjrt {
namespace {

using stablehlo::Attribute;

constexpr char kName[] = "config";

}  // namespace

// The text is an attribute of an empty module, so that the reader of StableHLO reads it.
absl::StatusOr<std::unique_ptr<FfiAttributes>> FfiAttributes::Parse(absl::string_view text) {
  std::unique_ptr<FfiAttributes> attributes(new FfiAttributes);
  const std::string module = absl::StrCat("module attributes {", kName, " = ", text.empty() ? "{}" : text, "} {}");
  KASHI_ASSIGN_OR_RETURN(const stablehlo::Program program, stablehlo::ReadText(module, "backend_config"));
  const Attribute* const dictionary = program.module->Find(kName);
  if (dictionary == nullptr || dictionary->kind != Attribute::Kind::kDictionary) {
    return InvalidArgument("the attributes of a call are a dictionary, not %s", text);
  }
  KASHI_ASSIGN_OR_RETURN(attributes->attrs_, attributes->ConvertFields(dictionary->fields));
  return attributes;
}

absl::StatusOr<const XLA_FFI_Attrs*> FfiAttributes::ConvertFields(absl::Span<const stablehlo::NamedAttribute> fields) {
  Dictionary& dictionary = dictionaries_.emplace_back();
  for (const stablehlo::NamedAttribute& field : fields) {
    KASHI_ASSIGN_OR_RETURN(const Entry entry, Convert(*field.value));
    const std::string& name = texts_.emplace_back(field.name);
    dictionary.types.push_back(entry.type);
    dictionary.values.push_back(entry.value);
    dictionary.spans.push_back({name.data(), name.size()});
  }
  for (XLA_FFI_ByteSpan& span : dictionary.spans) dictionary.names.push_back(&span);
  dictionary.attrs = {sizeof(XLA_FFI_Attrs),
                      nullptr,
                      static_cast<int64_t>(fields.size()),
                      dictionary.types.data(),
                      dictionary.names.data(),
                      dictionary.values.data()};
  return &dictionary.attrs;
}

absl::StatusOr<FfiAttributes::Entry> FfiAttributes::Convert(const Attribute& attribute) {
  switch (attribute.kind) {
    case Attribute::Kind::kBool:
    case Attribute::Kind::kInteger:
    case Attribute::Kind::kFloat:
      return ConvertScalar(attribute);
    case Attribute::Kind::kTensor:
      return ConvertTensor(attribute);
    case Attribute::Kind::kString:
    case Attribute::Kind::kSymbol: {
      const std::string& text = texts_.emplace_back(attribute.text);
      return Entry{XLA_FFI_AttrType_STRING, &strings_.emplace_back(XLA_FFI_ByteSpan{text.data(), text.size()})};
    }
    case Attribute::Kind::kDictionary: {
      KASHI_ASSIGN_OR_RETURN(const XLA_FFI_Attrs* const inner, ConvertFields(attribute.fields));
      return Entry{XLA_FFI_AttrType_DICTIONARY, const_cast<XLA_FFI_Attrs*>(inner)};
    }
    case Attribute::Kind::kArray: {
      // A dictionary whose names are the indices.
      std::vector<stablehlo::NamedAttribute> fields;
      std::deque<std::string> names;
      for (const Attribute* element : attribute.elements) {
        fields.push_back({names.emplace_back(absl::StrCat(fields.size())), element});
      }
      KASHI_ASSIGN_OR_RETURN(const XLA_FFI_Attrs* const inner, ConvertFields(fields));
      return Entry{XLA_FFI_AttrType_DICTIONARY, const_cast<XLA_FFI_Attrs*>(inner)};
    }
    default:
      return Unimplemented("an attribute of a call is a number, a list of numbers, a text or a dictionary");
  }
}

absl::StatusOr<FfiAttributes::Entry> FfiAttributes::ConvertScalar(const Attribute& attribute) {
  const bool is_bool = attribute.kind == Attribute::Kind::kBool;
  const PrimitiveType type = is_bool                                                 ? PRED
                             : attribute.type->kind == stablehlo::Type::Kind::kIndex ? S64
                                                                                     : attribute.type->element;
  const int width = primitive_util::ByteWidth(type);
  // `integer` holds the bits of all kinds; the low bytes are first.
  void* const value = KeepBytes(absl::string_view(reinterpret_cast<const char*>(&attribute.integer), width), 1);
  return Entry{XLA_FFI_AttrType_SCALAR, &scalars_.emplace_back(XLA_FFI_Scalar{static_cast<int>(type), value})};
}

absl::StatusOr<FfiAttributes::Entry> FfiAttributes::ConvertTensor(const Attribute& attribute) {
  const stablehlo::Type& tensor = *attribute.type;
  const stablehlo::Type& element = *tensor.types[0];
  const std::optional<int64_t> count = stablehlo::ElementCount(tensor);
  if (!count.has_value() || *count > stablehlo::kLargestList)
    return Unimplemented("a list of a call's attributes is too long");
  const PrimitiveType type = element.kind == stablehlo::Type::Kind::kIndex ? S64 : element.element;
  const auto copies = static_cast<size_t>(attribute.is_splat ? *count : 1);
  void* const data = KeepBytes(attribute.text, copies);
  if (tensor.dimensions.empty()) {
    return Entry{XLA_FFI_AttrType_SCALAR, &scalars_.emplace_back(XLA_FFI_Scalar{static_cast<int>(type), data})};
  }
  return Entry{XLA_FFI_AttrType_ARRAY,
               &arrays_.emplace_back(XLA_FFI_Array{static_cast<int>(type), static_cast<size_t>(*count), data})};
}

void* FfiAttributes::KeepBytes(absl::string_view bytes, size_t copies) {
  std::vector<std::max_align_t>& kept = bytes_.emplace_back(bytes.size() * copies / sizeof(std::max_align_t) + 1);
  char* to = reinterpret_cast<char*>(kept.data());
  for (size_t i = 0; i < copies; ++i, to += bytes.size()) std::memcpy(to, bytes.data(), bytes.size());
  return kept.data();
}

}  // namespace kashi::pjrt
