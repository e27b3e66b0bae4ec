// For tests only: the expected results of IndexMap, computed in two simple ways.
//   Materialise   moves cells about: transpose to physical order; then for each tile merge (a reshape), pad, reshape,
//                 transpose. For small arrays.
//   MapIndex      the formula of one index, tile after tile. For large ones.
#ifndef KASHI_ARRAY_INDEX_MAP_ORACLE_TESTING_H_
#define KASHI_ARRAY_INDEX_MAP_ORACLE_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kashi/array/layout.h"
#include "kashi/array/shape.h"

namespace kashi::array::index_map_oracle {

// A dense row-major array of cells: the row-major number of a logical element, or kPadding.
struct Cells {
  static constexpr int64_t kPadding = -1;
  std::vector<int64_t> dimensions;
  std::vector<int64_t> cells;
};

inline int64_t Product(const std::vector<int64_t>& sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

inline int64_t Linear(const std::vector<int64_t>& index, const std::vector<int64_t>& sizes) {
  int64_t linear = 0;
  for (size_t i = 0; i < sizes.size(); ++i) linear = linear * sizes[i] + index[i];
  return linear;
}

// The next index in row-major order; to all zeros after the last one.
inline void Bump(const std::vector<int64_t>& sizes, std::vector<int64_t>* index) {
  for (size_t i = sizes.size(); i-- > 0;) {
    if (++(*index)[i] < sizes[i]) return;
    (*index)[i] = 0;
  }
}

// result dimension i is dimension permutation[i] of the input.
inline Cells Transpose(const Cells& in, const std::vector<int>& permutation) {
  Cells out;
  for (int from : permutation) out.dimensions.push_back(in.dimensions[from]);
  out.cells.reserve(in.cells.size());
  std::vector<int64_t> index(permutation.size(), 0), from(permutation.size());
  for (size_t cell = 0; cell < in.cells.size(); ++cell, Bump(out.dimensions, &index)) {
    for (size_t i = 0; i < index.size(); ++i) from[permutation[i]] = index[i];
    out.cells.push_back(in.cells[Linear(from, in.dimensions)]);
  }
  return out;
}

// Padding at the high end of each dimension.
inline Cells Pad(const Cells& in, const std::vector<int64_t>& sizes) {
  Cells out{sizes, std::vector<int64_t>(Product(sizes), Cells::kPadding)};
  std::vector<int64_t> index(sizes.size(), 0);
  for (int64_t cell : in.cells) {
    out.cells[Linear(index, sizes)] = cell;
    Bump(in.dimensions, &index);
  }
  return out;
}

inline Cells ApplyTile(Cells in, const Tile& tile) {
  const size_t length = tile.dimensions().size();
  while (in.dimensions.size() < length) in.dimensions.insert(in.dimensions.begin(), 1);
  const size_t head = in.dimensions.size() - length;
  std::vector<int64_t> merged(in.dimensions.begin(), in.dimensions.begin() + head);
  std::vector<int64_t> sizes;
  int64_t run = 1;
  for (size_t i = 0; i < length; ++i) {
    run *= in.dimensions[head + i];
    if (tile.dimension(i) == Tile::kCombineDimension) continue;
    merged.push_back(run);
    sizes.push_back(tile.dimension(i));
    run = 1;
  }
  in.dimensions = merged;
  std::vector<int64_t> padded = merged;
  for (size_t i = 0; i < sizes.size(); ++i) padded[head + i] = (merged[head + i] + sizes[i] - 1) / sizes[i] * sizes[i];
  in = Pad(in, padded);
  std::vector<int64_t> split(padded.begin(), padded.begin() + head);
  std::vector<int> permutation;
  for (size_t i = 0; i < head; ++i) permutation.push_back(i);
  for (size_t i = 0; i < sizes.size(); ++i) {
    split.push_back(padded[head + i] / sizes[i]);
    split.push_back(sizes[i]);
    permutation.push_back(head + 2 * i);
  }
  for (size_t i = 0; i < sizes.size(); ++i) permutation.push_back(head + 2 * i + 1);
  in.dimensions = split;
  return Transpose(in, permutation);
}

// The memory of `shape`, an array with a layout, cell by cell; dimensions are the physical ones. Without tail padding.
inline Cells Materialise(const Shape& shape) {
  Cells cells;
  cells.dimensions.assign(shape.dimensions().begin(), shape.dimensions().end());
  cells.cells.resize(Product(cells.dimensions));
  for (size_t i = 0; i < cells.cells.size(); ++i) cells.cells[i] = i;
  std::vector<int> major_to_minor(shape.layout().minor_to_major().rbegin(), shape.layout().minor_to_major().rend());
  cells = Transpose(cells, major_to_minor);
  for (const Tile& tile : shape.layout().tiles()) cells = ApplyTile(std::move(cells), tile);
  return cells;
}

// The position of one element (array-model.md, 4.1). Pre: it fits.
inline int64_t MapIndex(const Shape& shape, const std::vector<int64_t>& logical) {
  std::vector<int64_t> bounds, index;  // major to minor
  for (int i = shape.dimensions_size() - 1; i >= 0; --i) {
    bounds.push_back(shape.dimensions(shape.layout().minor_to_major(i)));
    index.push_back(logical[shape.layout().minor_to_major(i)]);
  }
  for (const Tile& tile : shape.layout().tiles()) {
    const size_t length = tile.dimensions().size();
    while (bounds.size() < length) {
      bounds.insert(bounds.begin(), 1);
      index.insert(index.begin(), 0);
    }
    const size_t head = bounds.size() - length;
    std::vector<int64_t> tile_bounds(bounds.begin(), bounds.begin() + head), within_bounds;
    std::vector<int64_t> tile_index(index.begin(), index.begin() + head), within_index;
    int64_t merged_bound = 1, merged_index = 0;
    for (size_t i = 0; i < length; ++i) {
      merged_bound *= bounds[head + i];
      merged_index = merged_index * bounds[head + i] + index[head + i];
      const int64_t size = tile.dimension(i);
      if (size == Tile::kCombineDimension) continue;
      tile_bounds.push_back((merged_bound + size - 1) / size);
      tile_index.push_back(merged_index / size);
      within_bounds.push_back(size);
      within_index.push_back(merged_index % size);
      merged_bound = 1;
      merged_index = 0;
    }
    bounds = std::move(tile_bounds);
    bounds.insert(bounds.end(), within_bounds.begin(), within_bounds.end());
    index = std::move(tile_index);
    index.insert(index.end(), within_index.begin(), within_index.end());
  }
  return Linear(index, bounds);
}

}  // namespace kashi::array::index_map_oracle

#endif  // KASHI_ARRAY_INDEX_MAP_ORACLE_TESTING_H_
