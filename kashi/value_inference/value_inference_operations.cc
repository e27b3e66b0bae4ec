// Infers the results of operations from the knowledge about their operands.
#include <memory>

#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/hlo/ir/combiner.h"
#include "kashi/value_inference/value_inference_pass.h"

namespace kashi::value_inference {

size_t MovedOperands(const HloInstruction& instruction) {
  const evaluator::OperationTraits& traits = evaluator::TraitsOf(instruction.opcode());
  if (traits.has_computed_sizes) return 0;
  return std::min(static_cast<size_t>(traits.moved_operands), instruction.operands().size());
}

absl::StatusOr<Value> Inference::Evaluate(const HloInstruction& instruction, std::vector<Value> operands) {
  return run_.EvaluateInstruction(instruction, absl::MakeSpan(operands));
}

absl::StatusOr<Value> Inference::EvaluateAs(PrimitiveType type, const HloInstruction& instruction,
                                            std::vector<Value> operands) {
  std::vector<std::unique_ptr<HloInstruction>> parameters;
  std::vector<HloInstruction*> pointers;
  const size_t moved = MovedOperands(instruction);
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& shape = instruction.operand(i)->shape();
    parameters.push_back(HloInstruction::CreateParameter(static_cast<int64_t>(i),
                                                         i < moved ? ShapeUtil::ChangeElementType(shape, type) : shape,
                                                         absl::StrCat("operand", i)));
    pointers.push_back(parameters.back().get());
  }
  const auto clone =
      instruction.CloneWithNewOperands(ShapeUtil::ChangeElementType(instruction.shape(), type), pointers);
  return Evaluate(*clone, std::move(operands));
}

absl::StatusOr<Known> Inference::OfWhole(const HloInstruction& instruction, const std::vector<const Known*>& operands) {
  std::vector<Value> values;
  for (const Known* operand : operands) values.push_back(operand->ToValue());
  KASHI_ASSIGN_OR_RETURN(Value value, Evaluate(instruction, std::move(values)));
  return Known::AllOf(std::move(value));
}

absl::StatusOr<Known> Inference::OfElementwise(const HloInstruction& instruction,
                                               const std::vector<const Known*>& operands) {
  const Shape& shape = instruction.shape();
  Known known;
  const auto is_none = [](const Known* operand) { return operand->value.is_nothing(); };
  if (std::none_of(operands.begin(), operands.end(), is_none)) {
    std::vector<Value> values;
    for (const Known* operand : operands) values.push_back(operand->value);
    KASHI_ASSIGN_OR_RETURN(known.value, Evaluate(instruction, std::move(values)));
    KASHI_ASSIGN_OR_RETURN(known.dynamic, Filled(PRED, shape, 0));
    const auto dynamic = known.dynamic.mutable_data<bool>();
    for (const Known* operand : operands) {
      if (operand->dynamic.is_nothing()) continue;
      const auto mask = operand->dynamic.data<bool>();
      for (size_t i = 0; i < dynamic.size(); ++i) dynamic[i] |= mask[mask.size() == 1 ? 0 : i];
    }
  }
  if (!evaluator::IntegerForms::RangeOfType(shape.element_type()).has_value()) return Tidy(std::move(known));
  std::vector<std::vector<evaluator::IntegerForms::Id>> ids;
  for (const Known* operand : operands) {
    KASHI_ASSIGN_OR_RETURN(std::vector<evaluator::IntegerForms::Id> of_operand, FormsOf(*operand));
    if (of_operand.empty()) return Tidy(std::move(known));
    ids.push_back(std::move(of_operand));
  }
  std::vector<evaluator::IntegerForms::Id> results(static_cast<size_t>(ShapeUtil::ElementsIn(shape)));
  std::vector<evaluator::IntegerForms::Id> x(operands.size());
  for (size_t i = 0; i < results.size(); ++i) {
    for (size_t k = 0; k < x.size(); ++k) x[k] = ids[k][ids[k].size() == 1 ? 0 : i];
    results[i] = instruction.opcode() == HloOpcode::kCompare
                     ? forms_.Compare(instruction.comparison_direction(), x[0], x[1])
                     : forms_.Apply(instruction.opcode(), shape.element_type(), x);
  }
  KASHI_ASSIGN_OR_RETURN(known.forms, FormArray(shape, results));
  return Tidy(std::move(known));
}

// If the predicate is known, the operand that it chooses. If it is not, dynamic, between the bounds of both
// operands.
absl::StatusOr<Known> Inference::OfSelect(const HloInstruction& instruction,
                                          const std::vector<const Known*>& operands) {
  const Shape& shape = instruction.shape();
  Known known;
  KASHI_ASSIGN_OR_RETURN(const Value predicate, ValueOrZeros(*operands[0], instruction.operand(0)->shape()));
  KASHI_ASSIGN_OR_RETURN(const Value undecided, Dynamic(*operands[0], instruction.operand(0)->shape()));
  KASHI_ASSIGN_OR_RETURN(const Value true_value, ValueOrZeros(*operands[1], shape));
  KASHI_ASSIGN_OR_RETURN(const Value false_value, ValueOrZeros(*operands[2], shape));
  KASHI_ASSIGN_OR_RETURN(const Value true_dynamic, Dynamic(*operands[1], shape));
  KASHI_ASSIGN_OR_RETURN(const Value false_dynamic, Dynamic(*operands[2], shape));
  KASHI_ASSIGN_OR_RETURN(known.value, Evaluate(instruction, {predicate, true_value, false_value}));
  KASHI_ASSIGN_OR_RETURN(known.dynamic, Filled(PRED, shape, 0));
  KASHI_ASSIGN_OR_RETURN(std::vector<evaluator::IntegerForms::Id> decisions, FormsOf(*operands[0]));
  KASHI_ASSIGN_OR_RETURN(std::vector<evaluator::IntegerForms::Id> if_true, FormsOf(*operands[1]));
  KASHI_ASSIGN_OR_RETURN(std::vector<evaluator::IntegerForms::Id> if_false, FormsOf(*operands[2]));
  const auto dynamic = known.dynamic.mutable_data<bool>();
  const auto at = [](const std::vector<evaluator::IntegerForms::Id>& ids, size_t i) {
    return ids.empty() ? evaluator::IntegerForms::kNone : ids[ids.size() == 1 ? 0 : i];
  };
  std::vector<evaluator::IntegerForms::Id> ids(dynamic.size());
  for (size_t i = 0; i < dynamic.size(); ++i) {
    const size_t p = predicate.element_count() == 1 ? 0 : i;
    const bool chosen = predicate.data<bool>()[p];
    dynamic[i] = undecided.data<bool>()[p] || (chosen ? true_dynamic : false_dynamic).data<bool>()[i];
    const evaluator::IntegerForms::Id decision = at(decisions, i);
    const bool is_open =
        decision == evaluator::IntegerForms::kNone || forms_.RangeOf(decision).low != forms_.RangeOf(decision).high;
    ids[i] = is_open ? forms_.Either(at(if_true, i), at(if_false, i))
                     : at(forms_.RangeOf(decision).low != 0 ? if_true : if_false, i);
  }
  KASHI_ASSIGN_OR_RETURN(known.forms, FormArray(shape, ids));
  return Tidy(std::move(known));
}

absl::StatusOr<Known> Inference::OfMove(const HloInstruction& instruction, const std::vector<const Known*>& operands) {
  const size_t moved = MovedOperands(instruction);
  for (size_t i = moved; i < operands.size(); ++i) {
    if (!operands[i]->IsAll()) return Known();
  }
  // The instruction on the arrays that `of` makes of the moved operands.
  const auto move = [&](PrimitiveType type, auto of) -> absl::StatusOr<Value> {
    std::vector<Value> values;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (i >= moved) {
        values.push_back(operands[i]->value);
      } else {
        KASHI_ASSIGN_OR_RETURN(Value value, of(*operands[i], instruction.operand(i)->shape()));
        values.push_back(std::move(value));
      }
    }
    return EvaluateAs(type, instruction, std::move(values));
  };
  const auto any = [&](auto condition) {
    return std::any_of(operands.begin(), operands.begin() + static_cast<ptrdiff_t>(moved),
                       [&](const Known* operand) { return condition(*operand); });
  };
  Known known;
  if (any([](const Known& operand) { return !operand.value.is_nothing(); })) {
    KASHI_ASSIGN_OR_RETURN(known.value, move(instruction.shape().element_type(),
                                             [&](const Known& x, const Shape& s) { return ValueOrZeros(x, s); }));
    KASHI_ASSIGN_OR_RETURN(known.dynamic, move(PRED, [&](const Known& x, const Shape& s) { return Dynamic(x, s); }));
  }
  if (any([](const Known& operand) { return !operand.forms.is_nothing(); })) {
    const auto forms = [&](const Known& x, const Shape& shape) -> absl::StatusOr<Value> {
      KASHI_ASSIGN_OR_RETURN(const std::vector<evaluator::IntegerForms::Id> ids, FormsOf(x));
      if (ids.empty()) return Filled(S32, shape, 0);
      return FormArray(shape, ids);
    };
    KASHI_ASSIGN_OR_RETURN(known.forms, move(S32, forms));
  }
  return Tidy(std::move(known));
}

// The reduction with PREDs and `or` in place of the elements and their operation.
absl::StatusOr<Value> Inference::AnyIsDynamic(const HloInstruction& reduction, const Value& dynamic) {
  HloComputation::Builder builder("any");
  const Shape pred = ShapeUtil::MakeShape(PRED, {});
  HloInstruction* const x = builder.AddInstruction(HloInstruction::CreateParameter(0, pred, "x"));
  HloInstruction* const y = builder.AddInstruction(HloInstruction::CreateParameter(1, pred, "y"));
  builder.AddInstruction(HloInstruction::CreateBinary(pred, HloOpcode::kOr, x, y));
  const std::unique_ptr<HloComputation> any = builder.Build();
  const auto mask =
      HloInstruction::CreateParameter(0, ShapeUtil::ChangeElementType(reduction.operand(0)->shape(), PRED), "mask");
  const auto init = HloInstruction::CreateParameter(1, pred, "init");
  const Shape& result = reduction.shape().IsTuple() ? reduction.shape().tuple_shapes(0) : reduction.shape();
  const Shape shape = ShapeUtil::ChangeElementType(result, PRED);
  const auto fold =
      reduction.opcode() == HloOpcode::kReduce
          ? HloInstruction::CreateReduce(shape, mask.get(), init.get(), reduction.dimensions(), any.get())
          : HloInstruction::CreateReduceWindow(shape, mask.get(), init.get(), reduction.window(), any.get());
  KASHI_ASSIGN_OR_RETURN(const Value nothing, Filled(PRED, pred, 0));
  evaluator::EvaluationRun apart(Options());  // `any` does not live as long as run_
  std::vector<Value> fold_operands = {dynamic, nothing};
  return apart.EvaluateInstruction(*fold, absl::MakeSpan(fold_operands));
}

// reduce and reduce-window: a result is dynamic if one of its input elements is.
absl::StatusOr<Known> Inference::OfReduction(const HloInstruction& instruction,
                                             const std::vector<const Known*>& operands) {
  const size_t inputs = operands.size() / 2;
  if (inputs == 1 && instruction.opcode() == HloOpcode::kReduce && !operands[0]->forms.is_nothing()) {
    return FoldForms(instruction, *operands[0], *operands[1]);
  }
  std::vector<Value> values;
  Value dynamic;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i >= inputs && !operands[i]->IsAll()) return Known();
    const Shape& shape = instruction.operand(i)->shape();
    KASHI_ASSIGN_OR_RETURN(Value value, ValueOrZeros(*operands[i], shape));
    values.push_back(std::move(value));
    if (i >= inputs) continue;
    KASHI_ASSIGN_OR_RETURN(const Value mask, Dynamic(*operands[i], shape));
    if (i == 0) {
      KASHI_ASSIGN_OR_RETURN(dynamic, Filled(PRED, shape, 0));
    }
    const auto sum = dynamic.mutable_data<bool>();
    for (size_t k = 0; k < sum.size(); ++k) sum[k] |= mask.data<bool>()[k];
  }
  KASHI_ASSIGN_OR_RETURN(Value value, Evaluate(instruction, std::move(values)));
  KASHI_ASSIGN_OR_RETURN(const Value result_dynamic, AnyIsDynamic(instruction, dynamic));
  Known known = Known::AllOf(std::move(value));
  for (Known& part : known.is_tuple ? absl::MakeSpan(known.elements) : absl::MakeSpan(&known, 1)) {
    part.dynamic = result_dynamic;
    part = Tidy(std::move(part));
  }
  return known;
}

// A reduction by one commutative operation, of integers that have forms.
absl::StatusOr<Known> Inference::FoldForms(const HloInstruction& reduce, const Known& operand, const Known& init) {
  const HloInstruction& root = *reduce.to_apply()->root_instruction();
  const bool is_plain = hlo::CombinerOf(*reduce.to_apply()).has_value() &&
                        root.shape().element_type() == reduce.shape().element_type() &&
                        GetHloOpcodeInfo(root.opcode()).Has(HloOpcodeFlags::kCommutative);
  KASHI_ASSIGN_OR_RETURN(const std::vector<evaluator::IntegerForms::Id> from, FormsOf(operand));
  KASHI_ASSIGN_OR_RETURN(const std::vector<evaluator::IntegerForms::Id> first, FormsOf(init));
  if (!is_plain || from.empty() || first.empty()) return Known();
  const Shape& shape = reduce.operand(0)->shape();
  std::vector<evaluator::IntegerForms::Id> to(static_cast<size_t>(ShapeUtil::ElementsIn(reduce.shape())), first[0]);
  for (size_t i = 0; i < from.size(); ++i) {
    // The position of the result for element i: its index without the reduced dimensions.
    int64_t rest = static_cast<int64_t>(i);
    int64_t position = 0;
    int64_t stride = 1;
    for (int d = static_cast<int>(shape.dimensions().size()) - 1; d >= 0; --d) {
      const int64_t index = rest % shape.dimensions(d);
      rest /= shape.dimensions(d);
      if (std::count(reduce.dimensions().begin(), reduce.dimensions().end(), d) > 0) continue;
      position += index * stride;
      stride *= shape.dimensions(d);
    }
    to[position] = forms_.Apply(root.opcode(), reduce.shape().element_type(), {to[position], from[i]});
  }
  return OfForms(reduce.shape(), to);
}

// The known operands, sorted by a comparator that reads only known operands.
absl::StatusOr<Known> Inference::OfSort(const HloInstruction& instruction, const std::vector<const Known*>& operands) {
  const HloComputation& comparator = *instruction.to_apply();
  std::vector<Value> values;
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto is_used = [&](size_t number) {
      const HloInstruction* parameter = comparator.parameter_instruction(static_cast<int64_t>(number));
      return parameter->user_count() > 0 || parameter == comparator.root_instruction();
    };
    if (!operands[i]->IsAll() && (is_used(2 * i) || is_used(2 * i + 1))) return Known();
    KASHI_ASSIGN_OR_RETURN(Value value, ValueOrZeros(*operands[i], instruction.operand(i)->shape()));
    values.push_back(std::move(value));
  }
  KASHI_ASSIGN_OR_RETURN(Value sorted, Evaluate(instruction, std::move(values)));
  Known known = Known::AllOf(std::move(sorted));
  for (size_t i = 0; known.is_tuple && i < operands.size(); ++i) {
    if (!operands[i]->IsAll()) known.elements[i] = Known();
  }
  return known;
}

absl::StatusOr<Known> Inference::OfOperation(const HloInstruction& instruction,
                                             const std::vector<const Known*>& operands) {
  const auto is_all = [](const Known* operand) { return operand->IsAll(); };
  const auto is_none = [](const Known* operand) { return operand->IsNone(); };
  if (IsFree(instruction) || IsFreeWithin(instruction)) return Known();
  if (std::all_of(operands.begin(), operands.end(), is_all)) return OfWhole(instruction, operands);
  if (std::all_of(operands.begin(), operands.end(), is_none)) return Known();
  if (MovedOperands(instruction) > 0) return OfMove(instruction, operands);
  if (instruction.opcode() == HloOpcode::kSelect) return OfSelect(instruction, operands);
  if (GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kElementwise)) {
    return OfElementwise(instruction, operands);
  }
  switch (instruction.opcode()) {
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
      return OfReduction(instruction, operands);
    case HloOpcode::kSort:
      return OfSort(instruction, operands);
    default:
      return Known();
  }
}

}  // namespace kashi::value_inference
