// The choices about a plan. The cache model and the cost function choose; the measured mode tries several, and
// remembers the best as text.
#ifndef KASHI_RELAYOUT_NESTS_CHOICE_H_
#define KASHI_RELAYOUT_NESTS_CHOICE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kashi::relayout {

// The kind of boxes that a plan is made of.
enum class Route {
  kGroups,       // groups of elements that are padded on the way to whole words (groups.h)
  kTailsFilled,  // the last words of the target are written whole, with their padding
  kTailsRead,    // the last words of the source are read whole, with their padding
  kStrips,       // boxes; those that share cache lines are put together in strips (strips.h)
  kBoxes,        // boxes, each by itself
};
inline constexpr int kRouteCount = 5;

struct PlanChoice {
  Route route = Route::kBoxes;
  bool streams = false;          // whole cache lines of the target are written with non-temporal stores
  double block_scale = 1;        // blocks are larger or smaller by this power of two than the caches suggest
  uint32_t skipped_kernels = 0;  // bit i: row i of the kernel table is not tried

  bool operator==(const PlanChoice& other) const {
    return route == other.route && streams == other.streams && block_scale == other.block_scale &&
           skipped_kernels == other.skipped_kernels;
  }

  // "boxes stream x2 skip=4"; ParsePlanChoice reads it.
  std::string ToString() const;
};

// nullopt for any other text.
std::optional<PlanChoice> ParsePlanChoice(absl::string_view text);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_NESTS_CHOICE_H_
