#include "kashi/relayout/nests/boxes.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/index_map.h"
#include "kashi/array/index_map_oracle_testing.h"
#include "kashi/array/shape_parser.h"
#include "kashi/relayout/relayout_trial_testing.h"

namespace kashi::relayout {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

absl::StatusOr<std::vector<Box>> BoxesOf(absl::string_view from, absl::string_view to) {
  const auto digits = [](absl::string_view text) {
    return DigitsOf(Placement::OfLayout(ParseShape(text).value()).value()).value();
  };
  return BoxesOf(digits(from), digits(to));
}
absl::StatusOr<std::vector<Box>> PaddingOf(absl::string_view to) {
  return PaddingBoxesOf(DigitsOf(Placement::OfLayout(ParseShape(to).value()).value()).value());
}
std::vector<std::string> ToStrings(const std::vector<Box>& boxes) {
  std::vector<std::string> texts;
  for (const Box& box : boxes) texts.push_back(box.ToString());
  std::sort(texts.begin(), texts.end());
  return texts;
}

// --------------------------------------------------------------------------------------------------------------
// examples

TEST(BoxesTest, Examples) {
  const struct {
    const char* from;
    const char* to;
    std::vector<std::string> want;  // sorted
  } kCases[] = {
      {"u8[]", "u8[]", {"at 0 -> 0: one element"}},
      {"u8[1,1]", "u8[1,1]{0,1}", {"at 0 -> 0: one element"}},
      {"u8[3,0]", "u8[3,0]", {}},
      {"u8[3,5]", "u8[3,5]", {"at 0 -> 0: 15 (1 -> 1)"}},
      {"u8[3,5]", "u8[3,5]{0,1}", {"at 0 -> 0: 5 (1 -> 3) x 3 (5 -> 1)"}},
      {"f32[2,3,4]", "f32[2,3,4]{1,0,2}", {"at 0 -> 0: 4 (4 -> 24) x 6 (16 -> 4)"}},  // two dimensions move as one
      {"u8[20]{0:T(8)}", "u8[20]", {"at 0 -> 0: 20 (1 -> 1)"}},  // the cut of the tile does not show
      {"u8[2,12]", "u8[2,12]{1,0:T(1,8)}", {"at 0 -> 0: 2 (12 -> 16) x 12 (1 -> 1)"}},
      {"u8[2,9]", "u8[2,9]{1,0:T(1,8)}", {"at 0 -> 0: 2 (9 -> 16) x 9 (1 -> 1)"}},  // one value behind the cut
      {"u8[2,12]",
       "u8[2,12]{1,0:T(2,8)}",
       {"at 0 -> 0: 2 (12 -> 8) x 8 (1 -> 1)", "at 8 -> 16: 2 (12 -> 8) x 4 (1 -> 1)"}},  // ragged: a box of its own
      {"s4[2,3]{1,0:E(4)}", "s4[2,3]{0,1:E(4)}", {"at 0 -> 0: 3 (4 -> 8 bits) x 2 (12 -> 4 bits)"}},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(ToStrings(BoxesOf(c.from, c.to).value()), ElementsAreArray(c.want)) << c.from << " -> " << c.to;
  }
}

TEST(BoxesTest, AreFewForRaggedTiles) {
  EXPECT_EQ(BoxesOf("f32[1000,1001]", "f32[1000,1001]{1,0:T(8,128)}")->size(), 2);
  EXPECT_EQ(BoxesOf("f32[1001,1001]", "f32[1001,1001]{1,0:T(8,128)}")->size(), 4);
  EXPECT_EQ(BoxesOf("f32[1000,1001]{1,0:T(8,128)}", "f32[1000,1001]{0,1:T(8,128)}")->size(), 6);
}

TEST(BoxesTest, RefusesTooMany) {
  EXPECT_EQ(BoxesOf("u8[100000]{0:T(641)}", "u8[100000]{0:T(643)}").status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(BoxesOf("u8[100000]{0:T(641)}", "u8[100000]{0:T(643)}").status().message(), HasSubstr("meet too seldom"));
}

TEST(BoxesTest, PaddingExamples) {
  EXPECT_THAT(*PaddingOf("u8[3,5]"), IsEmpty());
  EXPECT_THAT(*PaddingOf("u8[8]{0:T(8)}"), IsEmpty());
  EXPECT_THAT(ToStrings(*PaddingOf("u8[5]{0:T(8)}")), ElementsAre("at 0 -> 5: 3 (0 -> 1)"));
  EXPECT_THAT(*PaddingOf("u8[0]{0:T(8)}"), IsEmpty());
}

// -------------------------------------------------------------------------------------------------------- against all

// Calls f(from, to) with the offsets of each element of a box.
template <typename F>
void ForEach(const Box& box, F f) {
  std::vector<int64_t> extents, index(box.loops.size(), 0);
  for (const Loop& loop : box.loops) extents.push_back(loop.extent);
  for (int64_t left = box.ElementCount(); left > 0; --left) {
    int64_t from = box.from_offset, to = box.to_offset;
    for (size_t l = 0; l < index.size(); ++l) {
      from += index[l] * box.loops[l].from;
      to += index[l] * box.loops[l].to;
    }
    f(from, to);
    array::index_map_oracle::Bump(extents, &index);
  }
}

void ExpectIsInOrder(const Box& box) {
  for (size_t l = 0; l < box.loops.size(); ++l) {
    EXPECT_GT(box.loops[l].extent, 1) << box.ToString();
    EXPECT_GT(box.loops[l].to, 0) << box.ToString();
    if (l == 0) continue;
    const Loop &outer = box.loops[l - 1], &inner = box.loops[l];
    EXPECT_GE(outer.to, inner.to) << box.ToString();
    EXPECT_FALSE(outer.from == inner.extent * inner.from && outer.to == inner.extent * inner.to)
        << "can be merged: " << box.ToString();
  }
}

// Every element once, from its old position to its new one.
void ExpectAreAllElements(const Placement& from, const Placement& to) {
  const absl::StatusOr<Digits> from_digits = DigitsOf(from), to_digits = DigitsOf(to);
  if (!from_digits.ok() || !to_digits.ok()) return;
  const absl::StatusOr<std::vector<Box>> boxes = BoxesOf(*from_digits, *to_digits);
  if (!boxes.ok()) return;
  std::map<int64_t, int64_t> source_of;
  for (const Box& box : *boxes) {
    ExpectIsInOrder(box);
    ForEach(box, [&](int64_t from_bit, int64_t to_bit) { ASSERT_TRUE(source_of.emplace(to_bit, from_bit).second); });
  }
  const std::vector<int64_t> sizes(from.dimensions().begin(), from.dimensions().end());
  std::vector<int64_t> index(sizes.size(), 0);
  ASSERT_EQ(array::index_map_oracle::Product(sizes), static_cast<int64_t>(source_of.size()));
  for (size_t left = source_of.size(); left > 0; --left) {
    const auto found = source_of.find(to.BitOffset(index));
    ASSERT_TRUE(found != source_of.end());
    ASSERT_EQ(found->second, from.BitOffset(index));
    array::index_map_oracle::Bump(sizes, &index);
  }
}

// Each position without an element once.
void ExpectAreAllPadding(const Placement& to) {
  const absl::StatusOr<Digits> digits = DigitsOf(to);
  if (!digits.ok() || !to.is_whole_buffer()) return;
  const absl::StatusOr<std::vector<Box>> boxes = PaddingBoxesOf(*digits);
  if (!boxes.ok()) return;
  std::vector<bool> is_padding(to.map().tiled_element_count(), false);
  for (const Box& box : *boxes) {
    ExpectIsInOrder(box);
    ForEach(box, [&](int64_t, int64_t to_bit) {
      const int64_t position = (to_bit - 8 * to.map().prefix_bytes()) / to.slot_bits();
      ASSERT_TRUE(position >= 0 && position < to.map().tiled_element_count());
      ASSERT_FALSE(is_padding[position]) << position;
      is_padding[position] = true;
    });
  }
  std::vector<int64_t> index(to.dimensions().size());
  for (size_t p = 0; p < is_padding.size(); ++p) {
    ASSERT_NE(is_padding[p], to.map().PhysicalToLogical(p, absl::MakeSpan(index))) << p;
  }
}

// Steps that nest, that do not, and that do so by way of a third one (8, 4 and 3), cut at every place.
TEST(BoxesTest, AreAllElementsOfEveryPairOfTilings) {
  const std::vector<relayout_testing::TileList> tilings = {
      {},         {{2}},      {{3}},      {{4}},       {{6}},         {{4}, {2, 1}}, {{3}, {2, 1}}, {{4}, {2}},
      {{6}, {3}}, {{6}, {2}}, {{8}, {4}}, {{12}, {4}}, {{2}, {2, 2}}, {{2}, {3, 2}}, {{5}},         {{8}, {4}, {2, 1}},
  };
  for (const auto& from_tiles : tilings) {
    for (const auto& to_tiles : tilings) {
      for (int64_t size : {1, 2, 3, 5, 7, 8, 11, 12, 13, 16, 23, 24, 25, 31, 36, 47, 61}) {
        for (int64_t start : {0, 1, 3, 7}) {
          const Shape from = relayout_testing::MakeShape(U8, {size + start}, {0}, from_tiles);
          const Shape to = relayout_testing::MakeShape(U8, {size}, {0}, to_tiles);
          SCOPED_TRACE(
              absl::StrCat("[", start, ":", start + size, "] of ", from.ToString(true), " -> ", to.ToString(true)));
          const Placement part = Placement::OfLayout(from)->Slice({start}, {size}).value();
          ExpectAreAllElements(part, Placement::OfLayout(to).value());
          ExpectAreAllElements(Placement::OfLayout(to).value(), part);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(BoxesTest, AreAllElementsAndAllPadding) {
  std::mt19937 random(6);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  relayout_testing::TrialLimits limits;
  limits.max_elements = 300;
  limits.max_size = 40;
  for (int i = 0; i < 3000; ++i) {
    const relayout_testing::Trial trial = relayout_testing::DrawTrial(pick, limits);
    const Placement from = relayout_testing::PlacementOf(trial.from).value();
    const Placement to = relayout_testing::PlacementOf(trial.to).value();
    SCOPED_TRACE(ToString(trial));
    ExpectAreAllElements(from, to);
    if (to.has_layout() && to.map().tiled_element_count() < 20000) ExpectAreAllPadding(to);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace kashi::relayout
