// From two number systems to loop nests (digits.h): elements that have one stride on each side form a box.
//
//   s32[20] from T(8) in reverse order of tiles … to row-major:
//
//   index       0 ....... 7 8 ...... 15 16 .. 19       digits: from i/8, i%8     to i
//   boxes      [ 2 tiles of 8 elements ][ 4      ]     for t in 2: for i in 8     and     for i in 4
//
// A dimension is cut where either side begins a new tile, from the largest tiles to the smallest; whole periods become
// a loop, ragged ends before and after become boxes of their own. Slices shift the cuts, and steps that do not divide
// one another (tiles of 8 against tiles of 12) have their least common multiple as a period.
#ifndef KASHI_RELAYOUT_NESTS_BOXES_H_
#define KASHI_RELAYOUT_NESTS_BOXES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "kashi/relayout/nests/digits.h"

namespace kashi::relayout {

struct Loop {
  int64_t extent;
  int64_t from;  // bits from one value to the next; any sign
  int64_t to;
};
using Loops = absl::InlinedVector<Loop, 8>;

// for i0 in loops[0]: for i1 in loops[1]: …  to[to_offset + sum i*to] = from[from_offset + sum i*from]
struct Box {
  int64_t from_offset = 0;  // bits
  int64_t to_offset = 0;
  Loops loops;  // extents above 1; most major on the target's side first, strides there positive; none could be merged

  int64_t ElementCount() const;
  std::string ToString() const;  // "at 0 -> 128: 12 (512 -> 32) x 8 (4 -> 4)", in bytes, or bits where need be
};

// Boxes that together have every element once. Pre: both sides have the same sizes. UNIMPLEMENTED if there would be
// too many. Cost: some hundred nanoseconds per box.
absl::StatusOr<std::vector<Box>> BoxesOf(const Digits& from, const Digits& to);

// Boxes that together are all that memory has room for and no element uses, tail padding not included. The from side of
// their loops is 0. Pre: the placement is a whole buffer.
absl::StatusOr<std::vector<Box>> PaddingBoxesOf(const Digits& to);

// The loops in the order that Box wants, neighbours that are one loop on both sides merged.
void Coalesce(Box* box);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_NESTS_BOXES_H_
