// IndexedWindows: the common part of gather and scatter. Both have a *source of windows*, the operand, and a *batch of
// windows*, the result of gather or the updates of scatter. They visit the windows of the batch one after the other; an
// array of indices has the position of each window in the operand.
//
//   operand f32[3,4]    windows f32[1,2]    indices s32[2,2] {{1,0},{2,1}}    batch f32[2,2] (window dimension 1)
//
//     .  .  .  .
//     a  b  .  .          window 0 starts at (1,0)         a b
//     .  c  d  .          window 1 starts at (2,1)         c d
//
// Window number w is the w-th index of the batch's other dimensions, in row-major order. Dimension numbers:
// docs/spec/hlo-ops.md 5.
#ifndef KASHI_KERNELS_INDEXED_WINDOWS_H_
#define KASHI_KERNELS_INDEXED_WINDOWS_H_

#include <array>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/primitive_type.h"

namespace kashi::kernels {

// GatherDimensionNumbers or ScatterDimensionNumbers with common names.
struct WindowNumbers {
  absl::Span<const int64_t> window_dims;            // of the batch; the other dimensions number the windows
  absl::Span<const int64_t> collapsed_dims;         // of the operand; a window is 1 wide there
  absl::Span<const int64_t> start_map;              // which dimension of the operand component k of an index is for
  absl::Span<const int64_t> operand_batching_dims;  // the start in these is the window's coordinate …
  absl::Span<const int64_t> indices_batching_dims;  // … along these of the indices
  int64_t index_vector_dim;                         // the rank of the indices: they are scalars
};

// A dense row-major array of integers, in memory that outlives the IndexedWindows.
struct IndexArray {
  PrimitiveType type;
  absl::Span<const int64_t> dimensions;
  const void* data;
};

class IndexedWindows {
 public:
  // INVALID_ARGUMENT if the sizes do not match, which is possible with dynamic
  // dimensions. Pre: batch and operand are not empty.
  static absl::StatusOr<IndexedWindows> Make(const WindowNumbers& numbers, absl::Span<const int64_t> operand_dims,
                                             const IndexArray& indices, absl::Span<const int64_t> batch_dims);

  int64_t window_count() const { return window_count_; }
  int64_t window_element_count() const { return window_element_count_; }

  // The elements of a window: a row that is contiguous on both sides (of 1 if nothing is) at each step of the loops.
  // Strides in elements, slowest loop first.
  struct Loop {
    int64_t bound;
    int64_t operand_stride;
    int64_t batch_stride;
  };
  absl::Span<const Loop> loops() const { return loops_; }
  int64_t row() const { return row_; }
  // Calls visit(operand_offset, batch_offset) for each row of a window.
  template <typename Visit>
  void ForEachRow(Visit&& visit) const;

  // Whether two windows may overlap without being equal.
  bool may_overlap_partly() const { return may_overlap_partly_; }

  // The starts of windows [begin, begin + n) in both arrays, in elements from the first one.
  static constexpr int64_t kMaxPlaces = 256;
  struct Places {
    std::array<int64_t, kMaxPlaces> operand;
    std::array<int64_t, kMaxPlaces> batch;
    std::array<int64_t, kMaxPlaces> index;  // scratch: where the window's index is
  };
  // Windows that reach beyond the operand are moved inside (gather) or skipped (scatter). Returns the number of
  // windows. Pre: n <= kMaxPlaces; for kClamp: HasRoom().
  enum class Beyond { kClamp, kSkip };
  int64_t FindPlaces(int64_t begin, int64_t n, Beyond beyond, Places& places) const;
  // Whether there is any place for a window.
  bool HasRoom() const { return has_room_; }

 private:
  // A dimension that numbers windows: strides on either side, and among the indices.
  struct Counter {
    int64_t size;
    int64_t period;  // number of windows for which it stays the same: the product of the later sizes
    int64_t batch_stride;
    int64_t index_stride;
  };
  // A dimension of the operand in which windows start at different places: at component `component` of an index, or if
  // that is -1 at the value of counter `counter`.
  struct Start {
    int64_t operand_stride;
    int64_t limit;  // the last place: size - window
    int64_t component;
    int64_t counter;
  };
  explicit IndexedWindows(const IndexArray& indices) : indices_(indices) {}

  // The batch's other dimensions are the dimensions of the indices without index_vector_dim, in order: one counter for
  // each. Returns which counter each dimension of the indices has; -1: none.
  absl::StatusOr<DimensionVector> AddCounters(const WindowNumbers& numbers, absl::Span<const int64_t> batch_dims);
  // The loops over the elements of a window. Returns the size of a window in each dimension of the operand.
  DimensionVector AddLoops(const WindowNumbers& numbers, absl::Span<const int64_t> operand_dims,
                           absl::Span<const int64_t> batch_dims);
  // Merges loops that are contiguous with the next one. The last loop is the row if it is contiguous.
  void MergeLoops();
  void AddStarts(const WindowNumbers& numbers, absl::Span<const int64_t> operand_dims, const DimensionVector& window,
                 const DimensionVector& counter_of);

  IndexArray indices_;
  int64_t component_stride_ = 0;  // between two components of an index
  int64_t window_count_ = 1;
  int64_t window_element_count_ = 1;
  int64_t row_ = 1;
  bool may_overlap_partly_ = false;
  bool has_room_ = true;
  absl::InlinedVector<Counter, 4> counters_;
  absl::InlinedVector<Start, 4> starts_;
  absl::InlinedVector<Loop, 4> loops_;
};

// Copies n rows of row_bytes, row i from element from_places[i] of `from` to element to_places[i] of `to`, in this
// order.
void CopyRows(const char* from, const int64_t* from_places, char* to, const int64_t* to_places, int64_t n,
              int element_bytes, int64_t row_bytes);

template <typename Visit>
void IndexedWindows::ForEachRow(Visit&& visit) const {
  if (window_element_count_ == 0) return;
  DimensionVector steps(loops_.size(), 0);
  int64_t operand = 0, batch = 0;
  while (true) {
    visit(operand, batch);
    size_t i = loops_.size();
    while (true) {
      if (i == 0) return;
      const Loop& loop = loops_[--i];
      operand += loop.operand_stride;
      batch += loop.batch_stride;
      if (++steps[i] < loop.bound) break;
      operand -= loop.operand_stride * loop.bound;
      batch -= loop.batch_stride * loop.bound;
      steps[i] = 0;
    }
  }
}

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_INDEXED_WINDOWS_H_
