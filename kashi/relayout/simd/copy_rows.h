// Rows of bytes from one place to another: the simplest kernel, and the limit of all others.
#ifndef KASHI_RELAYOUT_SIMD_COPY_ROWS_H_
#define KASHI_RELAYOUT_SIMD_COPY_ROWS_H_

#include <cstdint>
#include <cstring>

namespace kashi::relayout {

// `rows` rows of `bytes` bytes; the next row is from_stride and to_stride bytes further on. The sides do not overlap.
struct RowCopy {
  const char* from;
  int64_t from_stride;
  char* to;
  int64_t to_stride;
  int64_t rows;
  int64_t bytes;
};

void CopyRows(const RowCopy& copy);

// Like CopyRows, but whole cache lines are written past the caches. For targets much larger than the caches; a
// StreamFence() must follow before another thread reads.
void StreamRows(const RowCopy& copy);
void StreamFence();

// `count` such copies, the next of which begins from_stride and to_stride bytes further on.
struct RowNest {
  RowCopy inner;
  int64_t count;
  int64_t from_stride;
  int64_t to_stride;
};
void CopyRowNest(const RowNest& nest);
void StreamRowNest(const RowNest& nest);

// Like StreamRows, for rows that follow one another in the target; each line is written whole by the row in which it
// begins:
//
//   target     |    line    |    line    |    line    |
//   row             [first   ......       last]          copy.bytes
//   written         |first   ......       last  |        to the end of a line; the next row begins there
//
// `skips_head`: the row before writes the line in which a row begins. `beyond`: the number of readable bytes behind
// each row of the source.
void StreamLinesOfRows(const RowCopy& copy, bool skips_head, int64_t beyond);

// Copies one row. Long rows do not use memcpy: that of some systems is `rep movsb`, which takes some processors ten
// times as long where the target's address modulo 4096 is just above the source's.
inline void CopyRow(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kLong = 512;
  if (bytes >= kLong) {
    CopyRows({from, 0, to, 0, 1, bytes});
  } else if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}
inline void StreamCopy(char* to, const char* from, int64_t bytes) {
  if (bytes > 0) StreamRows({from, 0, to, 0, 1, bytes});
}

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_COPY_ROWS_H_
