#include "kashi/value_inference/value_inference_pass.h"

#include <cstring>
#include <optional>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/evaluator/while_loop_pattern.h"

namespace kashi::value_inference {
namespace {

// A program that is being built may be of any size. Values beyond these limits are dynamic.
constexpr int64_t kMaxInferenceWork = int64_t{1} << 32;  // of evaluations (kashi/evaluator/work.h)
constexpr int kMaxInferredInstructions = 1 << 18;        // an instruction counts once for each call
constexpr int kMaxInferredCallDepth = 64;

std::vector<Known> CopyAll(const std::vector<const Known*>& all) {
  std::vector<Known> copies;
  for (const Known* known : all) copies.push_back(*known);
  return copies;
}

}  // namespace

bool IsFree(const HloInstruction& instruction) {
  constexpr uint32_t kFree = HloOpcodeFlags::kCollective | HloOpcodeFlags::kAsync | HloOpcodeFlags::kSideEffect |
                             HloOpcodeFlags::kRandom | HloOpcodeFlags::kToken;
  return evaluator::TraitsOf(instruction.opcode()).depends_on_run || GetHloOpcodeInfo(instruction.opcode()).Has(kFree);
}

EvaluationOptions Inference::Options() {
  EvaluationOptions options;
  options.max_work = kMaxInferenceWork;
  return options;
}

// ---- Sizes and bounds ----------------------------------------------------------------------------------------------

evaluator::IntegerForms::Id Inference::SizeOf(const HloInstruction& array, int64_t dimension, Scope& scope) {
  const Shape& shape = array.shape();
  if (array.opcode() == HloOpcode::kSetDimensionSize) {
    if (array.dimension() != dimension) return SizeOf(*array.operand(0), dimension, scope);
    const absl::StatusOr<std::vector<evaluator::IntegerForms::Id>> size = FormsOf(scope.known.at(array.operand(1)));
    const evaluator::IntegerForms::Id bound = forms_.Constant(array.operand(0)->shape().dimensions(dimension));
    if (size.ok() && size->size() == 1) return forms_.Apply(HloOpcode::kMinimum, S32, {(*size)[0], bound});
  }
  if (shape.is_unbounded_dynamic_dimension(static_cast<int>(dimension))) return evaluator::IntegerForms::kNone;
  const int64_t bound = shape.dimensions(dimension);
  if (!shape.is_dynamic_dimension(static_cast<int>(dimension))) return forms_.Constant(bound);
  evaluator::IntegerForms::Id& size = scope.sizes[{&array, dimension}];
  if (size == evaluator::IntegerForms::kNone) size = forms_.Unknown({0, bound});
  return size;
}

absl::StatusOr<Known> Inference::OfSize(const HloInstruction& instruction, Scope& scope) {
  const evaluator::IntegerForms::Id size = SizeOf(*instruction.operand(0), instruction.dimension(), scope);
  if (size == evaluator::IntegerForms::kNone) return Known();
  const evaluator::IntegerRange range = forms_.RangeOf(size);
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
  KASHI_ASSIGN_OR_RETURN(std::vector<evaluator::IntegerForms::Id> ids, FormsOf(known));
  const std::optional<evaluator::IntegerRange> type = evaluator::IntegerForms::RangeOfType(call.shape().element_type());
  for (evaluator::IntegerForms::Id& id : ids) {
    if (id != evaluator::IntegerForms::kNone) id = forms_.Unknown({type->low, forms_.RangeOf(id).high});
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

// The knowledge that is true of both.
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
  KASHI_ASSIGN_OR_RETURN(const std::vector<evaluator::IntegerForms::Id> x, FormsOf(a));
  KASHI_ASSIGN_OR_RETURN(const std::vector<evaluator::IntegerForms::Id> y, FormsOf(b));
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
    std::vector<evaluator::IntegerForms::Id> ids(x.size());
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
  return Known::TupleOf(std::move(elements));
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

absl::StatusOr<Known> Inference::Of(const HloInstruction& instruction, Scope& scope) {
  std::vector<const Known*> operands;
  for (const HloInstruction* operand : instruction.operands()) operands.push_back(&scope.known.at(operand));
  switch (evaluator::TraitsOf(instruction.opcode()).source) {
    case evaluator::ValueSource::kParameter: {
      const auto number = static_cast<size_t>(instruction.parameter_number());
      return number < scope.arguments.size() ? scope.arguments[number] : Known();
    }
    case evaluator::ValueSource::kTuple:
      return Known::TupleOf(CopyAll(operands));
    case evaluator::ValueSource::kTupleElement:
      return operands[0]->Element(instruction.tuple_index());
    case evaluator::ValueSource::kOperand:
      return *operands[0];
    case evaluator::ValueSource::kCall:
      return Infer(*instruction.called_computations()[0]->root_instruction(), CopyAll(operands));
    case evaluator::ValueSource::kBranch:
      return OfConditional(instruction, operands);
    case evaluator::ValueSource::kLoop:
      return OfLoop(instruction, *operands[0]);
    case evaluator::ValueSource::kConstant:
    case evaluator::ValueSource::kComputed:
      return OfComputed(instruction, operands, scope);
  }
  return Known();
}

absl::StatusOr<Known> Inference::OfComputed(const HloInstruction& instruction,
                                            const std::vector<const Known*>& operands, Scope& scope) {
  switch (instruction.opcode()) {
    case HloOpcode::kSetDimensionSize:  // the elements stay, however many of them count
      return *operands[0];
    case HloOpcode::kGetDimensionSize:
      return OfSize(instruction, scope);
    case HloOpcode::kCustomCall:
      return instruction.custom_call_target() == "SetBound" ? OfSetBound(instruction) : Known();
    default:
      return OfOperation(instruction, operands);
  }
}

// Operands come first. The value of an operation that cannot be evaluated is dynamic; that is not an error.
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

}  // namespace kashi::value_inference
