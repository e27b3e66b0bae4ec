// A block whose rows become columns (transpose_kernels.h), straight into a target that is in the caches, a cache line
// of each side at a time: a tile has as many rows as a line of the target has elements, and as many columns as one of
// the source.
//
//   source             target                   each tile: 16 lines (W = 4), 8 (W = 8), 4 (W = 16) of either side,
//                                               which are read and written whole
//     |line|line|        |line|line|
//     |line|line|        |line|line|
//
// So no line has to stay in the first cache for longer than its tile, however many of them collide there. And the bytes
// of each element may change their order on the way.
#ifndef KASHI_RELAYOUT_SIMD_LINE_TILES_H_
#define KASHI_RELAYOUT_SIMD_LINE_TILES_H_

#include <cstdint>

#include "kashi/relayout/simd/transpose_kernels.h"

namespace kashi::relayout {

// Byte i of an element of the target is byte order[i] of that of the source; nullptr: bytes keep their order. Any
// numbers of rows and columns are allowed; less than a vector of either goes element by element.
using LineTilesFunction = void (*)(const TransposeBlock& block, const uint8_t* order);

// The function for elements of 4, 8 or 16 bytes; nullptr for other sizes.
LineTilesFunction LineTilesFunctionFor(int64_t element_bytes);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_LINE_TILES_H_
