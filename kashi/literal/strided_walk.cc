#include "kashi/literal/strided_walk.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "kashi/array/element_bytes.h"
#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/base/try_parallel.h"
#include "kashi/literal/strided_copy.h"

namespace kashi::literal {
namespace {

// Elements of a tile's side along the target's rows, and bytes of one along the source's: a cache line from each of a
// few rows, so that a line stays in the cache until all of it was used, even where the rows lie a power of two apart.
constexpr int64_t kTileRows = 16;
constexpr int64_t kTileBytes = 64;
// Bytes worth another thread.
constexpr int64_t kBytesPerTask = 1 << 20;
constexpr int64_t kTasksPerLook = 16;  // between two looks at whether to stop

template <int kBytes>
void CopyElement(const char* source, char* target) {
  std::memcpy(target, source, kBytes);
}

// Repeats one element: writes it once, then doubles the part that is already written.
template <int kBytes>
void Fill(const char* source, int64_t count, char* target) {
  CopyElement<kBytes>(source, target);
  for (int64_t done = 1; done < count;) {
    const int64_t more = std::min({done, count - done, int64_t{4096} / kBytes});
    std::memcpy(target + done * kBytes, target, more * kBytes);
    done += more;
  }
}

template <int kBytes>
void CopyRow(const StridedLoop& row, const char* source, char* target) {
  if (row.source == 1 && row.target == 1) {
    std::memcpy(target, source, row.bound * kBytes);
    return;
  }
  if (row.source == 0 && row.target == 1) {
    Fill<kBytes>(source, row.bound, target);
    return;
  }
  const int64_t source_step = row.source * kBytes, target_step = row.target * kBytes;
  for (int64_t i = 0; i < row.bound; ++i) CopyElement<kBytes>(source + i * source_step, target + i * target_step);
}

// A transpose: `column` is contiguous on the source's side, `row` (mostly) on the target's.
template <int kBytes>
void CopyTiles(const StridedLoop& column, const StridedLoop& row, const char* source, char* target) {
  constexpr int64_t kTileColumns = std::max<int64_t>(kTileBytes / kBytes, 4);
  for (int64_t c0 = 0; c0 < column.bound; c0 += kTileColumns) {
    const int64_t c1 = std::min(c0 + kTileColumns, column.bound);
    for (int64_t r0 = 0; r0 < row.bound; r0 += kTileRows) {
      const StridedLoop part = {std::min(kTileRows, row.bound - r0), row.source, row.target};
      for (int64_t c = c0; c < c1; ++c) {
        CopyRow<kBytes>(part, source + (c * column.source + r0 * row.source) * kBytes,
                        target + (c * column.target + r0 * row.target) * kBytes);
      }
    }
  }
}

// Runs `innermost` at every place that the outer loops reach.
template <int kBytes, typename Innermost>
void RunOuterLoops(absl::Span<const StridedLoop> outer, const char* source, char* target, Innermost innermost) {
  absl::InlinedVector<int64_t, InlineRank()> steps(outer.size(), 0);
  while (true) {
    innermost(source, target);
    size_t i = outer.size();
    while (true) {
      if (i == 0) return;
      --i;
      source += outer[i].source * kBytes;
      target += outer[i].target * kBytes;
      if (++steps[i] < outer[i].bound) break;
      source -= outer[i].source * outer[i].bound * kBytes;
      target -= outer[i].target * outer[i].bound * kBytes;
      steps[i] = 0;
    }
  }
}

template <int kBytes>
void RunLoops(StridedLoops loops, const char* source, char* target) {
  if (loops.empty()) {
    CopyElement<kBytes>(source, target);
    return;
  }
  const StridedLoop row = loops.back();
  loops.pop_back();
  const auto column =
      std::find_if(loops.begin(), loops.end(), [](const StridedLoop& loop) { return loop.source == 1; });
  if (row.source == 1 || row.source == 0 || column == loops.end()) {
    RunOuterLoops<kBytes>(loops, source, target,
                          [&row](const char* from, char* to) { CopyRow<kBytes>(row, from, to); });
    return;
  }
  const StridedLoop tile_column = *column;
  loops.erase(column);
  RunOuterLoops<kBytes>(loops, source, target,
                        [&](const char* from, char* to) { CopyTiles<kBytes>(tile_column, row, from, to); });
}

// Large copies are cut along the slowest loop.
template <int kBytes>
absl::Status RunParallel(const StridedLoops& loops, const char* source, char* target, StopFunction check_stopped) {
  int64_t bytes = kBytes;
  for (const StridedLoop& loop : loops) bytes *= loop.bound;
  if (loops.empty() || bytes <= kBytesPerTask) {
    RunLoops<kBytes>(loops, source, target);
    return absl::OkStatus();
  }
  const StridedLoop& slowest = loops.front();
  const int64_t steps_per_task = std::max<int64_t>(CeilOfRatio(slowest.bound * kBytesPerTask, bytes), kTileRows);
  return base::TryParallelFor(slowest.bound, steps_per_task, [&](int64_t begin, int64_t end, int) -> absl::Status {
    for (int64_t at = begin; at < end; at += std::min(kTasksPerLook * steps_per_task, end - at)) {
      KASHI_RETURN_IF_ERROR(check_stopped());
      StridedLoops part = loops;
      part.front().bound = std::min(kTasksPerLook * steps_per_task, end - at);
      RunLoops<kBytes>(std::move(part), source + at * slowest.source * kBytes, target + at * slowest.target * kBytes);
    }
    return absl::OkStatus();
  });
}

}  // namespace

DimensionVector ElementStrides(const Shape& shape) {
  const absl::Span<const int64_t> order = shape.layout().minor_to_major();
  KASHI_CHECK_EQ(order.size(), shape.dimensions().size()) << shape;
  DimensionVector strides(order.size());
  uint64_t stride = 1;  // of arrays without elements the sizes may multiply to anything
  for (int64_t dimension : order) {
    strides[dimension] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(shape.dimensions(static_cast<int>(dimension)));
  }
  return strides;
}

bool IsStoredRowMajor(const Shape& shape) {
  int64_t previous = shape.dimensions_size();
  for (int64_t dimension : shape.layout().minor_to_major()) {
    if (shape.dimensions(static_cast<int>(dimension)) == 1) continue;
    if (dimension > previous) return false;
    previous = dimension;
  }
  return true;
}

StridedLoops MakeStridedLoops(absl::Span<const int64_t> bounds, absl::Span<const int64_t> source,
                              absl::Span<const int64_t> target) {
  StridedLoops loops;
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i] != 1) loops.push_back({bounds[i], source[i], target[i]});
  }
  std::stable_sort(loops.begin(), loops.end(),
                   [](const StridedLoop& a, const StridedLoop& b) { return a.target > b.target; });
  StridedLoops merged;
  for (const StridedLoop& loop : loops) {
    if (!merged.empty() && merged.back().source == loop.source * loop.bound &&
        merged.back().target == loop.target * loop.bound) {
      merged.back() = {merged.back().bound * loop.bound, loop.source, loop.target};
    } else {
      merged.push_back(loop);
    }
  }
  return merged;
}

void CopyStrided(absl::Span<const int64_t> bounds, int element_bytes, StridedSource source, StridedTarget target) {
  CopyStridedUntil(bounds, element_bytes, source, target, NeverStopped).IgnoreError();  // there is none
}

absl::Status CopyStridedUntil(absl::Span<const int64_t> bounds, int element_bytes, StridedSource source,
                              StridedTarget target, StopFunction check_stopped) {
  KASHI_CHECK(bounds.size() == source.strides.size() && bounds.size() == target.strides.size());
  if (std::any_of(bounds.begin(), bounds.end(), [](int64_t bound) { return bound <= 0; })) {
    return absl::OkStatus();
  }
  const StridedLoops loops = MakeStridedLoops(bounds, source.strides, target.strides);
  absl::Status status;
  array::WithElementBytes(
      element_bytes, [&](auto bytes) { status = RunParallel<bytes>(loops, source.data, target.data, check_stopped); });
  return status;
}

}  // namespace kashi::literal
