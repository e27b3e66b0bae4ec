// The accumulators of a reduce of one array whose combiner may be regrouped (ReorderableCombiner).
//
// Sums of floating-point numbers of up to 32 bits accumulate in f64, as in the evaluator, and are rounded once. So the
// order of the elements and the width of vectors do not affect the result, but for one case in many millions. For bf16
// without excess precision, and for all other combiners, the result of each step is rounded to the type.
#ifndef KASHI_CODEGEN_ACCUMULATOR_H_
#define KASHI_CODEGEN_ACCUMULATOR_H_

#include "kashi/array/primitive_type.h"
#include "kashi/codegen/lane_builder.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::codegen {

class Accumulator {
 public:
  // combiner: a ReorderableCombiner of elements of this type.
  Accumulator(const HloComputation& combiner, PrimitiveType element, const NumberOptions& numbers);

  // The type of its registers and its memory.
  PrimitiveType type() const { return type_; }

  // The x with combine(x, y) = y.
  llvm::Value* Neutral(const LaneBuilder& lanes) const;
  // Convert elements to accumulators, and back. The result is not yet rounded to a 16-bit element (LaneBuilder::Round).
  llvm::Value* FromElements(const LaneBuilder& lanes, llvm::Value* elements) const;
  llvm::Value* ToElements(const LaneBuilder& lanes, llvm::Value* accumulators) const;
  llvm::Value* Combine(const LaneBuilder& lanes, llvm::Value* a, llvm::Value* b) const;

 private:
  bool is_wide() const { return type_ == F64 && element_ != F64; }

  const HloComputation& combiner_;
  const PrimitiveType element_;
  const PrimitiveType type_;
};

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_ACCUMULATOR_H_
