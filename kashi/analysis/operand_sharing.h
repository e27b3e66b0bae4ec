// Whether XLA's host compiler may write a result over an operand after its last use.
//
//   in place            in_place.h: dynamic-update-slice, scatter, fusions around them …
//   element by element  add, tanh …, and loop fusions that use the operand element by element only
//   a dot and an add    an output fusion: the addend
//   sort                each result over its operand
//   while, conditional  their operands
//
// Both must have the same shape and layout. Source: its buffer assignments (scripts/oracle_memory.py).
#ifndef KASHI_ANALYSIS_OPERAND_SHARING_H_
#define KASHI_ANALYSIS_OPERAND_SHARING_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::analysis {

class OperandSharing {
 public:
  // An array within an instruction's result.
  struct Part {
    const HloInstruction* instruction = nullptr;
    const Shape* shape = nullptr;
    ShapeIndex index;
  };

  // False unless operand.instruction is an operand of result.instruction. Pairs of in_place.h are not considered: they
  // lie in one buffer anyway. The size of a fusion is walked once for each of its parameters, and not again.
  bool MayShare(const Part& operand, const Part& result);

 private:
  bool MayShareInFusion(const HloInstruction& fusion, int64_t operand_number);

  absl::flat_hash_map<std::pair<const HloComputation*, int64_t>, bool> by_element_;
};

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_OPERAND_SHARING_H_
