// The tiles that the TPU compiler chooses for an array, for each TPU generation.
//
//   bf16[8,1,1280,16384]{3,2,0,1} on v5e       T(8,128)(2,1)
//   f32[3,5]{1,0}                 on v3, v5e   T(4,128)
//   s4[100]{0}                    on v5e, v3   T(1024)(128)(8,1)E(4), T(1024)(128)(4,1)
//
// A vector register holds 8 sublanes by 128 lanes of 32-bit words. Narrower elements are packed: p = 32 / bits of them
// are packed along the sublanes into a word, which is the last tile, (p,1). (Types wider than 32 bits count as 32.)
// With w = the smallest height of a tile in words: 1, or 2 for v2 and v3, and pow2(n) = the next power of two,
//
//   rank 0     T(128*p*w)
//   rank 1     T(clamp(pow2(size), 128*p*w, 1024)), then (128)(p,1) if p > 1
//   rank 2..   T(clamp(pow2(n), p*w, 8), 128), then (p,1) if p > 1; n is the size of the second most minor dimension.
//              8- and 4-bit types from v4 on: T(8*p,128)(p,1) if n is a multiple of 8*p
//   128*p*w and p*w are at most 1024 and 8. Arrays without elements have no tile. 4-bit types have E(4) from v4 on; in
//   v2 and v3, as the other types narrower than a byte everywhere, they take a byte and count as 8 bits.
//
// Source: the layouts that the compiler chose in modules compiled ahead of time (tests/data/tpu_shapes.tsv). The rule
// gives all tiles of 100 % of the shapes in HBM and vector memory for v2 and v3, 99.8 % for v4, 99.4 % v5e, 99.1 % v5p,
// 99.2 % v6e, 97.9 % tpu7x. The rest are values inside programs: T(16,128)(2,1) for 16 bits on tpu7x, and T(8,128)(4,1)
// for 8 bits where the rule gives T(32,128)(4,1). The order of dimensions that the compiler would choose is not
// known here:
// minor_to_major stays as it is.
#ifndef KASHI_ARRAY_TPU_TILING_H_
#define KASHI_ARRAY_TPU_TILING_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/layout.h"
#include "kashi/array/shape.h"

namespace kashi {

enum class TpuGeneration { kV2, kV3, kV4, kV5e, kV5p, kV6e, kTpu7x };

struct TpuGenerationInfo {
  TpuGeneration generation;
  absl::string_view name;  // "v5e"
  int min_tile_words;      // w above
  bool packs_4_bits;
  int64_t tuple_table_alignment;
};

// All generations, oldest first.
absl::Span<const TpuGenerationInfo> TpuGenerations();
const TpuGenerationInfo& GetTpuGenerationInfo(TpuGeneration generation);
// Finds a generation by name, "v2" … "tpu7x"; nullopt for others.
std::optional<TpuGeneration> ParseTpuGeneration(absl::string_view name);

// The shape's layout (the default one if it has none) with the tiles and the E of the rule above in place of its own.
// INVALID_ARGUMENT unless the shape is an array (or a buffer) of known sizes whose layout is valid.
absl::StatusOr<Layout> ChooseTpuLayout(const Shape& shape, TpuGeneration generation);

// Gives each array without tiles in the shape the layout of ChooseTpuLayout. An array for which that fails stays as it
// is; the result is the first such error.
absl::Status SetTpuLayouts(TpuGeneration generation, Shape* shape);

// Bytes of the table of pointers that a tuple of `count` elements has beside their data: 4 an element, rounded up to
// 1024 (v2, v3), 512 (v4, v5e) or 32 (v5p and later). Pre: 0 <= count < 2^60.
int64_t TupleTableBytes(int64_t count, TpuGeneration generation);

}  // namespace kashi

#endif  // KASHI_ARRAY_TPU_TILING_H_
