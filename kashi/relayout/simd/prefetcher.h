// Asks for the source of the next block, line by line, while this one is worked on. Where rows begin within lines,
// their first line is also the last of the block before, which is this one: only the others are asked for.
#ifndef KASHI_RELAYOUT_SIMD_PREFETCHER_H_
#define KASHI_RELAYOUT_SIMD_PREFETCHER_H_

#include <algorithm>
#include <cstdint>

#include "kashi/base/math.h"

namespace kashi::relayout {

// The place of the lines: `rows` rows at from + offsets[r], `row_bytes` each. The first `stretch` offsets are `stride`
// apart, and so are the following ones, stretch by stretch.
struct PrefetchRows {
  const char* from;
  const int64_t* offsets;
  int64_t rows;
  int64_t row_bytes;
  int64_t stride;
  int64_t stretch;
};

class Prefetcher {
 public:
  // Asks for all lines within `portions` calls of Portion.
  Prefetcher(const PrefetchRows& rows, int64_t portions) : rows_(rows) {
    if (rows.stride == rows.row_bytes) {  // rows of a stretch follow one another
      piece_rows_ = rows.stretch;
      rows_.row_bytes *= piece_rows_;
    }
    portion_ = CeilOfRatio(CeilOfRatio(rows.rows, piece_rows_) * CeilOfRatio(rows_.row_bytes, kLine),
                           std::max<int64_t>(1, portions));
  }

  void Portion() {
    if (row_ >= rows_.rows) return;
    const PrefetchRows rows = rows_;  // in registers, as are these
    int64_t row = row_, at = at_;
    for (int64_t left = portion_; left > 0 && row < rows.rows; --left) {
      __builtin_prefetch(rows.from + rows.offsets[row] + std::min(at + kLine, rows.row_bytes) - 1);
      at += kLine;
      if (at >= rows.row_bytes) {
        at = 0;
        row += piece_rows_;
      }
    }
    row_ = row;
    at_ = at;
  }

 private:
  static constexpr int64_t kLine = 64;

  PrefetchRows rows_;
  int64_t piece_rows_ = 1;  // that are contiguous in the source
  int64_t portion_;         // lines
  int64_t row_ = 0;
  int64_t at_ = 0;
};

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_PREFETCHER_H_
