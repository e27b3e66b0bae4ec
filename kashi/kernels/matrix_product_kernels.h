// The innermost loops of matrix products, in the best form for this processor (matrix_product.h,
// packed_matrix_product.h).
#ifndef KASHI_KERNELS_MATRIX_PRODUCT_KERNELS_H_
#define KASHI_KERNELS_MATRIX_PRODUCT_KERNELS_H_

#include <cstdint>

#include "kashi/array/types.h"

namespace kashi::kernels {

// Work for the innermost loops. Operands are never empty.
template <typename T>
struct RegisterTile {
  int64_t k;
  const T* lhs;
  int64_t lhs_row_stride;
  int64_t lhs_column_stride;
  const T* rhs;
  int64_t rhs_row_stride;
  T* out;
  int64_t out_row_stride;
  int64_t rows;     // of out that are used
  int64_t columns;  // likewise; RunTile reads a whole panel of rhs nevertheless
  bool add;         // adds to the elements of out
};

template <typename T>
using TileFunction = void (*)(const RegisterTile<T>& tile);

// Elements of an operand in the order in which tiles read them: `width` rows of lhs (columns of rhs) side by side, for
// one k after the other. Short elements are packed into words, `group` of them with consecutive k:
//
//   group 2, bf16:    (i=0: k=0, k=1) (i=1: k=0, k=1) ... (i=width-1)   (i=0: k=2, k=3) ...
//
// Missing numbers are zero: the rest of a word beyond `depth`, the rest of the last tile's rows if `fills_width`.
struct PackJob {
  const void* from;
  int64_t i_stride, k_stride;  // in elements
  int64_t count;               // of i, for any number of tiles
  int64_t depth;               // elements of k
  int64_t width;               // of a tile
  bool fills_width;
  uint32_t flipped_bits;  // of each word
  void* to;
  int64_t tile_stride;  // words from a tile to the next
};
using PackFunction = void (*)(const PackJob& job);
constexpr int64_t kPackedTilesAtOnce = 8;  // where the elements of a row of `width` lie side by side

// Products of packed operands. T: the type of the result, as wide as a word.
template <typename T>
struct PackedKernels {
  int rows;                         // of a tile
  int columns;                      // of a panel
  int tiles_down;                   // of a block of lhs that stays in L2
  int group;                        // elements in a word
  int step;                         // words of k that are multiplied at once: packed operands have a multiple of it
  int depth;                        // words of k to multiply before the next tile, a multiple of `step`
  TileFunction<T> tiles[4];         // for up to 1, 2, 4 and `rows` rows
  PackFunction pack_lhs, pack_rhs;  // for operands whose elements have the type that the tiles take
  void (*begin)();                  // a thread calls it before tiles, and end() after them; null: need not
  void (*end)();

  TileFunction<T> TileOf(int64_t rows_wanted) const {
    return tiles[rows_wanted <= 2 ? rows_wanted - 1 : rows_wanted <= 4 ? 2 : 3];
  }
};

// The innermost loops in the best form for this processor.
template <typename T>
struct KernelTable {
  PackedKernels<T> packed;  // tiles take operands that are not packed, too
  TileFunction<T> add_row_times_matrix;
  TileFunction<T> run_inner_products;
  TileFunction<T> add_scaled_columns;
};

// T: float, double, uint32_t, uint64_t.
template <typename T>
const KernelTable<T>& FindKernels();

// Products of bf16 with sums in f32, by instructions that count denormal numbers as 0 and round to nearest. Null: this
// processor has none, or none that is faster than the product of f32.
const PackedKernels<float>* FindBf16Kernels();
// Products of integers of 8 bits with sums in 32 bits that wrap. Null likewise.
struct Int8Kernels {
  const PackedKernels<uint32_t>* packed;
  bool lhs_is_unsigned;  // elements of lhs are 0 to 255; otherwise, and in rhs, -128 to 127
};
Int8Kernels FindInt8Kernels();
// Products of integers of 16 bits with sums in 32 bits that wrap. Null likewise.
const PackedKernels<uint32_t>* FindInt16Kernels();

// Packs elements of `type` as the words of other elements, for the kernels of those. Null: there is no such function.
PackFunction FindPackAsFloat(PrimitiveType type);  // BF16, for FindKernels<float>()
PackFunction FindPackAsInt16(PrimitiveType type);  // S8, U8, S16, for FindInt16Kernels()

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_MATRIX_PRODUCT_KERNELS_H_
