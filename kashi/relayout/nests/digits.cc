#include "kashi/relayout/nests/digits.h"

#include <algorithm>

#include "kashi/array/layout.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi::relayout {
namespace {

// A physical dimension while tiles cut it: its values in memory belong to indices that are `step` apart.
struct Part {
  int dimension;
  int64_t step;
  int64_t extent;
  bool is_within_tile;  // counts 0 .. extent - 1 over and over
};
using Parts = absl::InlinedVector<Part, 12>;

// Cuts the last parts by the tile: [.., a, b] by (s, t) becomes [.., a/s, b/t, a%s, b%t].
absl::Status CutByTile(const Tile& tile, int* dimension_count, Parts* parts) {
  const size_t rank = tile.dimensions().size();
  while (parts->size() < rank) parts->insert(parts->begin(), Part{(*dimension_count)++, 1, 1, false});
  const size_t first = parts->size() - rank;
  Parts within;
  for (size_t i = 0; i < rank; ++i) {
    Part& part = (*parts)[first + i];
    const int64_t size = tile.dimensions()[i];
    if (size <= 0) return Unimplemented("a tile merges dimensions (*)");
    if (part.is_within_tile && part.extent % size != 0) {
      return Unimplemented("a tile of %d does not divide the tile of %d around it", size, part.extent);
    }
    within.push_back({part.dimension, part.step, size, true});
    part.step *= size;
    part.extent = CeilOfRatio(part.extent, size);
  }
  parts->insert(parts->end(), within.begin(), within.end());
  return absl::OkStatus();
}

// The parts of a layout, most major first.
absl::StatusOr<Parts> PartsOf(const Shape& shape, int* dimension_count) {
  Parts parts;
  for (int64_t i = static_cast<int64_t>(shape.dimensions().size()) - 1; i >= 0; --i) {
    const int dimension = static_cast<int>(shape.layout().minor_to_major(i));
    parts.push_back({dimension, 1, shape.dimensions(dimension), false});
  }
  for (const Tile& tile : shape.layout().tiles()) {
    KASHI_RETURN_IF_ERROR(CutByTile(tile, dimension_count, &parts));
  }
  return parts;
}

// Digits that take one value only are left out, but for the first of a dimension.
void AddDigits(const Parts& parts, Digits* digits) {
  int64_t stride = digits->slot_bits;
  for (size_t i = parts.size(); i-- > 0; stride *= parts[i].extent) {
    DigitDimension& dimension = digits->dimensions[parts[i].dimension];
    dimension.padded = std::max(dimension.padded, parts[i].step * parts[i].extent);
    if (parts[i].extent != 1) dimension.digits.push_back({parts[i].step, stride});
  }
  for (DigitDimension& dimension : digits->dimensions) {
    std::sort(dimension.digits.begin(), dimension.digits.end(),
              [](const Digit& a, const Digit& b) { return a.step < b.step; });
    // An array of size 1, padded to a tile or not, or one that counts by whole tiles only: step 1 changes nothing.
    if (dimension.digits.empty() || dimension.digits[0].step != 1) {
      dimension.digits.insert(dimension.digits.begin(), Digit{1, 0});
    }
  }
}

}  // namespace

int64_t DigitDimension::OffsetOf(int64_t index) const {
  int64_t offset = 0;
  for (size_t i = digits.size(); i-- > 0;) {
    offset += index / digits[i].step * digits[i].stride;
    index %= digits[i].step;
  }
  return offset;
}

int64_t DigitDimension::StrideOf(int64_t step) const {
  size_t i = digits.size() - 1;
  while (digits[i].step > step) --i;
  return step / digits[i].step * digits[i].stride;
}

absl::StatusOr<Digits> DigitsOf(const Placement& placement) {
  Digits digits;
  digits.slot_bits = placement.slot_bits();
  const int rank = static_cast<int>(placement.dimensions().size());
  int dimension_count = rank;
  Parts parts;
  if (placement.has_layout()) {
    KASHI_ASSIGN_OR_RETURN(parts, PartsOf(placement.shape(), &dimension_count));
    digits.base = placement.map().prefix_bytes() * 8;
  }
  digits.dimensions.resize(dimension_count);
  for (int i = 0; i < rank; ++i) {
    DigitDimension& dimension = digits.dimensions[i];
    dimension.size = placement.dimensions()[i];
    dimension.start = placement.starts()[i];
    dimension.whole = dimension.padded = placement.shape().dimensions(i);
    if (!placement.has_layout()) dimension.digits.push_back({1, placement.byte_strides()[i] * 8});
  }
  if (placement.has_layout()) AddDigits(parts, &digits);
  return digits;
}

}  // namespace kashi::relayout
