#include "kashi/hlo/text/text_scanner.h"

#include <limits>

#include "absl/strings/numbers.h"
#include "kashi/array/lexer.h"

namespace kashi::hlo {

bool TextScanner::SkipComment() {
  if (PeekHere(1) == '*') {
    if (at_ >= unfinished_from_) return false;
    const size_t end = text_.find("*/", at_ + 2);
    if (end == absl::string_view::npos) {
      unfinished_from_ = at_;
      return false;
    }
    at_ = end + 2;
    return true;
  }
  if (PeekHere(1) == '/') {
    const size_t end = text_.find_first_of("\n\r", at_);
    at_ = end == absl::string_view::npos ? text_.size() : end;
    return true;
  }
  return false;
}

std::optional<int64_t> TextScanner::ReadInt() {
  SkipSpace();
  size_t at = at_;
  const bool negative = at < text_.size() && text_[at] == '-';
  at += negative;
  const size_t digits = at;
  uint64_t value = 0;
  bool overflow = false;
  while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9') {
    const uint64_t digit = text_[at] - '0';
    if (value > (std::numeric_limits<uint64_t>::max() - digit) / 10) overflow = true;
    value = value * 10 + digit;
    ++at;
  }
  if (at == digits || overflow) return std::nullopt;
  // `3x4`, `1_2`, `1.5` and `2e3` are other tokens.
  if (at < text_.size() && text_[at] != '-' && (IsIdentByte(text_[at]) || text_[at] == '?')) return std::nullopt;
  if (negative && value > uint64_t{1} << 63) return std::nullopt;
  at_ = at;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

std::optional<double> TextScanner::ReadDouble() {
  SkipSpace();
  const array::Lexer lexer(text_, at_);
  double value = 0;
  switch (lexer.kind()) {
    case array::Token::Kind::kInt:
      value = static_cast<double>(lexer.token().int_value);
      break;
    case array::Token::Kind::kDecimal:
      if (!absl::SimpleAtod(lexer.token_text(), &value)) return std::nullopt;
      break;
    default: {
      const absl::string_view rest = text_.substr(at_);
      const bool negative = rest.substr(0, 1) == "-";
      const absl::string_view word = rest.substr(negative, 3);
      const char behind = PeekHere(negative + 3);
      // XLA does not accept `inf` as a number.
      if (word != "nan" || IsIdentByte(behind)) return std::nullopt;
      at_ += negative + 3;
      return std::numeric_limits<double>::quiet_NaN();
    }
  }
  at_ = lexer.token().end;
  return value;
}

std::optional<bool> TextScanner::ReadBool() {
  SkipSpace();
  const size_t begin = at_;
  const absl::string_view word = ReadIdentHere();
  const char behind = PeekHere();
  if ((word == "true" || word == "false") && behind != ':' && behind != '=') return word == "true";
  at_ = begin;
  return std::nullopt;
}

absl::string_view TextScanner::ReadQuoted() {
  SkipSpace();
  const char quote = PeekHere();
  if (quote != '"' && quote != '\'') return absl::string_view();
  for (size_t at = at_ + 1; at < text_.size(); ++at) {
    if (text_[at] == '\\') {
      ++at;
    } else if (text_[at] == quote) {
      const size_t begin = at_;
      at_ = at + 1;
      return Slice(begin);
    }
  }
  return absl::string_view();
}

absl::string_view TextScanner::ReadBraced() {
  SkipSpace();
  if (PeekHere() != '{') return absl::string_view();
  int64_t depth = 0;
  bool quoted = false;
  for (size_t at = at_; at < text_.size(); ++at) {
    const char c = text_[at];
    if (quoted) {
      if (c == '\\') {
        ++at;
      } else if (c == '"') {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      const size_t begin = at_;
      at_ = at + 1;
      return Slice(begin);
    }
  }
  return absl::string_view();
}

absl::string_view TextScanner::ReadBracketed() {
  SkipSpace();
  const size_t begin = at_;
  int64_t depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"' || c == '\'') {
      if (ReadQuoted().empty()) break;
      continue;
    }
    if (c == '/' && SkipComment()) continue;
    ++at_;
    if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth <= 0) return Slice(begin);
    }
  }
  at_ = begin;
  return absl::string_view();
}

}  // namespace kashi::hlo
