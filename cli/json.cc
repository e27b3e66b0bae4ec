#include "cli/json.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace kashi::cli {
namespace {

// The library prints single numbers and strings: it knows the shortest digits and how to replace bad UTF-8.
template <typename Leaf>
void AppendLeaf(const Leaf& leaf, std::string* out) {
  out->append(nlohmann::json(leaf).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

bool NeedsNoEscape(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

void AppendString(const std::string& text, std::string* out) {
  if (NeedsNoEscape(text)) {
    absl::StrAppend(out, "\"", text, "\"");
  } else {
    AppendLeaf(text, out);
  }
}

}  // namespace

Json::Json() : value_(nullptr) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(absl::string_view text) : value_(std::string(text)) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(std::initializer_list<JsonMember> members) : value_(Object()) {
  Object& object = std::get<Object>(value_);
  object.reserve(members.size());
  for (const JsonMember& member : members) object.emplace_back(member.key, member.value);
}

Json Json::array() { return Array(); }

Json Json::object() { return std::initializer_list<JsonMember>(); }

Json& Json::operator[](absl::string_view key) {
  if (is_null()) value_ = Object();
  Object& object = std::get<Object>(value_);
  const auto found =
      std::find_if(object.begin(), object.end(), [key](const auto& member) { return member.first == key; });
  return found != object.end() ? found->second : object.emplace_back(key, Json()).second;
}

void Json::update(const Json& object) {
  for (const auto& [key, value] : std::get<Object>(object.value_)) (*this)[key] = value;
}

Json& Json::push_back(Json value) {
  if (is_null()) value_ = Array();
  return std::get<Array>(value_).emplace_back(std::move(value));
}

// Appends the text of each kind of value.
struct Json::Writer {
  std::string* out;

  void operator()(std::nullptr_t) const { out->append("null"); }
  void operator()(bool value) const { out->append(value ? "true" : "false"); }
  void operator()(int64_t value) const { absl::StrAppend(out, value); }
  void operator()(uint64_t value) const { absl::StrAppend(out, value); }
  void operator()(double value) const { AppendLeaf(value, out); }
  void operator()(const std::string& text) const { AppendString(text, out); }
  void operator()(const Array& values) const {
    char separator = '[';
    for (const Json& value : values) {
      out->push_back(std::exchange(separator, ','));
      std::visit(*this, value.value_);
    }
    out->append(values.empty() ? "[]" : "]");
  }
  void operator()(const Object& members) const {
    char separator = '{';
    for (const auto& [key, value] : members) {
      out->push_back(std::exchange(separator, ','));
      AppendString(key, out);
      out->push_back(':');
      std::visit(*this, value.value_);
    }
    out->append(members.empty() ? "{}" : "}");
  }
};

std::string Json::dump() const {
  std::string text;
  std::visit(Writer{&text}, value_);
  return text;
}

}  // namespace kashi::cli
