// The problem for which a plan is made.
#ifndef KASHI_RELAYOUT_PLAN_PROBLEM_H_
#define KASHI_RELAYOUT_PLAN_PROBLEM_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kashi/relayout/placement.h"
#include "kashi/relayout/relayout_plan.h"
#include "kashi/relayout/simd/row_functions.h"

namespace kashi::relayout {

// Elements of an array; INT64_MAX if there are more. 0 if any dimension is, however large the others are.
int64_t ElementCount(absl::Span<const int64_t> dimensions);

struct RelayoutTask {
  Placement from;
  Placement to;
  RelayoutOptions options;

  ElementForm from_form() const { return {from.element_type(), from.slot_bits()}; }
  ElementForm to_form() const { return {to.element_type(), to.slot_bits()}; }
  int64_t element_count() const { return ElementCount(from.dimensions()); }
  const CacheModel& caches() const { return options.caches ? *options.caches : CacheModel::OfMachine(); }
  // Whether positions of the target that hold no element are written.
  bool clears_padding() const { return options.padding.has_value() && to.is_whole_buffer(); }
};

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_PLAN_PROBLEM_H_
