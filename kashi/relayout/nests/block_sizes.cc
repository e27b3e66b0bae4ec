#include "kashi/relayout/nests/block_sizes.h"

#include <algorithm>
#include <cmath>

#include "absl/container/inlined_vector.h"

namespace kashi::relayout {
namespace {

int64_t PowerOf2AtMost(double value) {
  int64_t power = 1;
  while (2 * power <= value) power *= 2;
  return power;
}

}  // namespace

BlockSizes::BlockSizes(const CacheModel& caches, double scale) {
  const auto l1 = static_cast<double>(caches.l1.bytes), l2 = static_cast<double>(caches.l2.bytes);
  streamed_row_run = std::clamp<int64_t>(PowerOf2AtMost(scale * l1 / 64), 2 * kCacheLine, 4096);
  streamed_scratch = std::max<int64_t>(PowerOf2AtMost(l1 / 2), 4096);
  streamed_column_run = std::max<int64_t>(PowerOf2AtMost(scale * 4 * kCacheLine), kCacheLine);
  long_row_run = std::clamp<int64_t>(PowerOf2AtMost(scale * l2 / 256), 512, 4096);
  // run / 4 rows and columns of 4 bytes, on both sides: run * run / 2 bytes.
  cached_row_run = cached_column_run = std::max<int64_t>(PowerOf2AtMost(scale * std::sqrt(2 * l1)), kCacheLine);
  narrow_row_run = std::max<int64_t>(cached_row_run / 4 * 3, kCacheLine);
  narrow_column_run = std::max<int64_t>(cached_column_run / 2, kCacheLine);
  convert_block = std::clamp<int64_t>(PowerOf2AtMost(std::sqrt(l2 / 8)), 64, 1024);
  task = std::max<int64_t>(PowerOf2AtMost(l1), 4096);
  long_task = 2 * task;
}

bool LinesCollide(const int64_t* offsets, int64_t count, int64_t period, int64_t ways) {
  absl::InlinedVector<uint16_t, 64> rows_of_line(period / kCacheLine);
  for (int64_t i = 0; i < count; ++i) {
    if (++rows_of_line[(offsets[i] & (period - 1)) / kCacheLine] > ways) return true;
  }
  return false;
}

bool LinesCollide(const CacheModel::Level& l1, int64_t pitch, int64_t count) {
  const int64_t power = std::min(pitch & -pitch, l1.period());
  return power >= kCacheLine && count * power > l1.bytes;
}

bool Collides(const std::vector<int64_t>& offsets, const CacheModel::Level& l1, int64_t ways, int64_t window) {
  for (int64_t i = 0, count = offsets.size(); i < count; i += window) {
    if (LinesCollide(&offsets[i], std::min(count - i, window), l1.period(), ways)) return true;
  }
  return false;
}

}  // namespace kashi::relayout
