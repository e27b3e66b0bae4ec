#include "kashi/buffers/buffer_pool.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/work_meter.h"
#include "kashi/buffers/best_fit_heap.h"

namespace kashi::buffers {

int BufferPool::Add(Home home, int64_t number, int64_t bytes, int64_t alignment) {
  buffers_.push_back({home, number, bytes});
  slots_.emplace_back();
  slots_.back().is_pinned = slots_.back().is_free_before = home == Home::kResult;
  slots_.back().alignment = alignment;
  return static_cast<int>(buffers_.size()) - 1;
}

int BufferPool::Take(int wanted, int64_t bytes, const HloInstruction* maker) {
  const bool is_wanted = wanted != kNoBuffer && holders(wanted) == 0;
  if (is_wanted && HasTenant(wanted)) slots_[wanted].was_refused = true;
  const int buffer = is_wanted && IsFree(wanted) ? wanted : Add(Home::kArena, 0, bytes);
  TakeFree(buffer, maker);
  return buffer;
}

void BufferPool::TakeFree(int buffer, const HloInstruction* maker) {
  MarkWritten(buffer, maker);
  slots_[buffer].is_freed = false;
  ++slots_[buffer].holders;
}

void BufferPool::MarkWritten(int buffer, const HloInstruction* maker) {
  if (std::exchange(slots_[buffer].is_written, true)) return;
  buffers_[buffer].first = ++clock_;
  buffers_[buffer].maker = maker;
}

void BufferPool::Hold(const Leaves& leaves) {
  for (int buffer : leaves) ++slots_[buffer].holders;
}

void BufferPool::Release(const Leaves& leaves) {
  for (int buffer : leaves) {
    Slot& slot = slots_[buffer];
    if (--slot.holders > 0 || slot.is_pinned) continue;
    buffers_[buffer].last = ++clock_;
    slot.is_freed = true;
  }
}

namespace {

// The alignment of the widest element that the instruction makes.
int64_t AlignmentFor(const HloInstruction* maker) {
  int64_t alignment = 1;
  if (maker == nullptr) return kArenaAlignment;
  ShapeUtil::ForEachLeafShape(maker->shape(), [&](const Shape& leaf, const ShapeIndex&) {
    if (leaf.IsArray()) alignment = std::max<int64_t>(alignment, primitive_util::ByteWidth(leaf.element_type()));
  });
  return alignment;
}

}  // namespace

// Largest first. Several share a result where their times do not overlap.
void BufferPool::PlaceInResults(int32_t end) {
  constexpr int64_t kWorthIt = 4096;      // bytes
  constexpr size_t kMostPairs = 1 << 22;  // of a buffer and a result
  std::vector<int> results, temporaries;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    if (buffer.bytes < kWorthIt) continue;
    if (buffer.home == Home::kArena) temporaries.push_back(static_cast<int>(i));
    if (buffer.home == Home::kResult && slots_[i].is_free_before) results.push_back(static_cast<int>(i));
  }
  if (results.size() * temporaries.size() > kMostPairs) return;
  absl::c_stable_sort(temporaries, [this](int a, int b) { return bytes(a) > bytes(b); });
  absl::c_stable_sort(results, [this](int a, int b) { return bytes(a) < bytes(b); });
  std::vector<std::vector<int>> guests(results.size());
  for (int temporary : temporaries) {
    Buffer& buffer = buffers_[temporary];
    const int32_t last = slots_[temporary].is_freed ? buffer.last : end;
    for (size_t i = 0; i < results.size(); ++i) {
      const auto overlaps = [&](int guest) {
        return buffers_[guest].first <= last && buffer.first <= buffers_[guest].last;
      };
      const int host_tenant = tenant(results[i]);
      const int32_t begin = host_tenant == kNoBuffer ? 0 : buffers_[host_tenant].last;
      const bool fits = bytes(results[i]) >= buffer.bytes && begin < buffer.first &&
                        last < buffers_[results[i]].first && !HasTenant(results[i]) &&
                        AlignmentFor(buffer.maker) <= slots_[results[i]].alignment;
      if (!fits || absl::c_any_of(guests[i], overlaps)) continue;
      buffer.lies_in = buffers_[results[i]].number;
      guests[i].push_back(temporary);
      break;
    }
  }
}

std::optional<BufferPool::Placed> BufferPool::Place() && {
  const int32_t end = ++clock_;
  PlaceInResults(end);
  std::vector<HeapInterval> intervals;
  std::vector<Buffer*> placed;
  int64_t total = 0;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    Buffer& buffer = buffers_[i];
    if (!slots_[i].is_freed) buffer.last = end;
    if (buffer.home != Home::kArena || buffer.lies_in >= 0) continue;
    total = SaturatingAdd(total, SaturatingAdd(buffer.bytes, kArenaAlignment));
    intervals.push_back({buffer.bytes, buffer.first, buffer.last, -1, static_cast<int32_t>(intervals.size())});
    placed.push_back(&buffer);
  }
  if (total >= int64_t{1} << 62) return std::nullopt;
  const absl::StatusOr<HeapLayout> layout = PlaceByBestFit(intervals, kArenaAlignment);
  if (!layout.ok()) return std::nullopt;
  for (size_t i = 0; i < placed.size(); ++i) placed[i]->offset = layout->offsets[i];
  return Placed{std::move(buffers_), layout->bytes};
}

}  // namespace kashi::buffers
