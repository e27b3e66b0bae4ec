#include "kashi/evaluator/value_source.h"

#include <utility>

#include "kashi/evaluator/operation_table.h"
#include "kashi/hlo/ir/hlo_casting.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::evaluator {
namespace {

constexpr int kMaxSourceSteps = 1000;

// One step towards the source. False: the place is the source.
bool StepBack(PlaceInCalls* place) {
  const HloInstruction*& instruction = place->part.instruction;
  ShapeIndex& index = place->part.index;
  switch (TraitsOf(instruction->opcode()).source) {
    case ValueSource::kOperand:
      // XLA's loop analysis does not look through these.
      if (HloPredicateIsOp<HloOpcode::kDomain, HloOpcode::kAddDependency>(instruction)) return false;
      instruction = instruction->operand(0);
      return true;
    case ValueSource::kTupleElement:
      index.push_front(instruction->tuple_index());
      instruction = instruction->operand(0);
      return true;
    case ValueSource::kTuple: {
      if (index.empty()) return false;
      const int64_t element = index.front();
      index.pop_front();
      instruction = instruction->operand(element);
      return true;
    }
    case ValueSource::kCall:
      place->calls.push_back(instruction);
      instruction = instruction->called_computations()[0]->root_instruction();
      return true;
    case ValueSource::kParameter:
      if (place->calls.empty()) return false;
      instruction = place->calls.back()->operand(instruction->parameter_number());
      place->calls.pop_back();
      return true;
    case ValueSource::kComputed:
    case ValueSource::kConstant:
    case ValueSource::kLoop:
    case ValueSource::kBranch:
      return false;
  }
  return false;
}

}  // namespace

std::optional<PlaceInCalls> SourceOf(PlaceInCalls place) {
  for (int i = 0; i < kMaxSourceSteps; ++i) {
    if (!StepBack(&place)) return place;
  }
  return std::nullopt;
}

}  // namespace kashi::evaluator
