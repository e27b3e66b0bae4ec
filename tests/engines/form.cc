#include "tests/engines/form.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/hlo/inference/instruction_shape.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"

namespace kashi::tests {
namespace {

template <typename Rules, typename Key>
DraftRule Find(const Rules& rules, Key key) {
  for (const auto& rule : rules) {
    if constexpr (std::is_same_v<Key, HloOpcode>) {
      if (rule.opcode == key) return rule.draft;
    } else {
      if (rule.rule == key) return rule.draft;
    }
  }
  return nullptr;
}

DraftRule RuleOf(HloOpcode opcode) {
  if (DraftRule rule = Find(RulesOfOperations(), opcode)) return rule;
  const HloShapeRule shape_rule = GetHloOpcodeInfo(opcode).shape_rule;
  for (const auto& rules :
       {ElementwiseRules(), MovementRules(), IndexedRules(), ReductionRules(), ProductRules(), ControlRules()}) {
    if (DraftRule rule = Find(rules, shape_rule)) return rule;
  }
  return nullptr;
}

std::string OperandNames(size_t count) {
  std::vector<std::string> names(count);
  for (size_t i = 0; i < count; ++i) names[i] = absl::StrCat("$", i);
  return absl::StrJoin(names, ", ");
}

std::string OperationLine(HloOpcode opcode, const Draft& draft, absl::string_view name, const Shape& shape) {
  return absl::StrCat("  ", name, " = ", ShapeText(shape), " ", HloOpcodeString(opcode), "(",
                      OperandNames(draft.operands.size()), ")", draft.attributes.empty() ? "" : ", ", draft.attributes,
                      "\n");
}

std::string ModuleOf(const Draft& draft, const std::string& lines) {
  std::vector<std::string> names;
  std::string text = absl::StrCat(FillIn(draft.computations, "l.", {}, ""), "ENTRY e {\n");
  for (size_t i = 0; i < draft.operands.size(); ++i) {
    names.push_back(absl::StrCat("p", i));
    absl::StrAppend(&text, "  p", i, " = ", ShapeText(draft.operands[i]), " parameter(", i, ")\n");
  }
  return absl::StrCat(text, FillIn(lines, "l.", names, "r"), "  ROOT root = () tuple()\n}\n");
}

// nullopt: not valid.
std::optional<Shape> InferResult(HloOpcode opcode, const Draft& draft) {
  const Shape placeholder = draft.written.value_or(draft.operands.empty() ? ScalarOf(F32) : draft.operands[0]);
  const auto module = ParseAndReturnUnverifiedModule(ModuleOf(draft, OperationLine(opcode, draft, "$r", placeholder)));
  if (!module.ok()) return std::nullopt;
  const HloInstruction* instruction = (*module)->entry_computation()->GetInstructionWithName("r");
  if (instruction == nullptr) return std::nullopt;
  if (GetHloOpcodeInfo(opcode).shape_rule == HloShapeRule::kNone) return draft.written;
  absl::StatusOr<Shape> shape = hlo::InferInstructionShape(*instruction);
  return shape.ok() ? std::make_optional(*std::move(shape)) : std::nullopt;
}

bool IsValid(const Draft& draft, const std::string& lines) { return ReadVerified(ModuleOf(draft, lines)).ok(); }

}  // namespace

std::string FillIn(absl::string_view text, absl::string_view prefix, absl::Span<const std::string> operands,
                   absl::string_view result) {
  std::vector<std::pair<std::string, std::string>> names = {{"@", std::string(prefix)}, {"$r", std::string(result)}};
  for (size_t i = 0; i < operands.size(); ++i) names.emplace_back(absl::StrCat("$", i), operands[i]);
  return absl::StrReplaceAll(text, names);
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadVerified(const std::string& text) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(text));
  HloVerifier verifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true);
  KASHI_RETURN_IF_ERROR(verifier.Run(module.get()).status());
  return module;
}

std::string ShapeText(const Shape& shape) { return ShapeUtil::HumanString(shape); }
std::string ListText(absl::Span<const int64_t> numbers) { return absl::StrCat("{", absl::StrJoin(numbers, ","), "}"); }
Shape WithType(const Shape& shape, PrimitiveType type) { return ShapeUtil::MakeShape(type, shape.dimensions()); }
Shape WithSizes(const Shape& shape, absl::Span<const int64_t> sizes) {
  return ShapeUtil::MakeShape(shape.element_type(), sizes);
}
Shape ScalarOf(PrimitiveType type) { return ShapeUtil::MakeShape(type, {}); }
absl::string_view UnaryNeighbour(PrimitiveType type) { return type == PRED ? "not" : "negate"; }
absl::string_view BinaryNeighbour(PrimitiveType type) { return type == PRED ? "xor" : "add"; }

std::string BinaryComputation(absl::string_view name, absl::string_view operation, PrimitiveType type) {
  const std::string scalar = ShapeText(ScalarOf(type));
  return absl::StrCat(name, " {\n  a = ", scalar, " parameter(0)\n  b = ", scalar, " parameter(1)\n  ROOT c = ", scalar,
                      " ", operation, "(a, b)\n}\n");
}

bool HasForms(HloOpcode opcode) {
  constexpr uint32_t kNot =
      HloOpcodeFlags::kCollective | HloOpcodeFlags::kAsync | HloOpcodeFlags::kAsyncCollective | HloOpcodeFlags::kRandom;
  const HloOpcodeInfo& info = GetHloOpcodeInfo(opcode);
  return evaluator::FindEvaluation(opcode) != nullptr && !info.Has(kNot) &&
         info.requirement != HloOpcodeFlags::Requirement::kCustomCall;
}

std::vector<Draft> DraftsOf(HloOpcode opcode, const Shape& anchor) {
  std::vector<Draft> drafts;
  if (!HasForms(opcode)) return drafts;
  if (DraftRule rule = RuleOf(opcode)) rule(opcode, anchor, &drafts);
  return drafts;
}

std::vector<Form> FormsOf(HloOpcode opcode, const Shape& anchor) {
  std::vector<Form> forms;
  for (const Draft& draft : DraftsOf(opcode, anchor)) {
    if (!draft.lines.empty()) {
      if (IsValid(draft, draft.lines)) {
        forms.push_back({opcode, draft.operands, draft.computations, draft.lines, *draft.written});
      }
      continue;
    }
    const std::optional<Shape> result = InferResult(opcode, draft);
    if (!result.has_value()) continue;
    if (result->IsArray()) {
      const std::string lines = OperationLine(opcode, draft, "$r", *result);
      if (IsValid(draft, lines)) forms.push_back({opcode, draft.operands, draft.computations, lines, *result});
    } else if (result->IsTuple()) {
      const std::string whole = OperationLine(opcode, draft, "@whole", *result);
      if (!IsValid(draft, whole)) continue;
      for (int i = 0; i < result->tuple_shapes_size(); ++i) {
        const Shape& element = result->tuple_shapes(i);
        if (!element.IsArray()) continue;
        forms.push_back(
            {opcode, draft.operands, draft.computations,
             absl::StrCat(whole, "  $r = ", ShapeText(element), " get-tuple-element(@whole), index=", i, "\n"),
             element});
      }
    }
  }
  return forms;
}

}  // namespace kashi::tests
