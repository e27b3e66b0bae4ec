#include "kashi/proto/utf8_strings.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "kashi/base/text.h"

namespace kashi::proto::proto_internal {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

class Search {
 public:
  const FieldDescriptor* Find(const Message& message) {
    const Reflection* reflection = message.GetReflection();
    for (const FieldDescriptor* field : FieldsOf(message.GetDescriptor())) {
      const int count = field->is_repeated() ? reflection->FieldSize(message, field)
                                             : static_cast<int>(reflection->HasField(message, field));
      for (int i = 0; i < count; ++i) {
        if (const FieldDescriptor* found = FindIn(message, field, i)) return found;
      }
    }
    return nullptr;
  }

 private:
  const FieldDescriptor* FindIn(const Message& message, const FieldDescriptor* field, int i) {
    const Reflection* reflection = message.GetReflection();
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      return Find(field->is_repeated() ? reflection->GetRepeatedMessage(message, field, i)
                                       : reflection->GetMessage(message, field));
    }
    const std::string& text = field->is_repeated()
                                  ? reflection->GetRepeatedStringReference(message, field, i, &scratch_)
                                  : reflection->GetStringReference(message, field, &scratch_);
    return IsUtf8(text) ? nullptr : field;
  }

  // The fields below which there can be strings.
  const std::vector<const FieldDescriptor*>& FieldsOf(const Descriptor* type) {
    const auto [entry, is_new] = fields_.try_emplace(type);
    for (int i = 0; is_new && i < type->field_count(); ++i) {
      const FieldDescriptor* field = type->field(i);
      if (IsString(*field) || HoldsStrings(field->message_type())) entry->second.push_back(field);
    }
    return entry->second;
  }

  static bool IsString(const FieldDescriptor& field) { return field.type() == FieldDescriptor::TYPE_STRING; }

  // Types refer to one another in circles.
  static bool HoldsStrings(const Descriptor* root) {
    absl::flat_hash_set<const Descriptor*> seen = {root};
    std::vector<const Descriptor*> open = {root};
    while (!open.empty()) {
      const Descriptor* type = open.back();
      open.pop_back();
      for (int i = 0; type != nullptr && i < type->field_count(); ++i) {
        if (IsString(*type->field(i))) return true;
        if (seen.insert(type->field(i)->message_type()).second) open.push_back(type->field(i)->message_type());
      }
    }
    return false;
  }

  std::unordered_map<const Descriptor*, std::vector<const FieldDescriptor*>> fields_;  // entries stay where they are
  std::string scratch_;
};

}  // namespace

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const size_t length = base::Utf8SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

const FieldDescriptor* FindStringThatIsNotUtf8(const Message& message) { return Search().Find(message); }

}  // namespace kashi::proto::proto_internal
