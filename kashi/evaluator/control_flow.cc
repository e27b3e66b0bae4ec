// Operations that hand values on, and those that run other computations (docs/spec/hlo-ops.md 2 and 6).
#include <cstring>
#include <utility>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/collective_exchange.h"
#include "kashi/evaluator/operation.h"
#include "kashi/hlo/spmd/asynchronous_collectives.h"
#include "kashi/values/value_util.h"
#include "kashi/values/writable.h"

namespace kashi::evaluator {
namespace {

std::vector<Value> TakeOperandsFrom(Operation& op, size_t begin) {
  std::vector<Value> taken;
  taken.reserve(op.operands.size() - begin);
  for (size_t i = begin; i < op.operands.size(); ++i) taken.push_back(std::move(op.operands[i]));
  return taken;
}

// The contexts with which the tuple of a start operation ends carry nothing here.
absl::Status AppendContexts(Operation& op, std::vector<Value>* elements) {
  const auto& shapes = op.instruction.shape().tuple_shapes();
  for (size_t i = elements->size(); i < shapes.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(Value context, values::MakeZeros(shapes[i], op.run.budget()));
    elements->push_back(std::move(context));
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> FirstOperand(Operation& op) { return std::move(op.operands[0]); }

absl::StatusOr<Value> CallWith(Operation& op, const HloComputation& computation) {
  return op.run.CallUnrounded(computation, TakeOperands(op));
}

// ((arguments), result, contexts…). The computation runs when it has its last argument: at the start, except in
// programs of the TPU's sparse core, where async-update adds arguments. Until then the result is (). If it is one
// collective operation, it only begins then, and async-done ends it.
absl::StatusOr<Value> AsyncState(Operation& op, std::vector<Value> arguments) {
  const HloComputation* computation = op.instruction.async_wrapped_computation();
  if (computation == nullptr) return InvalidArgument("%s has no async-start", op.instruction.name());
  std::vector<Value> elements = {Value::MakeTuple(arguments), Value::MakeTuple({})};
  if (static_cast<int64_t>(arguments.size()) >= computation->num_parameters()) {
    const bool is_collective = op.run.device() != nullptr && hlo::WrapsCollective(*computation);
    KASHI_ASSIGN_OR_RETURN(elements[1], is_collective
                                            ? op.run.BeginCall(*computation, std::move(arguments), op.instruction)
                                            : op.run.Call(*computation, std::move(arguments)));
  }
  KASHI_RETURN_IF_ERROR(AppendContexts(op, &elements));
  return Value::MakeTuple(std::move(elements));
}

}  // namespace

// EvaluationRun hands arguments out itself.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kParameter>(Operation& op) {
  return InvalidArgument("Parameter %s has no argument", op.instruction.name());
}

// The module owns the literal, and outlives the run.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kConstant>(Operation& op) {
  const Literal& literal = op.instruction.literal();
  return Value::FromLiteral(literal, op.run.budget(), values::LentBy(&literal));
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kTuple>(Operation& op) {
  return Value::MakeTuple(TakeOperands(op));
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kGetTupleElement>(Operation& op) {
  return Value::TakeElement(std::move(op.operands[0]), op.instruction.tuple_index());
}

// Layouts and memory spaces are nothing to a value; a copy may also widen or narrow integers.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kCopy>(Operation& op) {
  if (!op.operands[0].is_array()) return FirstOperand(op);
  return op.run.Convert(std::move(op.operands[0]), op.instruction.shape().element_type());
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kOptimizationBarrier>(Operation& op) {
  return FirstOperand(op);
}
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kDomain>(Operation& op) {
  return FirstOperand(op);
}
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kAddDependency>(Operation& op) {
  return FirstOperand(op);
}
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kAfterAll>(Operation&) {
  return Value::MakeToken();
}

// (copy, source, context)
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kCopyStart>(Operation& op) {
  std::vector<Value> elements = {op.operands[0], op.operands[0]};
  KASHI_RETURN_IF_ERROR(AppendContexts(op, &elements));
  return Value::MakeTuple(std::move(elements));
}
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kCopyDone>(Operation& op) {
  return Value::TakeElement(std::move(op.operands[0]), 0);
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kAsyncStart>(Operation& op) {
  return AsyncState(op, TakeOperands(op));
}
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kAsyncUpdate>(Operation& op) {
  if (op.operands.size() == 1) return FirstOperand(op);
  const Value begun = Value::TakeElement(std::move(op.operands[0]), 0);
  std::vector<Value> arguments(begun.elements().begin(), begun.elements().end());
  for (Value& late : TakeOperandsFrom(op, 1)) arguments.push_back(std::move(late));
  return AsyncState(op, std::move(arguments));
}
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kAsyncDone>(Operation& op) {
  return EndCollective(op.instruction, Value::TakeElement(std::move(op.operands[0]), 1));
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kCall>(Operation& op) {
  return CallWith(op, *op.instruction.to_apply());
}
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kFusion>(Operation& op) {
  return CallWith(op, *op.instruction.fused_instructions_computation());
}

// The state moves into the body and out of it, so that a body can update it in place.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kWhile>(Operation& op) {
  const int64_t max_iterations = op.run.options().max_loop_iterations;
  Value state = std::move(op.operands[0]);
  for (int64_t iteration = 0;; ++iteration) {
    KASHI_ASSIGN_OR_RETURN(const Value goes_on, op.run.Call(*op.instruction.while_condition(), {state}));
    if (!goes_on.data<bool>()[0]) return state;
    if (max_iterations >= 0 && iteration >= max_iterations) return op.run.LoopIsTooLong(op.instruction);
    std::vector<Value> arguments;
    arguments.push_back(std::move(state));
    KASHI_ASSIGN_OR_RETURN(state, op.run.Call(*op.instruction.while_body(), std::move(arguments)));
  }
}

// true is branch 0; an index that is out of range means the last branch.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kConditional>(Operation& op) {
  const Value& selector = op.operands[0];
  const int64_t count = op.instruction.branch_count();
  int64_t branch;
  if (selector.element_type() == PRED) {
    branch = selector.data<bool>()[0] ? 0 : 1;
  } else {
    branch = selector.data<int32_t>()[0];
    if (branch < 0 || branch >= count) branch = count - 1;
  }
  std::vector<Value> arguments;
  arguments.push_back(std::move(op.operands[1 + branch]));
  // Operands of the other branches may be the same arrays. They are released, so that the branch that runs may update
  // the arrays in place.
  for (Value& operand : op.operands) operand = Value();
  return op.run.Call(*op.instruction.branch_computation(static_cast<int>(branch)), std::move(arguments));
}

}  // namespace kashi::evaluator
