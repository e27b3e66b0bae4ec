#include "kashi/kernels/array_mover.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/hash/hash.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/primitive_type.h"
#include "kashi/base/check.h"
#include "kashi/base/machine.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/literal/strided_copy.h"
#include "kashi/relayout/placement.h"
#include "kashi/relayout/relayout_plan.h"

namespace kashi::kernels {
namespace {

// Measured on an AMD Zen 3 (docs/performance.md): a plan takes 2 to 6 µs to make, a walk takes 0.4 to 1.5 ns an
// element.
constexpr int64_t kElementsWorthPlan = 16 * 1024;
constexpr int64_t kElementsWorthKeptPlan = 2 * 1024;
// Shorter rows of copies, or of one element many times, cost a walk more than their bytes do.
constexpr int64_t kShortCopyBytes = 128;
constexpr int64_t kShortFillBytes = 1024;
// Transposes of fewer elements at a time are no blocks for a kernel.
constexpr int64_t kElementsOfBlock = 128;
// Elements of 16 bytes need no kernel; but from here on a plan writes past the caches.
constexpr int64_t kBytesWorthPlanOfWide = 8 << 20;
// The number of bytes moved between two calls of check_stopped(): some milliseconds.
constexpr int64_t kPieceBytes = 32 << 20;
constexpr int64_t kPieceSteps = 64;  // a piece has a multiple of these, so that its blocks are whole

// Whether even the lookup of a kept plan takes longer than the walk. Has no loops, because it runs for each tiny
// operation.
bool IsSmall(absl::Span<const int64_t> bounds) {
  int64_t elements = 1;
  for (int64_t bound : bounds) elements *= bound;
  return elements < kElementsWorthKeptPlan;
}

int64_t ElementsOf(const literal::StridedLoops& loops) {
  int64_t elements = 1;
  for (const literal::StridedLoop& loop : loops) elements *= loop.bound;
  return elements;
}

// Pre: the last loop has stride 1 in the target, and a larger stride in the source.
bool TransposeIsFasterByPlan(const literal::StridedLoops& loops, int element_bytes) {
  const literal::StridedLoop& row = loops.back();
  const auto column =
      std::find_if(loops.begin(), loops.end(), [](const literal::StridedLoop& loop) { return loop.source == 1; });
  if (column == loops.end()) return false;
  if (element_bytes < 16) return column->bound * row.bound >= kElementsOfBlock;
  return ElementsOf(loops) * element_bytes >= kBytesWorthPlanOfWide && std::min(column->bound, row.bound) >= 16;
}

// Whether a plan, once made, is faster than the walk.
bool PlanIsFaster(const literal::StridedLoops& loops, int element_bytes) {
  if (loops.size() < 2) return false;  // a copy, a fill, or one strided row
  const literal::StridedLoop& row = loops.back();
  if (row.target != 1) return false;
  if (row.source == 0) return row.bound < kShortFillBytes / element_bytes;
  if (std::abs(row.source) == 1) return row.bound < kShortCopyBytes / element_bytes;
  return TransposeIsFasterByPlan(loops, element_bytes);
}

BoxRoute RouteOfLoops(const literal::StridedLoops& loops, int element_bytes) {
  const int64_t elements = ElementsOf(loops);
  if (!PlanIsFaster(loops, element_bytes)) return BoxRoute::kWalk;
  return elements < kElementsWorthPlan ? BoxRoute::kPlanIfAgain : BoxRoute::kPlan;
}

// One move. Many moves may differ in addresses only.
struct BoxKey {
  literal::StridedLoops loops;
  int element_bytes = 0;
  bool non_temporal_stores = false;

  bool operator==(const BoxKey& other) const {
    return loops == other.loops && element_bytes == other.element_bytes &&
           non_temporal_stores == other.non_temporal_stores;
  }
  template <typename H>
  friend H AbslHashValue(H hash, const BoxKey& key) {
    return H::combine(std::move(hash), key.loops, key.element_bytes, key.non_temporal_stores);
  }
};

// nullopt: a plan does not take it (strides beyond 2^57 bytes).
std::optional<RelayoutPlan> MakePlan(const BoxKey& key) {
  DimensionVector bounds, source, target;
  for (const literal::StridedLoop& loop : key.loops) {
    bounds.push_back(loop.bound);
    source.push_back(loop.source * key.element_bytes);
    target.push_back(loop.target * key.element_bytes);
  }
  const PrimitiveType type = WordTypeOfBytes(key.element_bytes);
  absl::StatusOr<Placement> from = Placement::OfStrides(type, bounds, source);
  absl::StatusOr<Placement> to = Placement::OfStrides(type, bounds, target);
  if (!from.ok() || !to.ok()) return std::nullopt;
  RelayoutOptions options;
  options.padding = std::nullopt;
  options.non_temporal_stores = key.non_temporal_stores;
  absl::StatusOr<RelayoutPlan> plan = RelayoutPlan::Make(*from, *to, options);
  if (!plan.ok()) return std::nullopt;
  return *std::move(plan);
}

// The last moves of a thread; one that hashes to the place of another takes it.
class KeptPlans {
 public:
  // The plan of a move. nullopt if there is none, or if `only_if_again` and the move was not one of the last moves.
  std::optional<RelayoutPlan> Get(const BoxKey& key, bool only_if_again) {
    Entry& entry = entries_[absl::Hash<BoxKey>()(key) % entries_.size()];
    const bool is_again = entry.key == key;
    if (!is_again) entry = {key, std::nullopt};
    if (!entry.plan.has_value() && (is_again || !only_if_again)) entry.plan = MakePlan(key);
    return entry.plan;
  }

 private:
  struct Entry {
    BoxKey key;
    std::optional<RelayoutPlan> plan;
  };
  std::array<Entry, 32> entries_;
};

std::optional<RelayoutPlan> PlanOf(const BoxKey& key, bool only_if_again) {
  thread_local KeptPlans plans;
  return plans.Get(key, only_if_again);
}

absl::Status Walk(const BoxKey& key, const char* source, char* target, StopFunction check_stopped) {
  DimensionVector bounds, from, to;
  for (const literal::StridedLoop& loop : key.loops) {
    bounds.push_back(loop.bound);
    from.push_back(loop.source);
    to.push_back(loop.target);
  }
  return literal::CopyStridedUntil(bounds, key.element_bytes, {source, from}, {target, to}, check_stopped);
}

// Iterations that make a piece.
int64_t StepsOfPiece(int64_t bytes_of_step) {
  const int64_t steps = kPieceBytes / bytes_of_step;
  return std::max<int64_t>(1, steps > kPieceSteps ? steps / kPieceSteps * kPieceSteps : steps);
}

// Piece by piece along the slowest loop, so that it can be stopped.
absl::Status MoveInPieces(const BoxKey& key, const char* source, char* target, StopFunction check_stopped) {
  KASHI_RETURN_IF_ERROR(check_stopped());
  const int64_t bytes = ElementsOf(key.loops) * key.element_bytes;
  if (bytes <= kPieceBytes || key.loops.size() < 2) {
    const std::optional<RelayoutPlan> plan = PlanOf(key, /*only_if_again=*/false);
    if (!plan.has_value()) return Walk(key, source, target, check_stopped);
    plan->Execute(source, target);
    return absl::OkStatus();
  }
  const literal::StridedLoop slowest = key.loops.front();
  const int64_t steps = StepsOfPiece(bytes / slowest.bound);
  for (int64_t at = 0; at < slowest.bound; at += steps) {
    BoxKey piece = key;
    piece.loops.front().bound = std::min(steps, slowest.bound - at);
    if (piece.loops.front().bound == 1) piece.loops.erase(piece.loops.begin());
    KASHI_RETURN_IF_ERROR(MoveInPieces(piece, source + at * slowest.source * key.element_bytes,
                                       target + at * slowest.target * key.element_bytes, check_stopped));
  }
  return absl::OkStatus();
}

int64_t BytesOf(absl::Span<const int64_t> sizes, const Placement& placement) {
  int64_t elements = 1;
  for (int64_t size : sizes) elements *= size;
  return elements * CeilOfRatio<int64_t>(placement.slot_bits(), 8);
}

// Placements of one array, and their addresses.
struct TwoSides {
  const Placement& from;
  const void* source;
  const Placement& to;
  void* target;
};

// The part that begins at `starts`. Dies where a plan refuses: the caller has looked.
void MovePart(const TwoSides& sides, absl::Span<const int64_t> starts, absl::Span<const int64_t> sizes,
              const RelayoutOptions& options) {
  absl::StatusOr<Placement> from = sides.from.Slice(starts, sizes);
  absl::StatusOr<Placement> to = sides.to.Slice(starts, sizes);
  KASHI_CHECK(from.ok() && to.ok()) << from.status() << to.status();
  absl::StatusOr<RelayoutPlan> plan = RelayoutPlan::Make(*from, *to, options);
  KASHI_CHECK(plan.ok()) << plan.status();
  plan->Execute(sides.source, sides.target);
}

absl::Status MoveParts(const TwoSides& sides, DimensionVector starts, DimensionVector sizes,
                       absl::Span<const int64_t> cut_order, const RelayoutOptions& options,
                       StopFunction check_stopped) {
  KASHI_RETURN_IF_ERROR(check_stopped());
  const int64_t bytes = BytesOf(sizes, sides.to);
  if (bytes <= kPieceBytes || cut_order.empty()) {
    MovePart(sides, starts, sizes, options);
    return absl::OkStatus();
  }
  const int64_t d = cut_order.front(), end = starts[d] + sizes[d];
  for (const int64_t steps = StepsOfPiece(bytes / sizes[d]); starts[d] < end; starts[d] += steps) {
    sizes[d] = std::min(steps, end - starts[d]);
    KASHI_RETURN_IF_ERROR(MoveParts(sides, starts, sizes, cut_order.subspan(1), options, check_stopped));
  }
  return absl::OkStatus();
}

}  // namespace

PrimitiveType WordTypeOfBytes(int element_bytes) {
  switch (element_bytes) {
    case 1:
      return U8;
    case 2:
      return U16;
    case 4:
      return U32;
    case 8:
      return U64;
    case 16:
      return C128;
    default:
      KASHI_LOG_FATAL() << "elements of " << element_bytes << " bytes";
      return PRIMITIVE_TYPE_INVALID;
  }
}

absl::Status MoveBetween(const Placement& from, const void* source, const Placement& to, void* target,
                         absl::Span<const int64_t> cut_order, StopFunction check_stopped) {
  const DimensionVector sizes(to.dimensions().begin(), to.dimensions().end());
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return absl::OkStatus();
  RelayoutOptions options;
  options.padding = std::nullopt;
  options.non_temporal_stores = 2 * BytesOf(sizes, to) > base::MachineCacheBytes();
  return MoveParts({from, source, to, target}, DimensionVector(sizes.size(), 0), sizes, cut_order, options,
                   check_stopped);
}

BoxRoute RouteOf(absl::Span<const int64_t> bounds, int element_bytes, absl::Span<const int64_t> source_strides,
                 absl::Span<const int64_t> target_strides) {
  if (IsSmall(bounds)) return BoxRoute::kWalk;
  return RouteOfLoops(literal::MakeStridedLoops(bounds, source_strides, target_strides), element_bytes);
}

absl::Status MoveBox(absl::Span<const int64_t> bounds, int element_bytes, literal::StridedSource source,
                     literal::StridedTarget target, StopFunction check_stopped) {
  KASHI_CHECK(bounds.size() == source.strides.size() && bounds.size() == target.strides.size());
  if (std::any_of(bounds.begin(), bounds.end(), [](int64_t bound) { return bound <= 0; })) {
    return absl::OkStatus();
  }
  if (IsSmall(bounds)) return literal::CopyStridedUntil(bounds, element_bytes, source, target, check_stopped);
  BoxKey key{literal::MakeStridedLoops(bounds, source.strides, target.strides), element_bytes, false};
  const BoxRoute route = RouteOfLoops(key.loops, element_bytes);
  if (route == BoxRoute::kPlan) {
    key.non_temporal_stores = 2 * ElementsOf(key.loops) * element_bytes > base::MachineCacheBytes();
    return MoveInPieces(key, source.data, target.data, check_stopped);
  }
  if (route == BoxRoute::kPlanIfAgain) {
    const std::optional<RelayoutPlan> plan = PlanOf(key, /*only_if_again=*/true);
    if (plan.has_value()) {
      plan->Execute(source.data, target.data);
      return absl::OkStatus();
    }
  }
  return literal::CopyStridedUntil(bounds, element_bytes, source, target, check_stopped);
}

}  // namespace kashi::kernels
