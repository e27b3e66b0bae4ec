#include "kashi/passes/simplify.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/permutation_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal_util.h"
#include "kashi/passes/inline_calls.h"

namespace kashi::passes {
namespace {

// The scalar of which all elements are, if it is a constant.
const Literal* ConstantOf(const HloInstruction& x) {
  const HloInstruction* source = &x;
  if (source->opcode() == HloOpcode::kBroadcast) source = source->operand(0);
  const bool is_scalar =
      source->opcode() == HloOpcode::kConstant && source->shape().IsArray() && source->shape().rank() == 0;
  return is_scalar ? &source->literal() : nullptr;
}
bool IsNumber(const HloInstruction& x, int64_t number) {
  const Literal* const constant = ConstantOf(x);
  return constant != nullptr && constant->GetIntegralAsS64({}) == number;
}

bool IsReversalOfNothing(const HloInstruction& reverse) {
  return absl::c_all_of(reverse.dimensions(), [&](int64_t dimension) {
    return reverse.shape().dimensions(static_cast<int>(dimension)) <= 1;
  });
}

bool IsPadOfNothing(const PaddingConfig& padding) {
  return absl::c_all_of(padding.dimensions(), [](const auto& dimension) {
    return dimension.edge_padding_low() == 0 && dimension.edge_padding_high() == 0 && dimension.interior_padding() == 0;
  });
}

// The number of the operand that an operation on integers gives back; -1: none.
int64_t KeptOfIntegers(const HloInstruction& x) {
  if (!primitive_util::IsIntegralType(x.shape().element_type())) return -1;
  const int64_t neutral = x.opcode() == HloOpcode::kMultiply ? 1 : 0;
  if (IsNumber(*x.operand(1), neutral)) return 0;
  return x.opcode() != HloOpcode::kSubtract && IsNumber(*x.operand(0), neutral) ? 1 : -1;
}

int64_t KeptOfSelect(const HloInstruction& select) {
  const Literal* const chosen = ConstantOf(*select.operand(0));
  if (chosen == nullptr) return -1;
  return chosen->Get<bool>({}) ? 1 : 2;
}

int64_t First(const HloInstruction&) { return 0; }
int64_t Second(const HloInstruction&) { return 1; }
int64_t KeptIfIdentity(const HloInstruction& x) { return IsIdentityPermutation(x.dimensions()) ? 0 : -1; }
int64_t KeptOfConcatenate(const HloInstruction& x) { return x.operand_count() == 1 ? 0 : -1; }
int64_t KeptOfReverse(const HloInstruction& x) { return IsReversalOfNothing(x) ? 0 : -1; }
int64_t KeptOfPad(const HloInstruction& x) { return IsPadOfNothing(x.padding_config()) ? 0 : -1; }

// The number of the operand that an operation gives back, if its shape is that of the result; -1: none.
struct Rule {
  HloOpcode opcode;
  int64_t (*kept)(const HloInstruction& x);
};
constexpr Rule kRules[] = {{HloOpcode::kSlice, &First},
                           {HloOpcode::kDynamicSlice, &First},
                           {HloOpcode::kConvert, &First},
                           {HloOpcode::kReshape, &First},
                           {HloOpcode::kDynamicUpdateSlice, &Second},
                           {HloOpcode::kConcatenate, &KeptOfConcatenate},
                           {HloOpcode::kTranspose, &KeptIfIdentity},
                           {HloOpcode::kBroadcast, &KeptIfIdentity},
                           {HloOpcode::kReverse, &KeptOfReverse},
                           {HloOpcode::kPad, &KeptOfPad},
                           {HloOpcode::kAdd, &KeptOfIntegers},
                           {HloOpcode::kSubtract, &KeptOfIntegers},
                           {HloOpcode::kMultiply, &KeptOfIntegers},
                           {HloOpcode::kSelect, &KeptOfSelect}};

int64_t KeptOperand(const HloInstruction& x) {
  for (const Rule& rule : kRules) {
    if (rule.opcode == x.opcode()) return rule.kept(x);
  }
  return -1;
}

// A concatenation without the operands that have no elements; null: it has none, or nothing else.
absl::StatusOr<HloInstruction*> WithoutEmptyOperands(HloInstruction* concatenate) {
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : concatenate->operands()) {
    if (!ShapeUtil::IsZeroElementArray(operand->shape())) operands.push_back(operand);
  }
  if (operands.empty() || operands.size() == concatenate->operands().size()) return nullptr;
  HloComputation* const computation = concatenate->parent();
  HloInstruction* const shorter =
      computation->AddInstruction(concatenate->CloneWithNewOperands(concatenate->shape(), operands));
  KASHI_RETURN_IF_ERROR(computation->ReplaceInstruction(concatenate, shorter));
  return shorter;
}

// The constant without elements in place of an operation that makes such an array; null: it makes another one, or one
// with sizes that no literal has.
HloInstruction* EmptyConstant(HloInstruction* x) {
  const bool has_value = x->opcode() == HloOpcode::kParameter || x->opcode() == HloOpcode::kConstant;
  if (!ShapeUtil::IsZeroElementArray(x->shape()) || has_value || x->HasSideEffect()) return nullptr;
  absl::StatusOr<Literal> empty = Literal::Make(x->shape());
  if (!empty.ok()) return nullptr;
  return x->parent()->AddInstruction(HloInstruction::CreateConstant(*std::move(empty)));
}

// What an operation without elements to work on gives: the value of which all elements of its result are; null: it is
// none of those.
HloInstruction* ValueWithoutElements(HloInstruction* x) {
  const bool has_empty_operand = x->operand_count() > 0 && ShapeUtil::IsZeroElementArray(x->operand(0)->shape());
  if (!has_empty_operand) return nullptr;
  if (x->opcode() == HloOpcode::kDot) {
    return x->parent()->AddInstruction(HloInstruction::CreateConstant(LiteralUtil::Zero(x->shape().element_type())));
  }
  const bool gives_value = x->opcode() == HloOpcode::kReduce || x->opcode() == HloOpcode::kPad;
  const bool has_type = gives_value && x->operand(1)->shape().element_type() == x->shape().element_type();
  return has_type ? x->mutable_operand(1) : nullptr;
}

// The array that an update of no elements leaves as it is; null: it updates something.
HloInstruction* NotUpdated(HloInstruction* x) {
  const int64_t update = x->opcode() == HloOpcode::kScatter ? 2 : 1;
  const bool is_update = x->opcode() == HloOpcode::kScatter || x->opcode() == HloOpcode::kDynamicUpdateSlice;
  if (!is_update || !ShapeUtil::IsZeroElementArray(x->operand(update)->shape())) return nullptr;
  return ShapeUtil::Equal(x->operand(0)->shape(), x->shape()) ? x->mutable_operand(0) : nullptr;
}

absl::Status SimplifyInstruction(HloInstruction* x) {
  const bool is_plain = x->shape().IsArray() && x->shape().is_static() && !x->HasControlDependencies();
  if (!is_plain) return absl::OkStatus();
  if (x->opcode() == HloOpcode::kConcatenate) {
    KASHI_ASSIGN_OR_RETURN(HloInstruction* const shorter, WithoutEmptyOperands(x));
    if (shorter != nullptr) x = shorter;
  }
  if (HloInstruction* const empty = EmptyConstant(x); empty != nullptr)
    return x->parent()->ReplaceInstruction(x, empty);
  if (HloInstruction* const value = ValueWithoutElements(x); value != nullptr) {
    return x->parent()->ReplaceInstruction(
        x, x->parent()->AddInstruction(HloInstruction::CreateBroadcast(x->shape(), value, {})));
  }
  if (HloInstruction* const array = NotUpdated(x); array != nullptr) return x->parent()->ReplaceInstruction(x, array);
  const int64_t kept = KeptOperand(*x);
  if (kept < 0 || !ShapeUtil::Equal(x->operand(kept)->shape(), x->shape())) return absl::OkStatus();
  return x->parent()->ReplaceInstruction(x, x->mutable_operand(kept));
}

}  // namespace

absl::Status Simplify(HloModule* module, const PassContext& context) {
  for (HloComputation* computation : ComputationsRunAsAWhole(module)) {
    KASHI_RETURN_IF_ERROR(context.check_stopped());
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      KASHI_RETURN_IF_ERROR(SimplifyInstruction(instruction));
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::passes
