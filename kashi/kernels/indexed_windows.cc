#include "kashi/kernels/indexed_windows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/kernels/element_size.h"

namespace kashi::kernels {
namespace {

DimensionVector RowMajorStrides(absl::Span<const int64_t> dims) {
  DimensionVector strides(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

// Calls visit(i, coordinate of window begin + i) for a counter of that size and period.
template <typename Visit>
void ForEachCoordinate(int64_t size, int64_t period, int64_t begin, int64_t n, Visit&& visit) {
  int64_t coordinate = begin / period % size;
  int64_t left = period - begin % period;
  for (int64_t i = 0; i < n; ++i) {
    visit(i, coordinate);
    if (--left > 0) continue;
    left = period;
    if (++coordinate == size) coordinate = 0;
  }
}

constexpr int64_t kOutside = -1;  // instead of a place

// An index as a signed number; one that is too large for that is too large for any dimension.
template <typename T>
int64_t ToInt64(T index) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return static_cast<int64_t>(std::min<uint64_t>(index, INT64_MAX));
  } else {
    return static_cast<int64_t>(index);
  }
}

// Moves a place along one dimension, in which windows may start from 0 to `limit`.
void AddStart(int64_t start, int64_t limit, int64_t stride, IndexedWindows::Beyond beyond, int64_t& place) {
  if (beyond == IndexedWindows::Beyond::kClamp) {
    place += std::clamp<int64_t>(start, 0, limit) * stride;
  } else if (start < 0 || start > limit) {
    place = kOutside;
  } else if (place != kOutside) {
    place += start * stride;
  }
}

}  // namespace

absl::StatusOr<IndexedWindows> IndexedWindows::Make(const WindowNumbers& numbers,
                                                    absl::Span<const int64_t> operand_dims, const IndexArray& indices,
                                                    absl::Span<const int64_t> batch_dims) {
  IndexedWindows windows(indices);
  KASHI_ASSIGN_OR_RETURN(const DimensionVector counter_of, windows.AddCounters(numbers, batch_dims));
  const DimensionVector window = windows.AddLoops(numbers, operand_dims, batch_dims);
  windows.AddStarts(numbers, operand_dims, window, counter_of);
  return windows;
}

absl::StatusOr<DimensionVector> IndexedWindows::AddCounters(const WindowNumbers& numbers,
                                                            absl::Span<const int64_t> batch_dims) {
  const absl::Span<const int64_t> indices = indices_.dimensions;
  const auto index_rank = static_cast<int64_t>(indices.size());
  const DimensionVector batch_strides = RowMajorStrides(batch_dims);
  const DimensionVector index_strides = RowMajorStrides(indices);
  const bool are_vectors = numbers.index_vector_dim < index_rank;
  const int64_t components = are_vectors ? indices[numbers.index_vector_dim] : 1;
  component_stride_ = are_vectors ? index_strides[numbers.index_vector_dim] : 1;
  if (static_cast<int64_t>(numbers.start_map.size()) != components) {
    return InvalidArgument("indices have %d components, but %d are used", components, numbers.start_map.size());
  }
  DimensionVector counter_of(index_rank + 1, -1);
  int64_t next = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(batch_dims.size()); ++d) {
    if (absl::c_linear_search(numbers.window_dims, d)) continue;
    if (next == numbers.index_vector_dim) ++next;
    if (next >= index_rank || batch_dims[d] != indices[next]) {
      return InvalidArgument("indices of [%s] do not match windows of [%s]", absl::StrJoin(indices, ","),
                             absl::StrJoin(batch_dims, ","));
    }
    counter_of[next] = static_cast<int64_t>(counters_.size());
    counters_.push_back({batch_dims[d], 0, batch_strides[d], index_strides[next]});
    ++next;
  }
  for (size_t i = counters_.size(); i-- > 0;) {
    counters_[i].period = window_count_;
    window_count_ *= counters_[i].size;
  }
  return counter_of;
}

DimensionVector IndexedWindows::AddLoops(const WindowNumbers& numbers, absl::Span<const int64_t> operand_dims,
                                         absl::Span<const int64_t> batch_dims) {
  const DimensionVector operand_strides = RowMajorStrides(operand_dims);
  const DimensionVector batch_strides = RowMajorStrides(batch_dims);
  DimensionVector window(operand_dims.size(), 1);
  size_t window_dim = 0;
  for (size_t d = 0; d < operand_dims.size(); ++d) {
    if (absl::c_linear_search(numbers.collapsed_dims, d) || absl::c_linear_search(numbers.operand_batching_dims, d)) {
      continue;
    }
    const int64_t batch_dim = numbers.window_dims[window_dim++];
    window[d] = batch_dims[batch_dim];
    window_element_count_ *= window[d];
    if (window[d] != 1) loops_.push_back({window[d], operand_strides[d], batch_strides[batch_dim]});
    if (window[d] > 1 && window[d] != operand_dims[d]) may_overlap_partly_ = true;
  }
  MergeLoops();
  return window;
}

void IndexedWindows::MergeLoops() {
  for (size_t i = loops_.size(); i-- > 1;) {
    const Loop& inner = loops_[i];
    Loop& outer = loops_[i - 1];
    if (outer.operand_stride != inner.operand_stride * inner.bound) continue;
    if (outer.batch_stride != inner.batch_stride * inner.bound) continue;
    outer = {outer.bound * inner.bound, inner.operand_stride, inner.batch_stride};
    loops_.erase(loops_.begin() + i);
  }
  if (!loops_.empty() && loops_.back().operand_stride == 1 && loops_.back().batch_stride == 1) {
    row_ = loops_.back().bound;
    loops_.pop_back();
  }
}

void IndexedWindows::AddStarts(const WindowNumbers& numbers, absl::Span<const int64_t> operand_dims,
                               const DimensionVector& window, const DimensionVector& counter_of) {
  const DimensionVector operand_strides = RowMajorStrides(operand_dims);
  // A dimension has one start. If dimension numbers name it twice, the batching dimension wins.
  absl::InlinedVector<Start, 4> starts(operand_dims.size());
  for (size_t d = 0; d < operand_dims.size(); ++d) {
    starts[d] = {operand_strides[d], operand_dims[d] - window[d], -1, -1};
    has_room_ = has_room_ && starts[d].limit >= 0;
  }
  for (size_t k = 0; k < numbers.start_map.size(); ++k) {
    starts[numbers.start_map[k]].component = static_cast<int64_t>(k);
  }
  for (size_t k = 0; k < numbers.operand_batching_dims.size(); ++k) {
    Start& start = starts[numbers.operand_batching_dims[k]];
    start.component = -1;
    start.counter = counter_of[numbers.indices_batching_dims[k]];
  }
  for (const Start& start : starts) {
    if (start.component >= 0 || start.counter >= 0) starts_.push_back(start);
  }
}

int64_t IndexedWindows::FindPlaces(int64_t begin, int64_t n, Beyond beyond, Places& places) const {
  if (!has_room_) return 0;
  std::fill_n(places.operand.begin(), n, 0);
  std::fill_n(places.batch.begin(), n, 0);
  std::fill_n(places.index.begin(), n, 0);
  for (const Counter& counter : counters_) {
    if (counter.size == 1) continue;
    ForEachCoordinate(counter.size, counter.period, begin, n, [&](int64_t i, int64_t coordinate) {
      places.batch[i] += coordinate * counter.batch_stride;
      places.index[i] += coordinate * counter.index_stride;
    });
  }
  for (const Start& start : starts_) {
    if (start.component < 0) {
      const Counter& counter = counters_[start.counter];
      ForEachCoordinate(counter.size, counter.period, begin, n, [&](int64_t i, int64_t coordinate) {
        AddStart(coordinate, start.limit, start.operand_stride, beyond, places.operand[i]);
      });
      continue;
    }
    primitive_util::IntegralTypeSwitch<void>(
        [&](auto type) {
          using T = primitive_util::NativeTypeOf<type>;
          const T* indices = static_cast<const T*>(indices_.data) + start.component * component_stride_;
          for (int64_t i = 0; i < n; ++i) {
            AddStart(ToInt64(indices[places.index[i]]), start.limit, start.operand_stride, beyond, places.operand[i]);
          }
        },
        indices_.type);
  }
  if (beyond == Beyond::kClamp) return n;
  int64_t kept = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (places.operand[i] == kOutside) continue;
    places.operand[kept] = places.operand[i];
    places.batch[kept++] = places.batch[i];
  }
  return kept;
}

void CopyRows(const char* from, const int64_t* from_places, char* to, const int64_t* to_places, int64_t n,
              int element_bytes, int64_t row_bytes) {
  const auto copy = [&](auto bytes) {
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(to + to_places[i] * element_bytes, from + from_places[i] * element_bytes, bytes);
    }
  };
  if (!IsElementSize(row_bytes)) return copy(static_cast<size_t>(row_bytes));
  SwitchBytes(row_bytes, [&](auto row) { copy(std::integral_constant<size_t, sizeof(row)>()); });
}

}  // namespace kashi::kernels
