// Regular expressions in RE2's syntax. The time of a search is linear in the text, whatever the pattern is, and nothing
// recurses: both may be hostile.
#ifndef KASHI_QUERY_REGULAR_EXPRESSION_H_
#define KASHI_QUERY_REGULAR_EXPRESSION_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace kashi::query {

struct RegularExpressionOptions {
  bool ignore_case = false;
  bool is_literal = false;  // the pattern is text to find as it is
};

// A value; copies share the compiled pattern. Thread-safe.
class RegularExpression {
 public:
  // INVALID_ARGUMENT says what is wrong with the pattern, or that it is too large.
  static absl::StatusOr<RegularExpression> Compile(absl::string_view pattern,
                                                   const RegularExpressionOptions& options = {});

  // A pattern that fits this text only.
  static std::string Escaped(absl::string_view text);

  // Whether the pattern fits any part of the text.
  bool Finds(absl::string_view text) const { return Find(text, 0).has_value(); }
  // The bytes [begin, end) of the leftmost fit that begins at `from` or later; nullopt if there is none.
  // Pre: from <= text.size().
  std::optional<std::pair<size_t, size_t>> Find(absl::string_view text, size_t from) const;

 private:
  explicit RegularExpression(std::shared_ptr<const re2::RE2> pattern) : pattern_(std::move(pattern)) {}

  std::shared_ptr<const re2::RE2> pattern_;
};

}  // namespace kashi::query

#endif  // KASHI_QUERY_REGULAR_EXPRESSION_H_
