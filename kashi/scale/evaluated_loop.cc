#include "kashi/scale/evaluated_loop.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/partial_evaluation.h"
#include "kashi/evaluator/value_source.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/literal/literal.h"

namespace kashi::scale {

using evaluator::EvaluationRun;
using evaluator::PartialEvaluation;
using evaluator::PlaceInCalls;
using evaluator::SourceOf;
namespace {

// Of the state, that the condition depends on. Conditions of real programs depend on one or two numbers.
constexpr size_t kMostElements = 16;
constexpr int64_t kMostNumbers = 256;       // in one element of the state
constexpr size_t kMostInstructions = 2000;  // of one iteration

// An array of the state: its index, in nested tuples too; {} for a state that is no tuple.
using Part = ShapeIndex;

// Collects the parts of the state that a value depends on, in the condition or in the body.
class Dependencies {
 public:
  Dependencies(const Shape& state, std::set<Part>* parts) : state_(state), parts_(*parts) {}

  // False if they are too many.
  bool Add(PlaceInCalls place) {
    waiting_.push_back(std::move(place));
    while (!waiting_.empty()) {
      const PlaceInCalls next = std::move(waiting_.back());
      waiting_.pop_back();
      const std::optional<PlaceInCalls> source = SourceOf(next);
      if (!source.has_value() || !AddSource(*source) || parts_.size() > kMostElements) return false;
    }
    return true;
  }

 private:
  bool AddSource(const PlaceInCalls& source) {
    const HloInstruction& instruction = *source.part.instruction;
    if (instruction.opcode() == HloOpcode::kParameter) {
      const absl::StatusOr<const Shape*> shape = ShapeUtil::TryGetSubshape(state_, source.part.index);
      if (!source.calls.empty() || !shape.ok() || !(*shape)->IsArray()) return false;
      parts_.insert(source.part.index);
      return true;
    }
    // By the instruction alone: its operands are all of its operands, at any index and in any call that gives it.
    if (!seen_.insert(&instruction).second) return true;
    if (seen_.size() > kMostInstructions) return false;
    for (const HloInstruction* operand : instruction.operands()) waiting_.push_back({{operand, {}}, source.calls});
    return true;
  }

  const Shape& state_;
  std::set<Part>& parts_;
  std::vector<PlaceInCalls> waiting_;
  absl::flat_hash_set<const HloInstruction*> seen_;
};

// The parts of the state that decide how long the loop runs, those of the body's results included.
std::optional<std::set<Part>> DecidingParts(const HloInstruction& loop) {
  std::set<Part> parts, done;
  if (!Dependencies(loop.shape(), &parts).Add({{loop.while_condition()->root_instruction(), {}}, {}})) {
    return std::nullopt;
  }
  Dependencies body(loop.shape(), &parts);
  while (done.size() < parts.size()) {
    for (const Part& part : std::set<Part>(parts)) {
      if (!done.insert(part).second) continue;
      const Shape& shape = ShapeUtil::GetSubshape(loop.shape(), part);
      if (!shape.is_static() || ShapeUtil::ElementsIn(shape) > kMostNumbers) return std::nullopt;
      if (!body.Add({{loop.while_body()->root_instruction(), part}, {}})) return std::nullopt;
    }
  }
  return parts;
}

// The values of the deciding parts, in a state whose other parts are unknown.
class State {
 public:
  State(const HloInstruction& loop, std::set<Part> parts)
      : parts_(std::move(parts)), literal_(Literal::CreateFromShapeWithUnknownLeafArrays(loop.shape())) {}

  // Takes the results of an instruction as the next values of the parts. False if one is not known.
  bool Take(const HloInstruction& from, PartialEvaluation* evaluation) {
    std::vector<Literal> values;
    for (const Part& part : parts_) {
      absl::StatusOr<Value> value = evaluation->Evaluate({&from, part});
      if (!value.ok() || !PartialEvaluation::IsKnown(*value)) return false;
      absl::StatusOr<Literal> literal = value->ToLiteral(ShapeUtil::GetSubshape(literal_.shape(), part));
      if (!literal.ok()) return false;
      values.push_back(*std::move(literal));
    }
    size_t i = 0;
    for (const Part& part : parts_) {
      if (!literal_.CopyFrom(values[i++], part).ok()) return false;
    }
    return true;
  }

  PartialEvaluation Inside(const HloComputation& computation, EvaluationRun* run) const {
    return PartialEvaluation(run, {{computation.parameter_instruction(0), &literal_}}, /*goes_deep=*/true);
  }

 private:
  std::set<Part> parts_;
  Literal literal_;
};

}  // namespace

std::optional<int64_t> EvaluateTripCount(const HloInstruction& loop, int64_t most_iterations, EvaluationRun* run) {
  std::optional<std::set<Part>> parts = DecidingParts(loop);
  if (!parts.has_value()) return std::nullopt;
  State state(loop, *std::move(parts));
  PartialEvaluation before(run, {}, /*goes_deep=*/true);
  if (!state.Take(*loop.operand(0), &before)) return std::nullopt;
  for (int64_t i = 0; i <= most_iterations; ++i) {
    PartialEvaluation condition = state.Inside(*loop.while_condition(), run);
    const absl::StatusOr<Value> goes_on = condition.Evaluate({loop.while_condition()->root_instruction(), {}});
    const std::optional<int64_t> number = goes_on.ok() ? PartialEvaluation::NumberIn(*goes_on) : std::nullopt;
    if (!number.has_value()) return std::nullopt;
    if (*number == 0) return i;
    PartialEvaluation body = state.Inside(*loop.while_body(), run);
    if (!state.Take(*loop.while_body()->root_instruction(), &body)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace kashi::scale
