#include "kashi/relayout/plan/strips.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/base/math.h"
#include "kashi/relayout/kernels/copy_rows.h"
#include "kashi/relayout/kernels/transpose_kernels.h"

namespace kashi::internal {
namespace {

constexpr int64_t kLeastStrip = 512;      // bytes
constexpr int64_t kMostStrip = 32 << 10;  // stays in the nearest caches
constexpr int64_t kPortion = 512;         // between two portions of prefetching

bool IsWhole(int64_t bits) { return bits % 8 == 0; }

// The end of what a box takes up on one side if the strides there are positive, in bits.
int64_t EndOf(const Box& box, int64_t offset, int64_t Loop::*side, int64_t slot_bits) {
  for (const Loop& loop : box.loops) offset += (loop.extent - 1) * std::max<int64_t>(0, loop.*side);
  return offset + slot_bits;
}

// Whole bytes, and a target that is written upwards.
bool CanBeInStrips(const Box& box) {
  return IsWhole(box.from_offset) && IsWhole(box.to_offset) &&
         std::all_of(box.loops.begin(), box.loops.end(),
                     [](const Loop& loop) { return IsWhole(loop.from) && IsWhole(loop.to) && loop.to >= 0; });
}

bool BeginsWith(const Box& box, absl::Span<const Loop> outer) {
  return box.loops.size() >= outer.size() &&
         std::equal(outer.begin(), outer.end(), box.loops.begin(), [](const Loop& a, const Loop& b) {
           return a.extent == b.extent && a.from == b.from && a.to == b.to;
         });
}

// The first iteration of the outer loops.
Box Inner(Box box, size_t outer) {
  box.loops.erase(box.loops.begin(), box.loops.begin() + outer);
  return box;
}

// The boxes that have the first `count` loops of boxes[first] in common, as strips; nullopt if they leave gaps, or are too few
// bytes or too many. `members`: which.
std::optional<Strips> StripsOf(const std::vector<Box>& boxes, size_t first, size_t count, int64_t slot_bits,
                               std::vector<size_t>* members) {
  Strips strips = {};
  strips.outer.assign(boxes[first].loops.begin(), boxes[first].loops.begin() + count);
  int64_t elements = 0, begin = boxes[first].to_offset, end = begin;
  strips.from_begin = strips.from_end = boxes[first].from_offset / 8;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (!BeginsWith(boxes[i], strips.outer)) continue;
    if (!CanBeInStrips(boxes[i])) return std::nullopt;
    const Box inner = Inner(boxes[i], count);
    elements += inner.ElementCount();
    begin = std::min(begin, inner.to_offset);
    end = std::max(end, EndOf(inner, inner.to_offset, &Loop::to, slot_bits));
    strips.from_begin = std::min(strips.from_begin, inner.from_offset / 8);
    strips.from_end = std::max(strips.from_end, EndOf(inner, inner.from_offset, &Loop::from, slot_bits) / 8);
    members->push_back(i);
  }
  strips.to_offset = begin;
  strips.bytes = (end - begin) / 8;
  const bool is_dense = elements * slot_bits == end - begin;
  return is_dense && strips.bytes >= kLeastStrip && strips.bytes <= kMostStrip ? std::make_optional(std::move(strips))
                                                                               : std::nullopt;
}

// Few rows, which within the caches are interleaved, and past them are not, as they share lines.
bool GainsFromStrips(const Box& box, size_t outer, const StepContext& context, const StepContext& within_caches) {
  return MakeStep(box, context).kernel == Kernel::kBlocks &&
         MakeStep(Inner(box, outer), within_caches).kernel == Kernel::kInterleave;
}

// With as few outer loops as will do: long strips.
std::optional<Strips> TakeStripsOf(const StepContext& context, const StepContext& within_caches, size_t first,
                                   std::vector<Box>* boxes) {
  for (size_t count = 0; count <= (*boxes)[first].loops.size(); ++count) {
    std::vector<size_t> members;
    std::optional<Strips> strips = StripsOf(*boxes, first, count, context.to.slot_bits, &members);
    if (!strips.has_value()) continue;
    if (!GainsFromStrips((*boxes)[first], count, context, within_caches)) return std::nullopt;
    for (size_t m = members.size(); m-- > 0;) {
      Box box = (*boxes)[members[m]];
      boxes->erase(boxes->begin() + members[m]);
      strips->boxes.push_back(box);
      box = Inner(std::move(box), count);
      box.to_offset -= strips->to_offset;
      strips->parts.push_back(MakeStep(std::move(box), within_caches));
    }
    return strips;
  }
  return std::nullopt;
}

// The outer loops' indices.
class StripWalk {
 public:
  StripWalk(const Strips& strips, int64_t index) : strips_(strips), index_(strips.outer.size()) {
    to_ = strips.to_offset / 8;
    for (size_t i = index_.size(); i-- > 0;) {
      const Loop& loop = strips.outer[i];
      index_[i] = index % loop.extent;
      index /= loop.extent;
      from_ += index_[i] * loop.from / 8;
      to_ += index_[i] * loop.to / 8;
    }
  }

  // Bytes.
  int64_t from() const { return from_; }
  int64_t to() const { return to_; }

  void Next() {
    for (size_t i = index_.size(); i-- > 0;) {
      const Loop& loop = strips_.outer[i];
      from_ += loop.from / 8;
      to_ += loop.to / 8;
      if (++index_[i] < loop.extent) return;
      from_ -= loop.extent * loop.from / 8;
      to_ -= loop.extent * loop.to / 8;
      index_[i] = 0;
    }
  }

 private:
  const Strips& strips_;
  absl::InlinedVector<int64_t, 4> index_;
  int64_t from_ = 0;
  int64_t to_ = 0;
};

// One strip after the other, by way of a buffer that begins with the line in which the strip begins.
class StripWriter {
 public:
  // A strip that begins here; its bytes go to the pointer returned.
  char* Begin(char* to) {
    if (to != to_) Finish();
    to_ = to;
    return buffer_ + Phase();
  }

  // Writes all whole lines. `next`: what the next strip reads, or nullptr.
  void Write(int64_t bytes, const char* next, int64_t next_bytes) {
    int64_t at = Phase() - pending_;
    const int64_t end = Phase() + bytes, whole = RoundDownTo(end, kCacheLine);
    char* const line = to_ - Phase();
    const int64_t share = CeilOfRatio(next_bytes * kPortion, bytes);  // to prefetch with each portion
    for (int64_t asked = 0; at < whole;) {
      const int64_t portion = std::min(whole - at, kPortion + -at % kCacheLine);
      StreamCopy(line + at, buffer_ + at, portion);
      at += portion;
      for (const int64_t to_ask = std::min(next_bytes, asked + share); asked < to_ask; asked += kCacheLine) {
        __builtin_prefetch(next + asked);
      }
    }
    pending_ = end - whole;
    std::memmove(buffer_, buffer_ + whole, pending_);
    to_ += bytes;
  }

  // Writes what waits for the next strip.
  void Finish() {
    if (pending_ > 0) std::memcpy(to_ - pending_, buffer_, pending_);
    pending_ = 0;
  }

 private:
  int64_t Phase() const { return reinterpret_cast<uintptr_t>(to_) % kCacheLine; }

  alignas(kCacheLine) char buffer_[kMostStrip + kCacheLine];
  char* to_ = nullptr;   // where the next strip begins
  int64_t pending_ = 0;  // bytes before it that are in the buffer only
};

}  // namespace

int64_t Strips::Count() const {
  int64_t count = 1;
  for (const Loop& loop : outer) count *= loop.extent;
  return count;
}

std::string Strips::ToString() const {
  std::string text = absl::StrCat(Count(), " strips of ", bytes, " bytes by way of scratch memory, past the caches:\n");
  for (size_t i = 0; i < boxes.size(); ++i) {
    absl::StrAppend(&text, "box ", boxes[i].ToString(), "\n  in each strip ", parts[i].ToString(), "\n");
  }
  return text;
}

std::vector<Strips> TakeStrips(const StepContext& context, const StepContext& within_caches, std::vector<Box>* boxes) {
  std::vector<Strips> all;
  constexpr size_t kMostBoxes = 64;  // so many have hardly been cut by edges alone
  const bool converts = context.from.type != context.to.type || context.from.slot_bits != context.to.slot_bits;
  if (!context.streams || converts || boxes->size() > kMostBoxes) return all;
  for (size_t i = 0; i < boxes->size();) {
    std::optional<Strips> strips = TakeStripsOf(context, within_caches, i, boxes);
    if (!strips.has_value()) {
      ++i;
    } else {
      all.push_back(*std::move(strips));
      i = 0;
    }
  }
  return all;
}

void RunStrips(const Strips& strips, const char* from, char* to, int64_t begin, int64_t end) {
  if (begin >= end) return;
  StripWriter writer;
  StripWalk walk(strips, begin);
  const int64_t source_bytes = strips.from_end - strips.from_begin;
  const bool is_read_whole = source_bytes <= 2 * strips.bytes;
  for (int64_t strip = begin; strip < end; ++strip) {
    char* const scratch = writer.Begin(to + walk.to());
    for (const Step& part : strips.parts) RunStep(part, from + walk.from(), scratch, 0, part.TaskCount());
    walk.Next();
    const bool asks = is_read_whole && strip + 1 < end;
    writer.Write(strips.bytes, from + walk.from() + strips.from_begin, asks ? source_bytes : 0);
  }
  writer.Finish();
  StreamFence();
}

}  // namespace kashi::internal
