// The right operands of dots that are packed in advance: constants for all runs of a program, and operands that a loop
// does not change for all its iterations.
#ifndef KASHI_CPU_THUNKS_PACKED_OPERANDS_H_
#define KASHI_CPU_THUNKS_PACKED_OPERANDS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "kashi/cpu/thunks/thunks.h"

namespace kashi::cpu {

// `rhs` and `kept` are numbers of ThunkEmitter's slots.
class PackedOperands {
 public:
  // kept: the slots that the loop only reads.
  void EnterLoop(std::vector<int> kept) { loops_.push_back({std::move(kept), {}}); }
  // The numbers of the operands that are packed anew whenever the loop starts.
  std::vector<int> LeaveLoop();

  // The number of the packed rhs, for a dot in the loops that were entered and not left. DotThunk::kNone if rhs may
  // change, if packing gains nothing, or if all together would take more than kMaxBytes. The outermost loop that keeps
  // rhs packs it.
  int NumberOf(const codegen::DotMatrices& dot, int rhs, bool is_constant);
  // All numbers are below this.
  int count() const { return count_; }

 private:
  static constexpr int64_t kMaxBytes = int64_t{32} << 20;

  struct Packed {
    int rhs;
    codegen::DotMatrices dot;  // the first that reads it
    int number;
  };
  struct Loop {
    std::vector<int> kept;
    std::vector<Packed> packed;
  };

  std::vector<Loop> loops_;  // the outermost first
  std::vector<Packed> constants_;
  int64_t bytes_ = 0;
  int count_ = 0;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_THUNKS_PACKED_OPERANDS_H_
