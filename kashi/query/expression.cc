#include "kashi/query/expression.h"

#include <cstdint>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kashi/base/status.h"
#include "kashi/base/suggest.h"
#include "kashi/query/expression_lexer.h"
#include "kashi/query/expression_typing.h"

namespace kashi::query {
namespace {

// ---- Words ----------------------------------------------------------------------------------------------------------

std::optional<Relation> FindRelation(absl::string_view word) {
#define KASHI_RELATION(name, ...) \
  if (word == #name) return Relation::name;
#define KASHI_NEIGHBOURHOOD(...)
#define KASHI_WAY(...)
#include "kashi/query/relations.def"
  return std::nullopt;
}

std::optional<Neighbourhood> FindNeighbourhood(absl::string_view word) {
#define KASHI_RELATION(...)
#define KASHI_NEIGHBOURHOOD(name, ...) \
  if (word == #name) return Neighbourhood::name;
#define KASHI_WAY(...)
#include "kashi/query/relations.def"
  return std::nullopt;
}

bool IsWay(absl::string_view word) {
#define KASHI_RELATION(...)
#define KASHI_NEIGHBOURHOOD(...)
#define KASHI_WAY(name, ...) \
  if (word == #name) return true;
#include "kashi/query/relations.def"
  return false;
}

std::vector<std::string> RelatedWords() {
  return {
#define KASHI_RELATION(name, ...) #name,
#define KASHI_NEIGHBOURHOOD(name, ...) #name,
#define KASHI_WAY(name, ...) #name,
#include "kashi/query/relations.def"
  };
}

std::optional<Order> FindOrder(absl::string_view symbol) {
  constexpr std::pair<absl::string_view, Order> kOrders[] = {{"==", Order::kEqual},  {"!=", Order::kNotEqual},
                                                             {"<", Order::kLess},    {"<=", Order::kAtMost},
                                                             {">", Order::kGreater}, {">=", Order::kAtLeast}};
  for (const auto& [text, order] : kOrders) {
    if (text == symbol) return order;
  }
  return std::nullopt;
}

// ---- The parser -----------------------------------------------------------------------------------------------------

// One token of look-ahead. Functions that return a pointer return null after an error.
class ExpressionParser {
 public:
  ExpressionParser(std::vector<Token> tokens, Diagnostic* error) : tokens_(std::move(tokens)), typing_(error) {}

  ConditionPtr ParseAll() {
    if (Peek().kind == Token::Kind::kEnd) return Fail(Peek(), "the expression is empty");
    ConditionPtr condition = ParseExpression(0);
    if (condition == nullptr) return nullptr;
    if (Peek().kind != Token::Kind::kEnd) return Fail(Peek(), "expected `and`, `or` or the end");
    return condition;
  }

 private:
  using Kind = Token::Kind;

  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& Take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool Match(absl::string_view text) {
    const bool is_next = Peek().Is(text);
    if (is_next) Take();
    return is_next;
  }
  std::nullptr_t Fail(const Token& token, std::string message) { return typing_.Fail(token, std::move(message)); }
  std::nullptr_t FailAtNext(absl::string_view expected) {
    const bool is_end = Peek().kind == Kind::kEnd;
    return Fail(Peek(), absl::StrCat("expected ", expected, ", found ",
                                     is_end ? "the end" : absl::StrCat("`", Peek().text, "`")));
  }
  bool Expect(absl::string_view symbol) {
    if (Match(symbol)) return true;
    FailAtNext(absl::StrCat("`", symbol, "`"));
    return false;
  }

  ConditionPtr ParseExpression(int depth) {
    return ParseSeveral("or", HoldsOne, [&] { return ParseAllOf(depth); });
  }
  ConditionPtr ParseAllOf(int depth) {
    return ParseSeveral("and", HoldAll, [&] { return ParseCondition(depth); });
  }

  template <typename Parse>
  ConditionPtr ParseSeveral(absl::string_view separator, ConditionPtr (*join)(std::vector<ConditionPtr>), Parse parse) {
    std::vector<ConditionPtr> conditions;
    do {
      conditions.push_back(parse());
      if (conditions.back() == nullptr) return nullptr;
    } while (Match(separator));
    return conditions.size() == 1 ? conditions.front() : join(std::move(conditions));
  }

  ConditionPtr ParseCondition(int depth) {
    constexpr int kMostDepth = 64;
    if (depth > kMostDepth) return Fail(Peek(), "the expression is nested too deep");
    if (Match("not")) {
      ConditionPtr condition = ParseCondition(depth + 1);
      return condition == nullptr ? nullptr : HoldsNot(std::move(condition));
    }
    if (Match("(")) {
      ConditionPtr condition = ParseExpression(depth + 1);
      return condition != nullptr && Expect(")") ? condition : nullptr;
    }
    const bool for_all = Peek().Is("all") && Peek(1).kind == Kind::kWord;
    const Token& word = Peek(for_all ? 1 : 0);
    const bool is_call = word.kind == Kind::kWord && Peek(for_all ? 2 : 1).Is("(");
    if (for_all && (!is_call || !FindRelation(word.text).has_value())) {
      return Fail(word, "expected users(…), operands(…), any(…), called(…) or callers(…) after `all`");
    }
    return is_call ? ParseCall(for_all, depth) : ParseComparison();
  }

  // users(E), all users(E), users_of("NAME", 2)
  ConditionPtr ParseCall(bool for_all, int depth) {
    if (for_all) Take();
    const Token word = Take();
    Take();  // (
    if (const std::optional<Neighbourhood> neighbourhood = FindNeighbourhood(word.text)) {
      return ParseNeighbourhood(*neighbourhood);
    }
    if (IsWay(word.text)) return ParseWay();
    const std::optional<Relation> relation = FindRelation(word.text);
    if (!relation.has_value()) {
      return Fail(word, absl::StrCat("there is no `", word.text, "(…)`", base::DidYouMean(word.text, RelatedWords())));
    }
    ConditionPtr condition = ParseExpression(depth + 1);
    if (condition == nullptr || !Expect(")")) return nullptr;
    return HoldsForRelated(*relation, for_all, std::move(condition));
  }

  // The name of an instruction.
  std::optional<std::string> ParseName() {
    if (Peek().kind != Kind::kString) {
      FailAtNext("the name of an instruction in quotes");
      return std::nullopt;
    }
    return std::string(absl::StripPrefix(Take().value, "%"));
  }

  ConditionPtr ParseWay() {
    std::optional<std::string> from = ParseName();
    if (!from.has_value() || !Expect(",")) return nullptr;
    std::optional<std::string> to = ParseName();
    if (!to.has_value() || !Expect(")")) return nullptr;
    return IsOnWay(*std::move(from), *std::move(to));
  }

  ConditionPtr ParseNeighbourhood(Neighbourhood neighbourhood) {
    std::optional<std::string> name = ParseName();
    if (!name.has_value()) return nullptr;
    int64_t steps = 1;
    if (Match(",")) {
      const Token number = Take();
      const bool is_count = number.kind == Kind::kNumber && number.unit == FactType::kCount &&
                            number.number.is_integer() && number.number.integer() >= 0;
      if (!is_count) return Fail(number, "expected the number of steps");
      steps = number.number.integer();
    }
    if (!Expect(")")) return nullptr;
    return IsInNeighbourhood(neighbourhood, *std::move(name), steps);
  }

  std::optional<Operand> ParseOperand(bool may_be_text) {
    const Kind kind = Peek().kind;
    if (kind != Kind::kWord && kind != Kind::kString && kind != Kind::kNumber) {
      FailAtNext("a key or a value");
      return std::nullopt;
    }
    Operand value{Take(), std::nullopt};
    if (kind != Kind::kWord || value.is_flag()) return value;
    value.fact = FindFact(value.token.text);
    if (value.fact.has_value()) return value;
    const absl::string_view word = value.token.text;
    if (FindRelation(word).has_value()) {
      Fail(value.token, absl::StrCat("`", word, "` needs an expression in parentheses: ", word, "(…)"));
    } else if (FindNeighbourhood(word).has_value() || IsWay(word)) {
      Fail(value.token, absl::StrCat("`", word, "` needs ",
                                     IsWay(word) ? "the names of two instructions" : "the name of an instruction", ": ",
                                     word, IsWay(word) ? "(\"dot.3\", \"add.7\")" : "(\"dot.3\")"));
    } else if (may_be_text) {
      Fail(value.token, absl::StrCat("unknown key `", word, "`; a text stands in quotes: \"", word, "\""));
    } else {
      Fail(value.token, std::string(UnknownFact(word).message()));
    }
    return std::nullopt;
  }

  ConditionPtr ParseComparison() {
    const std::optional<Operand> left = ParseOperand(/*may_be_text=*/false);
    if (!left.has_value()) return nullptr;
    const bool is_negative = Peek().Is("!~") || (Peek().Is("not") && Peek(1).Is("in"));
    ConditionPtr condition;
    if (const std::optional<Order> order = FindOrder(Peek().kind == Kind::kSymbol ? Peek().text : "")) {
      const Token symbol = Take();
      const std::optional<Operand> right = ParseOperand(/*may_be_text=*/true);
      return right.has_value() ? typing_.Compare(*left, *order, symbol, *right) : nullptr;
    }
    if (Match("~") || Match("!~")) {
      condition = typing_.Fits(*left, Take());
    } else if (Peek().Is("in") || is_negative) {
      if (is_negative) Take();
      Take();
      condition = ParseIn(*left);
    } else {
      return JustFlag(*left);
    }
    if (condition == nullptr) return nullptr;
    return is_negative ? HoldsNot(std::move(condition)) : condition;
  }

  ConditionPtr JustFlag(const Operand& value) {
    if (value.is_flag()) return value.token.Is("true") ? HoldsAlways() : HoldsNot(HoldsAlways());
    if (value.fact.has_value() && value.type() == FactType::kFlag) return HasFlag(*value.fact);
    return FailAtNext("an operator: ==, !=, <, <=, >, >=, ~, !~ or in");
  }

  // opcode in ("dot", "convolution"); "add.1" in operand_names
  ConditionPtr ParseIn(const Operand& left) {
    if (!left.fact.has_value()) {
      const std::optional<Operand> list = ParseOperand(/*may_be_text=*/false);
      return list.has_value() ? typing_.HasName(left.token, *list) : nullptr;
    }
    if (!Expect("(")) return nullptr;
    std::vector<Token> values;
    do {
      values.push_back(Take());
    } while (Match(","));
    return Expect(")") ? typing_.IsOneOf(left, values) : nullptr;
  }

  std::vector<Token> tokens_;
  ExpressionTyping typing_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<Expression> Expression::Parse(absl::string_view text, std::vector<Diagnostic>* diagnostics) {
  std::vector<Token> tokens;
  Diagnostic error;
  if (Tokenize(text, &tokens, &error)) {
    ConditionPtr condition = ExpressionParser(std::move(tokens), &error).ParseAll();
    if (condition != nullptr) return Expression(std::move(condition));
  }
  if (diagnostics != nullptr) diagnostics->push_back(error);
  return DiagnosticsToStatus({"query", text}, {error});
}

FactSet Expression::facts() const {
  FactSet facts;
  condition_->AddFacts(&facts);
  return facts;
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> names;
  condition_->AddNames(&names);
  return names;
}

std::vector<const HloInstruction*> Expression::FindIn(const ModuleFacts& facts) const {
  ConditionContext context(facts);
  std::vector<const HloInstruction*> found;
  for (const HloComputation* computation : facts.module().computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      if (condition_->Holds(*x, context)) found.push_back(x);
    }
  }
  return found;
}

std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      quoted.push_back(text[i++]);
    } else if (text[i] == '"') {
      quoted.push_back('\\');
    }
    quoted.push_back(text[i]);
  }
  return absl::StrCat(quoted, "\"");
}

}  // namespace kashi::query
