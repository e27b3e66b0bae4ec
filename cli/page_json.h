// The data of a page for the browser: JSON in a <script> element, in columns of numbers, and each text once.
//
//   PageTexts texts;
//   std::string json = "{";
//   AddNumbers("names", instructions, [&](auto* each) { return texts.Number(each->name()); }, &json);
//   absl::StrAppend(&json, "\"texts\":[", texts.json(), "]}");
#ifndef KASHI_CLI_PAGE_JSON_H_
#define KASHI_CLI_PAGE_JSON_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kashi::cli {

// The text between tags, or in an attribute in quotes.
std::string EscapeHtml(absl::string_view text);

// A JSON string that may stand in a <script> element: without `<`, nothing ends the element or begins a comment.
// Bytes that are not UTF-8 stay; a browser shows U+FFFD.
void AppendPageString(absl::string_view text, std::string* out);

// "key":"text",
void AddPageText(absl::string_view key, absl::string_view text, std::string* json);

// A number of at most six digits; the largest one for infinity, 0 for what is no number: JSON has neither.
std::string PageNumber(double number);

// "key":[1,2,3], with one number, or any JSON value, for each element.
template <typename Elements, typename NumberOf>
void AddNumbers(absl::string_view key, const Elements& elements, NumberOf number_of, std::string* json) {
  absl::StrAppend(json, "\"", key, "\":[");
  absl::string_view comma;
  for (const auto& element : elements) {
    absl::StrAppend(json, comma, number_of(element));
    comma = ",";
  }
  absl::StrAppend(json, "],\n");
}

// The table of texts, each of them once. Other data refer to a text by its number. Number 0 is "".
class PageTexts {
 public:
  PageTexts() { Number(""); }

  int64_t Number(absl::string_view text);
  // The elements of a JSON array, without its brackets.
  const std::string& json() const { return json_; }

 private:
  absl::flat_hash_map<std::string, int64_t> numbers_;
  std::string json_;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_PAGE_JSON_H_
