// The elements of its members that a fused computation reads, found without emitting code.
#ifndef KASHI_PASSES_INDEX_MAPPING_H_
#define KASHI_PASSES_INDEX_MAPPING_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::passes {

// A coordinate of an instruction as a function of one coordinate of the results: offset + step * result[dimension].
struct Affine {
  int64_t dimension = -1;  // -1: not of this form, or not known
  int64_t step = 1;
  int64_t offset = 0;

  template <typename H>
  friend H AbslHashValue(H h, const Affine& a) {
    return H::combine(std::move(h), a.dimension, a.step, a.offset);
  }
  friend bool operator==(const Affine& a, const Affine& b) {
    return a.dimension == b.dimension && a.step == b.step && a.offset == b.offset;
  }
  friend bool operator!=(const Affine& a, const Affine& b) { return !(a == b); }
};

// For each dimension of an instruction. Those of size 1 may be unknown: their coordinate is 0.
using IndexMapping = std::vector<Affine>;

// Coordinate i is result coordinate i.
IndexMapping IdentityMapping(size_t rank);
// The indices with which an operand is read where the instruction is read with `mapping`. A reduce reads the dimensions
// that it reduces by the result coordinate of the same number.
IndexMapping OperandMapping(const HloInstruction& instruction, int64_t operand, const IndexMapping& mapping);

// Calls `visit` for each member that the results need, once for each mapping with which they need it. Operands that are
// not members are in memory. False if there are too many.
bool VisitMappings(absl::Span<const HloInstruction* const> results, const IndexMapping& mapping_of_results,
                   absl::FunctionRef<bool(const HloInstruction&)> is_member,
                   absl::FunctionRef<void(const HloInstruction&, const IndexMapping&)> visit);

// a, moved; unknown if the numbers become so large that they might overflow later.
Affine Shifted(const Affine& a, int64_t by);
Affine Scaled(const Affine& a, int64_t by);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_INDEX_MAPPING_H_
