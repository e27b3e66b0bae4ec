// The typed part of expressions (expression.h): conditions of operands and operators, or what is wrong with the types.
#ifndef KASHI_QUERY_EXPRESSION_TYPING_H_
#define KASHI_QUERY_EXPRESSION_TYPING_H_

#include <optional>
#include <string>
#include <vector>

#include "kashi/base/diagnostic.h"
#include "kashi/query/condition.h"
#include "kashi/query/expression_lexer.h"
#include "kashi/query/facts.h"
#include "kashi/query/shape_pattern.h"

namespace kashi::query {

// A key, or a literal.
struct Operand {
  Token token;
  std::optional<Fact> fact;  // of a key

  bool is_flag() const { return !fact.has_value() && (token.Is("true") || token.Is("false")); }
  FactType type() const { return InfoOf(*fact).type; }  // pre: a key
};

// Functions that return a pointer return null after an error, which is then in `error`.
class ExpressionTyping {
 public:
  explicit ExpressionTyping(Diagnostic* error) : error_(error) {}

  // left order right; `symbol` is the order's token.
  ConditionPtr Compare(const Operand& left, Order order, const Token& symbol, const Operand& right) const;
  // left ~ "pattern"
  ConditionPtr Fits(const Operand& left, const Token& pattern) const;
  // left in (values…)
  ConditionPtr IsOneOf(const Operand& left, const std::vector<Token>& values) const;
  // "name" in list
  ConditionPtr HasName(const Token& name, const Operand& list) const;

  std::nullptr_t Fail(const Token& token, std::string message) const;

 private:
  ConditionPtr CompareFacts(const Operand& left, Order order, const Operand& right) const;
  ConditionPtr IsEqual(const Operand& left, const Operand& right) const;
  bool CheckNumber(const Operand& key, const Token& token) const;
  bool CheckText(const Operand& key, const Token& token) const;
  std::optional<ShapePattern> ReadShapePattern(const Operand& key, const Token& token) const;

  Diagnostic* error_;
};

}  // namespace kashi::query

#endif  // KASHI_QUERY_EXPRESSION_TYPING_H_
