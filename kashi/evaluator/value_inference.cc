#include "kashi/evaluator/value_inference.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/integer_forms.h"
#include "kashi/evaluator/value.h"
#include "kashi/evaluator/while_loop_pattern.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal_util.h"

namespace kashi {

using internal::EvaluationRun;
using internal::IntegerForms;
using internal::IntegerRange;
namespace {

// A program that is being built may be anything: limits, beyond which values are dynamic.
constexpr int64_t kMaxInferenceWork = int64_t{1} << 32;  // of evaluations (work.h)
constexpr int kMaxInferredInstructions = 1 << 18;        // looked at, again for each call
constexpr int kMaxInferredCallDepth = 64;

using FormId = internal::IntegerForms::Id;

// What is known of the value of an instruction. Of an array:
//
//   value      dynamic     an element is
//   nothing    -           dynamic
//   an array   nothing     known
//   an array   PRED[…]     known where that is false; elsewhere `value` says nothing
//
// and `forms`, if there, has an IntegerForms::Id for each element, to be looked at where it is dynamic.
struct Known {
  bool is_tuple = false;
  std::vector<Known> elements;
  Value value;
  Value dynamic;
  Value forms;

  bool IsAll() const {
    if (!is_tuple) return !value.is_nothing() && dynamic.is_nothing();
    return std::all_of(elements.begin(), elements.end(), [](const Known& element) { return element.IsAll(); });
  }
  bool IsNone() const { return !is_tuple && value.is_nothing() && forms.is_nothing(); }
};

Known AllOf(Value value) {
  Known known;
  if (!value.is_tuple()) {
    if (value.is_array()) known.value = std::move(value);
    return known;
  }
  known.is_tuple = true;
  for (const Value& element : value.elements()) known.elements.push_back(AllOf(element));
  return known;
}

Known TupleOf(std::vector<Known> elements) {
  Known known;
  known.is_tuple = true;
  known.elements = std::move(elements);
  return known;
}

// Pre: IsAll().
Value ValueOf(const Known& known) {
  if (!known.is_tuple) return known.value;
  std::vector<Value> elements;
  for (const Known& element : known.elements) elements.push_back(ValueOf(element));
  return Value::MakeTuple(std::move(elements));
}

const Known& ElementOf(const Known& tuple, int64_t i) {
  static const Known* const nothing = new Known;
  return tuple.is_tuple ? tuple.elements[i] : *nothing;
}

// How many operands an operation only moves elements of; those behind say where to. 0: it does not only move.
size_t MovedOperands(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kBroadcast:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kGather:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return 1;
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kPad:
      return 2;
    case HloOpcode::kConcatenate:
      return instruction.operands().size();
    default:
      return 0;
  }
}

// Whether operands alone do not say what it gives.
bool IsFree(const HloInstruction& instruction) {
  constexpr uint32_t kFree = HloOpcodeFlags::kCollective | HloOpcodeFlags::kAsync | HloOpcodeFlags::kSideEffect |
                             HloOpcodeFlags::kRandom | HloOpcodeFlags::kToken;
  switch (instruction.opcode()) {
    case HloOpcode::kCustomCall:
    case HloOpcode::kGetDimensionSize:
    case HloOpcode::kPartitionId:
    case HloOpcode::kReplicaId:
      return true;
    default:
      return GetHloOpcodeInfo(instruction.opcode()).Has(kFree);
  }
}

class Inference {
 public:
  Inference() : run_(Options()) {}

  // Of `root` and what it needs, its parameters being these.
  Known Infer(const HloInstruction& root, const std::vector<Known>& arguments);

  // ---- Results, under the shape of the instruction, dimensions static.
  absl::StatusOr<Literal> ValueLiteral(const Known& known, const Shape& shape, ValueInferenceMode mode);
  absl::StatusOr<Literal> DynamicLiteral(const Known& known, const Shape& shape, bool bounds_count);

 private:
  struct Scope {
    const std::vector<Known>& arguments;
    absl::flat_hash_map<const HloInstruction*, Known> known;
    std::map<std::pair<const HloInstruction*, int64_t>, FormId> sizes;  // of dimensions
  };

  static EvaluationOptions Options() {
    EvaluationOptions options;
    options.max_work = kMaxInferenceWork;
    return options;
  }

  absl::StatusOr<Known> Of(const HloInstruction& instruction, Scope& scope);
  absl::StatusOr<Known> OfOperation(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfWhole(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfElementwise(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfSelect(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfMove(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfReduction(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfSort(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfConditional(const HloInstruction& conditional, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfLoop(const HloInstruction& loop, const Known& state);
  absl::StatusOr<Known> OfSetBound(const HloInstruction& call);
  absl::StatusOr<Known> OfSize(const HloInstruction& instruction, Scope& scope);
  FormId SizeOf(const HloInstruction& array, int64_t dimension, Scope& scope);
  absl::StatusOr<Known> FoldForms(const HloInstruction& reduce, const Known& operand, const Known& init);
  absl::StatusOr<Known> Either(const Known& a, const Known& b);

  bool IsFreeWithin(const HloInstruction& instruction);
  bool IsFreeComputation(const HloComputation& computation);

  // ---- Arrays.
  // The operation on operands of these values, each an array; `type` is that of those that it moves, and of the result.
  absl::StatusOr<Value> Evaluate(const HloInstruction& instruction, std::vector<Value> operands);
  absl::StatusOr<Value> EvaluateAs(PrimitiveType type, const HloInstruction& instruction, std::vector<Value> operands);
  absl::StatusOr<Value> Filled(PrimitiveType type, const Shape& shape, int byte);
  absl::StatusOr<Value> ValueOrZeros(const Known& known, const Shape& shape);
  absl::StatusOr<Value> Dynamic(const Known& known, const Shape& shape);
  // Empty if no element has any.
  absl::StatusOr<std::vector<FormId>> FormsOf(const Known& known);
  absl::StatusOr<Value> FormArray(const Shape& shape, absl::Span<const FormId> forms);
  Known Tidy(Known known);
  // An array of which `forms` is all that is known: those that are constants are values.
  absl::StatusOr<Known> OfForms(const Shape& shape, absl::Span<const FormId> forms);

  EvaluationRun run_;
  IntegerForms forms_;
  absl::flat_hash_map<const HloComputation*, bool> free_computations_;
  int instructions_ = 0;
  int call_depth_ = 0;
};

// ---- Arrays --------------------------------------------------------------------------------------------------------

absl::StatusOr<Value> Inference::Filled(PrimitiveType type, const Shape& shape, int byte) {
  KASHI_ASSIGN_OR_RETURN(Value value, run_.MakeArray(type, shape.dimensions()));
  if (value.byte_count() > 0) std::memset(value.mutable_data(), byte, static_cast<size_t>(value.byte_count()));
  return value;
}

absl::StatusOr<Value> Inference::ValueOrZeros(const Known& known, const Shape& shape) {
  if (!known.value.is_nothing()) return known.value;
  return Filled(shape.element_type(), shape, 0);
}

absl::StatusOr<Value> Inference::Dynamic(const Known& known, const Shape& shape) {
  if (!known.dynamic.is_nothing()) return known.dynamic;
  return Filled(PRED, shape, known.value.is_nothing() ? 1 : 0);
}

absl::StatusOr<std::vector<FormId>> Inference::FormsOf(const Known& known) {
  std::vector<FormId> ids;
  if (!known.value.is_nothing() && IntegerForms::RangeOfType(known.value.element_type()).has_value()) {
    const bool is_large = known.value.element_type() == U64;
    KASHI_ASSIGN_OR_RETURN(const Value numbers, run_.Convert(known.value, S64));
    for (const int64_t number : numbers.data<int64_t>()) {
      ids.push_back(is_large && number < 0 ? IntegerForms::kNone : forms_.Constant(number));
    }
  }
  if (known.IsAll()) return ids;
  if (known.forms.is_nothing()) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (known.dynamic.data<bool>()[i]) ids[i] = IntegerForms::kNone;
    }
    return ids;
  }
  ids.resize(static_cast<size_t>(known.forms.element_count()));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (known.value.is_nothing() || known.dynamic.data<bool>()[i]) ids[i] = known.forms.data<FormId>()[i];
  }
  return ids;
}

absl::StatusOr<Value> Inference::FormArray(const Shape& shape, absl::Span<const FormId> forms) {
  KASHI_ASSIGN_OR_RETURN(Value value, run_.MakeArray(S32, shape.dimensions()));
  std::copy(forms.begin(), forms.end(), value.mutable_data<FormId>().begin());
  return value;
}

Known Inference::Tidy(Known known) {
  const auto all_are = [](const Value& preds, bool wanted) {
    const auto data = preds.data<bool>();
    return std::all_of(data.begin(), data.end(), [&](bool dynamic) { return dynamic == wanted; });
  };
  if (!known.dynamic.is_nothing() && all_are(known.dynamic, false)) known.dynamic = Value();
  if (!known.dynamic.is_nothing() && all_are(known.dynamic, true)) known.value = known.dynamic = Value();
  if (!known.forms.is_nothing()) {
    const auto ids = known.forms.data<FormId>();
    const bool says_something =
        std::any_of(ids.begin(), ids.end(), [](FormId id) { return id != IntegerForms::kNone; });
    if (!says_something || known.IsAll()) known.forms = Value();
  }
  return known;
}

absl::StatusOr<Known> Inference::OfForms(const Shape& shape, absl::Span<const FormId> forms) {
  Known known;
  KASHI_ASSIGN_OR_RETURN(known.forms, FormArray(shape, forms));
  return known;
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

// ---- Operations ----------------------------------------------------------------------------------------------------

absl::StatusOr<Known> Inference::OfWhole(const HloInstruction& instruction, const std::vector<const Known*>& operands) {
  std::vector<Value> values;
  for (const Known* operand : operands) values.push_back(ValueOf(*operand));
  KASHI_ASSIGN_OR_RETURN(Value value, Evaluate(instruction, std::move(values)));
  return AllOf(std::move(value));
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
  if (!IntegerForms::RangeOfType(shape.element_type()).has_value()) return Tidy(std::move(known));
  std::vector<std::vector<FormId>> ids;
  for (const Known* operand : operands) {
    KASHI_ASSIGN_OR_RETURN(std::vector<FormId> of_operand, FormsOf(*operand));
    if (of_operand.empty()) return Tidy(std::move(known));
    ids.push_back(std::move(of_operand));
  }
  std::vector<FormId> results(static_cast<size_t>(ShapeUtil::ElementsIn(shape)));
  std::vector<FormId> x(operands.size());
  for (size_t i = 0; i < results.size(); ++i) {
    for (size_t k = 0; k < x.size(); ++k) x[k] = ids[k][ids[k].size() == 1 ? 0 : i];
    results[i] = instruction.opcode() == HloOpcode::kCompare
                     ? forms_.Compare(instruction.comparison_direction(), x[0], x[1])
                     : forms_.Apply(instruction.opcode(), shape.element_type(), x);
  }
  KASHI_ASSIGN_OR_RETURN(known.forms, FormArray(shape, results));
  return Tidy(std::move(known));
}

// Where the predicate is known: what it chooses. Where not: dynamic, between the bounds of both.
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
  KASHI_ASSIGN_OR_RETURN(std::vector<FormId> decisions, FormsOf(*operands[0]));
  KASHI_ASSIGN_OR_RETURN(std::vector<FormId> if_true, FormsOf(*operands[1]));
  KASHI_ASSIGN_OR_RETURN(std::vector<FormId> if_false, FormsOf(*operands[2]));
  const auto dynamic = known.dynamic.mutable_data<bool>();
  const auto at = [](const std::vector<FormId>& ids, size_t i) {
    return ids.empty() ? IntegerForms::kNone : ids[ids.size() == 1 ? 0 : i];
  };
  std::vector<FormId> ids(dynamic.size());
  for (size_t i = 0; i < dynamic.size(); ++i) {
    const size_t p = predicate.element_count() == 1 ? 0 : i;
    const bool chosen = predicate.data<bool>()[p];
    dynamic[i] = undecided.data<bool>()[p] || (chosen ? true_dynamic : false_dynamic).data<bool>()[i];
    const FormId decision = at(decisions, i);
    const bool is_open =
        decision == IntegerForms::kNone || forms_.RangeOf(decision).low != forms_.RangeOf(decision).high;
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
  // Moves what `of` gives for each operand.
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
      KASHI_ASSIGN_OR_RETURN(const std::vector<FormId> ids, FormsOf(x));
      if (ids.empty()) return Filled(S32, shape, 0);
      return FormArray(shape, ids);
    };
    KASHI_ASSIGN_OR_RETURN(known.forms, move(S32, forms));
  }
  return Tidy(std::move(known));
}

// reduce and reduce-window: a result is dynamic if anything that goes into it is.
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

  HloComputation::Builder builder("any");
  const Shape pred = ShapeUtil::MakeShape(PRED, {});
  HloInstruction* const x = builder.AddInstruction(HloInstruction::CreateParameter(0, pred, "x"));
  HloInstruction* const y = builder.AddInstruction(HloInstruction::CreateParameter(1, pred, "y"));
  builder.AddInstruction(HloInstruction::CreateBinary(pred, HloOpcode::kOr, x, y));
  const std::unique_ptr<HloComputation> any = builder.Build();
  const auto mask =
      HloInstruction::CreateParameter(0, ShapeUtil::ChangeElementType(instruction.operand(0)->shape(), PRED), "mask");
  const auto init = HloInstruction::CreateParameter(1, pred, "init");
  const Shape& result = inputs == 1 ? instruction.shape() : instruction.shape().tuple_shapes(0);
  const Shape shape = ShapeUtil::ChangeElementType(result, PRED);
  const auto fold =
      instruction.opcode() == HloOpcode::kReduce
          ? HloInstruction::CreateReduce(shape, mask.get(), init.get(), instruction.dimensions(), any.get())
          : HloInstruction::CreateReduceWindow(shape, mask.get(), init.get(), instruction.window(), any.get());
  KASHI_ASSIGN_OR_RETURN(const Value nothing, Filled(PRED, pred, 0));
  EvaluationRun apart(Options());  // `any` does not live as long as run_
  std::vector<Value> fold_operands = {dynamic, nothing};
  KASHI_ASSIGN_OR_RETURN(const Value result_dynamic, apart.EvaluateInstruction(*fold, absl::MakeSpan(fold_operands)));

  Known known = AllOf(std::move(value));
  for (Known& part : known.is_tuple ? absl::MakeSpan(known.elements) : absl::MakeSpan(&known, 1)) {
    part.dynamic = result_dynamic;
    part = Tidy(std::move(part));
  }
  return known;
}

// A reduction by one operation, of integers of which forms are known.
absl::StatusOr<Known> Inference::FoldForms(const HloInstruction& reduce, const Known& operand, const Known& init) {
  const HloInstruction& root = *reduce.to_apply()->root_instruction();
  const bool is_plain = root.operands().size() == 2 && root.operand(0)->opcode() == HloOpcode::kParameter &&
                        root.operand(1)->opcode() == HloOpcode::kParameter && root.operand(0) != root.operand(1) &&
                        root.shape().element_type() == reduce.shape().element_type() &&
                        GetHloOpcodeInfo(root.opcode()).Has(HloOpcodeFlags::kCommutative);
  KASHI_ASSIGN_OR_RETURN(const std::vector<FormId> from, FormsOf(operand));
  KASHI_ASSIGN_OR_RETURN(const std::vector<FormId> first, FormsOf(init));
  if (!is_plain || from.empty() || first.empty()) return Known();
  const Shape& shape = reduce.operand(0)->shape();
  std::vector<FormId> to(static_cast<size_t>(ShapeUtil::ElementsIn(reduce.shape())), first[0]);
  for (size_t i = 0; i < from.size(); ++i) {
    // Where element i goes: its index without the dimensions that go away.
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

// Operands that are known, sorted by a comparator that looks at none but known ones.
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
  Known known = AllOf(std::move(sorted));
  for (size_t i = 0; known.is_tuple && i < operands.size(); ++i) {
    if (!operands[i]->IsAll()) known.elements[i] = Known();
  }
  return known;
}

// ---- Sizes and bounds ----------------------------------------------------------------------------------------------

FormId Inference::SizeOf(const HloInstruction& array, int64_t dimension, Scope& scope) {
  const Shape& shape = array.shape();
  if (array.opcode() == HloOpcode::kSetDimensionSize) {
    if (array.dimension() != dimension) return SizeOf(*array.operand(0), dimension, scope);
    const absl::StatusOr<std::vector<FormId>> size = FormsOf(scope.known.at(array.operand(1)));
    const FormId bound = forms_.Constant(array.operand(0)->shape().dimensions(dimension));
    if (size.ok() && size->size() == 1) return forms_.Apply(HloOpcode::kMinimum, S32, {(*size)[0], bound});
  }
  if (shape.is_unbounded_dynamic_dimension(static_cast<int>(dimension))) return IntegerForms::kNone;
  const int64_t bound = shape.dimensions(dimension);
  if (!shape.is_dynamic_dimension(static_cast<int>(dimension))) return forms_.Constant(bound);
  FormId& size = scope.sizes[{&array, dimension}];
  if (size == IntegerForms::kNone) size = forms_.Unknown({0, bound});
  return size;
}

absl::StatusOr<Known> Inference::OfSize(const HloInstruction& instruction, Scope& scope) {
  const FormId size = SizeOf(*instruction.operand(0), instruction.dimension(), scope);
  if (size == IntegerForms::kNone) return Known();
  const IntegerRange range = forms_.RangeOf(size);
  if (range.low != range.high) return OfForms(instruction.shape(), {size});
  Known known;
  KASHI_ASSIGN_OR_RETURN(known.value, FormArray(instruction.shape(), {static_cast<int32_t>(range.low)}));
  return known;
}

absl::StatusOr<Known> Inference::OfSetBound(const HloInstruction& call) {
  const SharedLiteral* const shared = call.fields().Find<HloField::literal>();
  const Literal* const literal = shared == nullptr || !*shared ? nullptr : &**shared;
  if (literal == nullptr || !call.shape().IsArray()) return Known();
  const bool has_mask = literal->shape().IsTuple();
  const LiteralSlice bound = has_mask ? LiteralSlice(*literal, {0}) : LiteralSlice(*literal);
  if (!ShapeUtil::Compatible(bound.shape(), call.shape())) return Known();
  Known known;
  KASHI_ASSIGN_OR_RETURN(known.value, Value::FromLiteral(bound, run_.budget()));
  KASHI_ASSIGN_OR_RETURN(std::vector<FormId> ids, FormsOf(known));
  const std::optional<IntegerRange> type = IntegerForms::RangeOfType(call.shape().element_type());
  for (FormId& id : ids) {
    if (id != IntegerForms::kNone) id = forms_.Unknown({type->low, forms_.RangeOf(id).high});
  }
  if (has_mask) {
    KASHI_ASSIGN_OR_RETURN(known.dynamic, Value::FromLiteral(LiteralSlice(*literal, {1}), run_.budget()));
  } else {
    KASHI_ASSIGN_OR_RETURN(known.dynamic, Filled(PRED, call.shape(), 1));
  }
  if (!ids.empty()) {
    KASHI_ASSIGN_OR_RETURN(known.forms, FormArray(call.shape(), ids));
  }
  return Tidy(std::move(known));
}

// ---- Calls ---------------------------------------------------------------------------------------------------------

// What both agree on.
absl::StatusOr<Known> Inference::Either(const Known& a, const Known& b) {
  if (a.is_tuple != b.is_tuple) return Known();
  Known known;
  if (a.is_tuple) {
    known.is_tuple = true;
    for (size_t i = 0; i < a.elements.size(); ++i) {
      KASHI_ASSIGN_OR_RETURN(Known element, Either(a.elements[i], b.elements[i]));
      known.elements.push_back(std::move(element));
    }
    return known;
  }
  KASHI_ASSIGN_OR_RETURN(const std::vector<FormId> x, FormsOf(a));
  KASHI_ASSIGN_OR_RETURN(const std::vector<FormId> y, FormsOf(b));
  if (!a.value.is_nothing() && !b.value.is_nothing()) {
    const Shape& shape = a.value.shape();
    known.value = a.value;
    KASHI_ASSIGN_OR_RETURN(const Value a_dynamic, Dynamic(a, shape));
    KASHI_ASSIGN_OR_RETURN(const Value b_dynamic, Dynamic(b, shape));
    KASHI_ASSIGN_OR_RETURN(known.dynamic, Filled(PRED, shape, 0));
    const auto size = static_cast<size_t>(a.value.element_bytes());
    const auto dynamic = known.dynamic.mutable_data<bool>();
    for (size_t i = 0; i < dynamic.size(); ++i) {
      dynamic[i] = a_dynamic.data<bool>()[i] || b_dynamic.data<bool>()[i] ||
                   std::memcmp(a.value.bytes() + i * size, b.value.bytes() + i * size, size) != 0;
    }
  }
  if (!x.empty() && !y.empty()) {
    const Shape& shape = (a.value.is_nothing() ? a.forms : a.value).shape();
    std::vector<FormId> ids(x.size());
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = forms_.Either(x[i], y[i]);
    KASHI_ASSIGN_OR_RETURN(known.forms, FormArray(shape, ids));
  }
  return Tidy(std::move(known));
}

absl::StatusOr<Known> Inference::OfConditional(const HloInstruction& conditional,
                                               const std::vector<const Known*>& operands) {
  const auto branches = conditional.branch_computations();
  const auto branch = [&](size_t i) { return Infer(*branches[i]->root_instruction(), {*operands[i + 1]}); };
  if (operands[0]->IsAll()) {
    const Value& index = operands[0]->value;
    if (index.element_type() == PRED) return branch(index.data<bool>()[0] ? 0 : 1);
    const int64_t i = index.data<int32_t>()[0];
    return branch(i >= 0 && i < static_cast<int64_t>(branches.size()) ? i : branches.size() - 1);
  }
  Known known = branch(0);
  for (size_t i = 1; i < branches.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(known, Either(known, branch(i)));
  }
  return known;
}

absl::StatusOr<Known> Inference::OfLoop(const HloInstruction& loop, const Known& state) {
  if (state.IsAll() && !IsFreeWithin(loop)) {
    absl::StatusOr<Known> known = OfWhole(loop, {&state});
    if (known.ok()) return known;
  }
  if (!state.is_tuple) return Known();
  std::vector<Known> elements(state.elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    if (IsInvariant(loop, static_cast<int64_t>(i))) elements[i] = state.elements[i];
  }
  return TupleOf(std::move(elements));
}

bool Inference::IsFreeComputation(const HloComputation& computation) {
  const auto [found, is_new] = free_computations_.try_emplace(&computation, false);
  if (!is_new) return found->second;
  bool is_free = false;
  for (const HloInstruction* instruction : computation.instructions()) {
    is_free = is_free || (instruction->opcode() != HloOpcode::kGetDimensionSize && IsFree(*instruction)) ||
              IsFreeWithin(*instruction);
  }
  return free_computations_[&computation] = is_free;
}

bool Inference::IsFreeWithin(const HloInstruction& instruction) {
  const auto called = instruction.called_computations();
  return std::any_of(called.begin(), called.end(), [&](const HloComputation* c) { return IsFreeComputation(*c); });
}

// ---- The pass ------------------------------------------------------------------------------------------------------

absl::StatusOr<Known> Inference::OfOperation(const HloInstruction& instruction,
                                             const std::vector<const Known*>& operands) {
  const auto is_all = [](const Known* operand) { return operand->IsAll(); };
  const auto is_none = [](const Known* operand) { return operand->IsNone(); };
  if (IsFree(instruction) || IsFreeWithin(instruction)) return Known();
  if (std::all_of(operands.begin(), operands.end(), is_all)) return OfWhole(instruction, operands);
  if (std::all_of(operands.begin(), operands.end(), is_none)) return Known();
  switch (instruction.opcode()) {
    case HloOpcode::kSelect:
      return OfSelect(instruction, operands);
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
      return OfReduction(instruction, operands);
    case HloOpcode::kSort:
      return OfSort(instruction, operands);
    default:
      if (MovedOperands(instruction) > 0) return OfMove(instruction, operands);
      return GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kElementwise)
                 ? OfElementwise(instruction, operands)
                 : Known();
  }
}

absl::StatusOr<Known> Inference::Of(const HloInstruction& instruction, Scope& scope) {
  std::vector<const Known*> operands;
  for (const HloInstruction* operand : instruction.operands()) operands.push_back(&scope.known.at(operand));
  switch (instruction.opcode()) {
    case HloOpcode::kParameter: {
      const auto number = static_cast<size_t>(instruction.parameter_number());
      return number < scope.arguments.size() ? scope.arguments[number] : Known();
    }
    case HloOpcode::kTuple: {
      std::vector<Known> elements;
      for (const Known* operand : operands) elements.push_back(*operand);
      return TupleOf(std::move(elements));
    }
    case HloOpcode::kGetTupleElement:
      return ElementOf(*operands[0], instruction.tuple_index());
    case HloOpcode::kAddDependency:
    case HloOpcode::kCopy:
    case HloOpcode::kDomain:
    case HloOpcode::kOptimizationBarrier:
    case HloOpcode::kSetDimensionSize:  // the elements stay, however many of them count
      return *operands[0];
    case HloOpcode::kGetDimensionSize:
      return OfSize(instruction, scope);
    case HloOpcode::kCustomCall:
      return instruction.custom_call_target() == "SetBound" ? OfSetBound(instruction) : Known();
    case HloOpcode::kCall:
    case HloOpcode::kFusion: {
      std::vector<Known> arguments;
      for (const Known* operand : operands) arguments.push_back(*operand);
      return Infer(*instruction.called_computations()[0]->root_instruction(), arguments);
    }
    case HloOpcode::kConditional:
      return OfConditional(instruction, operands);
    case HloOpcode::kWhile:
      return OfLoop(instruction, *operands[0]);
    default:
      return OfOperation(instruction, operands);
  }
}

// Operands first. An operation that cannot be evaluated has a dynamic value: that is no error.
Known Inference::Infer(const HloInstruction& root, const std::vector<Known>& arguments) {
  if (call_depth_ >= kMaxInferredCallDepth) return Known();
  ++call_depth_;
  Scope scope{arguments, {}, {}};
  std::vector<const HloInstruction*> waiting = {&root};
  while (!waiting.empty()) {
    const HloInstruction& instruction = *waiting.back();
    const size_t before = waiting.size();
    for (const HloInstruction* operand : instruction.operands()) {
      if (!scope.known.contains(operand)) waiting.push_back(operand);
    }
    if (waiting.size() > before) continue;
    waiting.pop_back();
    if (scope.known.contains(&instruction)) continue;
    absl::StatusOr<Known> known = ++instructions_ > kMaxInferredInstructions ? Known() : Of(instruction, scope);
    scope.known[&instruction] = known.ok() ? *std::move(known) : Known();
  }
  --call_depth_;
  return std::move(scope.known[&root]);
}

// ---- Results -------------------------------------------------------------------------------------------------------

// The tuple of what `literal_of` makes of each element. Pre: `shape` is a tuple.
absl::StatusOr<Literal> TupleLiteral(
    const Known& known, const Shape& shape,
    absl::FunctionRef<absl::StatusOr<Literal>(const Known&, const Shape&)> literal_of) {
  std::vector<Literal> elements;
  for (int i = 0; i < ShapeUtil::TupleElementCount(shape); ++i) {
    KASHI_ASSIGN_OR_RETURN(Literal element, literal_of(ElementOf(known, i), shape.tuple_shapes(i)));
    elements.push_back(std::move(element));
  }
  return LiteralUtil::MakeTupleOwned(std::move(elements));
}

absl::StatusOr<Literal> Inference::ValueLiteral(const Known& known, const Shape& shape, ValueInferenceMode mode) {
  if (shape.IsTuple()) {
    return TupleLiteral(known, shape,
                        [&](const Known& element, const Shape& part) { return ValueLiteral(element, part, mode); });
  }
  if (!shape.IsArray()) return LiteralUtil::CreateToken();
  KASHI_ASSIGN_OR_RETURN(const Value value, ValueOrZeros(known, shape));
  KASHI_ASSIGN_OR_RETURN(Literal literal, value.ToLiteral(ShapeUtil::MakeStaticShape(shape)));
  if (mode == kValue || known.forms.is_nothing()) return literal;
  KASHI_ASSIGN_OR_RETURN(const std::vector<FormId> ids, FormsOf(known));
  KASHI_ASSIGN_OR_RETURN(Value bounds, Filled(S64, shape, 0));
  const auto numbers = bounds.mutable_data<int64_t>();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == IntegerForms::kNone) continue;
    numbers[i] = mode == kUpperBound ? forms_.RangeOf(ids[i]).high : forms_.RangeOf(ids[i]).low;
  }
  KASHI_ASSIGN_OR_RETURN(const Value result, run_.Convert(std::move(bounds), shape.element_type()));
  return result.ToLiteral(ShapeUtil::MakeStaticShape(shape));
}

absl::StatusOr<Literal> Inference::DynamicLiteral(const Known& known, const Shape& shape, bool bounds_count) {
  if (shape.IsTuple()) {
    return TupleLiteral(known, shape, [&](const Known& element, const Shape& part) {
      return DynamicLiteral(element, part, bounds_count);
    });
  }
  if (!shape.IsArray()) return LiteralUtil::CreateR0<bool>(true);
  KASHI_ASSIGN_OR_RETURN(Value dynamic, Dynamic(known, shape));
  if (bounds_count && !known.forms.is_nothing()) {
    KASHI_ASSIGN_OR_RETURN(const std::vector<FormId> ids, FormsOf(known));
    KASHI_ASSIGN_OR_RETURN(dynamic, Filled(PRED, shape, 0));
    const auto preds = dynamic.mutable_data<bool>();
    for (size_t i = 0; i < ids.size(); ++i) preds[i] = ids[i] == IntegerForms::kNone;
  }
  return dynamic.ToLiteral(ShapeUtil::ChangeElementType(ShapeUtil::MakeStaticShape(shape), PRED));
}

bool IsAllFalse(const LiteralBase& preds, const Shape& shape, ShapeIndex* index) {
  if (!shape.IsTuple()) {
    const auto data = preds.data<bool>(*index);
    return std::none_of(data.begin(), data.end(), [](bool pred) { return pred; });
  }
  bool all = true;
  for (int i = 0; all && i < ShapeUtil::TupleElementCount(shape); ++i) {
    index->push_back(i);
    all = IsAllFalse(preds, shape.tuple_shapes(i), index);
    index->pop_back();
  }
  return all;
}

}  // namespace

bool OptionalLiteral::AllValid() const {
  ShapeIndex root;
  return IsAllFalse(mask_, mask_.shape(), &root);
}

absl::StatusOr<Literal> ValueInference::AnalyzeIsDynamic(XlaOp op) {
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* instruction, builder_->Find(op));
  Inference inference;
  const Known known = inference.Infer(*instruction, {});
  return inference.DynamicLiteral(known, instruction->shape(), /*bounds_count=*/false);
}

absl::StatusOr<OptionalLiteral> ValueInference::AnalyzeConstant(XlaOp op, ValueInferenceMode mode) {
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* instruction, builder_->Find(op));
  Inference inference;
  const Known known = inference.Infer(*instruction, {});
  KASHI_ASSIGN_OR_RETURN(Literal mask, inference.DynamicLiteral(known, instruction->shape(), mode != kValue));
  KASHI_ASSIGN_OR_RETURN(Literal value, inference.ValueLiteral(known, instruction->shape(), mode));
  return OptionalLiteral(std::move(value), std::move(mask));
}

}  // namespace kashi
