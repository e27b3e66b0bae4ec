#include "kashi/query/expression_typing.h"

#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/suggest.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::query {
namespace {

// a < b is b > a.
Order Mirrored(Order order) {
  switch (order) {
    case Order::kLess:
      return Order::kGreater;
    case Order::kAtMost:
      return Order::kAtLeast;
    case Order::kGreater:
      return Order::kLess;
    case Order::kAtLeast:
      return Order::kAtMost;
    case Order::kEqual:
    case Order::kNotEqual:
      break;
  }
  return order;
}

absl::string_view NameOfType(FactType type) {
  switch (type) {
    case FactType::kText:
      return "a text";
    case FactType::kShape:
      return "a shape";
    case FactType::kNames:
      return "a list of names";
    case FactType::kFlag:
      return "true or false";
    case FactType::kCount:
      return "a number";
    case FactType::kBytes:
      return "a number of bytes";
    case FactType::kFlops:
      return "a number of flops";
    case FactType::kSeconds:
      return "a time";
  }
  return "";
}

std::vector<std::string> OpcodeNames() {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < HloOpcodeCount(); ++i) names.emplace_back(HloOpcodeString(static_cast<HloOpcode>(i)));
  return names;
}

// "" if a text of the fact can be this one.
std::string WrongWord(Fact fact, const std::string& text) {
  if (fact != Fact::opcode && fact != Fact::type) return "";
  const std::vector<std::string> words = fact == Fact::opcode ? OpcodeNames() : TypeNames();
  if (absl::c_linear_search(words, text)) return "";
  return absl::StrCat("no ", fact == Fact::opcode ? "operation" : "type", " is `", text, "`",
                      base::DidYouMean(text, words));
}

}  // namespace

std::nullptr_t ExpressionTyping::Fail(const Token& token, std::string message) const {
  *error_ = {Diagnostic::Severity::kError, token.begin, token.end, std::move(message)};
  return nullptr;
}

ConditionPtr ExpressionTyping::Compare(const Operand& left, Order order, const Token& symbol,
                                       const Operand& right) const {
  if (!left.fact.has_value() && !right.fact.has_value()) return Fail(left.token, "one side must be a key");
  if (!left.fact.has_value()) return Compare(right, Mirrored(order), symbol, left);
  const bool is_equality = order == Order::kEqual || order == Order::kNotEqual;
  if (!is_equality && !IsNumber(left.type())) {
    return Fail(symbol, absl::StrCat("`", left.token.text, "` is ", NameOfType(left.type()), ": it has no order"));
  }
  if (right.fact.has_value()) return CompareFacts(left, order, right);
  if (IsNumber(left.type())) {
    return CheckNumber(left, right.token) ? NumberIs(*left.fact, order, right.token.number) : nullptr;
  }
  ConditionPtr equal = IsEqual(left, right);
  return equal == nullptr || order == Order::kEqual ? equal : HoldsNot(std::move(equal));
}

ConditionPtr ExpressionTyping::CompareFacts(const Operand& left, Order order, const Operand& right) const {
  const FactType type = left.type();
  if (type == right.type() && IsNumber(type)) return NumbersAre(*left.fact, order, *right.fact);
  if (type == right.type() && type == FactType::kText) {
    ConditionPtr equal = TextsAreEqual(*left.fact, *right.fact);
    return order == Order::kEqual ? equal : HoldsNot(std::move(equal));
  }
  return Fail(right.token, absl::StrCat("`", left.token.text, "` is ", NameOfType(type), " and `", right.token.text,
                                        "` is ", NameOfType(right.type()), ": they cannot be compared"));
}

// Of a text, a shape, a flag.
ConditionPtr ExpressionTyping::IsEqual(const Operand& left, const Operand& right) const {
  switch (left.type()) {
    case FactType::kText:
      return CheckText(left, right.token) ? TextIsOneOf(*left.fact, {right.token.value}) : nullptr;
    case FactType::kShape: {
      std::optional<ShapePattern> pattern = ReadShapePattern(left, right.token);
      return pattern.has_value() ? ShapeFits({*std::move(pattern)}, /*parts=*/false) : nullptr;
    }
    case FactType::kFlag: {
      if (!right.is_flag()) return Fail(right.token, absl::StrCat("`", left.token.text, "` is true or false"));
      ConditionPtr has_flag = HasFlag(*left.fact);
      return right.token.Is("true") ? has_flag : HoldsNot(std::move(has_flag));
    }
    default:
      break;
  }
  return Fail(right.token, absl::StrCat("`", left.token.text, "` is ", NameOfType(left.type()), ": write \"NAME\" in ",
                                        left.token.text, ", or ", left.token.text, " ~ \"PATTERN\""));
}

bool ExpressionTyping::CheckNumber(const Operand& key, const Token& token) const {
  const FactType type = key.type();
  if (token.kind != Token::Kind::kNumber) {
    Fail(token, absl::StrCat("`", key.token.text, "` is ", NameOfType(type), ": compare it with one"));
    return false;
  }
  if (token.unit == FactType::kCount || token.unit == type) return true;
  Fail(token, absl::StrCat("`", key.token.text, "` is ", NameOfType(type), ", and `", token.text, "` is ",
                           NameOfType(token.unit)));
  return false;
}

bool ExpressionTyping::CheckText(const Operand& key, const Token& token) const {
  if (token.kind != Token::Kind::kString) {
    Fail(token, absl::StrCat("`", key.token.text, "` is ", NameOfType(key.type()), ": compare it with text in quotes"));
    return false;
  }
  const std::string wrong = WrongWord(*key.fact, token.value);
  if (!wrong.empty()) Fail(token, wrong);
  return wrong.empty();
}

std::optional<ShapePattern> ExpressionTyping::ReadShapePattern(const Operand& key, const Token& token) const {
  if (!CheckText(key, token)) return std::nullopt;
  size_t at = 0;
  absl::StatusOr<ShapePattern> pattern = ShapePattern::Parse(token.value, &at);
  if (pattern.ok()) return *std::move(pattern);
  const size_t place = token.begin + 1 + at;  // behind the quote; a pattern has no backslashes before an error
  *error_ = {Diagnostic::Severity::kError, place, place, std::string(pattern.status().message())};
  return std::nullopt;
}

ConditionPtr ExpressionTyping::Fits(const Operand& left, const Token& token) const {
  if (!left.fact.has_value()) return Fail(left.token, "the left side of ~ must be a key");
  const FactType type = left.type();
  if (IsNumber(type) || type == FactType::kFlag) {
    return Fail(left.token, absl::StrCat("`", left.token.text, "` is ", NameOfType(type), ", and ~ is for texts"));
  }
  if (token.kind != Token::Kind::kString) return Fail(token, "expected a pattern in quotes");
  if (type == FactType::kShape) {
    std::optional<ShapePattern> pattern = ReadShapePattern(left, token);
    return pattern.has_value() ? ShapeFits({*std::move(pattern)}, /*parts=*/true) : nullptr;
  }
  absl::StatusOr<RegularExpression> pattern = RegularExpression::Compile(token.value);
  if (!pattern.ok()) return Fail(token, std::string(pattern.status().message()));
  return TextFits(*left.fact, *std::move(pattern));
}

ConditionPtr ExpressionTyping::IsOneOf(const Operand& left, const std::vector<Token>& values) const {
  const FactType type = left.type();
  if (type == FactType::kFlag || type == FactType::kNames) {
    return Fail(left.token, absl::StrCat("`", left.token.text, "` is ", NameOfType(type),
                                         ", and the left side of `in` is a text, a shape or a number"));
  }
  std::vector<Number> numbers;
  std::vector<std::string> texts;
  std::vector<ShapePattern> patterns;
  for (const Token& token : values) {
    if (IsNumber(type)) {
      if (!CheckNumber(left, token)) return nullptr;
      numbers.push_back(token.number);
    } else if (type == FactType::kShape) {
      std::optional<ShapePattern> pattern = ReadShapePattern(left, token);
      if (!pattern.has_value()) return nullptr;
      patterns.push_back(*std::move(pattern));
    } else {
      if (!CheckText(left, token)) return nullptr;
      texts.push_back(token.value);
    }
  }
  if (IsNumber(type)) return NumberIsOneOf(*left.fact, std::move(numbers));
  if (type == FactType::kShape) return ShapeFits(std::move(patterns), /*parts=*/false);
  return TextIsOneOf(*left.fact, std::move(texts));
}

ConditionPtr ExpressionTyping::HasName(const Token& name, const Operand& list) const {
  if (!list.fact.has_value() || list.type() != FactType::kNames) {
    return Fail(list.token, "expected a key that is a list of names: calls, user_names or operand_names");
  }
  return CheckText(list, name) ? TextIsOneOf(*list.fact, {name.value}) : nullptr;
}

}  // namespace kashi::query
