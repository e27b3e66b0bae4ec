#include "kashi/evaluator/physical_order.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/layout_util.h"
#include "kashi/base/check.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/literal/strided_copy.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::internal {
namespace {

// A table of a longer dimension costs more than it saves.
constexpr int64_t kLongestTable = 1 << 20;
constexpr int64_t kElementsPerTask = 16 * 1024;

// Sizes of the physical dimensions before tiling, most major first.
DimensionVector PhysicalSizes(const Shape& shape) {
  DimensionVector sizes;
  const absl::Span<const int64_t> order = shape.layout().minor_to_major();
  for (auto d = order.rbegin(); d != order.rend(); ++d) sizes.push_back(shape.dimensions(static_cast<int>(*d)));
  return sizes;
}

bool MergesDimensions(const Layout& layout) {
  return absl::c_any_of(layout.tiles(), [](const Tile& tile) {
    return absl::c_linear_search(tile.dimensions(), Tile::kCombineDimension);
  });
}

// Whether the tile leaves the order of elements as it is: it covers whole rows. Padding is then at the end only.
//
//   [8,256] T(1,128)    [16,128] T(8,128)    [256] T(128)    [1,100] … T(128)
//
// Leading entries of 1 do nothing; of the next dimension whole tiles are needed, unless there is only one row of them;
// the others are as wide as the dimension.
bool IsTrivial(const Tile& tile, absl::Span<const int64_t> physical_sizes) {
  const size_t rank = tile.dimensions().size();
  if (rank > physical_sizes.size()) return false;
  const size_t first = physical_sizes.size() - rank;
  size_t i = 0;
  while (i < rank && tile.dimension(static_cast<int>(i)) == 1) ++i;
  if (i == rank) return true;
  const bool is_whole = physical_sizes[first + i] % tile.dimension(static_cast<int>(i)) == 0;
  if (!is_whole && absl::c_any_of(physical_sizes.first(first + i), [](int64_t size) { return size != 1; }))
    return false;
  for (++i; i < rank; ++i) {
    if (physical_sizes[first + i] != tile.dimension(static_cast<int>(i))) return false;
  }
  return true;
}

bool IsLinear(const Shape& shape) {
  if (MergesDimensions(shape.layout())) return false;
  const auto& tiles = shape.layout().tiles();
  return tiles.empty() || (tiles.size() == 1 && IsTrivial(tiles[0], PhysicalSizes(shape)));
}

struct Step {
  int64_t size;
  int64_t stride;
  bool operator==(const Step& other) const { return size == other.size && stride == other.stride; }
};

// The loops of a walk in logical order, those that go on where the next one ends being one.
//
//   [2,3,4]{0,2,1}   strides {1,8,2}   ->   2:1, 12:2
std::vector<Step> LogicalSteps(const Shape& shape) {
  const DimensionVector strides = ElementStrides(shape);
  std::vector<Step> steps;
  for (size_t d = 0; d < strides.size(); ++d) {
    const int64_t size = shape.dimensions(static_cast<int>(d));
    if (size == 1) continue;
    if (!steps.empty() && steps.back().stride == size * strides[d]) {
      steps.back() = {steps.back().size * size, strides[d]};
    } else {
      steps.push_back({size, strides[d]});
    }
  }
  return steps;
}

// Physical dimensions, most major first, without those of size 1 that no tile reaches: their sizes, and their ranks in
// logical order.
std::pair<DimensionVector, DimensionVector> TiledDimensions(const Shape& shape) {
  const absl::Span<const int64_t> order = shape.layout().minor_to_major();
  size_t reach = 0;
  for (const Tile& tile : shape.layout().tiles()) reach = std::max(reach, tile.dimensions().size());
  DimensionVector logical;
  for (size_t i = order.size(); i-- > 0;) {
    if (i < reach || !logical.empty() || shape.dimensions(static_cast<int>(order[i])) != 1) logical.push_back(order[i]);
  }
  DimensionVector sizes, ranks;
  for (int64_t d : logical) {
    sizes.push_back(shape.dimensions(static_cast<int>(d)));
    ranks.push_back(absl::c_count_if(logical, [d](int64_t other) { return other < d; }));
  }
  return {sizes, ranks};
}

}  // namespace

absl::StatusOr<PhysicalOrder> PhysicalOrder::Make(const Shape& shape) {
  Shape with_layout = shape;
  if (!shape.has_layout()) LayoutUtil::SetToDefaultLayout(&with_layout);
  KASHI_ASSIGN_OR_RETURN(IndexMap map, IndexMap::Make(with_layout));
  PhysicalOrder order(std::move(with_layout), std::move(map));
  if (order.map_.element_count() <= 1 || IsLinear(order.shape_)) return order;  // one element is at position 0
  const bool is_short = absl::c_all_of(order.map_.dimensions(), [](int64_t size) { return size <= kLongestTable; });
  order.kind_ = is_short && !MergesDimensions(order.shape_.layout()) ? Kind::kSeparable : Kind::kMapped;
  if (order.kind_ == Kind::kSeparable) order.MakeTables();
  return order;
}

// Every digit of a position belongs to one dimension, if no tile merges two: positions are sums of what each adds.
void PhysicalOrder::MakeTables() {
  constexpr int64_t kShortestRun = 4;
  DimensionVector index(map_.rank(), 0);
  for (int d = 0; d < map_.rank(); ++d) {
    std::vector<int64_t>& table = tables_.emplace_back(map_.dimensions()[d]);
    for (index[d] = 0; index[d] < map_.dimensions()[d]; ++index[d]) table[index[d]] = map_.LogicalToPhysical(index);
    index[d] = 0;
  }
  const std::vector<int64_t>& last = tables_.back();
  for (size_t i = 0; i < last.size(); ++i) {
    if (i == 0 || last[i] != last[i - 1] + 1) runs_.push_back({static_cast<int64_t>(i), last[i], 0});
    ++runs_.back().length;
  }
  if (static_cast<int64_t>(runs_.size()) * kShortestRun > static_cast<int64_t>(last.size())) runs_.clear();
}

bool PhysicalOrder::IsRowMajor() const { return kind_ == Kind::kLinear && IsStoredRowMajor(shape_); }

bool PhysicalOrder::AreEqual(const PhysicalOrder& a, const PhysicalOrder& b) {
  if (a.map_.element_count() != b.map_.element_count()) return false;
  if (a.map_.element_count() == 0) return true;
  if (a.kind_ != b.kind_) return false;
  if (a.kind_ == Kind::kLinear) return LogicalSteps(a.shape_) == LogicalSteps(b.shape_);
  return absl::c_equal(a.shape_.layout().tiles(), b.shape_.layout().tiles()) &&
         TiledDimensions(a.shape_) == TiledDimensions(b.shape_);
}

// Rows [begin, end) of the logical array, a row being the last dimension.
template <int kBytes, bool kSpread>
void PhysicalOrder::MoveRows(int64_t begin, int64_t end, const char* from, char* to) const {
  const auto move = [&](int64_t logical, int64_t physical, int64_t n) {
    const int64_t from_place = kSpread ? logical : physical, to_place = kSpread ? physical : logical;
    if (n == 1) {
      std::memcpy(to + to_place * kBytes, from + from_place * kBytes, kBytes);
    } else {
      std::memcpy(to + to_place * kBytes, from + from_place * kBytes, n * kBytes);
    }
  };
  const absl::Span<const int64_t> sizes = map_.dimensions();
  const size_t last = sizes.size() - 1;
  DimensionVector index(sizes.size(), 0);
  int64_t rest = begin;
  for (size_t d = last; d-- > 0; rest /= sizes[d]) index[d] = rest % sizes[d];
  for (int64_t row = begin; row < end; ++row) {
    const int64_t logical = row * sizes[last];
    if (kind_ == Kind::kMapped) {
      for (index[last] = 0; index[last] < sizes[last]; ++index[last]) {
        move(logical + index[last], map_.LogicalToPhysical(index), 1);
      }
    } else {
      int64_t base = 0;
      for (size_t d = 0; d < last; ++d) base += tables_[d][index[d]];
      const int64_t* table = tables_[last].data();
      for (const Run& run : runs_) move(logical + run.begin, base + run.position, run.length);
      for (int64_t i = 0; runs_.empty() && i < sizes[last]; ++i) move(logical + i, base + table[i], 1);
    }
    for (size_t d = last; d-- > 0; index[d] = 0) {
      if (++index[d] < sizes[d]) break;
    }
  }
}

template <int kBytes, bool kSpread>
void PhysicalOrder::Move(const char* from, char* to, StopFunction is_stopped) const {
  const int64_t row = map_.dimensions().back();
  const int64_t rows_per_task = std::max<int64_t>(1, kElementsPerTask / row);
  ParallelFor(map_.element_count() / row, rows_per_task, [&](int64_t begin, int64_t end, int) {
    for (int64_t at = begin; at < end && !is_stopped(); at += std::min(rows_per_task, end - at)) {
      MoveRows<kBytes, kSpread>(at, at + std::min(rows_per_task, end - at), from, to);
    }
  });
}

void PhysicalOrder::Spread(const char* logical, int element_bytes, char* physical, StopFunction is_stopped) const {
  if (map_.element_count() == 0) return;
  if (kind_ == Kind::kLinear) {
    const Shape row_major = LayoutUtil::GetWithDefaultLayout(shape_);
    return CopyStridedUntil(map_.dimensions(), element_bytes, {logical, ElementStrides(row_major)},
                            {physical, ElementStrides(shape_)}, is_stopped);
  }
  switch (element_bytes) {
    case 1:
      return Move<1, true>(logical, physical, is_stopped);
    case 2:
      return Move<2, true>(logical, physical, is_stopped);
    case 4:
      return Move<4, true>(logical, physical, is_stopped);
    case 8:
      return Move<8, true>(logical, physical, is_stopped);
    case 16:
      return Move<16, true>(logical, physical, is_stopped);
    default:
      KASHI_LOG_FATAL() << "elements of " << element_bytes << " bytes";
  }
}

void PhysicalOrder::Collect(const char* physical, int element_bytes, char* logical, StopFunction is_stopped) const {
  if (map_.element_count() == 0) return;
  if (kind_ == Kind::kLinear) {
    const Shape row_major = LayoutUtil::GetWithDefaultLayout(shape_);
    return CopyStridedUntil(map_.dimensions(), element_bytes, {physical, ElementStrides(shape_)},
                            {logical, ElementStrides(row_major)}, is_stopped);
  }
  switch (element_bytes) {
    case 1:
      return Move<1, false>(physical, logical, is_stopped);
    case 2:
      return Move<2, false>(physical, logical, is_stopped);
    case 4:
      return Move<4, false>(physical, logical, is_stopped);
    case 8:
      return Move<8, false>(physical, logical, is_stopped);
    case 16:
      return Move<16, false>(physical, logical, is_stopped);
    default:
      KASHI_LOG_FATAL() << "elements of " << element_bytes << " bytes";
  }
}

}  // namespace kashi::internal
