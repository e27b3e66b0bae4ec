// The data that all steps of a plan have in common.
#ifndef KASHI_RELAYOUT_NESTS_CONTEXT_H_
#define KASHI_RELAYOUT_NESTS_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "kashi/relayout/cache_model.h"
#include "kashi/relayout/nests/block_sizes.h"
#include "kashi/relayout/nests/choice.h"
#include "kashi/relayout/nests/groups.h"
#include "kashi/relayout/simd/group_kernel.h"
#include "kashi/relayout/simd/row_functions.h"

namespace kashi::relayout {

struct PlanContext {
  // The forms of the sides, as they are given. `choice` says whether the target is streamed.
  PlanContext(const ElementForm& given_from, const ElementForm& given_to, const CacheModel& caches,
              const PlanChoice& choice);

  bool streams() const { return choice.streams; }
  bool has_groups() const { return from_groups.any() || to_groups.any(); }
  // Whether all bits of a slot move as they are.
  bool keeps_form() const { return from.type == to.type && from.slot_bits == to.slot_bits; }

  ElementForm from;
  ElementForm to;
  CacheModel caches;
  PlanChoice choice;
  BlockSizes sizes;
  bool moves_nibbles = false;    // both sides have slots of 4 bits, which move as they are
  bool resizes_nibbles = false;  // elements of 4 bits: one side has slots of 4, the other a byte for each
  // If the forms differ, or elements are packed: elements in scratch memory have whole bytes, and the narrower of the
  // two types.
  ElementForm scratch;
  RowFunction convert;  // source to target
  RowFunction in;       // source to scratch
  RowFunction out;      // scratch to target
  // If a side has groups, boxes use its padded strides (groups.h), and steps the strides in memory.
  Groups from_groups;
  Groups to_groups;
  GroupLanes lanes;        // of the side that has them
  std::vector<char> fill;  // padding that lies ready, for the kernel `tails`
};

using SharedContext = std::shared_ptr<const PlanContext>;

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_NESTS_CONTEXT_H_
