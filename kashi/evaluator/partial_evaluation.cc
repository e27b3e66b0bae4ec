#include "kashi/evaluator/partial_evaluation.h"
#include "kashi/values/value_util.h"

#include <memory>
#include <string>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

// The literal at the index; leaves that it does not know are nothing.
absl::StatusOr<Value> KnownPart(const LiteralBase& literal, ShapeIndex* index,
                                const std::shared_ptr<MemoryBudget>& budget) {
  const Shape& shape = ShapeUtil::GetSubshape(literal.shape(), *index);
  const LiteralSlice slice(literal, *index);
  if (slice.IsKnown()) return Value::FromLiteral(slice, budget, values::LentBy(&literal));
  if (!shape.IsTuple()) return Value();
  std::vector<Value> elements;
  for (size_t i = 0; i < shape.tuple_shapes().size(); ++i) {
    index->push_back(static_cast<int64_t>(i));
    KASHI_ASSIGN_OR_RETURN(Value element, KnownPart(literal, index, budget));
    elements.push_back(std::move(element));
    index->pop_back();
  }
  return Value::MakeTuple(std::move(elements));
}

Value ElementAt(Value value, const ShapeIndex& index) {
  for (int64_t i : index) {
    if (value.is_nothing()) break;
    value = Value::TakeElement(std::move(value), i);
  }
  return value;
}

ShapeIndex Below(int64_t first, const ShapeIndex& rest) {
  ShapeIndex index = rest;
  index.push_front(first);
  return index;
}

bool ComesFromOutside(HloOpcode opcode) {
  return opcode == HloOpcode::kInfeed || opcode == HloOpcode::kRecv || opcode == HloOpcode::kRecvDone;
}

}  // namespace

bool PartialEvaluation::IsKnown(const Value& value) {
  if (value.is_nothing()) return false;
  return !value.is_tuple() || absl::c_all_of(value.elements(), [](const Value& element) { return IsKnown(element); });
}

std::optional<int64_t> PartialEvaluation::NumberIn(const Value& value) {
  if (!value.is_array() || value.element_count() != 1) return std::nullopt;
  const absl::StatusOr<Literal> literal = value.ToLiteral(value.shape());
  if (!literal.ok()) return std::nullopt;
  return literal->GetIntegralAsS64(std::vector<int64_t>(value.dimensions().size(), 0));
}

const Value* PartialEvaluation::Request(const PartOfInstruction& part) {
  if (const auto found = values_.find(KeyOf(part)); found != values_.end()) return &found->second;
  waiting_.push_back(part);
  return nullptr;
}

absl::StatusOr<Value> PartialEvaluation::Evaluate(const PartOfInstruction& root) {
  root_ = root.instruction;
  waiting_ = {root};
  while (!waiting_.empty()) {
    const PartOfInstruction part = waiting_.back();
    const size_t before = waiting_.size();
    KASHI_ASSIGN_OR_RETURN(std::optional<Value> value, Try(part));
    if (!value.has_value()) {
      KASHI_CHECK(waiting_.size() > before);
      continue;
    }
    values_[KeyOf(part)] = *std::move(value);
    waiting_.pop_back();
  }
  return values_.at(KeyOf(root));
}

std::optional<Value> PartialEvaluation::TrySame(const PartOfInstruction& other) {
  const Value* value = Request(other);
  return value == nullptr ? std::nullopt : std::make_optional(*value);
}

absl::StatusOr<std::optional<Value>> PartialEvaluation::Try(const PartOfInstruction& part) {
  const HloInstruction& instruction = *part.instruction;
  const LiteralBase* given = nullptr;
  if (auto found = substitutions_.find(&instruction); found != substitutions_.end()) given = found->second;
  if (given == nullptr && instruction.opcode() == HloOpcode::kConstant) given = &instruction.literal();
  if (given != nullptr) {
    ShapeIndex index = part.index;
    KASHI_ASSIGN_OR_RETURN(Value value, KnownPart(*given, &index, run_.budget()));
    return std::make_optional(std::move(value));
  }
  if (!goes_deep_) {
    if (part.instruction == root_) return TryOperation(part);
    return FailedPrecondition("Not all operands are constants. Instruction: %s", root_->ToString());
  }
  if (ComesFromOutside(instruction.opcode())) return std::make_optional(Value());
  switch (TraitsOf(instruction.opcode()).source) {
    case ValueSource::kParameter:
      return TryParameter(part);
    case ValueSource::kTupleElement:
      return TrySame({instruction.operand(0), Below(instruction.tuple_index(), part.index)});
    case ValueSource::kTuple:
      if (part.index.empty()) return TryTuple(instruction);
      return TrySame({instruction.operand(part.index[0]), ShapeIndex(absl::MakeSpan(part.index).subspan(1))});
    case ValueSource::kOperand:
      // A part of a tuple may be known although the whole is not. An array may have another type than the operand.
      if (instruction.shape().IsArray() && instruction.opcode() != HloOpcode::kOptimizationBarrier) {
        return TryOperation(part);
      }
      return TrySame({instruction.operand(0), part.index});
    case ValueSource::kLoop:
      return TryWhile(part);
    default:
      return TryOperation(part);
  }
}

absl::StatusOr<std::optional<Value>> PartialEvaluation::TryTuple(const HloInstruction& tuple) {
  std::vector<Value> elements;
  for (const HloInstruction* operand : tuple.operands()) {
    const Value* element = Request({operand, {}});
    if (element == nullptr) return std::nullopt;
    elements.push_back(*element);
  }
  return std::make_optional(Value::MakeTuple(std::move(elements)));
}

const std::vector<HloInstruction*>& PartialEvaluation::CallersOf(const HloComputation* computation) {
  const auto [found, is_new] = callers_.try_emplace(computation);
  if (is_new) found->second = computation->caller_instructions();
  return found->second;
}

// The argument, if there is only one call; for a loop only the values that are equal in all iterations.
std::optional<Value> PartialEvaluation::TryParameter(const PartOfInstruction& part) {
  const HloInstruction& parameter = *part.instruction;
  if (parameter.parent() == nullptr) return Value();
  const std::vector<HloInstruction*>& callers = CallersOf(parameter.parent());
  if (callers.size() != 1) return Value();
  const HloInstruction& caller = *callers[0];
  if (caller.opcode() == HloOpcode::kCall || caller.opcode() == HloOpcode::kFusion) {
    return TrySame({caller.operand(parameter.parameter_number()), part.index});
  }
  if (caller.opcode() == HloOpcode::kWhile && !part.index.empty() && IsInvariant(caller, part.index[0])) {
    return TrySame({caller.operand(0), part.index});
  }
  return Value();
}

// Elements that the loop does not change and the number that it counts need no run; all others need the whole state.
absl::StatusOr<std::optional<Value>> PartialEvaluation::TryWhile(const PartOfInstruction& part) {
  const HloInstruction& loop = *part.instruction;
  if (!part.index.empty()) {
    if (IsInvariant(loop, part.index[0])) return TrySame({loop.operand(0), part.index});
    const std::optional<WhileLoopPattern> pattern = MatchWhileLoop(loop);
    if (pattern.has_value() && pattern->induction_index == part.index[0]) {
      KASHI_ASSIGN_OR_RETURN(std::optional<Value> value, TryInduction(loop, *pattern));
      if (!value.has_value() || IsKnown(*value)) return value;
    }
  }
  const Value* init = Request({loop.operand(0), {}});
  if (init == nullptr) return std::nullopt;
  if (IsKnown(*init)) return TryOperation(part);
  if (!part.index.empty() || !init->is_tuple()) return std::make_optional(Value());
  std::vector<Value> elements;
  for (size_t i = 0; i < loop.shape().tuple_shapes().size(); ++i) {
    const Value* element = Request({&loop, {static_cast<int64_t>(i)}});
    if (element == nullptr) return std::nullopt;
    elements.push_back(*element);
  }
  return std::make_optional(Value::MakeTuple(std::move(elements)));
}

absl::StatusOr<std::optional<Value>> PartialEvaluation::TryInduction(const HloInstruction& loop,
                                                                     const WhileLoopPattern& pattern) {
  std::vector<int64_t> numbers;
  for (const PartOfInstruction& part : NumbersOf(pattern)) {
    const Value* value = Request(part);
    if (value == nullptr) return std::nullopt;
    const std::optional<int64_t> number = NumberIn(*value);
    if (!number.has_value()) return std::make_optional(Value());
    numbers.push_back(*number);
  }
  const PrimitiveType type = ShapeUtil::GetSubshape(loop.shape(), {pattern.induction_index}).element_type();
  const std::optional<ParsedStaticWhileLoop> parsed =
      CountIterations(pattern, type, numbers[0], numbers[1], numbers[2]);
  if (!parsed.has_value()) return std::make_optional(Value());
  // The bits of an S64, which a U64 may exceed.
  const uint64_t steps = static_cast<uint64_t>(parsed->trip_count) * static_cast<uint64_t>(parsed->step_size);
  const auto end = static_cast<int64_t>(static_cast<uint64_t>(parsed->induction_var_init_value) + steps);
  const Literal last = LiteralUtil::CreateR0<int64_t>(pattern.direction.has_value() ? end : 0);
  KASHI_ASSIGN_OR_RETURN(const Literal converted, last.Convert(type));
  KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(converted, run_.budget()));
  return std::make_optional(std::move(value));
}

absl::StatusOr<std::optional<Value>> PartialEvaluation::TryOperation(const PartOfInstruction& part) {
  if (!part.index.empty()) {
    const Value* whole = Request({part.instruction, {}});
    if (whole == nullptr) return std::nullopt;
    return std::make_optional(ElementAt(*whole, part.index));
  }
  std::vector<Value> operands;
  for (const HloInstruction* operand : part.instruction->operands()) {
    const Value* value = Request({operand, {}});
    if (value == nullptr) return std::nullopt;
    if (!IsKnown(*value)) return std::make_optional(Value());
    operands.push_back(*value);
  }
  if (part.instruction->opcode() == HloOpcode::kParameter) return std::make_optional(Value());
  KASHI_ASSIGN_OR_RETURN(Value value, run_.EvaluateInstruction(*part.instruction, absl::MakeSpan(operands)));
  return std::make_optional(std::move(value));
}

}  // namespace kashi::evaluator
