#include "kashi/array/index_map.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/index_map_oracle_testing.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/sanitizers.h"

// Counts for QueriesDoNotAllocate; for the other tests of this program nothing changes. Sanitizers have an operator new
// of their own, and need it. Not inlined: GCC takes the parts of an inlined pair for a mismatch.
#if !KASHI_SANITIZED
static std::atomic<int64_t> allocation_count{0};
__attribute__((noinline)) void* operator new(std::size_t size) {
  allocation_count.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace kashi::array {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Index = std::vector<int64_t>;
namespace oracle = index_map_oracle;

Shape Parse(const std::string& text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  EXPECT_TRUE(shape.ok()) << shape.status();
  return shape.ok() ? *shape : Shape();
}

IndexMap MapOf(const std::string& text) {
  absl::StatusOr<IndexMap> map = IndexMap::Make(Parse(text));
  EXPECT_TRUE(map.ok()) << map.status();
  return *map;
}

std::string MapError(const std::string& text) { return std::string(IndexMap::Make(Parse(text)).status().message()); }

// The contents of a memory: row-major element ids, "." for padding.
std::string MemoryOrder(const std::string& text) {
  const IndexMap map = MapOf(text);
  const Index sizes(map.dimensions().begin(), map.dimensions().end());
  std::vector<std::string> cells;
  map.ForEachPhysical([&](int64_t, bool is_element, absl::Span<const int64_t> index) {
    cells.push_back(is_element ? absl::StrCat(oracle::Linear(Index(index.begin(), index.end()), sizes)) : ".");
  });
  return absl::StrJoin(cells, " ");
}

// ----------------------------------------------------------------------------------------- the documents, in numbers

struct Worked {
  std::string shape;
  Index index;
  int64_t physical;
  Index physical_dimensions;
  int64_t count;
};

TEST(IndexMapTest, WorkedNumbers) {
  const Worked kCases[] = {
      {"f32[2,3]{0,1}", {1, 2}, 5, {3, 2}, 6},
      {"f32[3,5]{1,0:T(2,2)}", {2, 3}, 17, {2, 3, 2, 2}, 24},  // the documents' figure 1
      {"f32[3,5]{0,1:T(2,2)}", {2, 3}, 14, {3, 2, 2, 2}, 24},
      {"f32[4,8]{1,0:T(2,4)(2,1)}", {1, 5}, 11, {2, 2, 1, 4, 2, 1}, 32},  // figure 2
      {"f32[8,8]{1,0:T(2,4)(2,1,1,1)}", {6, 5}, 51, {2, 2, 2, 4, 2, 1, 1, 1}, 64},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", {0, 0, 0, 1, 0}, 19, {56, 37, 2, 3}, 12432},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", {0, 0, 1, 0, 0}, 3, {56, 37, 2, 3}, 12432},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", {1, 3, 5, 7, 9}, 9484, {56, 37, 2, 3}, 12432},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", {1, 6, 7, 10, 9}, 12430, {56, 37, 2, 3}, 12432},
      {"f32[2,3,5]{2,1,0:T(2,2)}", {1, 2, 3}, 41, {2, 2, 3, 2, 2}, 48},
      {"f32[2,3,5]{1,2,0:T(2,2)}", {1, 2, 3}, 38, {2, 3, 2, 2, 2}, 48},
      {"f32[10]{0:T(4)}", {9}, 9, {3, 4}, 12},
      {"f32[10]{0:T(2,4)}", {9}, 17, {1, 3, 2, 4}, 24},
      {"f32[]{:T(2)}", {}, 0, {1, 2}, 2},
      {"bf16[16,256]{1,0:T(8,128)(2,1)}", {5, 130}, 1541, {2, 2, 4, 128, 2, 1}, 4096},
      {"bf16[32,256]{1,0:T(8,128)(2,1,1,1)}", {13, 200}, 3473, {2, 2, 8, 128, 2, 1, 1, 1}, 8192},
      {"s8[16,256]{1,0:T(8,128)(4,1)}", {7, 129}, 1543, {2, 2, 2, 128, 4, 1}, 4096},
      {"bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}", {0, 0, 1, 0}, 1, {1, 8, 160, 128, 4, 128, 2, 1}, 167772160},
      {"bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}", {0, 0, 0, 1}, 2, {1, 8, 160, 128, 4, 128, 2, 1}, 167772160},
      {"bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}",
       {3, 0, 77, 1000},
       64102097,
       {1, 8, 160, 128, 4, 128, 2, 1},
       167772160},
      {"bf16[32,32,4096]{2,1,0:T(8,128)(2,1)}", {1, 2, 300}, 133464, {32, 4, 32, 4, 128, 2, 1}, 4194304},
      {"f32[5,7]{1,0:T(*,4)}", {3, 6}, 27, {9, 4}, 36},
      {"f32[3,3,3]{2,1,0:T(2,*,2)}", {2, 1, 2}, 29, {2, 5, 2, 2}, 40},
      {"f32[4,6]{1,0:T(3)(2)}", {2, 5}, 22, {4, 2, 2, 2}, 32},
      {"f32[4,6]{1,0:T(3)(2,1)}", {2, 5}, 17, {4, 1, 3, 2, 1}, 24},
      {"f32[100]{0:T(32)(8)(4,1)}", {45}, 53, {4, 1, 8, 4, 1}, 128},
      {"f32[6,4,9]{0,2,1:T(4,2)(2,1)}", {5, 3, 8}, 282, {4, 3, 3, 2, 2, 2, 1}, 288},
      {"f32[1,1]{1,0:T(8,128)}", {0, 0}, 0, {1, 1, 8, 128}, 1024},
  };
  for (const Worked& worked : kCases) {
    SCOPED_TRACE(worked.shape);
    const IndexMap map = MapOf(worked.shape);
    EXPECT_EQ(map.LogicalToPhysical(worked.index), worked.physical);
    EXPECT_EQ(map.physical_dimensions(), absl::MakeConstSpan(worked.physical_dimensions));
    EXPECT_EQ(map.padded_element_count(), worked.count);
    Index back(worked.index.size());
    EXPECT_TRUE(map.PhysicalToLogical(worked.physical, absl::MakeSpan(back)));
    EXPECT_EQ(back, worked.index);
  }
  const IndexMap empty = MapOf("f32[2,0]{1,0:T(8,128)}");
  EXPECT_THAT(empty.physical_dimensions(), ElementsAre(1, 0, 8, 128));
  EXPECT_EQ(empty.element_count(), 0);
  EXPECT_EQ(empty.padded_element_count(), 0);
  EXPECT_EQ(empty.byte_size(), 0);
  empty.ForEachPhysical([](int64_t, bool, absl::Span<const int64_t>) { ADD_FAILURE(); });
  empty.ForEachLogical([](absl::Span<const int64_t>, int64_t) { ADD_FAILURE(); });
}

TEST(IndexMapTest, MemoryOrders) {
  EXPECT_EQ(MemoryOrder("f32[3,5]{1,0:T(2,2)}"), "0 1 5 6 2 3 7 8 4 . 9 . 10 11 . . 12 13 . . 14 . . .");
  EXPECT_EQ(MemoryOrder("f32[4,8]{1,0:T(2,4)(2,1)}"),
            "0 8 1 9 2 10 3 11 4 12 5 13 6 14 7 15 16 24 17 25 18 26 19 27 20 28 21 29 22 30 23 31");
  EXPECT_EQ(MemoryOrder("f32[2,3]{0,1}"), "0 3 1 4 2 5");
  EXPECT_EQ(MemoryOrder("f32[2,3]{1,0:L(4)}"), "0 1 2 3 4 5 . .");
  EXPECT_EQ(MemoryOrder("s32[]"), "0");
  EXPECT_EQ(MemoryOrder("s32[]{:T(2)}"), "0 .");
  // Section 5: a padded array of old is one tile; here [2,3] padded to [3,5], in both orders.
  EXPECT_EQ(MemoryOrder("f32[2,3]{0,1:T(5,3)}"), "0 3 . 1 4 . 2 5 . . . . . . .");
  EXPECT_EQ(MemoryOrder("f32[2,3]{1,0:T(3,5)}"), "0 1 2 . . 3 4 5 . . . . . . .");
}

// Section 4 of the documents: without tiles, a physical index is sum of index * product of more minor bounds.
TEST(IndexMapTest, StridesWithoutTiles) {
  const IndexMap map = MapOf("f32[2,7,8,11,10]{4,3,2,1,0}");
  EXPECT_EQ(map.LogicalToPhysical({1, 6, 7, 10, 9}), 12319);
  const IndexMap bounded = MapOf("f32[<=4,<=6]{0,1:T(2,2)}");  // bounds count
  EXPECT_THAT(bounded.physical_dimensions(), ElementsAre(3, 2, 2, 2));
}

TEST(IndexMapTest, SizesAndBits) {
  const IndexMap packed = MapOf("s4[9]{0:E(4)M(3)}");
  EXPECT_EQ(packed.element_size_in_bits(), 4);
  EXPECT_EQ(packed.prefix_bytes(), 3);
  EXPECT_EQ(packed.byte_size(), 8);
  EXPECT_EQ(packed.ByteOffset(5), 3 + 2);
  EXPECT_EQ(packed.BitInByte(5), 4);
  EXPECT_EQ(MapOf("s4[9]").byte_size(), 9);
  EXPECT_EQ(MapOf("s4[9]").ByteOffset(5), 5);
  EXPECT_EQ(MapOf("u8[9223372036854775807]").byte_size(), 9223372036854775807);
  EXPECT_EQ(MapOf("f64[1152921504606846975]").ByteOffset(1152921504606846974), 9223372036854775792);
  EXPECT_EQ(MapOf("f6e3m2fn[5]{0:E(6)}").byte_size(), 4);
  EXPECT_EQ(MapOf("pred[9]{0:E(1)}").byte_size(), 2);
  EXPECT_EQ(MapOf("f32[3]{0:M(-1)}").byte_size(), 12);
  const IndexMap tail = MapOf("f32[3,5]{1,0:T(2,2)L(7)}");
  EXPECT_EQ(tail.tiled_element_count(), 24);
  EXPECT_EQ(tail.padded_element_count(), 28);
  Index index(2);
  for (int64_t p = 24; p < 28; ++p) EXPECT_FALSE(tail.PhysicalToLogical(p, absl::MakeSpan(index)));
  EXPECT_EQ(MapOf("b(f32[3,5]{1,0:T(2,2)})").byte_size(), 96);
}

TEST(IndexMapTest, ShowsItsSums) {
  EXPECT_EQ(MapOf("s32[3,5]{1,0:T(2,4)}").ToString(),
            "dimensions 3,5 -> 2,2,2,4\n"
            "physical = i0*4 + i1 + i0/2*8 + i1/4*4\n"
            "i0 = p/16*2 + p/4%2, padding unless < 3\n"
            "i1 = p/8%2*4 + p%4, padding unless < 5\n");
  EXPECT_EQ(MapOf("f32[4,6]{1,0:T(3)(2)}").ToString(),
            "dimensions 4,6 -> 4,2,2,2\n"
            "v0 = i1 - i1/3*3\n"
            "physical = i0*8 + v0 + i1/3*4\n"
            "u0 = p%4, padding unless < 3\n"
            "i0 = p/8, padding unless < 4\n"
            "i1 = p/4%2*3 + u0, padding unless < 6\n");
}

TEST(IndexMapTest, Tiles) {
  const IndexMap figure = MapOf("f32[3,5]{1,0:T(2,2)}");
  EXPECT_EQ(figure.tile_element_count(), 4);
  EXPECT_EQ(figure.tile_count(), 6);
  std::vector<int64_t> positions;
  figure.ForEachInTile(
      2, [&](int64_t p, bool is_element, absl::Span<const int64_t>) { positions.push_back(is_element ? p : -p); });
  EXPECT_THAT(positions, ElementsAre(8, -9, 10, -11));
  EXPECT_EQ(MapOf("f32[3,5]").tile_element_count(), 0);
  EXPECT_EQ(MapOf("f32[3,5]").tile_count(), 0);
  EXPECT_EQ(MapOf("bf16[16,256]{1,0:T(8,128)(2,1)}").tile_element_count(), 1024);
  EXPECT_EQ(MapOf("f32[4,6]{1,0:T(3)(2)}").tile_element_count(), 4);  // 3, and a padding cell
  EXPECT_EQ(MapOf("f32[8,8]{1,0:T(4)(2,2)}").tile_element_count(), 0);
  EXPECT_EQ(MapOf("f32[8,8]{1,0:T(4)(*,2)}").tile_element_count(), 0);
  EXPECT_EQ(MapOf("f32[8,8]{1,0:T(4)(1,2)}").tile_element_count(), 4);  // a second tile of height 1 moves nothing
  EXPECT_EQ(MapOf("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}").tile_element_count(), 6);
  EXPECT_EQ(MapOf("f32[0]{0:T(4611686018427387904)(4611686018427387904,2)}").tile_count(), 0);
}

// ------------------------------------------------------------------------------------------------------- brute force

// The number of the first-level tile that each cell of memory belongs to.
oracle::Cells TileNumbers(const Shape& shape) {
  Shape first = shape;
  first.mutable_layout()->mutable_tiles()->resize(1);
  oracle::Cells cells = oracle::Materialise(first);
  int64_t tile_size = 1;
  for (int64_t size : shape.layout().tiles(0).dimensions()) {
    if (size != Tile::kCombineDimension) tile_size *= size;
  }
  for (size_t i = 0; i < cells.cells.size(); ++i) cells.cells[i] = static_cast<int64_t>(i) / tile_size;
  for (int i = 1; i < shape.layout().tiles_size(); ++i) {
    cells = oracle::ApplyTile(std::move(cells), shape.layout().tiles(i));
  }
  return cells;
}

void ExpectTilesAreRuns(const IndexMap& map, const Shape& shape) {
  if (map.tile_element_count() == 0) return;
  const oracle::Cells numbers = TileNumbers(shape);
  ASSERT_EQ(map.tile_count() * map.tile_element_count(), static_cast<int64_t>(numbers.cells.size()));
  std::map<int64_t, int64_t> run_of_tile;
  std::vector<int64_t> tile_of_run(map.tile_count(), oracle::Cells::kPadding);
  for (size_t p = 0; p < numbers.cells.size(); ++p) {
    const int64_t tile = numbers.cells[p];
    if (tile == oracle::Cells::kPadding) continue;
    const int64_t run = p / map.tile_element_count();
    ASSERT_EQ(run_of_tile.emplace(tile, run).first->second, run);
    if (tile_of_run[run] == oracle::Cells::kPadding) tile_of_run[run] = tile;
    ASSERT_EQ(tile_of_run[run], tile);
  }
}

// The whole contract of an IndexMap, on every position and element.
void ExpectAgreesWithBruteForce(const Shape& shape) {
  SCOPED_TRACE(shape.ToString(/*print_layout=*/true));
  const oracle::Cells want = oracle::Materialise(shape);
  const absl::StatusOr<IndexMap> map = IndexMap::Make(shape);
  ASSERT_TRUE(map.ok()) << map.status();
  const Index sizes(shape.dimensions().begin(), shape.dimensions().end());
  ASSERT_EQ(map->physical_dimensions(), absl::MakeConstSpan(want.dimensions));
  ASSERT_EQ(map->element_count(), oracle::Product(sizes));
  ASSERT_EQ(map->tiled_element_count(), static_cast<int64_t>(want.cells.size()));
  Index index(sizes.size());
  std::vector<int64_t> position_of(map->element_count(), -1);
  for (size_t p = 0; p < want.cells.size(); ++p) {
    const bool is_element = map->PhysicalToLogical(p, absl::MakeSpan(index));
    ASSERT_EQ(is_element, want.cells[p] != oracle::Cells::kPadding) << "position " << p << "\n" << map->ToString();
    if (!is_element) continue;
    ASSERT_EQ(oracle::Linear(index, sizes), want.cells[p]) << "position " << p << "\n" << map->ToString();
    position_of[want.cells[p]] = p;
  }
  int64_t element = 0;
  map->ForEachLogical([&](absl::Span<const int64_t> at, int64_t physical) {
    ASSERT_EQ(oracle::Linear(Index(at.begin(), at.end()), sizes), element);
    ASSERT_EQ(physical, position_of[element]) << map->ToString();
    ++element;
  });
  ASSERT_EQ(element, map->element_count());
  ExpectTilesAreRuns(*map, shape);
}

std::vector<Index> AllIndicesOver(const Index& values, int rank) {
  std::vector<Index> result = {{}};
  for (int i = 0; i < rank; ++i) {
    std::vector<Index> longer;
    for (const Index& prefix : result) {
      for (int64_t value : values) {
        longer.push_back(prefix);
        longer.back().push_back(value);
      }
    }
    result = std::move(longer);
  }
  return result;
}

constexpr int64_t kCombine = Tile::kCombineDimension;
using TileList = std::vector<Index>;
const std::vector<TileList>& TileLists() {
  static const auto& lists = *new std::vector<TileList>{
      {},
      {{1}},
      {{2}},
      {{3}},
      {{2, 4}},
      {{3, 2}},
      {{1, 8}},
      {{2, 2, 2}},
      {{8, 16}},                       // larger than the array
      {{2, 4}, {2, 1}},                // as TPUs have them
      {{4, 4}, {2, 1}},                //
      {{4, 8}, {4, 1}},                //
      {{4}, {2}},                      // nested
      {{3}, {2}},                      // ragged: 2 does not divide 3
      {{2}, {3}},                      // later tile larger
      {{3, 3}, {2, 2}},                // ragged in both
      {{6}, {4}, {3}},                 // ragged twice
      {{7, 3}, {2, 2}, {3}},           //
      {{2, 3}, {2, 1, 1, 1}},          // over the tile counts
      {{2}, {2, 2}},                   // interleaving tiles
      {{3}, {2, 2}},                   //
      {{2, 2}, {3, 2, 1}},             //
      {{4}, {1, 2}, {2, 1}},           //
      {{2, 2, 2, 2}},                  // longer than the rank (up to 3)
      {{2, 1, 3, 2, 2}, {2, 2, 1}},    //
      {{kCombine, 4}},                 // merging
      {{kCombine, kCombine, 2}},       //
      {{2, kCombine, 3}},              //
      {{kCombine, 2}, {kCombine, 3}},  // merging tile counts and places within a tile
      {{kCombine, 3, 2}, {2, kCombine, 2}},
      {{3}, {kCombine, 2}},
      {{4, 2}, {kCombine, kCombine, 3, 1}},
      {{2, 2}, {kCombine, kCombine, kCombine, 5}},
  };
  return lists;
}

Shape MakeTiled(const Index& sizes, const Index& minor_to_major, const TileList& tiles) {
  Shape shape(F32, sizes);  // sizes may be too large for ShapeUtil::MakeShape
  *shape.mutable_layout() = Layout(minor_to_major);
  for (const Index& tile : tiles) *shape.mutable_layout()->add_tiles() = Tile(tile);
  return shape;
}

TEST(IndexMapTest, AgreesWithBruteForceOnAllSmallShapes) {
  for (int rank = 0; rank <= 3; ++rank) {
    const Index sizes_of_rank = rank <= 2 ? Index{1, 2, 3, 7, 8, 9} : Index{1, 2, 3, 8};
    Index minor_to_major(rank);
    std::iota(minor_to_major.begin(), minor_to_major.end(), 0);
    do {
      for (const Index& sizes : AllIndicesOver(sizes_of_rank, rank)) {
        for (const TileList& tiles : TileLists()) {
          ExpectAgreesWithBruteForce(MakeTiled(sizes, minor_to_major, tiles));
          if (HasFatalFailure()) return;
        }
      }
    } while (std::next_permutation(minor_to_major.begin(), minor_to_major.end()));
  }
}

class RandomShapes {
 public:
  explicit RandomShapes(uint32_t seed) : random_(seed) {}
  int64_t Pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

  // Up to `max_rank` dimensions and 4 tiles, one entry in six a `*`.
  Shape Next(int max_rank, int64_t max_size, int64_t max_tile) {
    Index sizes(Pick(0, max_rank)), minor_to_major(sizes.size());
    for (int64_t& size : sizes) size = Pick(0, 60) == 0 ? 0 : Pick(1, max_size);
    std::iota(minor_to_major.begin(), minor_to_major.end(), 0);
    std::shuffle(minor_to_major.begin(), minor_to_major.end(), random_);
    TileList tiles(Pick(0, 4));
    for (Index& tile : tiles) {
      tile.resize(Pick(1, 5));
      for (int64_t& entry : tile) entry = Pick(0, 5) == 0 ? kCombine : Pick(1, max_tile);
      if (tile.back() == kCombine) tile.back() = Pick(1, max_tile);
    }
    return MakeTiled(sizes, minor_to_major, tiles);
  }

 private:
  std::mt19937 random_;
};

TEST(IndexMapTest, AgreesWithBruteForceOnRandomSmallShapes) {
  constexpr uint32_t kSeed = 20261121;
  RandomShapes random(kSeed);
  for (int i = 0; i < 3000; ++i) {
    const Shape shape = random.Next(5, 6, 5);
    const absl::StatusOr<IndexMap> map = IndexMap::Make(shape);
    ASSERT_TRUE(map.ok()) << map.status();
    if (map->tiled_element_count() > 5000) continue;
    ExpectAgreesWithBruteForce(shape);
    if (HasFatalFailure()) FAIL() << "seed " << kSeed << ", shape number " << i;
  }
}

// Large sizes, where only samples can be looked at; the exact value by the formula.
TEST(IndexMapTest, AgreesWithTheFormulaOnRandomLargeShapes) {
  constexpr uint32_t kSeed = 4711;
  RandomShapes random(kSeed);
  int made = 0;
  for (int i = 0; i < 20000; ++i) {
    const int64_t magnitude = random.Pick(3, 40);
    const Shape shape = random.Next(4, int64_t{1} << magnitude, int64_t{1} << random.Pick(1, 20));
    const absl::StatusOr<IndexMap> map = IndexMap::Make(shape);
    if (!map.ok()) {
      EXPECT_THAT(map.status().message(), testing::AnyOf(HasSubstr("does not fit"), HasSubstr("more than 2^63-1")));
      continue;
    }
    if (map->element_count() == 0) continue;
    ++made;
    SCOPED_TRACE(absl::StrCat("seed ", kSeed, " number ", i, ": ", shape.ToString(true), "\n", map->ToString()));
    Index index(shape.dimensions_size()), back(index.size());
    for (int sample = 0; sample < 10; ++sample) {
      for (size_t d = 0; d < index.size(); ++d) {
        const int64_t last = shape.dimensions(d) - 1;
        index[d] = sample == 0 ? last : random.Pick(0, last);  // the last element goes furthest
      }
      const int64_t physical = map->LogicalToPhysical(index);
      ASSERT_EQ(physical, oracle::MapIndex(shape, index));
      ASSERT_TRUE(map->PhysicalToLogical(physical, absl::MakeSpan(back)));
      ASSERT_EQ(back, index);
      const int64_t position = random.Pick(0, map->padded_element_count() - 1);
      if (!map->PhysicalToLogical(position, absl::MakeSpan(back))) continue;
      ASSERT_EQ(map->LogicalToPhysical(back), position);
    }
  }
  EXPECT_GT(made, 5000);
}

// Quotients by divisors that are no power of two, at the far end of 63 bits.
TEST(IndexMapTest, DivisionIsExactUpTo63Bits) {
  for (int64_t tile : {3, 5, 7, 641, 1000003, (1 << 30) - 1}) {
    for (int64_t size : {int64_t{1} << 62, (int64_t{1} << 60) - 1, int64_t{1000000007} * 1000000009}) {
      Shape shape = ShapeUtil::MakeShape(S8, {size});
      *shape.mutable_layout()->add_tiles() = Tile({tile});
      *shape.mutable_layout()->add_tiles() = Tile({tile, 1});  // swaps tile counts and places within a tile
      shape.mutable_layout()->set_element_size_in_bits(1);     // sizes must fit in bits, too
      const absl::StatusOr<IndexMap> map = IndexMap::Make(shape);
      ASSERT_TRUE(map.ok()) << map.status();
      Index back(1);
      for (int64_t i :
           {int64_t{0}, tile - 1, tile, tile + 1, size / tile * tile - 1, size / tile * tile - tile, size - 1}) {
        const int64_t physical = map->LogicalToPhysical({i});
        EXPECT_EQ(physical, oracle::MapIndex(shape, {i})) << tile << " " << size;
        EXPECT_TRUE(map->PhysicalToLogical(physical, absl::MakeSpan(back)));
        EXPECT_EQ(back[0], i);
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------------------ errors

TEST(IndexMapTest, RefusesWhatHasNoPositions) {
  EXPECT_THAT(MapError("(f32[2])"), HasSubstr("only an array has positions in memory: (f32[2])"));
  EXPECT_THAT(MapError("token[]"), HasSubstr("only an array"));
  EXPECT_THAT(MapError("f32[2,?]"), HasSubstr("dimension 1 of f32[2,?] is unbounded"));
  EXPECT_THAT(MapError("f32[2,3]{1,1}"), HasSubstr("duplicate values"));
  EXPECT_THAT(MapError("f32[2]{0:T(0)}"), HasSubstr("invalid tiles"));
  EXPECT_THAT(MapError("f32[2]{0:T()}"), HasSubstr("invalid tiles"));
  EXPECT_THAT(
      MapError("f32[2,3]{1,0:T(2,*)}"),
      HasSubstr(
          "tile (2,*) of f32[2,3]{1,0:T(2,*)} ends with `*`, but there is no more minor dimension to merge with"));
  EXPECT_THAT(MapError("f32[2]{0:T(*)}"), HasSubstr("ends with `*`"));
  EXPECT_THAT(MapError("f32[2]{0:E(-3)}"), HasSubstr("negative"));
  EXPECT_FALSE(IndexMap::Make(Shape()).ok());
  Shape no_layout = ShapeUtil::MakeShape(F32, {2});
  no_layout.clear_layout();
  EXPECT_THAT(IndexMap::Make(no_layout).status().message(), HasSubstr("does not have a layout"));
}

TEST(IndexMapTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(MapError("f32[4294967296,4294967296]"), HasSubstr("does not fit in 63 bits"));
  EXPECT_THAT(MapError("s16[4611686018427387904]"), HasSubstr("does not fit in 63 bits"));  // 2^63 bytes
  EXPECT_EQ(MapOf("s8[1152921504606846975]").byte_size(), 1152921504606846975);
  EXPECT_THAT(MapError("f32[3]{0:T(4611686018427387904,4611686018427387904)}"), HasSubstr("does not fit in 63 bits"));
  EXPECT_THAT(MapError("f32[3]{0:T(9223372036854775807)}"), HasSubstr("does not fit in 63 bits"));
  EXPECT_THAT(MapError("f32[3]{0:T(2)L(9223372036854775807)}"), HasSubstr("does not fit in 63 bits"));
  EXPECT_THAT(MapError("f32[9]{0:E(9223372036854775807)}"), HasSubstr("does not fit in 63 bits"));
  EXPECT_THAT(MapError("f32[3]{0:M(9223372036854775807)}"), HasSubstr("does not fit in 63 bits"));
  EXPECT_THAT(MapError("f32[4294967296,4294967296]{1,0:T(*,2)}"), HasSubstr("merges have more than 2^63-1 elements"));
  EXPECT_EQ(MapOf("f32[4294967296,0,4294967296]{2,1,0:T(4611686018427387904,8)}").padded_element_count(), 0);
}

TEST(IndexMapTest, TakesHostileLayoutsInLinearTime) {
  std::string many_tiles = "f32[8]{0:T";
  for (int i = 0; i < 20000; ++i) many_tiles += "(1)";
  const IndexMap tiles = MapOf(many_tiles + "}");
  EXPECT_EQ(tiles.physical_dimensions().size(), 20001);
  EXPECT_EQ(tiles.LogicalToPhysical({5}), 5);

  std::string ragged = "f32[5]{0:T";
  for (int i = 0; i < 30; ++i) ragged += "(3)(2)";  // each pair makes 2 of every 3 cells 4
  EXPECT_EQ(MapOf(ragged + "}").LogicalToPhysical({0}), 0);
  for (int i = 0; i < 30000; ++i) ragged += "(3)(2)";
  EXPECT_THAT(MapError(ragged + "}"), HasSubstr("does not fit in 63 bits"));

  std::string rank_1000 = "f32[2";
  for (int i = 1; i < 1000; ++i) rank_1000 += i < 40 ? ",2" : ",1";
  const IndexMap wide = MapOf(rank_1000 + "]");
  Index last(1000, 0);
  std::fill(last.begin(), last.begin() + 40, 1);
  EXPECT_EQ(wide.LogicalToPhysical(last), (int64_t{1} << 40) - 1);
  Index back(1000);
  EXPECT_TRUE(wide.PhysicalToLogical((int64_t{1} << 40) - 1, absl::MakeSpan(back)));
  EXPECT_EQ(back, last);

  std::string long_tile = "f32[7]{0:T(2";
  for (int i = 0; i < 2000; ++i) long_tile += i % 2 == 0 ? ",1" : ",*";
  const IndexMap long_map = MapOf(long_tile + ",3)}");
  EXPECT_EQ(long_map.padded_element_count(), 18);
  EXPECT_EQ(long_map.LogicalToPhysical({6}), 12);
  Index one(1);
  EXPECT_TRUE(long_map.PhysicalToLogical(12, absl::MakeSpan(one)));
  EXPECT_EQ(one[0], 6);
  EXPECT_FALSE(long_map.PhysicalToLogical(3, absl::MakeSpan(one)));
}

#if !KASHI_SANITIZED
TEST(IndexMapTest, QueriesDoNotAllocate) {
  for (const char* text :
       {"f32[8,16,32,64]", "bf16[8,1,128,256]{3,2,0,1:T(8,128)(2,1)}", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
        "f32[40,60]{1,0:T(3,5)(2,2)}", "f32[10]{0:T(2,4)}", "f32[3,4,5,6,2,2,2,2]{7,6,5,4,3,2,1,0:T(3)(2)(*,3)}"}) {
    const IndexMap map = MapOf(text);
    Index index(map.rank());
    int64_t elements = 0;
    const int64_t before = allocation_count.load();
    for (int64_t p = 0; p < 1000 && p < map.padded_element_count(); ++p) {
      if (!map.PhysicalToLogical(p, absl::MakeSpan(index))) continue;
      elements += map.LogicalToPhysical(index) == p;
    }
    EXPECT_EQ(allocation_count.load(), before) << text;
    EXPECT_GT(elements, 0);
  }
}
#endif

}  // namespace
}  // namespace kashi::array
