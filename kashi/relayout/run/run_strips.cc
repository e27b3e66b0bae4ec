// RunStrips: strips are made in scratch memory within the caches, and written in whole lines.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "kashi/base/math.h"
#include "kashi/relayout/plan/strips.h"
#include "kashi/relayout/simd/copy_rows.h"

namespace kashi::relayout {
namespace {

constexpr int64_t kPortion = 512;  // bytes between two portions of prefetching

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

// Writes one strip after the other, through a buffer that begins with the line in which the strip begins.
class StripWriter {
 public:
  // A strip that begins here; its bytes go to the pointer returned.
  char* Begin(char* to) {
    if (to != to_) Finish();
    to_ = to;
    return buffer_ + Phase();
  }

  // Writes all whole lines. `next`: the source of the next strip, or nullptr.
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

  // Writes the bytes that waited for the next strip.
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

}  // namespace kashi::relayout
