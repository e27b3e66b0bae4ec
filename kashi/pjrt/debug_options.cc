#include "kashi/pjrt/debug_options.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kashi/base/status.h"

namespace kashi::pjrt {
namespace {

enum class Kind { kBool, kInt32, kInt64, kFloat, kString, kEnum, kMessage };

struct DebugOption {
  Kind kind;
  bool is_list;
  absl::string_view enum_values;  // with commas; "": of an enum, any
};

const DebugOption* Find(absl::string_view name) {
  static const auto* const options = new absl::flat_hash_map<absl::string_view, DebugOption>({
#define DEBUG_OPTION(name, kind, is_list, enum_values) {#name, {Kind::kind, is_list, enum_values}},
#include "kashi/pjrt/debug_options.def"
#undef DEBUG_OPTION
  });
  const auto found = options->find(name);
  return found == options->end() ? nullptr : &found->second;
}

absl::string_view NameOf(Kind kind) {
  switch (kind) {
    case Kind::kBool:
      return "bool";
    case Kind::kInt32:
      return "int32";
    case Kind::kInt64:
      return "int64";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return "string";
    case Kind::kEnum:
      return "enum";
    case Kind::kMessage:
      return "message";
  }
  return "";
}

bool IsEnumValue(const DebugOption& option, absl::string_view text) {
  int32_t number = 0;
  if (absl::SimpleAtoi(text, &number)) return true;
  if (option.enum_values.empty()) return !text.empty();
  return absl::c_linear_search(absl::StrSplit(option.enum_values, ','), text);
}

bool IsText(const DebugOption& option, absl::string_view text) {
  int32_t small = 0;
  int64_t large = 0;
  float number = 0;
  switch (option.kind) {
    case Kind::kBool:
      return text == "True" || text == "False";
    case Kind::kInt32:
      return absl::SimpleAtoi(text, &small);
    case Kind::kInt64:
      return absl::SimpleAtoi(text, &large);
    case Kind::kFloat:
      return absl::SimpleAtof(text, &number);
    case Kind::kString:
      return true;
    case Kind::kEnum:
      return IsEnumValue(option, text);
    case Kind::kMessage:
      return false;
  }
  return false;
}

bool IsInteger(const DebugOption& option, int64_t value) {
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  if (option.kind == Kind::kInt64) return true;
  return (option.kind == Kind::kInt32 || option.kind == Kind::kEnum) && value >= kLeast && value <= kMost;
}

absl::Status Refuse(absl::string_view name, absl::string_view value, const DebugOption& option) {
  return InvalidArgument("While setting option %s, '%s' is not a valid %s value.", name, value, NameOf(option.kind));
}

absl::Status CheckText(absl::string_view name, const DebugOption& option, absl::string_view text) {
  if (!option.is_list) return IsText(option, text) ? absl::OkStatus() : Refuse(name, text, option);
  if (text.empty()) return absl::OkStatus();
  for (const absl::string_view value : absl::StrSplit(text, ',')) {
    if (!IsText(option, value)) return Refuse(name, value, option);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDebugOption(absl::string_view name, const OptionOverrideProto& value) {
  const DebugOption* const option = Find(name);
  if (option == nullptr) return InvalidArgument("No such compile option: '%s'", name);
  switch (value.value_case()) {
    case OptionOverrideProto::kStringField:
      return CheckText(name, *option, value.string_field());
    case OptionOverrideProto::kBoolField:
      if (option->kind == Kind::kBool) return absl::OkStatus();
      return Refuse(name, absl::StrCat(value.bool_field()), *option);
    case OptionOverrideProto::kIntField:
      if (IsInteger(*option, value.int_field())) return absl::OkStatus();
      return Refuse(name, absl::StrCat(value.int_field()), *option);
    case OptionOverrideProto::kDoubleField:
      if (option->kind == Kind::kFloat) return absl::OkStatus();
      return Refuse(name, absl::StrCat(value.double_field()), *option);
    case OptionOverrideProto::VALUE_NOT_SET:
      break;
  }
  return InvalidArgument("the compile option '%s' has no value", name);
}

bool BoolOfDebugOption(const OptionOverrideProto& value) {
  return value.value_case() == OptionOverrideProto::kBoolField ? value.bool_field() : value.string_field() == "True";
}

}  // namespace kashi::pjrt
