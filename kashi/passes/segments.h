// Cuts the loops of a kernel, so that a concatenation or a padding needs no choice for each element.
//
// A concatenation takes an element from one operand or another by its coordinate. Cut there, the loop over that
// coordinate becomes several, and each of them reads one operand. So the roll of a row of n elements by 1,
// concatenate(x[n-1:n], x[0:n-1]):
//
//   for i in 0 … 0:      x[n - 1]
//   for i in 1 … n-1:    x[i - 1]        whole vectors
#ifndef KASHI_PASSES_SEGMENTS_H_
#define KASHI_PASSES_SEGMENTS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::passes {

struct Segments {
  // For each dimension of the results: the coordinates at which a segment begins, ascending, without 0.
  std::vector<std::vector<int64_t>> breaks;
  // Loop nests: the product of the numbers of segments.
  int64_t nests = 1;
  // Whether each concatenation reads one operand in each of the nests.
  bool cuts_all_concatenations = true;
};

// results: all of the same sizes. Operands that are no members are in memory. Cost: linear in the members, for each
// different way in which elements of the results are elements of a member; bounded.
Segments FindSegments(absl::Span<const HloInstruction* const> results,
                      absl::FunctionRef<bool(const HloInstruction&)> is_member);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_SEGMENTS_H_
