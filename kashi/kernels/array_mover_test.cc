#include "kashi/kernels/array_mover.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/index_map.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"
#include "kashi/kernels/physical_order.h"
#include "kashi/literal/literal_oracle_testing.h"

namespace kashi::kernels {
namespace {

using literal::testing_oracle::Random;

DimensionVector RowMajor(absl::Span<const int64_t> sizes) {
  DimensionVector strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d]) strides[d] = stride;
  return strides;
}

struct BoxMove {
  std::vector<int64_t> bounds;
  DimensionVector from;
  DimensionVector to;
};

// out[i_perm[0], …] = in[i]
BoxMove Transpose(const std::vector<int64_t>& sizes, const std::vector<int64_t>& permutation) {
  const DimensionVector strides = RowMajor(sizes);
  BoxMove move;
  for (int64_t d : permutation) {
    move.bounds.push_back(sizes[d]);
    move.from.push_back(strides[d]);
  }
  move.to = RowMajor(move.bounds);
  return move;
}

// The definition, element by element, one index after the other.
void MoveByDefinition(const BoxMove& move, int bytes, const char* source, char* target) {
  std::vector<int64_t> index(move.bounds.size(), 0);
  if (std::count(move.bounds.begin(), move.bounds.end(), 0) > 0) return;
  while (true) {
    const int64_t from = std::inner_product(index.begin(), index.end(), move.from.begin(), int64_t{0});
    const int64_t to = std::inner_product(index.begin(), index.end(), move.to.begin(), int64_t{0});
    std::memcpy(target + to * bytes, source + from * bytes, bytes);
    size_t d = index.size();
    while (d > 0 && ++index[d - 1] == move.bounds[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

// Looks at every byte of the target, those that are not written too; three times, so that kept plans are used as well.
void CheckMove(const BoxMove& move, int bytes) {
  int64_t low = 0, high = 0, end = 0;
  for (size_t d = 0; d < move.bounds.size(); ++d) {
    const int64_t last = std::max<int64_t>(0, move.bounds[d] - 1);
    (move.from[d] < 0 ? low : high) += move.from[d] * last;
    end += move.to[d] * last;
  }
  std::vector<char> source((high - low + 1) * bytes), expected((end + 1) * bytes, 'x');
  uint32_t state = 1;
  for (char& byte : source) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  MoveByDefinition(move, bytes, source.data() - low * bytes, expected.data());
  for (int i = 0; i < 3; ++i) {
    std::vector<char> target((end + 1) * bytes, 'x');
    ASSERT_TRUE(MoveBox(move.bounds, bytes, {source.data() - low * bytes, move.from}, {target.data(), move.to}).ok());
    ASSERT_TRUE(target == expected) << ::testing::PrintToString(move.bounds) << ", " << bytes << " bytes, move " << i;
  }
}

BoxRoute RouteOfMove(const BoxMove& move, int bytes) { return RouteOf(move.bounds, bytes, move.from, move.to); }

TEST(ArrayMoverTest, AllSmallTransposes) {
  for (int rank = 2; rank <= 4; ++rank) {
    std::vector<int64_t> permutation(rank);
    std::iota(permutation.begin(), permutation.end(), 0);
    const std::vector<int64_t> sizes = {17, 5, 12, 9};
    do {
      for (int bytes : {1, 2, 4, 8, 16})
        CheckMove(Transpose({sizes.begin(), sizes.begin() + rank}, permutation), bytes);
    } while (std::next_permutation(permutation.begin(), permutation.end()));
  }
}

TEST(ArrayMoverTest, LargeTransposes) {
  for (int bytes : {1, 2, 4, 8, 16}) {
    CheckMove(Transpose({301, 203}, {1, 0}), bytes);
    CheckMove(Transpose({40, 31, 70}, {2, 0, 1}), bytes);
    CheckMove(Transpose({6, 20, 7, 33}, {0, 3, 1, 2}), bytes);
    CheckMove(Transpose({3, 40000}, {1, 0}), bytes);
    CheckMove(Transpose({2, 9, 8, 11, 16}, {4, 2, 0, 3, 1}), bytes);
  }
  CheckMove(Transpose({800, 900}, {1, 0}), 16);
}

// Pieces of 32 MiB, the last one shorter; and pieces of one step.
TEST(ArrayMoverTest, TransposesInPieces) {
  CheckMove(Transpose({2000, 2203}, {1, 0}), 8);
  CheckMove(Transpose({2, 1700, 1301}, {0, 2, 1}), 8);
}

TEST(ArrayMoverTest, RowsOfAnyLength) {
  for (int bytes : {1, 2, 4, 8, 16}) {
    for (int64_t row : {1, 2, 3, 5, 16, 31, 100, 257}) {
      const int64_t rows = 40000 / row;
      CheckMove({{rows, row}, {row, 1}, {row + 2, 1}}, bytes);       // a concatenation
      CheckMove({{rows, row}, {row + 2, 1}, {row, 1}}, bytes);       // a slice
      CheckMove({{rows, row}, {row, -1}, {row, 1}}, bytes);          // reversed
      CheckMove({{rows, row}, {1, 0}, {row, 1}}, bytes);             // each element many times
      CheckMove({{rows, row}, {0, 1}, {row, 1}}, bytes);             // a row many times
      CheckMove({{rows, row}, {2 * row, 2}, {row, 1}}, bytes);       // every second element
      CheckMove({{rows, row}, {row, 1}, {3 * row, 3}}, bytes);       // interior padding
      CheckMove({{rows, row}, {1, 2 * rows}, {row + 3, 1}}, bytes);  // a slice of a transpose
    }
  }
}

TEST(ArrayMoverTest, RandomBoxes) {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    const Shape from = random.Array(U8, random.Dimensions(5, 60000));
    const Shape to = random.Array(U8, from.dimensions());
    BoxMove move{{from.dimensions().begin(), from.dimensions().end()},
                 literal::ElementStrides(from),
                 literal::ElementStrides(to)};
    for (size_t d = 0; d < move.bounds.size(); ++d) {
      if (random.Number(0, 9) == 0) move.from[d] = 0;
      if (random.Number(0, 9) == 0) move.from[d] = -move.from[d];
      if (random.Number(0, 3) == 0) move.bounds[d] = random.Number(0, move.bounds[d]);
    }
    CheckMove(move, 1 << random.Number(0, 4));
  }
}

TEST(ArrayMoverTest, Routes) {
  EXPECT_EQ(RouteOfMove(Transpose({8, 8}, {1, 0}), 4), BoxRoute::kWalk) << "small";
  EXPECT_EQ(RouteOfMove(Transpose({64, 64}, {1, 0}), 4), BoxRoute::kPlanIfAgain);
  EXPECT_EQ(RouteOfMove(Transpose({256, 256}, {1, 0}), 4), BoxRoute::kPlan);
  EXPECT_EQ(RouteOfMove(Transpose({256, 256}, {0, 1}), 4), BoxRoute::kWalk) << "a copy";
  EXPECT_EQ(RouteOfMove(Transpose({256, 256}, {1, 0}), 16), BoxRoute::kWalk) << "whole words, within the caches";
  EXPECT_EQ(RouteOfMove(Transpose({1024, 1024}, {1, 0}), 16), BoxRoute::kPlan);
  EXPECT_EQ(RouteOfMove({{100000, 3}, {3, 1}, {5, 1}}, 4), BoxRoute::kPlan) << "short rows";
  EXPECT_EQ(RouteOfMove({{1000, 300}, {300, 1}, {500, 1}}, 4), BoxRoute::kWalk) << "long rows";
  EXPECT_EQ(RouteOfMove({{1000, 1000}, {0, 0}, {1000, 1}}, 4), BoxRoute::kWalk) << "a fill";
}

// A move of several pieces ends before its last one.
TEST(ArrayMoverTest, Stops) {
  const BoxMove move = Transpose({3000, 6001}, {1, 0});
  std::vector<int32_t> source(3000 * 6001, 1), target(3000 * 6001, 0);
  int questions = 0;
  const absl::Status status = MoveBox(move.bounds, 4, {reinterpret_cast<const char*>(source.data()), move.from},
                                      {reinterpret_cast<char*>(target.data()), move.to}, [&] {
                                        return ++questions > 3 ? absl::CancelledError("stopped") : absl::OkStatus();
                                      });
  EXPECT_TRUE(absl::IsCancelled(status));
  EXPECT_EQ(target.front(), 1);
  EXPECT_EQ(target.back(), 0);
}

TEST(ArrayMoverTest, OtherElementSizesDie) { EXPECT_DEATH(WordTypeOfBytes(3), "3 bytes"); }

// ---- PhysicalOrder, element by element against IndexMap

void CheckOrder(absl::string_view text, int bytes) {
  const Shape shape = array::S(text);
  const PhysicalOrder order = PhysicalOrder::Make(shape).value();
  const IndexMap& map = order.map();
  std::vector<char> logical(map.element_count() * bytes), physical(map.padded_element_count() * bytes, 'x');
  uint32_t state = 1;
  for (char& byte : logical) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  std::vector<char> expected = physical;
  std::vector<int64_t> index(shape.dimensions().size(), 0);
  for (int64_t i = 0; i < map.element_count(); ++i) {
    int64_t rest = i;
    for (size_t d = index.size(); d-- > 0; rest /= shape.dimensions(d)) index[d] = rest % shape.dimensions(d);
    std::memcpy(&expected[map.LogicalToPhysical(index) * bytes], &logical[i * bytes], bytes);
  }
  ASSERT_TRUE(order.Spread(logical.data(), bytes, physical.data(), NeverStopped).ok());
  ASSERT_TRUE(physical == expected) << text << ", " << bytes << " bytes";
  std::vector<char> collected(logical.size());
  ASSERT_TRUE(order.Collect(physical.data(), bytes, collected.data(), NeverStopped).ok());
  ASSERT_TRUE(collected == logical) << text << ", " << bytes << " bytes";
}

TEST(PhysicalOrderTest, AgreesWithTheIndexMap) {
  for (int bytes : {1, 2, 4, 8, 16}) {
    for (const char* text :
         {"u8[]", "u8[0,3]{1,0:T(8,128)}", "u8[7]{0:T(128)}", "u8[20,300]{1,0:T(8,128)}", "u8[20,300]{0,1:T(8,128)}",
          "u8[20,300]{1,0:T(8,128)(2,1)}", "u8[20,300]{1,0:T(8,128)(4,1)}", "u8[3,20,130]{2,1,0:T(8,128)(4,1)}",
          "u8[3,20,130]{0,2,1:T(8,128)}", "u8[3,5,7]{1,2,0:T(2,128)}", "u8[20,300]{1,0:T(8,128)(3,1)}",
          "u8[5,6,7]{2,1,0:T(*,3)}", "u8[20,30]{0,1}", "u8[2,3,4,5,6]{0,4,2,3,1:T(8,128)}", "u8[1,1,9]{2,1,0:T(2,128)}",
          "u8[10,20]{1,0:T(2,2,4)}", "u8[33,65]{1,0:T(8,16)(2,4)(2,2)}"}) {
      CheckOrder(text, bytes);
    }
  }
  CheckOrder("u8[700,900]{1,0:T(8,128)}", 4);
  CheckOrder("u8[1451,1500]{1,0:T(8,128)}", 16);  // in pieces
  CheckOrder("u8[2,1100,1030]{1,2,0:T(8,128)(2,1)}", 16);
}

}  // namespace
}  // namespace kashi::kernels
