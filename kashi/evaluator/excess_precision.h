// The bf16 results that converts to f32 take before they are rounded. This is XLA:CPU's rule; both engines follow it
// (kashi/passes/keep_excess_precision.h does for compiled programs).
//
//   c = bf16[100] multiply(a, b)
//   d = f32[100] convert(c)        the product with the bits of an f32
//   e = bf16[100] add(c, b)        the product rounded to bf16
//
// This holds if c
//   - is an array of bf16, and so are all operands
//   - is elementwise and calls no computation, or is a dot or a convolution
// and neither c nor d has control dependencies. A call counts as its computation in its place, if that is possible
// (CanInline). Everything else between c and d takes the rounded numbers: moves of elements, tuples, loops, fusions. A
// convert from another type to bf16 always rounds. docs/fidelity.md has the table.
#ifndef KASHI_EVALUATOR_EXCESS_PRECISION_H_
#define KASHI_EVALUATOR_EXCESS_PRECISION_H_

#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::evaluator {

// Whether the result of x need not be rounded: c above.
bool CanBeUnrounded(const HloInstruction& x);
// Whether it is a convert that takes such a result: d above.
bool TakesUnrounded(const HloInstruction& convert);

// x, if CanBeUnrounded(x), with a result of f32. Its operands are f32 too, except those of products: they stay bf16.
struct WideInstruction {
  std::vector<std::unique_ptr<HloInstruction>> parameters;
  std::unique_ptr<HloInstruction> instruction;
};
bool HasWideOperands(const HloInstruction& x);
WideInstruction MakeWide(const HloInstruction& x);

// Whether it is a call or a fusion whose computation can be inlined: values keep their shapes, and control
// dependencies order nothing.
bool CanInline(const HloInstruction& call);

// The results of a program that converts take before they are rounded.
class UnroundedResults {
 public:
  // All computations of the program. O(instructions).
  explicit UnroundedResults(absl::Span<HloComputation* const> computations);

  // Whether it is a result to keep: CanBeUnrounded is true, and a convert takes it, directly or through calls.
  bool Contains(const HloInstruction& x) const { return kept_.contains(&x); }
  // Whether it is such a convert, or a call that leads to one.
  bool IsTakenBy(const HloInstruction& user) const { return takers_.contains(&user); }

 private:
  absl::flat_hash_set<const HloInstruction*> kept_, takers_;
};

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_EXCESS_PRECISION_H_
