#include "kashi/stablehlo/conversion/known_values.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"

namespace kashi::stablehlo {
namespace {

// Operations without side effects whose values depend on their operands only.
bool IsComputable(HloOpcode opcode) {
  constexpr HloOpcode kOthers[] = {HloOpcode::kBroadcast,    HloOpcode::kCall,
                                   HloOpcode::kConcatenate,  HloOpcode::kConditional,
                                   HloOpcode::kConstant,     HloOpcode::kDot,
                                   HloOpcode::kDynamicSlice, HloOpcode::kDynamicUpdateSlice,
                                   HloOpcode::kGather,       HloOpcode::kGetTupleElement,
                                   HloOpcode::kIota,         HloOpcode::kMap,
                                   HloOpcode::kPad,          HloOpcode::kReduce,
                                   HloOpcode::kReshape,      HloOpcode::kReverse,
                                   HloOpcode::kScatter,      HloOpcode::kSlice,
                                   HloOpcode::kSort,         HloOpcode::kTranspose,
                                   HloOpcode::kTuple};
  return HloInstruction::IsOpElementwise(opcode) || absl::c_linear_search(kOthers, opcode);
}

int64_t ElementsOf(const Shape& shape) {
  int64_t count = 0;
  ShapeUtil::ForEachLeafShape(shape, [&count](const Shape& leaf, const ShapeIndex&) {
    const bool is_static = leaf.IsArray() && leaf.is_static();
    const int64_t elements = is_static ? ShapeUtil::ElementsIn(leaf) : kMostKnownElements + 1;
    count = std::min(count + elements, kMostKnownElements + 1);
  });
  return count;
}

// The element of the tuple that the instruction is, if it is one.
const HloInstruction* ElementOf(const HloInstruction* tuple, int64_t index) {
  if (tuple->opcode() == HloOpcode::kCall) tuple = tuple->to_apply()->root_instruction();
  return tuple->opcode() == HloOpcode::kTuple && index < tuple->operand_count() ? tuple->operand(index) : nullptr;
}

}  // namespace

void KnownValues::Set(const HloInstruction* instruction, Literal value) {
  values_[instruction] = std::make_shared<const Literal>(std::move(value));
}

void KnownValues::SetSame(const HloInstruction* instruction, const HloInstruction* source) {
  same_[instruction] = source;
}

const HloInstruction* KnownValues::SourceOf(const HloInstruction& instruction) const {
  const auto same = same_.find(&instruction);
  if (same != same_.end()) return same->second;
  if (instruction.opcode() == HloOpcode::kCall) return instruction.to_apply()->root_instruction();
  if (instruction.opcode() != HloOpcode::kGetTupleElement) return nullptr;
  return ElementOf(instruction.operand(0), instruction.tuple_index());
}

int64_t KnownValues::WorkOf(const HloInstruction& instruction) const {
  constexpr int64_t kTooMuch = kMostKnownWork + 1;
  const bool is_computable = IsComputable(instruction.opcode()) || instruction.opcode() == HloOpcode::kParameter;
  const int64_t elements = ElementsOf(instruction.shape());
  if (!is_computable || elements > kMostKnownElements) return kTooMuch;
  int64_t work = 1 + elements;
  int64_t repeats = 1;  // of called computations, at most once for each pair of elements
  for (const HloInstruction* operand : instruction.operands()) {
    repeats = std::max(repeats, 1 + ElementsOf(operand->shape()));
  }
  const bool is_once = instruction.opcode() == HloOpcode::kCall || instruction.opcode() == HloOpcode::kConditional;
  for (const HloComputation* called : instruction.called_computations()) {
    const int64_t once = work_.at(called);
    work = std::min(work + (is_once ? once : std::min(once, kTooMuch / (12 * repeats) + 1) * 12 * repeats), kTooMuch);
  }
  return work;
}

// Called computations may be called by many, and nest deep.
int64_t KnownValues::WorkOf(const HloComputation& computation) {
  std::vector<const HloComputation*> stack = {&computation};
  while (!stack.empty()) {
    const HloComputation* at = stack.back();
    const size_t before = stack.size();
    if (work_.contains(at)) {
      stack.pop_back();
      continue;
    }
    for (const HloInstruction* instruction : at->instructions()) {
      for (const HloComputation* called : instruction->called_computations()) {
        if (!work_.contains(called)) stack.push_back(called);
      }
    }
    if (stack.size() > before) continue;
    stack.pop_back();
    int64_t work = 0;
    for (const HloInstruction* instruction : at->instructions()) {
      work = std::min(work + WorkOf(*instruction), kMostKnownWork + 1);
    }
    work_[at] = work;
  }
  return work_.at(&computation);
}

bool KnownValues::CanCompute(const HloInstruction& instruction) {
  if (!IsComputable(instruction.opcode()) || ElementsOf(instruction.shape()) > kMostKnownElements) return false;
  for (const HloComputation* called : instruction.called_computations()) WorkOf(*called);
  return WorkOf(instruction) <= work_left_;
}

KnownValues::Known KnownValues::Compute(const HloInstruction& instruction) {
  work_left_ -= WorkOf(instruction);
  HloEvaluator::Substitutions operands;
  for (const HloInstruction* operand : instruction.operands()) operands[operand] = values_.at(operand).get();
  absl::StatusOr<Literal> value = evaluator_.Evaluate(&instruction, {}, false, operands);
  // A value that cannot be computed is not known; the run reports the error.
  return value.ok() ? std::make_shared<const Literal>(*std::move(value)) : nullptr;
}

bool KnownValues::Decide(const HloInstruction* instruction, std::vector<const HloInstruction*>* stack) {
  const HloInstruction* const source = SourceOf(*instruction);
  if (source != nullptr) {
    const auto found = values_.find(source);
    if (found == values_.end()) {
      stack->push_back(source);
      return false;
    }
    if (found->second != nullptr) {
      Known value = found->second;
      values_[instruction] = std::move(value);
      return true;
    }
  }
  const size_t before = stack->size();
  bool can_compute = CanCompute(*instruction);
  for (const HloInstruction* operand : instruction->operands()) {
    if (!can_compute) break;
    const auto found = values_.find(operand);
    if (found == values_.end()) {
      stack->push_back(operand);
    } else {
      can_compute = found->second != nullptr;
    }
  }
  if (can_compute && stack->size() > before) return false;
  stack->resize(before);
  Known value = can_compute ? Compute(*instruction) : nullptr;
  values_[instruction] = std::move(value);
  return true;
}

const Literal* KnownValues::Find(const HloInstruction* instruction) {
  std::vector<const HloInstruction*> stack = {instruction};
  while (!stack.empty()) {
    const HloInstruction* at = stack.back();
    const bool is_decided = values_.contains(at) || Decide(at, &stack);
    if (is_decided) stack.pop_back();
  }
  return values_.at(instruction).get();
}

}  // namespace kashi::stablehlo
