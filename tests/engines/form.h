// A form: one way to write one operation, such as `reduce(f32[4,6], f32[]), dimensions={0}, to_apply=@f`. Forms are
// drafted by the shape rule of the operation (kashi/hlo/ir/shape_rules.def), with operands made from one array, the
// anchor. Shape inference gives the result, and the verifier decides whether the draft is a form.
//
// In the text of a form, `$0`, `$1` … stand for operands, `$r` for the result, and `@` begins each local name, so that
// two forms can stand in one module.
#ifndef KASHI_TESTS_ENGINES_FORM_H_
#define KASHI_TESTS_ENGINES_FORM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::tests {

using Sizes = std::vector<int64_t>;

// What a rule proposes. Either `lines` is the whole text, with `result`; or the text is the operation on the operands
// with these attributes, and the result is inferred.
struct Draft {
  std::vector<Shape> operands;
  std::string attributes;                       // `dimensions={0}, to_apply=@f`
  std::string computations = "";                // `@f { … }`
  std::optional<Shape> written = std::nullopt;  // where inference needs a part of it (instruction_shape.h)
  std::string lines = "";
};

struct Form {
  HloOpcode opcode;
  std::vector<Shape> operands;
  std::string computations;
  std::string lines;
  Shape result;  // an array
};

// The text with names filled in; local names begin with `prefix`.
std::string FillIn(absl::string_view text, absl::string_view prefix, absl::Span<const std::string> operands,
                   absl::string_view result);

absl::StatusOr<std::unique_ptr<HloModule>> ReadVerified(const std::string& text);

std::string ShapeText(const Shape& shape);                // without layout
std::string ListText(absl::Span<const int64_t> numbers);  // {1,2}
Shape WithType(const Shape& shape, PrimitiveType type);
Shape WithSizes(const Shape& shape, absl::Span<const int64_t> sizes);
Shape ScalarOf(PrimitiveType type);
// An operation that every type has, as a neighbour: `not` or `negate`; `xor` or `add`.
absl::string_view UnaryNeighbour(PrimitiveType type);
absl::string_view BinaryNeighbour(PrimitiveType type);
// `@f { a = f32[] parameter(0) … }` for an operation with two operands.
std::string BinaryComputation(absl::string_view name, absl::string_view operation, PrimitiveType type);

// Drafts of an operation with the anchor as its most important operand. Empty for operations that are not of one
// device, move data from or to a host, are random, or are custom calls.
std::vector<Draft> DraftsOf(HloOpcode opcode, const Shape& anchor);
// All forms of an operation with an anchor. If the result is a tuple, a form for each element that is an array.
std::vector<Form> FormsOf(HloOpcode opcode, const Shape& anchor);
// Whether DraftsOf should have drafts for some anchor.
bool HasForms(HloOpcode opcode);

// The rules, by file. Each appends to `drafts`.
using DraftRule = void (*)(HloOpcode opcode, const Shape& anchor, std::vector<Draft>* drafts);
struct RuleOfShapes {
  HloShapeRule rule;
  DraftRule draft;
};
// For operations whose shape has no rule.
struct RuleOfOperation {
  HloOpcode opcode;
  DraftRule draft;
};
absl::Span<const RuleOfShapes> ElementwiseRules();
absl::Span<const RuleOfShapes> MovementRules();
absl::Span<const RuleOfShapes> IndexedRules();
absl::Span<const RuleOfShapes> ReductionRules();
absl::Span<const RuleOfShapes> ProductRules();
absl::Span<const RuleOfShapes> ControlRules();
absl::Span<const RuleOfOperation> RulesOfOperations();

}  // namespace kashi::tests

#endif  // KASHI_TESTS_ENGINES_FORM_H_
