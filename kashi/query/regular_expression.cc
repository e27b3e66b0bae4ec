#include "kashi/query/regular_expression.h"

#include "kashi/base/status.h"
#include "re2/re2.h"

namespace kashi::query {

absl::StatusOr<RegularExpression> RegularExpression::Compile(absl::string_view pattern,
                                                             const RegularExpressionOptions& options) {
  re2::RE2::Options re2_options;
  re2_options.set_log_errors(false);
  re2_options.set_case_sensitive(!options.ignore_case);
  re2_options.set_literal(options.is_literal);
  auto compiled = std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), re2_options);
  if (!compiled->ok()) return InvalidArgumentStrCat("wrong regular expression: ", compiled->error());
  return RegularExpression(std::move(compiled));
}

std::string RegularExpression::Escaped(absl::string_view text) {
  return re2::RE2::QuoteMeta(re2::StringPiece(text.data(), text.size()));
}

std::optional<std::pair<size_t, size_t>> RegularExpression::Find(absl::string_view text, size_t from) const {
  re2::StringPiece found;
  const re2::StringPiece subject(text.data(), text.size());
  if (!pattern_->Match(subject, from, text.size(), re2::RE2::UNANCHORED, &found, 1)) return std::nullopt;
  const size_t begin = static_cast<size_t>(found.data() - text.data());
  return std::make_pair(begin, begin + found.size());
}

}  // namespace kashi::query
