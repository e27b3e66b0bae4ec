// For tests only: relayouts that are drawn at random, and made smaller once they fail.
//
//   Trial trial = DrawTrial(pick, TrialLimits());
//   Runner runner(/*capacity=*/1 << 22);
//   EXPECT_EQ(runner.Run(trial), "") << ToString(trial);
#ifndef KASHI_RELAYOUT_RELAYOUT_TRIAL_TESTING_H_
#define KASHI_RELAYOUT_RELAYOUT_TRIAL_TESTING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/numeric/int128.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/relayout/relayout_runner_testing.h"

namespace kashi::relayout::relayout_testing {

// --------------------------------------------------------------------------------------------------------------
// drawing

// A number from low to high.
using Pick = absl::FunctionRef<int64_t(int64_t low, int64_t high)>;

struct TrialLimits {
  int max_rank = 5;
  int64_t max_size = 20;
  int64_t max_elements = 4000;  // of the part that moves
  int64_t max_tile = 9;         // of tiles that are none of the usual ones
  int64_t min_elements = 0;
};

inline constexpr int64_t kCombine = Tile::kCombineDimension;

// The tiles of TPUs, then difficult ones.
inline const std::vector<TileList>& UsualTileLists() {
  static const auto& lists = *new std::vector<TileList>{
      {},
      {{8, 128}},
      {{8, 128}, {2, 1}},
      {{8, 128}, {4, 1}},
      {{4, 128}},
      {{2, 128}},
      {{256}, {128}, {2, 1}},
      {{128}},
      {{2, 2}},
      {{2, 4}, {2, 1}},
      {{4, 4}, {4, 1}},
      {{4, 2}},
      {{8}, {4}, {2, 1}},
      {{2, 3}, {2, 1}},
      {{3}, {2}},        // does not nest
      {{4, 6}, {2, 4}},  // likewise, in one dimension
      {{2}, {2, 2}},     // interleaving tiles
      {{kCombine, 4}},   // merging
      {{2, kCombine, 3}},
      {{2, 1, 2, 2, 2}},  // longer than the rank
  };
  return lists;
}

template <typename T>
const T& PickOf(Pick pick, const std::vector<T>& values) {
  return values[pick(0, static_cast<int64_t>(values.size()) - 1)];
}

inline Index DrawPermutation(Pick pick, int64_t rank) {
  Index permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  for (int64_t i = rank; i-- > 1;) std::swap(permutation[i], permutation[pick(0, i)]);
  return permutation;
}

inline TileList DrawTiles(Pick pick, const TrialLimits& limits) {
  if (pick(0, 2) != 0) return PickOf(pick, UsualTileLists());
  TileList tiles(pick(0, 3));
  for (Index& tile : tiles) {
    tile.resize(pick(1, 4));
    for (int64_t& entry : tile) entry = pick(0, 9) == 0 ? kCombine : pick(1, limits.max_tile);
    if (tile.back() == kCombine) tile.back() = pick(1, limits.max_tile);
  }
  return tiles;
}

// E: 0 for none.
inline int64_t DrawElementBits(Pick pick, PrimitiveType type) {
  const int64_t bits = primitive_util::BitWidth(type), choice = pick(0, 7);
  if (primitive_util::IsSubByteNonPredType(type)) {
    if (choice < 2) return 0;
    if (choice == 2 || bits == 6) return 8;
    return choice == 3 ? std::max<int64_t>(4, bits) : bits;
  }
  const int64_t slot = 8 * primitive_util::ByteWidth(type);
  return choice == 0 ? slot : choice == 1 && slot < 128 && pick(0, 3) == 0 ? 2 * slot : 0;
}

inline Shape MakeShape(PrimitiveType type, const Index& sizes, const Index& minor_to_major, const TileList& tiles,
                       int64_t element_bits = 0, int64_t tail = 1, int64_t prefix = 0) {
  Shape shape(type, sizes);
  *shape.mutable_layout() = Layout(minor_to_major);
  for (const Index& tile : tiles) *shape.mutable_layout()->add_tiles() = Tile(tile);
  shape.mutable_layout()->set_element_size_in_bits(element_bits);
  shape.mutable_layout()->set_tail_padding_alignment_in_elements(tail);
  shape.mutable_layout()->set_dynamic_shape_metadata_prefix_bytes(prefix);
  return shape;
}

// No two elements overlap, unless they may.
inline Index DrawStrides(Pick pick, PrimitiveType type, const Index& sizes, bool may_overlap) {
  Index strides(sizes.size());
  int64_t step = primitive_util::ByteWidth(type) + (pick(0, 3) == 0 ? pick(1, 5) : 0);
  for (int64_t d : DrawPermutation(pick, sizes.size())) {
    strides[d] = pick(0, 3) == 0 ? -step : step;
    if (sizes[d] == 1 && pick(0, 3) == 0) strides[d] = pick(-1000, 1000);  // means nothing
    if (may_overlap && pick(0, 7) == 0) strides[d] = pick(0, 1) * pick(-3, 3);
    step = step * std::max<int64_t>(1, sizes[d]) + (pick(0, 3) == 0 ? pick(1, 9) : 0);
  }
  return strides;
}

inline Side DrawSide(Pick pick, PrimitiveType type, const Index& sizes, bool is_source, const TrialLimits& limits) {
  Side side;
  Index whole = sizes;
  if (pick(0, 3) == 0) {
    side.starts.emplace(sizes.size());
    side.sizes = sizes;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (pick(0, 1) == 0) continue;
      (*side.starts)[d] = pick(0, 9);
      whole[d] += (*side.starts)[d] + pick(0, 9);
    }
  }
  if (pick(0, 3) == 0) {
    side.shape = Shape(type, whole);
    side.byte_strides = DrawStrides(pick, type, whole, is_source);
    return side;
  }
  const Index tails = {2, 3, 8, 16, 100, 128}, prefixes = {1, 3, 4, 8, 64};
  const Index minor_to_major = DrawPermutation(pick, whole.size());
  const TileList tiles = DrawTiles(pick, limits);
  const int64_t element_bits = DrawElementBits(pick, type);
  const int64_t tail = pick(0, 7) == 0 ? PickOf(pick, tails) : 1;
  const int64_t prefix = pick(0, 15) == 0 ? PickOf(pick, prefixes) : 0;
  side.shape = MakeShape(type, whole, minor_to_major, tiles, element_bits, tail, prefix);
  return side;
}

// Every element type, those of whole bytes more often.
inline PrimitiveType DrawType(Pick pick) {
  static const auto& types = *new std::vector<PrimitiveType>([] {
    std::vector<PrimitiveType> all = {U8, S16, F32, F64, C128, BF16, F32, S4, U2, U1};
    for (int number = 0; number < 64; ++number) {
      const auto type = static_cast<PrimitiveType>(number);
      if (primitive_util::IsArrayType(type)) all.push_back(type);
    }
    return all;
  }());
  return PickOf(pick, types);
}

inline Index DrawSizes(Pick pick, const TrialLimits& limits) {
  Index sizes(pick(0, limits.max_rank));
  for (int64_t& size : sizes) {
    const int64_t kind = pick(0, 99);
    size = kind == 0 ? 0 : kind < 15 ? 1 : kind < 30 ? pick(2, 4) : pick(1, limits.max_size);
  }
  while (array::index_map_oracle::Product(sizes) > limits.max_elements)
    *std::max_element(sizes.begin(), sizes.end()) /= 2;
  if (sizes.empty()) return sizes;
  while (array::index_map_oracle::Product(sizes) < limits.min_elements) {
    int64_t& smallest = *std::min_element(sizes.begin(), sizes.end());
    smallest = 2 * smallest + 1;
  }
  return sizes;
}

inline std::optional<absl::uint128> DrawPadding(Pick pick, const Side& to) {
  switch (pick(0, 2)) {
    case 0:
      return std::nullopt;
    case 1:
      return 0;
  }
  const absl::uint128 pattern =
      absl::MakeUint128(0xa35b17c9ull * pick(1, 255), 0x9d3f28e6ull * pick(1, 255) ^ 0x5a3cc6);
  const int64_t bits = primitive_util::BitWidth(to.shape.element_type());
  return bits < SlotBits(to) ? LowBits(pattern, bits) : pattern;
}

inline int64_t DrawShift(Pick pick) {
  switch (pick(0, 4)) {
    case 0:
      return 0;
    case 1:
      return pick(0, 15) * 16;
    case 2:
      return pick(0, 127);
  }
  return kAtEnd;
}

inline Trial DrawTrial(Pick pick, const TrialLimits& limits) {
  Trial trial;
  const Index sizes = DrawSizes(pick, limits);
  const PrimitiveType type = DrawType(pick);
  trial.options.convert = pick(0, 3) == 0;
  trial.from = DrawSide(pick, type, sizes, /*is_source=*/true, limits);
  trial.to = DrawSide(pick, trial.options.convert ? DrawType(pick) : type, sizes, /*is_source=*/false, limits);
  trial.options.padding = DrawPadding(pick, trial.to);
  trial.options.threads = static_cast<int>(pick(0, 2));
  trial.options.non_temporal_stores = pick(0, 1) == 1;
  trial.from_shift = DrawShift(pick);
  trial.to_shift = DrawShift(pick);
  return trial;
}

// ------------------------------------------------------------------------------------------------------------
// shrinking

namespace relayout {

inline void DropFeatures(const Side& side, absl::FunctionRef<void(Side)> visit) {
  if (side.byte_strides) return;
  const Layout& layout = side.shape.layout();
  const auto with = [&](absl::FunctionRef<void(Layout*)> change) {
    Side changed = side;
    change(changed.shape.mutable_layout());
    visit(std::move(changed));
  };
  for (int t = 0; t < layout.tiles_size(); ++t) {
    with([&](Layout* l) { l->mutable_tiles()->erase(l->mutable_tiles()->begin() + t); });
  }
  if (layout.tail_padding_alignment_in_elements() != 1) {
    with([](Layout* l) { l->set_tail_padding_alignment_in_elements(1); });
  }
  if (layout.dynamic_shape_metadata_prefix_bytes() != 0) {
    with([](Layout* l) { l->set_dynamic_shape_metadata_prefix_bytes(0); });
  }
  if (layout.element_size_in_bits() != 0) with([](Layout* l) { l->set_element_size_in_bits(0); });
  for (int i = 1; i < layout.minor_to_major_size(); ++i) {
    if (layout.minor_to_major(i) >= layout.minor_to_major(i - 1)) continue;
    with([&](Layout* l) {
      const int64_t first = l->minor_to_major(i - 1);
      l->set_minor_to_major(i - 1, l->minor_to_major(i)).set_minor_to_major(i, first);
    });
  }
}

inline void Resize(Side* side, int dimension, int64_t size) {
  if (!side->starts) {
    side->shape.set_dimensions(dimension, size);
    return;
  }
  const int64_t by = side->sizes[dimension] - size;
  side->sizes[dimension] = size;
  side->shape.set_dimensions(dimension, side->shape.dimensions(dimension) - by);
}

inline std::vector<Trial> SmallerOnes(const Trial& trial) {
  std::vector<Trial> smaller;
  const Index sizes = trial.from.starts
                          ? trial.from.sizes
                          : Index(trial.from.shape.dimensions().begin(), trial.from.shape.dimensions().end());
  for (size_t d = 0; d < sizes.size(); ++d) {
    for (int64_t size : {int64_t{1}, int64_t{2}, sizes[d] / 2, sizes[d] - 1}) {
      if (size < 1 || size >= sizes[d]) continue;
      smaller.push_back(trial);
      Resize(&smaller.back().from, static_cast<int>(d), size);
      Resize(&smaller.back().to, static_cast<int>(d), size);
    }
  }
  const auto change = [&](absl::FunctionRef<void(Trial*)> how) {
    smaller.push_back(trial);
    how(&smaller.back());
  };
  DropFeatures(trial.from, [&](Side side) { change([&](Trial* p) { p->from = side; }); });
  DropFeatures(trial.to, [&](Side side) { change([&](Trial* p) { p->to = side; }); });
  if (trial.from_shift != 0) change([](Trial* p) { p->from_shift = 0; });
  if (trial.to_shift != 0) change([](Trial* p) { p->to_shift = 0; });
  if (trial.options.padding) change([](Trial* p) { p->options.padding = std::nullopt; });
  if (trial.options.threads != 1) change([](Trial* p) { p->options.threads = 1; });
  if (trial.options.non_temporal_stores.value_or(false))
    change([](Trial* p) { p->options.non_temporal_stores = false; });
  return smaller;
}

}  // namespace relayout

// A trial that fails, too, and that cannot be made smaller in one step.
inline Trial Shrink(Trial trial, absl::FunctionRef<bool(const Trial&)> fails) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Trial& candidate : relayout::SmallerOnes(trial)) {
      if (!fails(candidate)) continue;
      trial = std::move(candidate);
      changed = true;
      break;
    }
  }
  return trial;
}

}  // namespace kashi::relayout::relayout_testing

#endif  // KASHI_RELAYOUT_RELAYOUT_TRIAL_TESTING_H_
