#include "cli/page_json.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace kashi::cli {

std::string EscapeHtml(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

void AppendPageString(absl::string_view text, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '<' || static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(out, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

void AddPageText(absl::string_view key, absl::string_view text, std::string* json) {
  absl::StrAppend(json, "\"", key, "\":");
  AppendPageString(text, json);
  absl::StrAppend(json, ",\n");
}

std::string PageNumber(double number) {
  if (std::isnan(number)) return "0";
  constexpr double kMost = std::numeric_limits<double>::max() / 10;  // rounded to six digits it is still one
  return absl::StrCat(std::fmin(std::fmax(number, -kMost), kMost));
}

int64_t PageTexts::Number(absl::string_view text) {
  const auto [found, is_new] = numbers_.try_emplace(text, static_cast<int64_t>(numbers_.size()));
  if (is_new) {
    if (found->second > 0) json_.push_back(',');
    AppendPageString(text, &json_);
  }
  return found->second;
}

}  // namespace kashi::cli
