#include "kashi/array/padding_advice.h"

#include <algorithm>
#include <optional>

#include "kashi/array/device_size.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

// Dimensions beyond this many at the minor end stay where they are.
constexpr size_t kMaxMovedDimensions = 24;

// minor_to_major lists in which each choice of `covered` dimensions stands at the minor end and the others keep their
// order behind it: dimensions that the tiles do not cover are not padded, so their order does not matter. The present
// list comes first.
//
//   covered = 2, {3,2,1,0}:  {3,2,1,0} {3,1,2,0} {3,0,2,1} {2,3,1,0} …
std::vector<DimensionVector> DimensionOrders(absl::Span<const int64_t> minor_to_major, size_t covered) {
  std::vector<DimensionVector> orders = {DimensionVector(minor_to_major.begin(), minor_to_major.end())};
  for (size_t place = 0; place < covered; ++place) {
    std::vector<DimensionVector> next;
    for (const DimensionVector& order : orders) {
      for (size_t from = place; from < std::min(order.size(), kMaxMovedDimensions); ++from) {
        DimensionVector moved = order;
        std::rotate(moved.begin() + place, moved.begin() + from, moved.begin() + from + 1);
        next.push_back(std::move(moved));
      }
    }
    orders = std::move(next);
  }
  return orders;
}

// The generations whose choice of tiles AdviseOnPadding tries.
std::vector<TpuGeneration> RelevantGenerations(const Shape& shape, std::optional<TpuGeneration> target) {
  if (target.has_value()) return {*target};
  std::vector<TpuGeneration> matching;
  for (const TpuGenerationInfo& info : TpuGenerations()) {
    const absl::StatusOr<Layout> layout = ChooseTpuLayout(shape, info.generation);
    if (layout.ok() && layout->tiles() == shape.layout().tiles()) matching.push_back(info.generation);
  }
  return matching;
}

class Adviser {
 public:
  Adviser(const Shape& shape, int64_t bytes) : shape_(shape), bytes_(bytes) {}

  void Try(const Layout& layout) {
    Shape candidate = shape_;
    *candidate.mutable_layout() = layout;
    const absl::StatusOr<DeviceSize> size = GetDeviceSize(candidate);
    if (!size.ok() || size->bytes >= bytes_) return;
    const bool same_order = layout.minor_to_major() == shape_.layout().minor_to_major();
    const auto kind = same_order ? PaddingAdvice::Kind::kTile : PaddingAdvice::Kind::kDimensionOrder;
    for (PaddingAdvice& advice : best_) {
      if (advice.kind != kind) continue;
      if (size->bytes < advice.bytes) advice = {kind, std::move(candidate), size->bytes};
      return;
    }
    best_.push_back({kind, std::move(candidate), size->bytes});
  }

  std::vector<PaddingAdvice> Take() {
    std::stable_sort(best_.begin(), best_.end(),
                     [](const PaddingAdvice& a, const PaddingAdvice& b) { return a.bytes < b.bytes; });
    return std::move(best_);
  }

 private:
  const Shape& shape_;
  int64_t bytes_;
  std::vector<PaddingAdvice> best_;
};

}  // namespace

absl::StatusOr<std::vector<PaddingAdvice>> AdviseOnPadding(const Shape& shape, std::optional<TpuGeneration> target) {
  KASHI_ASSIGN_OR_RETURN(const DeviceSize size, GetDeviceSize(shape));
  if (!shape.has_layout() || shape.layout().tiles().empty()) return std::vector<PaddingAdvice>();
  std::vector<TpuGeneration> generations = RelevantGenerations(shape, target);
  const bool try_own_tiles = generations.empty();
  if (try_own_tiles) {
    for (const TpuGenerationInfo& info : TpuGenerations()) generations.push_back(info.generation);
  }

  Adviser adviser(shape, size.bytes);
  const size_t covered = std::min<size_t>(shape.dimensions().size(), 2);
  Shape reordered = shape;
  for (const DimensionVector& order : DimensionOrders(shape.layout().minor_to_major(), covered)) {
    *reordered.mutable_layout()->mutable_minor_to_major() = order;
    if (try_own_tiles) adviser.Try(reordered.layout());
    for (TpuGeneration generation : generations) {
      const absl::StatusOr<Layout> layout = ChooseTpuLayout(reordered, generation);
      if (layout.ok()) adviser.Try(*layout);
    }
  }
  return adviser.Take();
}

}  // namespace kashi
