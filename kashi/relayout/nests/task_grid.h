// The tasks of a step: a grid of blocks of rows and columns. Tasks may run in any order and at once.
#ifndef KASHI_RELAYOUT_NESTS_TASK_GRID_H_
#define KASHI_RELAYOUT_NESTS_TASK_GRID_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kashi/relayout/nests/boxes.h"

namespace kashi::relayout {

// The chunks of an axis of elements: each chunk has some loops whole, and a part of one more.
//
//   loops, inner first:   8 whole, 16 whole, 100 in chunks of 3      ->  a chunk has 8*16*3 elements (the last one
//                         fewer)
struct Axis {
  int64_t whole = 1;     // elements of the loops that each chunk has whole
  int64_t extent = 1;    // of the loop that is cut
  int64_t chunk = 1;     // of it in a chunk
  int64_t overhang = 0;  // elements behind a chunk whose offsets are known, too

  int64_t block() const { return whole * chunk; }
  int64_t chunk_count() const { return (extent + chunk - 1) / chunk; }
  int64_t BlockAt(int64_t index) const { return whole * std::min(chunk, extent - index * chunk); }
};

// The offset of each element of a chunk, and of its overhang, on the side where the axis is not contiguous.
struct Offsets {
  std::vector<int64_t> at;  // bytes; for conversions, bits
  int64_t stride = 0;       // between neighbours among the first
  int64_t stretch = 1;      // offsets that have this stride; then follow as many that have it too, at some other place
  bool collides = false;    // L1 has no room for a line of each of 64 neighbours

  const int64_t* data() const { return at.data(); }
  int64_t operator[](int64_t i) const { return at[i]; }
};

// One loop over tasks.
struct GridLoop {
  int64_t count;
  int64_t from;  // bits
  int64_t to;
  enum class Over { kOuter, kRows, kColumns } over = Over::kOuter;
};

struct TaskGrid {
  int64_t from_offset = 0;  // bits
  int64_t to_offset = 0;
  absl::InlinedVector<GridLoop, 6> loops;  // outermost first
  Axis rows;                               // contiguous in the target
  Axis columns;                            // contiguous in the source
  int64_t tasks_together = 1;              // tasks n*i .. n*i + n - 1 share no byte with others: one thread runs them
  bool shares_bytes = false;               // tasks may share bytes of the target, with one another or with other steps'

  int64_t TaskCount() const;
  int64_t TaskElements() const { return rows.block() * columns.block(); }
};

// Makes a grid over these loops and chunks, in the order of one side's memory. If the target is streamed, that is the
// source: reading profits from neighbours more than writing does. Within the caches it is the target: the blocks of a
// thread follow one another there, and no line that one core writes, or prefetches ahead of its writes, is in the cache
// of another (which costs half the speed, and more).
TaskGrid MakeGrid(const Box& box, const Loops& loops, const Axis& rows, const Axis& columns,
                  std::initializer_list<GridLoop> chunks, bool streams);

// A block: where it begins (bits), and its sizes.
struct Block {
  int64_t from;
  int64_t to;
  int64_t rows;
  int64_t columns;
  int64_t overhang;  // rows that follow in the same run of the target, and have offsets
  bool is_first_of_rows;
  int64_t columns_before;  // of the axis
};

// Calls visit(block, next) for tasks begin .. end - 1; `next` is the block behind it (the last one's own).
template <class Visit>
void ForEachTask(const TaskGrid& grid, int64_t begin, int64_t end, Visit visit);

// The grid's indices, stepped like an odometer.
class TaskWalk {
 public:
  TaskWalk(const TaskGrid& grid, int64_t task);

  const Block& block() const { return block_; }
  void Next();

 private:
  // The last chunk of an axis may be shorter.
  void Resize();

  const TaskGrid& grid_;
  absl::InlinedVector<int64_t, 6> index_;
  Block block_;
};

template <class Visit>
void ForEachTask(const TaskGrid& grid, int64_t begin, int64_t end, Visit visit) {
  if (begin >= end) return;
  TaskWalk walk(grid, begin);
  for (int64_t task = begin; task < end; ++task) {
    const Block block = walk.block();
    if (task + 1 < end) walk.Next();
    visit(block, walk.block());
  }
}

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_NESTS_TASK_GRID_H_
