#include "kashi/query/expression_lexer.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/suggest.h"
#include "kashi/base/text.h"

namespace kashi::query {
namespace {

struct Unit {
  absl::string_view name;
  FactType type;
  int64_t times;
  int64_t parts;  // the unit is times / parts
};
constexpr int64_t kKilo = 1000, kKibi = 1024;
constexpr Unit kUnits[] = {
    {"B", FactType::kBytes, 1, 1},
    {"kB", FactType::kBytes, kKilo, 1},
    {"MB", FactType::kBytes, kKilo* kKilo, 1},
    {"GB", FactType::kBytes, kKilo* kKilo* kKilo, 1},
    {"TB", FactType::kBytes, kKilo* kKilo* kKilo* kKilo, 1},
    {"KiB", FactType::kBytes, kKibi, 1},
    {"MiB", FactType::kBytes, kKibi* kKibi, 1},
    {"GiB", FactType::kBytes, kKibi* kKibi* kKibi, 1},
    {"TiB", FactType::kBytes, kKibi* kKibi* kKibi* kKibi, 1},
    {"flop", FactType::kFlops, 1, 1},
    {"kflop", FactType::kFlops, kKilo, 1},
    {"Mflop", FactType::kFlops, kKilo* kKilo, 1},
    {"Gflop", FactType::kFlops, kKilo* kKilo* kKilo, 1},
    {"Tflop", FactType::kFlops, kKilo* kKilo* kKilo* kKilo, 1},
    {"Pflop", FactType::kFlops, kKilo* kKilo* kKilo* kKilo* kKilo, 1},
    {"s", FactType::kSeconds, 1, 1},
    {"ms", FactType::kSeconds, 1, kKilo},
    {"us", FactType::kSeconds, 1, kKilo* kKilo},
    {"ns", FactType::kSeconds, 1, kKilo* kKilo* kKilo},
};

// The product, exactly if it is an integer.
Number InUnits(const Number& number, const Unit& unit) {
  int64_t product = 0;
  const bool is_exact =
      unit.parts == 1 && number.is_integer() && !__builtin_mul_overflow(number.integer(), unit.times, &product);
  if (is_exact) return product;
  return number.AsDouble() * static_cast<double>(unit.times) / static_cast<double>(unit.parts);
}

bool IsWordLetter(char c) { return absl::ascii_isalnum(c) || c == '_'; }

class Lexer {
 public:
  Lexer(absl::string_view text, std::vector<Token>* tokens, Diagnostic* error)
      : text_(text), tokens_(tokens), error_(error) {}

  bool Run() {
    for (;;) {
      while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
      const size_t begin = at_;
      Token token;
      if (at_ < text_.size() && !Read(&token)) return false;
      token.begin = begin;
      token.end = at_;
      token.text = text_.substr(begin, at_ - begin);
      tokens_->push_back(std::move(token));
      if (tokens_->back().kind == Token::Kind::kEnd) return true;
    }
  }

 private:
  bool Fail(size_t begin, size_t end, std::string message) {
    *error_ = {Diagnostic::Severity::kError, begin, end, std::move(message)};
    return false;
  }

  bool Read(Token* token) {
    const char c = text_[at_];
    if (absl::ascii_isdigit(c)) return ReadNumber(token);
    if (c == '-' && at_ + 1 < text_.size() && absl::ascii_isdigit(text_[at_ + 1])) return ReadNumber(token);
    if (c == '"' || c == '\'') return ReadString(token);
    if (IsWordLetter(c)) {
      token->kind = Token::Kind::kWord;
      while (at_ < text_.size() && IsWordLetter(text_[at_])) ++at_;
      return true;
    }
    return ReadSymbol(token);
  }

  bool ReadString(Token* token) {
    token->kind = Token::Kind::kString;
    const size_t begin = at_;
    const char quote = text_[at_++];
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        if (text_[at_] != quote) token->value.push_back('\\');
      }
      token->value.push_back(text_[at_]);
    }
    if (at_ == text_.size()) return Fail(begin, at_, absl::StrCat("the string has no end: ", text_.substr(begin, 1)));
    ++at_;
    return true;
  }

  void SkipDigits() {
    while (at_ < text_.size() && absl::ascii_isdigit(text_[at_])) ++at_;
  }

  // A digit after `e` or `e-` makes it an exponent; otherwise it begins a unit.
  size_t ExponentLength() const {
    absl::string_view rest = text_.substr(at_);
    if (rest.empty() || (rest[0] != 'e' && rest[0] != 'E')) return 0;
    const size_t sign = rest.size() > 1 && (rest[1] == '-' || rest[1] == '+') ? 1 : 0;
    return rest.size() > 1 + sign && absl::ascii_isdigit(rest[1 + sign]) ? 1 + sign : 0;
  }

  bool ReadNumber(Token* token) {
    token->kind = Token::Kind::kNumber;
    const size_t begin = at_++;
    SkipDigits();
    bool is_integer = true;
    if (at_ + 1 < text_.size() && text_[at_] == '.' && absl::ascii_isdigit(text_[at_ + 1])) {
      is_integer = false;
      ++at_;
      SkipDigits();
    }
    if (const size_t length = ExponentLength(); length > 0) {
      is_integer = false;
      at_ += length;
      SkipDigits();
    }
    const absl::string_view digits = text_.substr(begin, at_ - begin);
    int64_t integer = 0;
    double real = 0;
    if (is_integer && absl::SimpleAtoi(digits, &integer)) {
      token->number = integer;
    } else if (absl::SimpleAtod(digits, &real)) {
      token->number = real;
    }
    return ReadUnit(begin, token);
  }

  bool ReadUnit(size_t begin, Token* token) {
    const size_t unit_begin = at_;
    while (at_ < text_.size() && IsWordLetter(text_[at_])) ++at_;
    const absl::string_view name = text_.substr(unit_begin, at_ - unit_begin);
    if (name.empty()) return true;
    for (const Unit& unit : kUnits) {
      if (unit.name != name) continue;
      token->unit = unit.type;
      token->number = InUnits(token->number, unit);
      return true;
    }
    std::vector<std::string> names;
    for (const Unit& unit : kUnits) {
      const bool is_almost_it = absl::EqualsIgnoreCase(unit.name, name);
      names.insert(is_almost_it ? names.begin() : names.end(), std::string(unit.name));
    }
    const std::string similar = base::DidYouMean(name, names);
    return Fail(
        begin, at_,
        absl::StrCat("unknown unit `", name, "`", similar.empty() ? "; units are like KiB, MB, Gflop, us" : similar));
  }

  bool ReadSymbol(Token* token) {
    token->kind = Token::Kind::kSymbol;
    for (const absl::string_view symbol : {"==", "!=", "!~", "<=", ">=", "<", ">", "~", "(", ")", ","}) {
      if (!absl::StartsWith(text_.substr(at_), symbol)) continue;
      at_ += symbol.size();
      return true;
    }
    constexpr std::pair<absl::string_view, absl::string_view> kOthers[] = {{"&&", "and"}, {"||", "or"}, {"&", "and"},
                                                                           {"|", "or"},   {"!", "not"}, {"=", "=="}};
    for (const auto& [symbol, ours] : kOthers) {
      if (!absl::StartsWith(text_.substr(at_), symbol)) continue;
      return Fail(at_, at_ + symbol.size(), absl::StrCat("write `", ours, "` for `", symbol, "`"));
    }
    const size_t length = std::max<size_t>(1, base::Utf8SequenceLength(text_.substr(at_)));
    return Fail(at_, at_ + length, absl::StrCat("unexpected `", text_.substr(at_, length), "`"));
  }

  absl::string_view text_;
  std::vector<Token>* tokens_;
  Diagnostic* error_;
  size_t at_ = 0;
};

}  // namespace

bool Tokenize(absl::string_view text, std::vector<Token>* tokens, Diagnostic* error) {
  return Lexer(text, tokens, error).Run();
}

}  // namespace kashi::query
