// INTERNAL to kashi/draw. The geometry of a figure: the axis of each physical dimension.
//
// Tiles are applied as in array-model.md, 4.1, but to *digits*. Each digit stays on its axis:
//
//   // f32[3,5]{1,0:T(2,2)}   before: 3 (row axis), 5 (column axis)
//   //                        after:  2 (row), 3 (column), 2 (row), 2 (column)      <- physical dimensions, major first
//   // row axis: digits 2,2, four positions      column axis: digits 3,2, six positions
//
// The digits of an axis form a position along the axis. All digits, in physical order, form a position in memory. So
// each can be computed from the other by additions only, also for padding cells.
#ifndef KASHI_DRAW_PICTURE_GEOMETRY_H_
#define KASHI_DRAW_PICTURE_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/layout.h"
#include "kashi/array/shape.h"

namespace kashi::draw {

class PictureGeometry {
 public:
  struct Axis {
    DimensionVector dimensions;  // logical, most major first
    std::vector<int> digits;     // ids, in the order of the picture
    // A later tile's `*` has merged a part of this axis with a part of another: its positions are no indices any more.
    bool is_mixed = false;
  };

  // Pre: IndexMap::Make accepts the shape, so nothing here overflows; at most 32 tiles.
  explicit PictureGeometry(const Shape& shape);

  // Most major first; the last one is the columns' axis (there is none at rank 0 without tiles).
  const std::vector<Axis>& axes() const { return axes_; }
  // Digits in physical order: ids and bounds.
  DimensionVector PhysicalDimensions() const;

  // The number of positions of a sequence of digits.
  int64_t Positions(absl::Span<const int> digits) const;
  // The distance that a position on `digits` adds to the position in memory.
  int64_t PhysicalPart(absl::Span<const int> digits, int64_t position) const;
  // The position on `digits` of a position in memory.
  int64_t PositionOf(absl::Span<const int> digits, int64_t physical) const;
  // The number of the tile of the first level, among all of them in memory order.
  int64_t TileOf(int64_t physical) const;

  // The number of neighbouring positions on `digits` in a tile of this level (0: the first); 0 if none are neighbours.
  int64_t TileExtent(absl::Span<const int> digits, int level) const;
  // A later tile's `*` has merged a part of this level's tiles with something else.
  bool IsBroken(int level) const { return (broken_levels_ >> level & 1) != 0; }

  // For one axis alone: the number of its digits, counted from the end, that form a row when the axis is wrapped; 0 if
  // it cannot be wrapped.
  int WrappedColumnDigits() const;

 private:
  struct Digit {
    int64_t bound = 1;
    int64_t stride = 1;   // in memory
    int axis = 0;         // while tiles are applied: into building_
    uint32_t levels = 0;  // bit n: lies within tiles of level n
    bool in_row = false;  // see WrappedColumnDigits
  };
  void AddMissingDimensions(size_t tile_rank);
  // Merges the digits before a tile's non-`*` entries; returns the rest of the last `tile_rank` digits.
  std::vector<int> Combine(const Tile& tile, int level);
  int Merge(int major, int minor, int level);
  void Split(absl::Span<const int> tail, const Tile& tile, int level);
  void RemoveEmptyAxes();

  std::vector<Digit> digits_;
  std::vector<int> order_;  // physical, most major first
  std::vector<Axis> axes_;
  uint32_t broken_levels_ = 0;
};

}  // namespace kashi::draw

#endif  // KASHI_DRAW_PICTURE_GEOMETRY_H_
