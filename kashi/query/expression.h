// Expressions over the facts of instructions: the language of `kashi query`.
//
//   opcode == "fusion" and bytes > 4MiB and op_name ~ "attention"
//   shape ~ "f32[*,128]" and not fused
//   opcode in ("all-reduce", "all-gather") or custom_call_target ~ "cudnn"
//   opcode == "broadcast" and all users(opcode == "multiply")
//   users_of("dot.3", 2)
//
//   expression   = all-of {"or" all-of}
//   all-of       = condition {"and" condition}
//   condition    = "not" condition | "(" expression ")" | flag | value order value | text ("~" | "!~") string
//                | value ["not"] "in" "(" value {"," value} ")" | string ["not"] "in" names
//                | ["all"] relation "(" expression ")" | neighbourhood "(" string ["," number] ")"
//                | way "(" string "," string ")"
//   order        = "==" | "!=" | "<" | "<=" | ">" | ">="
//   value        = key | string | number | "true" | "false"
//
//   * Keys, with their types: facts.def. Relations, neighbourhoods and ways: relations.def.
//   * Strings stand in "…" or '…'. A backslash stays as it is, for regular expressions, but \" in "…" is a ".
//   * Numbers may have an exponent and a unit: 1e6, 4KiB, 2.5GB, 1Gflop, 20us. The unit must be that of the key.
//   * `~` finds a regular expression in a text. Of shapes it is a pattern (shape_pattern.h) that the shape or a part of
//     its tuple fits; `==` compares the whole shape with the pattern.
//   * `all users(E)` holds, too, where there are no users.
//
// Types are checked before anything runs. Parentheses and the like may be nested 64 deep.
#ifndef KASHI_QUERY_EXPRESSION_H_
#define KASHI_QUERY_EXPRESSION_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/diagnostic.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/query/condition.h"
#include "kashi/query/facts.h"

namespace kashi::query {

// A value; copies share the condition.
class Expression {
 public:
  // All instructions.
  Expression() : condition_(HoldsAlways()) {}
  // The whole text must be one expression. INVALID_ARGUMENT with the place, the line and a caret; `diagnostics`, if
  // given, then receives the error.
  static absl::StatusOr<Expression> Parse(absl::string_view text, std::vector<Diagnostic>* diagnostics = nullptr);

  // Both hold.
  Expression And(const Expression& other) const { return Expression(HoldAll({condition_, other.condition_})); }

  // The facts that it asks for: those that the module must be prepared for.
  FactSet facts() const;
  // The instructions that it names in neighbourhoods. A module that has none of a name has no instruction near it.
  std::vector<std::string> names() const;

  // The instructions that fit, in the order of the module's text. O(instructions + operands) for each part of the
  // expression, and the time of its regular expressions.
  std::vector<const HloInstruction*> FindIn(const ModuleFacts& facts) const;

 private:
  explicit Expression(ConditionPtr condition) : condition_(std::move(condition)) {}

  ConditionPtr condition_;
};

// The text as a string of an expression: "dot.3", with its quotes. A regular expression keeps its meaning.
std::string Quoted(absl::string_view text);

}  // namespace kashi::query

#endif  // KASHI_QUERY_EXPRESSION_H_
