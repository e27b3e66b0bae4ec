// Values that are known before a program runs: sizes, and results that depend only on sizes and constants.
//
//   c   = s32[] constant(3)
//   n   = s32[] get-dimension-size(x)     the size of a static dimension is a constant
//   sum = s32[] add(n, c)                 Find(sum) is a literal
//
// The evaluator computes them, so sizes may depend on each other by any operations. Not computed: operations with side
// effects, loops, arrays of more than kMostKnownElements elements, and more than kMostKnownWork in all.
#ifndef KASHI_STABLEHLO_CONVERSION_KNOWN_VALUES_H_
#define KASHI_STABLEHLO_CONVERSION_KNOWN_VALUES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal.h"

namespace kashi::stablehlo {

inline constexpr int64_t kMostKnownElements = 1024;
// A number of instructions, or of elements of their results.
inline constexpr int64_t kMostKnownWork = 4'000'000;

// Instructions must not be changed or removed while this object is used.
class KnownValues {
 public:
  // nullptr: not known. Cost: visits each instruction once.
  const Literal* Find(const HloInstruction* instruction);
  // Sets the value of a parameter.
  void Set(const HloInstruction* instruction, Literal value);
  // Declares that an instruction has the value of another one, which is outside of its computation.
  void SetSame(const HloInstruction* instruction, const HloInstruction* source);

 private:
  using Known = std::shared_ptr<const Literal>;

  // The instruction that has the same value, if this is easy to see.
  const HloInstruction* SourceOf(const HloInstruction& instruction) const;
  bool CanCompute(const HloInstruction& instruction);
  // The cost of one evaluation of the computation; more than kMostKnownWork if it cannot be computed.
  int64_t WorkOf(const HloComputation& computation);
  int64_t WorkOf(const HloInstruction& instruction) const;
  Known Compute(const HloInstruction& instruction);
  // Decides the value. Returns false if other values must be decided first; these are then on the stack.
  bool Decide(const HloInstruction* instruction, std::vector<const HloInstruction*>* stack);

  absl::flat_hash_map<const HloInstruction*, Known> values_;
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> same_;
  absl::flat_hash_map<const HloComputation*, int64_t> work_;
  int64_t work_left_ = kMostKnownWork;
  HloEvaluator evaluator_;
};

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_KNOWN_VALUES_H_
