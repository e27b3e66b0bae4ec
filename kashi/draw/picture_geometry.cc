// Entry point: PictureGeometry::PictureGeometry.
#include "kashi/draw/picture_geometry.h"

#include <algorithm>

#include "kashi/base/math.h"

namespace kashi::draw {

PictureGeometry::PictureGeometry(const Shape& shape) {
  const Layout& layout = shape.layout();
  for (int i = layout.minor_to_major_size() - 1; i >= 0; --i) {
    const int64_t dimension = layout.minor_to_major(i);
    const int id = static_cast<int>(digits_.size());
    Digit digit;
    digit.bound = shape.dimensions(static_cast<int>(dimension));
    digit.axis = id;
    digits_.push_back(digit);
    order_.push_back(id);
    axes_.push_back({{dimension}, {id}});
  }
  for (int level = 0; level < layout.tiles_size(); ++level) {
    const Tile& tile = layout.tiles(level);
    AddMissingDimensions(tile.dimensions().size());
    Split(Combine(tile, level), tile, level);
  }
  RemoveEmptyAxes();
  int64_t stride = 1;
  for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
    digits_[*id].stride = stride;
    stride *= digits_[*id].bound;
  }
}

// Axes are numbered by age while tiles are applied (a digit knows its axis), so new ones go to the end of axes_ and
// RemoveEmptyAxes puts them in order.
void PictureGeometry::AddMissingDimensions(size_t tile_rank) {
  while (order_.size() < tile_rank) {
    const int id = static_cast<int>(digits_.size());
    Digit digit;
    digit.axis = static_cast<int>(axes_.size());
    digits_.push_back(digit);
    order_.insert(order_.begin(), id);
    axes_.push_back({{}, {id}});
  }
}

std::vector<int> PictureGeometry::Combine(const Tile& tile, int level) {
  const size_t rank = tile.dimensions().size();
  const std::vector<int> tail(order_.end() - rank, order_.end());
  order_.resize(order_.size() - rank);
  std::vector<int> kept;
  int pending = -1;
  for (size_t i = 0; i < rank; ++i) {
    const int id = pending < 0 ? tail[i] : Merge(pending, tail[i], level);
    pending = -1;
    if (tile.dimensions()[i] == Tile::kCombineDimension) {
      pending = id;
    } else {
      kept.push_back(id);
    }
  }
  return kept;
}

// The merged digit takes the place of the minor one.
int PictureGeometry::Merge(int major, int minor, int level) {
  Digit& to = digits_[minor];
  const Digit& from = digits_[major];
  std::vector<int>& from_digits = axes_[from.axis].digits;
  from_digits.erase(std::find(from_digits.begin(), from_digits.end(), major));
  if (from.axis != to.axis) {
    if (level > 0) axes_[from.axis].is_mixed = axes_[to.axis].is_mixed = true;
    if (from_digits.empty()) {
      DimensionVector& dimensions = axes_[to.axis].dimensions;
      const DimensionVector& more = axes_[from.axis].dimensions;
      dimensions.insert(dimensions.begin(), more.begin(), more.end());
    }
  }
  broken_levels_ |= from.levels ^ to.levels;
  to.levels |= from.levels;
  to.in_row = to.in_row || from.in_row;
  to.bound *= from.bound;
  return minor;
}

void PictureGeometry::Split(absl::Span<const int> tail, const Tile& tile, int level) {
  if (tail.size() == 1) {
    for (Digit& digit : digits_) digit.in_row = false;
  }
  std::vector<int> inner_ids;
  int entry = 0;
  for (const int outer : tail) {
    while (tile.dimensions()[entry] == Tile::kCombineDimension) ++entry;
    const int64_t size = tile.dimensions()[entry++];
    const int inner = static_cast<int>(digits_.size());
    Digit digit = digits_[outer];
    digit.bound = size;
    digit.levels |= uint32_t{1} << level;
    digit.in_row = digit.in_row || tail.size() == 1;
    digits_[outer].bound = CeilOfRatio(digits_[outer].bound, size);
    digits_.push_back(digit);
    inner_ids.push_back(inner);
    std::vector<int>& on_axis = axes_[digit.axis].digits;
    on_axis.insert(std::find(on_axis.begin(), on_axis.end(), outer) + 1, inner);
    order_.push_back(outer);
  }
  order_.insert(order_.end(), inner_ids.begin(), inner_ids.end());
}

// Also sorts the axes into physical order, by their last digits, so that columns end with neighbours in memory.
void PictureGeometry::RemoveEmptyAxes() {
  std::vector<Axis> sorted;
  for (const int id : order_) {
    Axis& axis = axes_[digits_[id].axis];
    if (!axis.digits.empty() && axis.digits.back() == id) sorted.push_back(std::move(axis));
  }
  axes_ = std::move(sorted);
}

DimensionVector PictureGeometry::PhysicalDimensions() const {
  DimensionVector bounds;
  for (const int id : order_) bounds.push_back(digits_[id].bound);
  return bounds;
}

int64_t PictureGeometry::Positions(absl::Span<const int> digits) const {
  int64_t positions = 1;
  for (const int id : digits) positions *= digits_[id].bound;
  return positions;
}

int64_t PictureGeometry::PhysicalPart(absl::Span<const int> digits, int64_t position) const {
  int64_t physical = 0;
  for (auto id = digits.rbegin(); id != digits.rend(); ++id) {
    physical += position % digits_[*id].bound * digits_[*id].stride;
    position /= digits_[*id].bound;
  }
  return physical;
}

int64_t PictureGeometry::PositionOf(absl::Span<const int> digits, int64_t physical) const {
  int64_t position = 0;
  for (const int id : digits)
    position = position * digits_[id].bound + physical / digits_[id].stride % digits_[id].bound;
  return position;
}

int64_t PictureGeometry::TileOf(int64_t physical) const {
  int64_t tile = 0;
  for (const int id : order_) {
    if ((digits_[id].levels & 1) == 0)
      tile = tile * digits_[id].bound + physical / digits_[id].stride % digits_[id].bound;
  }
  return tile;
}

int64_t PictureGeometry::TileExtent(absl::Span<const int> digits, int level) const {
  int64_t extent = 1;
  bool is_past_tile = false;
  for (auto id = digits.rbegin(); id != digits.rend(); ++id) {
    if (digits_[*id].bound == 1) continue;
    if ((digits_[*id].levels >> level & 1) == 0) {
      is_past_tile = true;
    } else if (is_past_tile) {
      return 0;
    } else {
      extent *= digits_[*id].bound;
    }
  }
  return extent;
}

int PictureGeometry::WrappedColumnDigits() const {
  if (axes_.size() != 1) return 0;
  const std::vector<int>& digits = axes_.front().digits;
  int count = 0;
  for (auto id = digits.rbegin(); id != digits.rend() && digits_[*id].in_row; ++id) ++count;
  const auto in_row = std::count_if(digits.begin(), digits.end(), [this](int id) { return digits_[id].in_row; });
  return count == in_row && count < static_cast<int>(digits.size()) ? count : 0;
}

}  // namespace kashi::draw
