#include "kashi/array/padding_advice.h"

#include <algorithm>
#include <optional>

#include "kashi/array/device_size.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

// Ranks above this have only the dimensions of their present minor end permuted.
constexpr int kMaxRank = 12;

// minor_to_major lists in which each choice of `covered` dimensions stands at the minor end and the others keep their
// order behind it: what is not covered by the tile is not padded, so its order does not matter.
//
//   covered = 2, {3,2,1,0}:  {3,2,1,0} {3,1,2,0} {3,0,2,1} {2,3,1,0} …
std::vector<DimensionVector> DimensionOrders(absl::Span<const int64_t> minor_to_major, int covered) {
  std::vector<DimensionVector> orders = {DimensionVector(minor_to_major.begin(), minor_to_major.end())};
  for (int place = 0; place < covered; ++place) {
    std::vector<DimensionVector> next;
    for (const DimensionVector& order : orders) {
      for (size_t from = place; from < std::min<size_t>(order.size(), kMaxRank); ++from) {
        DimensionVector moved = order;
        std::rotate(moved.begin() + place, moved.begin() + from, moved.begin() + from + 1);
        next.push_back(std::move(moved));
      }
    }
    orders = std::move(next);
  }
  return orders;
}

// First tiles of the same length with the most minor entry kept and other numbers of rows; at rank 1 other lengths.
std::vector<Tile> FirstTiles(const Tile& present) {
  std::vector<Tile> tiles = {present};
  const absl::Span<const int64_t> entries = present.dimensions();
  if (entries.empty() || entries.size() > 2) return tiles;
  const bool rows = entries.size() == 2;
  for (int64_t size = rows ? 1 : 128; size <= (rows ? 64 : 4096); size *= 2) {
    if (size == entries[0]) continue;
    tiles.push_back(rows ? Tile({size, entries[1]}) : Tile({size}));
  }
  return tiles;
}

class Adviser {
 public:
  explicit Adviser(const Shape& shape, int64_t bytes) : shape_(shape), bytes_(bytes) {}

  void Try(PaddingAdvice::Kind kind, const DimensionVector& order, const Tile& tile) {
    Shape candidate = shape_;
    *candidate.mutable_layout()->mutable_minor_to_major() = order;
    *candidate.mutable_layout()->mutable_tiles(0) = tile;
    const absl::StatusOr<DeviceSize> size = GetDeviceSize(candidate);
    if (!size.ok() || size->bytes >= bytes_) return;
    for (PaddingAdvice& advice : best_) {
      if (advice.kind != kind) continue;
      if (size->bytes < advice.bytes) advice = {kind, std::move(candidate), size->bytes};
      return;
    }
    best_.push_back({kind, std::move(candidate), size->bytes});
  }

  // A change of both is worth telling only where it beats either alone.
  std::vector<PaddingAdvice> Take() {
    std::stable_sort(best_.begin(), best_.end(),
                     [](const PaddingAdvice& a, const PaddingAdvice& b) { return a.bytes < b.bytes; });
    if (best_.size() > 1 && best_[0].kind == PaddingAdvice::Kind::kBoth && best_[0].bytes == best_[1].bytes) {
      best_.erase(best_.begin());
    }
    auto both = std::find_if(best_.begin(), best_.end(),
                             [](const PaddingAdvice& a) { return a.kind == PaddingAdvice::Kind::kBoth; });
    if (both != best_.begin() && both != best_.end()) best_.erase(both);
    return std::move(best_);
  }

 private:
  const Shape& shape_;
  int64_t bytes_;
  std::vector<PaddingAdvice> best_;
};

}  // namespace

absl::StatusOr<std::vector<PaddingAdvice>> AdviseOnPadding(const Shape& shape) {
  KASHI_ASSIGN_OR_RETURN(const DeviceSize size, GetDeviceSize(shape));
  if (!shape.has_layout() || shape.layout().tiles().empty()) return std::vector<PaddingAdvice>();
  const Tile present = shape.layout().tiles(0);
  const int covered = static_cast<int>(std::min<size_t>({present.dimensions().size(), 3, shape.dimensions().size()}));

  Adviser adviser(shape, size.bytes);
  const std::vector<DimensionVector> orders = DimensionOrders(shape.layout().minor_to_major(), covered);
  const std::vector<Tile> tiles = FirstTiles(present);
  for (const DimensionVector& order : orders) {
    const bool same_order = absl::MakeConstSpan(order) == shape.layout().minor_to_major();
    for (const Tile& tile : tiles) {
      const bool same_tile = tile == present;
      if (same_order && same_tile) continue;
      adviser.Try(same_tile    ? PaddingAdvice::Kind::kDimensionOrder
                  : same_order ? PaddingAdvice::Kind::kTile
                               : PaddingAdvice::Kind::kBoth,
                  order, tile);
    }
  }
  return adviser.Take();
}

}  // namespace kashi
