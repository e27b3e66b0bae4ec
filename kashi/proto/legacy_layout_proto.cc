#include "kashi/proto/legacy_layout_proto.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/message.h"
#include "google/protobuf/unknown_field_set.h"
#include "kashi/base/status.h"
#include "kashi/proto/xla_data.pb.h"

namespace kashi::proto {
namespace {

using google::protobuf::UnknownField;

absl::Status WrongWireType(const char* name) {
  return InvalidArgument("Malformed layout proto: %s has the wrong wire type.", name);
}

// Repeated integers come one a field, or packed into a string.
absl::Status AppendIntegers(const UnknownField& field, const char* name, DimensionVector* list) {
  if (field.type() == UnknownField::TYPE_VARINT) {
    list->push_back(static_cast<int64_t>(field.varint()));
    return absl::OkStatus();
  }
  if (field.type() != UnknownField::TYPE_LENGTH_DELIMITED) return WrongWireType(name);
  const std::string& bytes = field.length_delimited();
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  while (input.CurrentPosition() < static_cast<int>(bytes.size())) {
    uint64_t value = 0;
    if (!input.ReadVarint64(&value)) return InvalidArgument("Malformed layout proto: %s ends within a number.", name);
    list->push_back(static_cast<int64_t>(value));
  }
  return absl::OkStatus();
}

absl::Status ReadInteger(const UnknownField& field, const char* name, int64_t* value) {
  if (field.type() != UnknownField::TYPE_VARINT) return WrongWireType(name);
  *value = static_cast<int64_t>(field.varint());
  return absl::OkStatus();
}

// An enum whose numbers are 0 ... `last`.
template <typename Enum>
absl::Status ReadEnum(const UnknownField& field, const char* name, Enum last, Enum* value) {
  int64_t number = 0;
  KASHI_RETURN_IF_ERROR(ReadInteger(field, name, &number));
  if (number < 0 || number > static_cast<int64_t>(last)) {
    return InvalidArgument("Malformed layout proto: %d is not a value of %s.", number, name);
  }
  *value = static_cast<Enum>(number);
  return absl::OkStatus();
}

absl::Status ReadField(const UnknownField& field, LegacyLayout* layout) {
  switch (field.number()) {
    case 2:
      return AppendIntegers(field, "padded_dimensions", &layout->padded_dimensions);
    case 3:
      return ReadEnum(field, "padding_value", PaddingValue::kUnknown, &layout->padding_value);
    case 4:
      return ReadEnum(field, "format", LegacyFormat::kSparse, &layout->format);
    case 5:
      return ReadInteger(field, "max_sparse_elements", &layout->max_sparse_elements);
    default:
      return absl::OkStatus();
  }
}

}  // namespace

absl::StatusOr<LegacyLayout> ReadLegacyLayout(const LayoutProto& proto) {
  LegacyLayout layout;
  layout.minor_to_major.assign(proto.minor_to_major().begin(), proto.minor_to_major().end());
  const google::protobuf::UnknownFieldSet& fields = proto.GetReflection()->GetUnknownFields(proto);
  for (int i = 0; i < fields.field_count(); ++i) {
    KASHI_RETURN_IF_ERROR(ReadField(fields.field(i), &layout));
  }
  return layout;
}

}  // namespace kashi::proto
