#include "kashi/buffers/best_fit_heap.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/numeric/bits.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi::buffers {
namespace {

constexpr int64_t kMaxLooks = int64_t{1} << 25;
constexpr size_t kMaxIntervals = size_t{1} << 20;

struct Chunk {
  int64_t offset = 0;
  int64_t end = 0;
  bool operator<(const Chunk& other) const { return offset != other.offset ? offset < other.offset : end < other.end; }
};

// Finds the chunks that are alive at some time in a range: those that are alive at its start, and those that begin
// later. For the first kind, each chunk is stored at the O(log n) nodes of a tree over time that together cover its
// life.
class ChunksInTime {
 public:
  explicit ChunksInTime(int32_t times)
      : leaves_(LeavesFor(times)), there_(2 * leaves_), begins_(times / 64 + 1), at_begin_(times) {}

  void Add(int32_t first, int32_t last, const Chunk& chunk) {
    int32_t low = first + leaves_, high = last + leaves_ + 1;
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) there_[low++].push_back(first);
      if (high % 2 == 1) there_[--high].push_back(first);
    }
    at_begin_[first] = chunk;
    begins_[first / 64] |= uint64_t{1} << (first % 64);
  }
  // Returns how many looks it took.
  int64_t Find(int32_t first, int32_t last, std::vector<Chunk>* found) const {
    for (int32_t node = first + leaves_; node > 0; node /= 2) {
      for (int32_t begin : there_[node]) found->push_back(at_begin_[begin]);
    }
    for (int32_t word = first / 64; word <= last / 64; ++word) {
      for (uint64_t bits = begins_[word]; bits != 0; bits &= bits - 1) {
        const int32_t begin = 64 * word + absl::countr_zero(bits);
        if (first < begin && begin <= last) found->push_back(at_begin_[begin]);
      }
    }
    return static_cast<int64_t>(found->size()) + (last - first) / 64;
  }

 private:
  static int32_t LeavesFor(int32_t times) {
    int32_t leaves = 1;
    while (leaves <= times) leaves *= 2;
    return leaves;
  }

  int32_t leaves_;
  std::vector<std::vector<int32_t>> there_;  // when they begin, by node of a binary tree over time, the root being 1
  std::vector<uint64_t> begins_;             // a bit for each time at which one begins
  std::vector<Chunk> at_begin_;              // by time
};

// The intervals at one offset: one interval, and all that share with it.
struct Placement {
  int32_t first_member = 0;
  std::vector<int32_t> members;  // intervals that are not empty
  int64_t bytes = 0;             // of the first
  int64_t max_bytes = 0;
  int32_t own_duration = 0;  // of the first
  int32_t duration = 0;      // from when the first begins to when the last ends
};

std::vector<Placement> CollectPlacements(absl::Span<const HeapInterval> intervals) {
  std::vector<Placement> placements;
  std::vector<int32_t> placement_of(intervals.size(), -1);
  for (int32_t i = 0; i < static_cast<int32_t>(intervals.size()); ++i) {
    const HeapInterval& interval = intervals[i];
    if (interval.bytes == 0) continue;
    int32_t& number = placement_of[i];
    if (interval.shares_with >= 0) number = placement_of[interval.shares_with];
    if (number < 0) {
      number = static_cast<int32_t>(placements.size());
      placements.push_back({i, {}, interval.bytes, 0, interval.last - interval.first, 0});
    }
    Placement& placement = placements[number];
    placement.members.push_back(i);
    placement.max_bytes = std::max(placement.max_bytes, interval.bytes);
    placement.duration = std::max(placement.duration, interval.last - intervals[placement.first_member].first);
  }
  return placements;
}

class BestFit {
 public:
  BestFit(absl::Span<const HeapInterval> intervals, int64_t alignment, int32_t times)
      : intervals_(intervals), alignment_(alignment), chunks_(times) {
    layout_.offsets.resize(intervals.size());
  }

  // In this order. `looks` is counted down.
  absl::StatusOr<HeapLayout> Place(absl::Span<const Placement* const> order, int64_t* looks) {
    for (const Placement* placement : order) {
      std::vector<Chunk> in_the_way;
      for (int32_t member : placement->members) {
        *looks -= chunks_.Find(intervals_[member].first, intervals_[member].last, &in_the_way);
      }
      if (*looks < 0) return ResourceExhausted("too many buffers are alive at the same time to place them");
      Commit(*placement, SmallestGap(&in_the_way, placement->max_bytes));
    }
    return std::move(layout_);
  }

 private:
  // The beginning of the smallest gap that is large enough.
  int64_t SmallestGap(std::vector<Chunk>* in_the_way, int64_t bytes) const {
    absl::c_sort(*in_the_way);
    int64_t end = 0;  // of what has been seen, rounded up
    int64_t best = -1, best_size = 0;
    for (const Chunk& chunk : *in_the_way) {
      const int64_t gap = chunk.offset - end;
      if (gap >= bytes && (best < 0 || gap < best_size)) {
        best = end;
        best_size = gap;
      }
      end = std::max(end, RoundUpTo(chunk.end, alignment_));
    }
    return best < 0 ? end : best;
  }
  void Commit(const Placement& placement, int64_t offset) {
    layout_.bytes = std::max(layout_.bytes, offset + placement.max_bytes);
    for (int32_t member : placement.members) {
      const HeapInterval& interval = intervals_[member];
      layout_.offsets[member] = offset;
      chunks_.Add(interval.first, interval.last, {offset, offset + interval.bytes});
    }
  }

  absl::Span<const HeapInterval> intervals_;
  const int64_t alignment_;
  ChunksInTime chunks_;
  HeapLayout layout_;
};

}  // namespace

absl::StatusOr<HeapLayout> PlaceByBestFit(absl::Span<const HeapInterval> intervals, int64_t alignment) {
  if (intervals.size() > kMaxIntervals)
    return ResourceExhausted("too many buffers to place them: %d", intervals.size());
  const std::vector<Placement> placements = CollectPlacements(intervals);
  int32_t times = 0;
  for (const HeapInterval& interval : intervals) times = std::max(times, interval.last + 1);
  std::vector<const Placement*> order;
  for (const Placement& placement : placements) order.push_back(&placement);
  const auto rank = [&](const Placement* placement) { return intervals[placement->first_member].rank; };
  int64_t looks = kMaxLooks;
  absl::c_sort(order, [&](const Placement* a, const Placement* b) {
    return std::make_tuple(-a->bytes, -a->own_duration, rank(a)) <
           std::make_tuple(-b->bytes, -b->own_duration, rank(b));
  });
  KASHI_ASSIGN_OR_RETURN(HeapLayout by_size, BestFit(intervals, alignment, times).Place(order, &looks));
  absl::c_sort(order, [&](const Placement* a, const Placement* b) {
    return std::make_tuple(-a->duration, -a->bytes, rank(a)) < std::make_tuple(-b->duration, -b->bytes, rank(b));
  });
  KASHI_ASSIGN_OR_RETURN(HeapLayout by_time, BestFit(intervals, alignment, times).Place(order, &looks));
  return by_time.bytes < by_size.bytes ? std::move(by_time) : std::move(by_size);
}

}  // namespace kashi::buffers
