// Entry point: RunInterleaving. Few rows that become one run; a run that becomes few rows, past the caches in long pieces.
#include <algorithm>
#include <cstdint>

#include "kashi/base/math.h"
#include "kashi/relayout/kernels/copy_rows.h"
#include "kashi/relayout/kernels/interleave_kernel.h"
#include "kashi/relayout/kernels/transpose_kernels.h"
#include "kashi/relayout/run/run_block.h"

namespace kashi::internal {
namespace {

void Prefetch(const char* from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(from + at);
}

// A part of each row after the other, put together in scratch memory: past the caches memory wants long runs. A line that two
// parts share is written by the first, whole.
//
//   row           |     part      |     part      |
//   target     |    line    |    line    |    line    |
class RunOfRows {
 public:
  RunOfRows(const Step& step, const Block& block, const char* from, char* to)
      : in_(step.interleaving),
        block_(block),
        bytes_(step.element_bytes),
        behind_(step.columns.extent - block.columns_before - block.columns),
        from_(from + block.from / 8),
        to_(to + block.to / 8) {}

  void Run() {
    char* const scratch = Scratch::OfThread().Bytes(in_.rows * kPitch);
    const int64_t part = kPartBytes / bytes_;
    for (int64_t c = 0; c < block_.columns;) {
      const int64_t left = block_.columns - c, columns = left < 2 * part ? left : part;
      const int64_t all_behind = behind_ + left - columns;
      const int64_t beyond = std::min(all_behind, CeilOfRatio(kCacheLine, bytes_));
      in_.functions.deinterleave({from_ + c * in_.rows * bytes_, scratch, kPitch, columns + beyond});
      const int64_t ahead = std::min(all_behind, part) * bytes_;
      for (int64_t r = 0; r < in_.rows; ++r) {
        StreamLinesOfRows({scratch + r * kPitch, 0, to_ + c * bytes_ + r * in_.row_stride, 0, 1, columns * bytes_},
                          c + block_.columns_before > 0, beyond * bytes_);
        Prefetch(from_ + (c + columns) * in_.rows * bytes_ + r * ahead, ahead);
      }
      c += columns;
    }
  }

 private:
  static constexpr int64_t kPartBytes = 1024;
  static constexpr int64_t kPitch = 2 * kPartBytes + 3 * kCacheLine;  // rows do not collide

  const Interleaving& in_;
  const Block& block_;
  int64_t bytes_;
  int64_t behind_;  // columns of the other blocks
  const char* from_;
  char* to_;
};

// Interleavings that continue one another's rows, by way of scratch memory for the same reason.
void RunGathered(const Step& step, const InterleaveJob& job, const char* next) {
  const Interleaving& in = step.interleaving;
  const int64_t piece = job.columns * step.element_bytes, row_bytes = job.outer.count * piece;
  const int64_t pitch = row_bytes + kCacheLine;  // rows do not collide
  char* const scratch = Scratch::OfThread().Bytes(job.inner.count * in.rows * pitch);
  InterleaveJob gathered = job;
  gathered.to = scratch;
  gathered.row_stride = pitch;
  gathered.inner.to = in.rows * pitch;
  gathered.outer.to = piece;
  in.functions.deinterleave(gathered);
  for (int64_t i = 0; i < job.inner.count; ++i) {
    for (int64_t r = 0; r < in.rows; ++r) {
      const int64_t row = i * in.rows + r;
      StreamCopy(job.to + i * job.inner.to + r * job.row_stride, scratch + row * pitch, row_bytes);
      Prefetch(next + row * row_bytes, row_bytes);
    }
  }
}

}  // namespace

void RunInterleaving(const Step& step, const Block& block, const Block& next, const char* from, char* to) {
  const Interleaving& in = step.interleaving;
  if (in.has_long_rows) return RunOfRows(step, block, from, to).Run();
  const auto repeat = [](int64_t count, const Loop& loop) {
    return InterleaveJob::Repeat{count, loop.from / 8, loop.to / 8};
  };
  const InterleaveJob job = {from + block.from / 8,
                             to + block.to / 8,
                             in.row_stride,
                             block.columns,
                             repeat(in.inner.extent, in.inner),
                             repeat(block.rows / step.rows.whole, in.outer)};
  if (in.continues_rows) return RunGathered(step, job, from + next.from / 8);
  const bool streams = step.context->streams;
  if (in.is_back) return streams ? in.functions.stream_deinterleaved(job) : in.functions.deinterleave(job);
  return streams ? in.functions.stream_interleaved(job) : in.functions.interleave(job);
}

}  // namespace kashi::internal
