// How long a module takes on an accelerator at least, by the roofline model: each instruction takes the longest of its
// products of matrices, its other arithmetic, and its memory traffic, each at the peak rate of the device.
//
//   seconds = max(matrix flops / matrix rate, other operations / vector rate, bytes / memory bandwidth)
//
// It is a model: real instructions do not reach the peaks, and real devices do several at a time. A transcendental
// counts as one operation. On a TPU the flops and the bytes are those of whole tiles, in the layouts that the module
// has or, if it is not compiled for a TPU, in those that the generation would choose; arrays in memory spaces other
// than S(0) do not use the main memory. An asynchronous operation counts at its start. Messages between devices take no
// time here (kashi/scale has a model of them).
#ifndef KASHI_INSIGHT_ROOFLINE_H_
#define KASHI_INSIGHT_ROOFLINE_H_

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/insight/accelerators.h"
#include "kashi/insight/counted_cost.h"
#include "kashi/insight/run_spread.h"

namespace kashi::insight {

enum class Bound { kNothing, kMatrix, kVector, kMemory };
absl::string_view BoundName(Bound bound);  // "nothing", "matrix unit", "vector unit", "memory"

// Seconds of one run of an instruction.
struct InstructionTime {
  double matrix_seconds = 0;
  double vector_seconds = 0;
  double memory_seconds = 0;
  double unpadded_seconds = 0;  // what seconds() would be without the padding of tiles
  // The operand or result whose padding takes most of the memory traffic; null: none.
  const Shape* most_padded = nullptr;

  double compute_seconds() const { return std::max(matrix_seconds, vector_seconds); }
  double seconds() const { return std::max(compute_seconds(), memory_seconds); }
  Bound bound() const;  // the longest; of equals the first in the order of the enum
};

class Roofline {
 public:
  // INVALID_ARGUMENT for modules with broken links or recursion. Copies what it needs of the accelerator. The module
  // must outlive the result. O(instructions + operands).
  static absl::StatusOr<Roofline> Compute(const HloModule& module, const CountedCost& cost,
                                          const Accelerator& accelerator);

  // Sums over CountedCost::instructions(), all runs: one after the other, and if nothing but one kind of work took
  // time. Of a conditional, the branch that takes longest counts.
  double seconds() const { return seconds_; }
  double compute_seconds() const { return compute_seconds_; }
  double memory_seconds() const { return memory_seconds_; }
  double wasted_seconds() const { return wasted_seconds_; }  // on padding
  // Of all runs of an instruction. The seconds of CountedCost::instructions() add up to seconds(); others have 0.
  double SecondsOf(const HloInstruction* instruction) const {
    return TimeOf(instruction).seconds() * RunsOf(instruction);
  }
  double WastedSecondsOf(const HloInstruction* instruction) const;
  // Of one run. Nothing for instructions that are not in CountedCost::instructions().
  InstructionTime TimeOf(const HloInstruction* instruction) const;
  // The runs that seconds() counts.
  double RunsOf(const HloInstruction* instruction) const;
  // The module has no tiles, so the layouts were chosen here.
  bool has_chosen_layouts() const { return has_chosen_layouts_; }

 private:
  double seconds_ = 0, compute_seconds_ = 0, memory_seconds_ = 0, wasted_seconds_ = 0;
  bool has_chosen_layouts_ = false;
  absl::flat_hash_map<const HloInstruction*, InstructionTime> times_;
  Runs runs_;
};

}  // namespace kashi::insight

#endif  // KASHI_INSIGHT_ROOFLINE_H_
