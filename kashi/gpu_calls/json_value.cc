#include "kashi/gpu_calls/json_value.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "kashi/base/status.h"

namespace kashi::gpu_calls {

// Reads one value after the other. Values within values are calls within calls, up to kMaxDepth.
class JsonParser {
 public:
  explicit JsonParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<JsonValue> Parse() {
    KASHI_ASSIGN_OR_RETURN(JsonValue value, ParseValue(0));
    SkipSpace();
    if (at_ < text_.size()) return Expected("the end");
    return value;
  }

 private:
  absl::Status Expected(absl::string_view what) const {
    return InvalidArgument("JSON: expected %s at byte %d", what, static_cast<int64_t>(at_));
  }
  void SkipSpace() {
    while (at_ < text_.size() && absl::StrContains(" \t\r\n", text_[at_])) ++at_;
  }
  bool Match(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  absl::StatusOr<JsonValue> ParseValue(int depth) {
    if (depth > JsonValue::kMaxDepth) return InvalidArgument("JSON: more than %d levels", JsonValue::kMaxDepth);
    if (Match('{')) return ParseElements(depth, /*has_keys=*/true);
    if (Match('[')) return ParseElements(depth, /*has_keys=*/false);
    JsonValue value;
    if (Match('"')) {
      value.kind_ = JsonValue::Kind::kString;
      KASHI_ASSIGN_OR_RETURN(value.text_, ParseString());
      return value;
    }
    const size_t begin = at_;
    while (at_ < text_.size() && (absl::ascii_isalnum(text_[at_]) || absl::StrContains("+-.", text_[at_]))) ++at_;
    value.text_ = std::string(text_.substr(begin, at_ - begin));
    if (value.text_ == "null") return value;
    const bool is_bool = value.text_ == "true" || value.text_ == "false";
    value.kind_ = is_bool ? JsonValue::Kind::kBool : JsonValue::Kind::kNumber;
    if (is_bool || IsNumber(value.text_)) return value;
    at_ = begin;
    return Expected("a value");
  }

  // The rest of an object or an array.
  absl::StatusOr<JsonValue> ParseElements(int depth, bool has_keys) {
    JsonValue value;
    value.kind_ = has_keys ? JsonValue::Kind::kObject : JsonValue::Kind::kArray;
    const char end = has_keys ? '}' : ']';
    if (Match(end)) return value;
    do {
      if (has_keys) {
        if (!Match('"')) return Expected("a key");
        KASHI_ASSIGN_OR_RETURN(std::string key, ParseString());
        if (!Match(':')) return Expected("':'");
        value.keys_.push_back(std::move(key));
      }
      KASHI_ASSIGN_OR_RETURN(JsonValue element, ParseValue(depth + 1));
      value.elements_.push_back(std::move(element));
    } while (Match(','));
    if (!Match(end)) return Expected(has_keys ? "',' or '}'" : "',' or ']'");
    return value;
  }

  // The rest of a string.
  absl::StatusOr<std::string> ParseString() {
    std::string text;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < ' ') return Expected("'\"'");
      if (text_[at_] != '\\') {
        text += text_[at_++];
        continue;
      }
      ++at_;
      KASHI_RETURN_IF_ERROR(ParseEscape(&text));
    }
    if (!Match('"')) return Expected("'\"'");
    return text;
  }

  absl::Status ParseEscape(std::string* text) {
    constexpr absl::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (at_ < text_.size()) {
      const size_t found = kEscapes.find(text_[at_]);
      if (found != absl::string_view::npos) {
        ++at_;
        *text += kMeanings[found];
        return absl::OkStatus();
      }
      if (text_[at_] == 'u') return ParseCodePoint(text);
    }
    return Expected("an escape");
  }

  // uXXXX. Halves of surrogate pairs stand for themselves: no name of a config has such characters.
  absl::Status ParseCodePoint(std::string* text) {
    uint32_t code = 0;
    for (size_t i = at_ + 1; i < at_ + 5; ++i) {
      if (i >= text_.size() || !absl::ascii_isxdigit(text_[i])) return Expected("four hexadecimal digits");
      const char digit = absl::ascii_tolower(text_[i]);
      code = code * 16 + static_cast<uint32_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    at_ += 5;
    if (code < 0x80) {
      *text += static_cast<char>(code);
    } else {
      *text += code < 0x800 ? static_cast<char>(0xC0 | code >> 6) : static_cast<char>(0xE0 | code >> 12);
      if (code >= 0x800) *text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      *text += static_cast<char>(0x80 | (code & 0x3F));
    }
    return absl::OkStatus();
  }

  // -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
  static bool IsNumber(absl::string_view text) {
    const auto take_digits = [&text] {
      size_t count = 0;
      while (count < text.size() && absl::ascii_isdigit(text[count])) ++count;
      text.remove_prefix(count);
      return count;
    };
    const auto take = [&text](absl::string_view any_of) {
      if (text.empty() || !absl::StrContains(any_of, text[0])) return false;
      text.remove_prefix(1);
      return true;
    };
    take("-");
    const bool begins_with_zero = !text.empty() && text[0] == '0';
    const size_t digits = take_digits();
    if (digits == 0 || (begins_with_zero && digits > 1)) return false;
    if (take(".") && take_digits() == 0) return false;
    if (take("eE")) {
      take("+-");
      if (take_digits() == 0) return false;
    }
    return text.empty();
  }

  const absl::string_view text_;
  size_t at_ = 0;
};

absl::StatusOr<JsonValue> JsonValue::Parse(absl::string_view text) { return JsonParser(text).Parse(); }

const JsonValue* JsonValue::Find(absl::string_view key) const {
  for (size_t i = keys_.size(); i-- > 0;) {
    if (keys_[i] == key) return &elements_[i];
  }
  return nullptr;
}

}  // namespace kashi::gpu_calls
