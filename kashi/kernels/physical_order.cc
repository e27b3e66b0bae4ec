#include "kashi/kernels/physical_order.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/layout_util.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/base/try_parallel.h"
#include "kashi/kernels/array_mover.h"
#include "kashi/literal/strided_walk.h"
#include "kashi/relayout/placement.h"

namespace kashi::kernels {
namespace {

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

// Whether each tile divides the sizes within the tiles before it. Further entries of a tile that is longer than those
// tiles count whole tiles, and divide anything.
//
//   T(8,128)(2,1): 2 divides 8, 1 divides 128        T(8,128)(3,1): 3 does not divide 8
bool TilesDivide(const Layout& layout) {
  DimensionVector within;  // sizes within tiles, most major first
  for (const Tile& tile : layout.tiles()) {
    const absl::Span<const int64_t> sizes = tile.dimensions();
    const size_t both = std::min(within.size(), sizes.size());
    for (size_t i = 0; i < both; ++i) {
      int64_t& around = within[within.size() - both + i];
      const int64_t size = sizes[sizes.size() - both + i];
      if (around % size != 0) return false;
      around /= size;
    }
    within.insert(within.end(), sizes.begin(), sizes.end());
  }
  return true;
}

// Whether the tile leaves the order of elements as it is: it covers whole rows. Padding is then at the end only.
//
//   [8,256] T(1,128)    [16,128] T(8,128)    [256] T(128)    [1,100] … T(128)
//
// Leading entries of 1 do nothing; the next dimension must have whole tiles, unless there is only one row of them;
// the other entries are as wide as the dimension.
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

// The loops of a walk in logical order; contiguous loops are merged.
//
//   [2,3,4]{0,2,1}   strides {1,8,2}   ->   2:1, 12:2
std::vector<Step> LogicalSteps(const Shape& shape) {
  const DimensionVector strides = literal::ElementStrides(shape);
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
  const Layout& layout = order.shape_.layout();
  order.kind_ = !MergesDimensions(layout) && TilesDivide(layout) ? Kind::kTiled : Kind::kMapped;
  return order;
}

bool PhysicalOrder::IsRowMajor() const { return kind_ == Kind::kLinear && literal::IsStoredRowMajor(shape_); }

bool PhysicalOrder::AreEqual(const PhysicalOrder& a, const PhysicalOrder& b) {
  if (a.map_.element_count() != b.map_.element_count()) return false;
  if (a.map_.element_count() == 0) return true;
  if (a.kind_ != b.kind_) return false;
  if (a.kind_ == Kind::kLinear) return LogicalSteps(a.shape_) == LogicalSteps(b.shape_);
  return absl::c_equal(a.shape_.layout().tiles(), b.shape_.layout().tiles()) &&
         TiledDimensions(a.shape_) == TiledDimensions(b.shape_);
}

// Rows [begin, end) of the logical array, a row being the last dimension.
template <bool kSpread>
void PhysicalOrder::MoveMappedRows(int64_t begin, int64_t end, const char* from, int element_bytes, char* to) const {
  const absl::Span<const int64_t> sizes = map_.dimensions();
  const size_t last = sizes.size() - 1;
  DimensionVector index(sizes.size(), 0);
  int64_t rest = begin;
  for (size_t d = last; d-- > 0; rest /= sizes[d]) index[d] = rest % sizes[d];
  for (int64_t logical = begin * sizes[last]; logical < end * sizes[last]; ++logical) {
    const int64_t physical = map_.LogicalToPhysical(index);
    const int64_t from_place = kSpread ? logical : physical, to_place = kSpread ? physical : logical;
    std::memcpy(to + to_place * element_bytes, from + from_place * element_bytes, element_bytes);
    for (size_t d = sizes.size(); d-- > 0; index[d] = 0) {
      if (++index[d] < sizes[d]) break;
    }
  }
}

template <bool kSpread>
absl::Status PhysicalOrder::MoveMapped(const char* from, int element_bytes, char* to,
                                       StopFunction check_stopped) const {
  const int64_t row = map_.dimensions().back();
  const int64_t rows_per_task = std::max<int64_t>(1, kElementsPerTask / row);
  return base::TryParallelFor(
      map_.element_count() / row, rows_per_task, [&](int64_t begin, int64_t end, int) -> absl::Status {
        for (int64_t at = begin; at < end; at += std::min(rows_per_task, end - at)) {
          KASHI_RETURN_IF_ERROR(check_stopped());
          MoveMappedRows<kSpread>(at, at + std::min(rows_per_task, end - at), from, element_bytes, to);
        }
        return absl::OkStatus();
      });
}

// The plan sees words of the elements' size, from the first element on.
template <bool kSpread>
absl::Status PhysicalOrder::MoveTiled(const char* from, int element_bytes, char* to, StopFunction check_stopped) const {
  Shape words = shape_;
  words.set_element_type(WordTypeOfBytes(element_bytes));
  words.mutable_layout()->set_element_size_in_bits(0);
  words.mutable_layout()->set_dynamic_shape_metadata_prefix_bytes(0);
  DimensionVector strides = literal::ElementStrides(LayoutUtil::GetWithDefaultLayout(words));
  for (int64_t& stride : strides) stride *= element_bytes;
  const absl::StatusOr<Placement> physical = Placement::OfLayout(words);
  const absl::StatusOr<Placement> logical = Placement::OfStrides(words.element_type(), words.dimensions(), strides);
  KASHI_CHECK(physical.ok() && logical.ok()) << physical.status() << logical.status();
  const absl::Span<const int64_t> minor_to_major = words.layout().minor_to_major();
  const DimensionVector cut_order(minor_to_major.rbegin(), minor_to_major.rend());
  return MoveBetween(kSpread ? *logical : *physical, from, kSpread ? *physical : *logical, to, cut_order,
                     check_stopped);
}

template <bool kSpread>
absl::Status PhysicalOrder::Move(const char* from, int element_bytes, char* to, StopFunction check_stopped) const {
  if (map_.element_count() == 0) return absl::OkStatus();
  if (kind_ == Kind::kTiled) return MoveTiled<kSpread>(from, element_bytes, to, check_stopped);
  if (kind_ == Kind::kMapped) return MoveMapped<kSpread>(from, element_bytes, to, check_stopped);
  const DimensionVector logical = literal::ElementStrides(LayoutUtil::GetWithDefaultLayout(shape_));
  const DimensionVector physical = literal::ElementStrides(shape_);
  return MoveBox(map_.dimensions(), element_bytes, {from, kSpread ? logical : physical},
                 {to, kSpread ? physical : logical}, check_stopped);
}

absl::Status PhysicalOrder::Spread(const char* logical, int element_bytes, char* physical,
                                   StopFunction check_stopped) const {
  return Move<true>(logical, element_bytes, physical, check_stopped);
}

absl::Status PhysicalOrder::Collect(const char* physical, int element_bytes, char* logical,
                                    StopFunction check_stopped) const {
  return Move<false>(physical, element_bytes, logical, check_stopped);
}

}  // namespace kashi::kernels
