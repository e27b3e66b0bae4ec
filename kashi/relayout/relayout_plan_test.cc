#include "kashi/relayout/relayout_plan.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/relayout/relayout_trial_testing.h"

namespace kashi::relayout {
namespace {

using relayout_testing::Index;
using relayout_testing::Runner;
using relayout_testing::Trial;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using Bytes = std::vector<uint8_t>;

Placement PlacementOf(absl::string_view text) { return Placement::OfLayout(array::S(text)).value(); }
RelayoutPlan PlanOf(absl::string_view from, absl::string_view to, const RelayoutOptions& options = {}) {
  return RelayoutPlan::Make(array::S(from), array::S(to), options).value();
}
std::string ErrorOf(const absl::StatusOr<RelayoutPlan>& plan) {
  if (plan.ok()) return "no error";
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(plan.status().message());
}

// 0, 1, 2, …
Bytes Counting(int64_t count) {
  Bytes bytes(count);
  std::iota(bytes.begin(), bytes.end(), 0);
  return bytes;
}
Bytes Noise(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}
// The target after Execute, with 0xee in all its bytes before; both ways of execution give the same.
Bytes Executed(const RelayoutPlan& plan, const Bytes& source, int64_t target_bytes) {
  Bytes target(target_bytes, 0xee), by_index = target;
  plan.Execute(source.data(), target.data());
  plan.ExecuteByIndex(source.data(), by_index.data());
  EXPECT_EQ(target, by_index) << plan.ToString();
  return target;
}
Bytes Executed(const RelayoutPlan& plan, const Bytes& source) { return Executed(plan, source, plan.target_bytes()); }

RelayoutOptions Padding(std::optional<absl::uint128> padding) {
  RelayoutOptions options;
  options.padding = padding;
  return options;
}
RelayoutOptions Converting() {
  RelayoutOptions options;
  options.convert = true;
  return options;
}

// --------------------------------------------------------------------------------------------------------------
// examples

TEST(RelayoutPlanTest, Transposes) {
  EXPECT_THAT(Executed(PlanOf("u8[2,3]", "u8[2,3]{0,1}"), Counting(6)), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(Executed(PlanOf("u8[2,3]{0,1}", "u8[2,3]"), Counting(6)), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(Executed(PlanOf("u16[2,2]", "u16[2,2]{0,1}"), Counting(8)), ElementsAre(0, 1, 4, 5, 2, 3, 6, 7));
  EXPECT_THAT(Executed(PlanOf("u8[2,2,3]", "u8[2,2,3]{0,2,1}"), Counting(12)),
              ElementsAre(0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11));
}

TEST(RelayoutPlanTest, TilesAndPadding) {
  const RelayoutPlan plan = PlanOf("u8[3,3]", "u8[3,3]{1,0:T(2,2)}", Padding(255));
  EXPECT_EQ(plan.source_bytes(), 9);
  EXPECT_EQ(plan.target_bytes(), 16);
  const Bytes tiled = {0, 1, 3, 4, 2, 255, 5, 255, 6, 7, 255, 255, 8, 255, 255, 255};
  EXPECT_EQ(Executed(plan, Counting(9)), tiled);
  EXPECT_EQ(Executed(PlanOf("u8[3,3]{1,0:T(2,2)}", "u8[3,3]"), tiled), Counting(9));
}

TEST(RelayoutPlanTest, TilesInTiles) {
  EXPECT_THAT(Executed(PlanOf("u8[2,4]", "u8[2,4]{1,0:T(2,4)(2,1)}"), Counting(8)),
              ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(Executed(PlanOf("u8[6]", "u8[6]{0:T(3)(2)}"), Counting(6)), ElementsAre(0, 1, 2, 0, 3, 4, 5, 0));
}

TEST(RelayoutPlanTest, PackedElements) {
  EXPECT_THAT(Executed(PlanOf("u4[4]", "u4[4]{0:E(4)}"), {1, 2, 3, 4}), ElementsAre(0x21, 0x43));
  EXPECT_THAT(Executed(PlanOf("u4[4]{0:E(4)}", "u4[4]"), {0x21, 0x43}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Executed(PlanOf("u1[8]", "u1[8]{0:E(1)}"), {1, 0, 0, 0, 1, 1, 0, 1}), ElementsAre(0xb1));
  EXPECT_THAT(Executed(PlanOf("u2[2,2]{1,0:E(2)}", "u2[2,2]{0,1:E(2)}"), {0b11100100}), ElementsAre(0b11011000));
  EXPECT_THAT(Executed(PlanOf("u4[3]", "u4[3]{0:E(4)}"), {0xf1, 0xf2, 0xf3}), ElementsAre(0x21, 0x03));  // high bits go
}

// Narrow integers are in bytes, as everywhere in Kashi and in NumPy with ml_dtypes: narrow_int.h.
TEST(RelayoutPlanTest, UnpacksAsUnpackIntNDoes) {
  const Bytes packed = {0x18, 0xf0, 0x7a};
  Bytes want(6);
  primitive_util::UnpackIntN(S4, absl::MakeConstSpan(reinterpret_cast<const char*>(packed.data()), 3),
                             absl::MakeSpan(reinterpret_cast<char*>(want.data()), 6));
  EXPECT_EQ(Executed(PlanOf("s4[6]{0:E(4)}", "s4[6]"), packed), want);
}

TEST(RelayoutPlanTest, WhatIsPaddedWithWhat) {
  const char* const kTiled = "u16[3]{0:T(2)L(8)}";
  const Bytes source = {1, 2, 3, 4, 5, 6};
  EXPECT_THAT(Executed(PlanOf("u16[3]", kTiled), source), ElementsAre(1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(Executed(PlanOf("u16[3]", kTiled, Padding(0x1234)), source),
              ElementsAre(1, 2, 3, 4, 5, 6, 0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 0x34, 0x12));
  EXPECT_THAT(Executed(PlanOf("u16[3]", kTiled, Padding(std::nullopt)), source),
              ElementsAre(1, 2, 3, 4, 5, 6, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee));
  EXPECT_THAT(Executed(PlanOf("u8[1]", "u8[1]{0:T(3)M(2)}"), {7}), ElementsAre(0xee, 0xee, 7, 0, 0));
}

TEST(RelayoutPlanTest, ThePrefixIsLeftAlone) {
  EXPECT_THAT(Executed(PlanOf("u8[2]{0:M(1)}", "u8[2]{0:T(4)M(3)}", Padding(9)), {1, 2, 3}),
              ElementsAre(0xee, 0xee, 0xee, 2, 3, 9, 9));
}

TEST(RelayoutPlanTest, PaddingOfPackedElements) {
  EXPECT_THAT(Executed(PlanOf("u4[3]{0:E(4)}", "u4[3]{0:T(8)E(4)}", Padding(0xa)), {0x21, 0xe3}),
              ElementsAre(0x21, 0xa3, 0xaa, 0xaa));
  EXPECT_THAT(Executed(PlanOf("u4[3]{0:E(4)}", "u4[3]{0:T(8)E(4)}", Padding(std::nullopt)), {0x21, 0x03}),
              ElementsAre(0x21, 0xe3, 0xee, 0xee));
}

// --------------------------------------------------------------------------------------------------- strides and
// slices

TEST(RelayoutPlanTest, StridesOfTheSource) {
  const Bytes source = Counting(12);
  const auto run = [&](const Index& sizes, const Index& strides, int64_t at) {
    const Placement from = Placement::OfStrides(U8, sizes, strides).value();
    const RelayoutPlan plan =
        RelayoutPlan::Make(from, Placement::OfLayout(ShapeUtil::MakeShape(U8, sizes)).value()).value();
    EXPECT_EQ(plan.source_bytes(), 0);
    Bytes target(plan.target_bytes());
    plan.Execute(source.data() + at, target.data());
    return target;
  };
  EXPECT_THAT(run({4}, {-1}, 11), ElementsAre(11, 10, 9, 8));
  EXPECT_THAT(run({4}, {0}, 5), ElementsAre(5, 5, 5, 5));
  EXPECT_THAT(run({2, 3}, {6, 2}, 0), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(run({3, 2}, {0, -4}, 4), ElementsAre(4, 0, 4, 0, 4, 0));
  EXPECT_THAT(run({3, 3}, {1, 1}, 0), ElementsAre(0, 1, 2, 1, 2, 3, 2, 3, 4));  // overlapping windows
}

TEST(RelayoutPlanTest, StridesOfTheTarget) {
  const Placement to = Placement::OfStrides(U16, {2, 2}, {-7, 3}).value();
  const RelayoutPlan plan = RelayoutPlan::Make(PlacementOf("u16[2,2]"), to).value();
  EXPECT_EQ(plan.target_bytes(), 0);
  Bytes target(14, 0xee);
  plan.Execute(Counting(8).data(), target.data() + 8);
  EXPECT_THAT(target, ElementsAre(0xee, 4, 5, 0xee, 6, 7, 0xee, 0xee, 0, 1, 0xee, 2, 3, 0xee));
}

TEST(RelayoutPlanTest, SlicesLeaveTheRestAlone) {
  const Placement to = PlacementOf("u8[4,4]{1,0:T(2,2)}").Slice({1, 1}, {2, 2}).value();
  EXPECT_THAT(Executed(RelayoutPlan::Make(PlacementOf("u8[2,2]"), to, Padding(0)).value(), Counting(4)),
              ElementsAre(0xee, 0xee, 0xee, 0, 0xee, 0xee, 1, 0xee, 0xee, 2, 0xee, 0xee, 3, 0xee, 0xee, 0xee));
  const Placement nibbles = PlacementOf("u4[6]{0:E(4)}").Slice({1}, {3}).value();
  EXPECT_THAT(Executed(RelayoutPlan::Make(PlacementOf("u4[3]"), nibbles, Padding(0)).value(), {1, 2, 3}),
              ElementsAre(0x1e, 0x32, 0xee));
}

TEST(RelayoutPlanTest, SlicesOfTheSource) {
  const Placement from = PlacementOf("u8[3,5]{1,0:T(2,4)}").Slice({1, 3}, {2, 2}).value();
  Bytes source(PlacementOf("u8[3,5]{1,0:T(2,4)}").map().byte_size());
  PlanOf("u8[3,5]", "u8[3,5]{1,0:T(2,4)}").Execute(Counting(15).data(), source.data());
  EXPECT_THAT(Executed(RelayoutPlan::Make(from, PlacementOf("u8[2,2]")).value(), source), ElementsAre(8, 9, 13, 14));
}

// --------------------------------------------------------------------------------------------------------------
// corners

TEST(RelayoutPlanTest, EmptyArrays) {
  for (const auto& [from, to] :
       {std::pair("f32[0]", "f32[0]"), std::pair("f32[3,0]", "f32[3,0]{0,1}"),
        std::pair("f32[0,3]{0,1}", "f32[0,3]{1,0:T(8,128)}"), std::pair("u4[0]{0:E(4)}", "u4[0]"),
        std::pair("f32[0]{0:T(8)}", "f32[0]{0:T(4)(2)}")}) {
    const RelayoutPlan plan = PlanOf(from, to);
    EXPECT_EQ(plan.target_bytes(), 0) << to;
    char untouched = 'x';
    plan.Execute(nullptr, &untouched);
    plan.ExecuteByIndex(nullptr, &untouched);
    EXPECT_EQ(untouched, 'x') << from << " " << to;
  }
  const Placement none = Placement::OfStrides(F32, {0, 2}, {int64_t{1} << 57, -3}).value();
  RelayoutPlan::Make(none, none)->Execute(nullptr, nullptr);
}

// A part without elements: all there was stays.
// Found by relayout_fuzz: the sizes beside a 0 may be of any product.
TEST(RelayoutPlanTest, EmptyArraysOfHugeSizes) {
  PlanOf("u8[4035225266123964416,0,1099511627776]{2,1,0:T(8,128)}",
         "u8[4035225266123964416,0,1099511627776]{0,1,2:T(8,128)(4,1)}")
      .Execute(nullptr, nullptr);
}

TEST(RelayoutPlanTest, EmptySlices) {
  const Placement none = PlacementOf("u8[4]{0:T(8)}").Slice({2}, {0}).value();
  EXPECT_THAT(Executed(RelayoutPlan::Make(PlacementOf("u8[0]"), none).value(), {}), Each(0xee));
}

TEST(RelayoutPlanTest, Scalars) {
  EXPECT_THAT(Executed(PlanOf("u16[]", "u16[]"), {1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(Executed(PlanOf("u8[]", "u8[]{:T(4)}", Padding(7)), {1}), ElementsAre(1, 7, 7, 7));
  EXPECT_THAT(Executed(PlanOf("u8[1,1,1]", "u8[1,1,1]{0,2,1:T(2,2)}", Padding(7)), {1}), ElementsAre(1, 7, 7, 7));
}

// 4 GiB from row to row: offsets have 64 bits.
TEST(RelayoutPlanTest, HugeStrides) {
  constexpr int64_t kRow = int64_t{1} << 32, kBytes = 3 * kRow;
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no address space";
  char* const base = static_cast<char*>(memory);
  const Bytes values = Counting(12);
  for (const Index& strides : {Index{kRow, 4}, Index{-kRow, 4}, Index{4, kRow}}) {
    const bool wide = strides[1] == kRow;
    const Placement rows = Placement::OfStrides(U8, wide ? Index{4, 3} : Index{3, 4}, strides).value();
    const Placement dense = Placement::OfLayout(ShapeUtil::MakeShape(U8, rows.dimensions())).value();
    char* const first = strides[0] < 0 ? base + 2 * kRow : base;
    RelayoutPlan::Make(dense, rows)->Execute(values.data(), first);
    Bytes back(12);
    RelayoutPlan::Make(rows, dense)->Execute(first, back.data());
    EXPECT_EQ(back, values);
  }
  munmap(memory, kBytes);
}

// Plans for arrays that no machine could hold: they must be made or refused, soon, and without overflow.
TEST(RelayoutPlanTest, MakesPlansOfHugeArrays) {
  for (const auto& [from, to] :
       {std::pair("u8[1152921504606846,300]", "u8[1152921504606846,300]{0,1}"),
        std::pair("f32[4398046511104,1001]", "f32[4398046511104,1001]{0,1:T(8,128)}"),
        std::pair("u1[1099511627776,1000003]{1,0:E(1)}", "u1[1099511627776,1000003]{0,1:T(2048)E(1)}"),
        std::pair("s8[288230376151711743]", "s8[288230376151711743]{0:T(3)(2)}"),
        std::pair("u8[1000000007,1000003]{1,0:T(641,643)}", "u8[1000000007,1000003]{1,0:T(647,653)}")}) {
    const absl::StatusOr<RelayoutPlan> plan = RelayoutPlan::Make(array::S(from), array::S(to));
    if (plan.ok()) {
      EXPECT_FALSE(plan->ToString().empty());
    } else {
      EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << plan.status();
    }
  }
  const int64_t kLargest = int64_t{1} << 57;
  for (int64_t stride : {kLargest, -kLargest}) {
    const Placement far = Placement::OfStrides(U8, {2, 1}, {stride, 0}).value_or(PlacementOf("u8[2,1]"));
    EXPECT_TRUE(RelayoutPlan::Make(far, PlacementOf("u8[2,1]")).ok());
    EXPECT_TRUE(RelayoutPlan::Make(PlacementOf("u8[2,1]"), far).ok());
    EXPECT_TRUE(RelayoutPlan::Make(far, far).ok());
  }
  // Elements that overlap: their bits are more than 2^63, the bits that they take up are not.
  for (int64_t size : {614399, 721000}) {  // of the second, the bytes too are more than 2^63
    const Placement overlapping = Placement::OfStrides(C128, {size, size, size}, {size, size, size}).value();
    EXPECT_TRUE(RelayoutPlan::Make(overlapping, overlapping).ok());
  }
}

TEST(RelayoutPlanTest, MakesPlansOfHostileTilesSoon) {
  std::string tiles;
  for (int i = 0; i < 4000; ++i) tiles += "(1,1)";
  EXPECT_THAT(Executed(PlanOf("u8[2,2]", "u8[2,2]{1,0:T" + tiles + "}"), Counting(4)), ElementsAre(0, 1, 2, 3));
  std::string sizes = "2", minor = "999";
  for (int i = 1; i < 1000; ++i) sizes += i < 6 ? ",2" : ",1";
  for (int i = 998; i >= 0; --i) minor += "," + std::to_string(i);
  const std::string wide = "u8[" + sizes + "]";
  EXPECT_EQ(Executed(PlanOf(wide, wide + "{" + minor + "}"), Counting(64)), Counting(64));
  // Ragged in each of many dimensions: boxes would be 2 to the power of that.
  EXPECT_EQ(Executed(PlanOf("u8[3,3,3,3,3,3]", "u8[3,3,3,3,3,3]{5,4,3,2,1,0:T(2,2,2,2,2,2)}"), Counting(729)).size(),
            4096);
}

// ---------------------------------------------------------------------------------------------------------------
// errors

TEST(RelayoutPlanTest, RefusesWhatIsNotOneArray) {
  const auto make = [](absl::string_view from, absl::string_view to, const RelayoutOptions& options = {}) {
    return ErrorOf(RelayoutPlan::Make(array::S(from), array::S(to), options));
  };
  EXPECT_THAT(make("f32[2,3]", "f32[3,2]"), HasSubstr("dimensions"));
  EXPECT_THAT(make("f32[6]", "f32[2,3]"), HasSubstr("dimensions"));
  EXPECT_THAT(make("f32[]", "f32[1]"), HasSubstr("dimensions"));
  EXPECT_THAT(make("f32[2]", "s32[2]"), HasSubstr("f32[2]"));
  EXPECT_THAT(make("f32[2]", "s32[2]"), HasSubstr("conver"));
  EXPECT_NE(make("(f32[2])", "f32[2]"), "no error");
  EXPECT_NE(make("f32[2]", "token[]", Converting()), "no error");
  EXPECT_NE(make("f32[?]", "f32[?]"), "no error");
  EXPECT_NE(make("f32[2]{0:E(12)}", "f32[2]"), "no error");
  EXPECT_NE(make("s4[2]{0:E(5)}", "s4[2]"), "no error");  // a slot that no row function knows
  EXPECT_NE(make("c128[2]{0:E(256)}", "c128[2]"), "no error");
  RelayoutOptions negative;
  negative.threads = -1;
  EXPECT_NE(make("f32[2]", "f32[2]", negative), "no error");
}

// ------------------------------------------------------------------------------------------------------------- the
// plan

TEST(RelayoutPlanTest, KnowsItsSides) {
  RelayoutOptions options = Padding(5);
  options.threads = 3;
  const RelayoutPlan plan = PlanOf("f32[20,200]{1,0:M(8)}", "f32[20,200]{1,0:T(8,128)}", options);
  EXPECT_EQ(plan.from().ToString(), PlacementOf("f32[20,200]{1,0:M(8)}").ToString());
  EXPECT_EQ(plan.to().shape(), array::S("f32[20,200]{1,0:T(8,128)}"));
  EXPECT_EQ(plan.options().threads, 3);
  EXPECT_EQ(plan.options().padding, absl::uint128(5));
  EXPECT_EQ(plan.source_bytes(), 20 * 200 * 4 + 8);
  EXPECT_EQ(plan.target_bytes(), 24 * 256 * 4);
}

TEST(RelayoutPlanTest, PrintsWhatItDoes) {
  const std::string text = PlanOf("f32[20,200]", "f32[20,200]{1,0:T(8,128)}").ToString();
  EXPECT_THAT(text, HasSubstr("f32[20,200]{1,0} -> f32[20,200]{1,0:T(8,128)}"));
  EXPECT_THAT(text, HasSubstr("box"));
  EXPECT_THAT(PlanOf("f32[9]", "f32[9]{0:T(3)(2)}").ToString(),
              HasSubstr("a tile of 2 does not divide the tile of 3 around it"));
  EXPECT_THAT(PlanOf("f32[9,9]", "f32[9,9]{1,0:T(*,4)}").ToString(), HasSubstr("*"));
}

TEST(RelayoutPlanTest, OutlivesWhatItWasMadeOf) {
  auto made = std::make_unique<RelayoutPlan>(PlanOf("u8[2,3]", "u8[2,3]{0,1}"));
  const RelayoutPlan copy = *made;
  made.reset();
  EXPECT_THAT(Executed(copy, Counting(6)), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(RelayoutPlanTest, IdentityIsWhereNothingMoves) {
  EXPECT_TRUE(PlanOf("f32[3,5]", "f32[3,5]").is_identity());
  EXPECT_TRUE(PlanOf("f32[3,5]{1,0:T(2,4)}", "f32[3,5]{1,0:T(2,4)}").is_identity());
  EXPECT_TRUE(PlanOf("f32[1,5]", "f32[1,5]{0,1}").is_identity());
  EXPECT_TRUE(PlanOf("f32[64,128]", "f32[64,128]{1,0:T(8,128)}").is_identity());  // tiles one below the other
  EXPECT_TRUE(PlanOf("s4[6]{0:E(4)}", "s4[6]{0:E(4)}").is_identity());
  EXPECT_FALSE(PlanOf("f32[3,5]", "f32[3,5]{0,1}").is_identity());
  EXPECT_FALSE(PlanOf("f32[16,256]", "f32[16,256]{1,0:T(8,128)}").is_identity());
  EXPECT_FALSE(PlanOf("s4[6]", "s4[6]{0:E(4)}").is_identity());
  EXPECT_FALSE(PlanOf("f32[6]", "f32[6]{0:M(8)}").is_identity());
  EXPECT_FALSE(PlanOf("f32[6]", "s32[6]", Converting()).is_identity());
}

// With one address for both sides, elements stay, and padding is written.
TEST(RelayoutPlanTest, IdentityInPlace) {
  for (const char* text :
       {"u8[3,5]", "u8[3,5]{1,0:T(2,4)}", "u8[3]{0:T(100)}", "u4[3]{0:T(8)E(4)}", "u16[9]{0:T(3)(2)}",
        "u8[5,5]{1,0:T(*,4)}", "u8[2]{0:T(2)L(64)}", "u2[5,3]{0,1:T(8,4)E(2)}"}) {
    for (std::optional<absl::uint128> padding : {std::optional<absl::uint128>(), std::optional<absl::uint128>(1)}) {
      const RelayoutPlan plan = PlanOf(text, text, Padding(padding));
      if (!plan.is_identity()) continue;
      Bytes array = Noise(plan.target_bytes(), 1);
      Bytes want = array;
      const Bytes source = array;
      plan.ExecuteByIndex(source.data(), want.data());
      plan.Execute(array.data(), array.data());
      EXPECT_EQ(array, want) << plan.ToString();
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- threads

constexpr std::pair<const char*, const char*> kThreadedPairs[] = {
    {"f32[1000,1001]", "f32[1000,1001]{0,1}"},
    {"f32[1000,1001]", "f32[1000,1001]{1,0:T(8,128)}"},
    {"bf16[1001,777]{0,1:T(8,128)(2,1)}", "bf16[1001,777]"},
    {"u8[2000,999]", "u8[2000,999]{0,1}"},
    {"s4[1001,1003]", "s4[1001,1003]{1,0:E(4)}"},
    {"s4[1001,1003]{1,0:E(4)}", "s4[1001,1003]{0,1:E(4)}"},
    {"s4[24,203,301]{2,1,0:T(8,128)(8,1)E(4)}", "s4[24,203,301]{2,1,0:E(4)}"},
    {"s4[40,5003]{1,0:T(8,128)(8,1)E(4)}", "s4[40,5003]{1,0:E(4)}"},
    {"u1[1001,1003]{1,0:E(1)}", "u1[1001,1003]{0,1:T(8,128)E(1)}"},
    {"c128[31,37,41]", "c128[31,37,41]{0,2,1}"},
    {"f32[300,300,3]", "f32[300,300,3]{1,0,2}"},
};

// Compares with the index loop, with and without non-temporal stores, for targets that begin `shifts` bytes after the
// begin of a cache line. Returns whether the last plan stores line by line.
bool ExpectMoves(absl::string_view from, absl::string_view to, std::initializer_list<bool> non_temporal_stores,
                 std::initializer_list<int64_t> shifts) {
  constexpr int64_t kLine = 64;
  std::vector<char> expected;
  bool line_by_line = false;
  for (const bool non_temporal : non_temporal_stores) {
    RelayoutOptions options;
    options.non_temporal_stores = non_temporal;
    const RelayoutPlan plan = RelayoutPlan::Make(array::S(from), array::S(to), options).value();
    line_by_line = absl::StrContains(plan.ToString(), "line by line");
    std::vector<char> source(plan.source_bytes());
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i * 2654435761u >> 11);
    if (expected.empty()) {  // equal for all stores and shifts, and slow to compute
      expected.assign(plan.target_bytes(), '\x5a');
      plan.ExecuteByIndex(source.data(), expected.data());
    }
    for (const int64_t shift : shifts) {
      std::vector<char> target(plan.target_bytes() + 3 * kLine, '\x5a');
      const int64_t begin = -reinterpret_cast<uintptr_t>(target.data()) % kLine + shift;
      plan.Execute(source.data(), target.data() + begin);
      const std::string where = absl::StrCat(from, " -> ", to, ", ", shift, " bytes after the begin of a line",
                                             non_temporal ? ", non-temporal stores" : "");
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), target.begin() + begin)) << where;
      const auto untouched = [](char byte) { return byte == '\x5a'; };
      EXPECT_TRUE(std::all_of(target.begin(), target.begin() + begin, untouched)) << where;
      EXPECT_TRUE(std::all_of(target.begin() + begin + plan.target_bytes(), target.end(), untouched)) << where;
    }
  }
  return line_by_line;
}

// Rows of the target that share cache lines, or whose lines are their own if the target itself begins with a line;
// long and short runs; rows whose addresses collide in the caches.
TEST(RelayoutPlanTest, PastTheCachesAsThroughThem) {
  const std::pair<const char*, const char*> kSides[] = {
      {"u8[1024,512]{1,0}", "u8[1024,512]{0,1}"},
      {"u8[1027,515]{1,0}", "u8[1027,515]{0,1}"},
      {"bf16[700,300]{1,0}", "bf16[700,300]{0,1}"},
      {"f32[512,1024]{1,0}", "f32[512,1024]{0,1}"},
      {"f64[333,2048]{1,0}", "f64[333,2048]{0,1}"},
      {"f32[5000,3]{1,0}", "f32[5000,3]{0,1}"},
      {"s8[12,301,299]{2,1,0:T(8,128)(4,1)}", "s8[12,301,299]{2,1,0}"},
      {"s4[12,100,301]{2,1,0:E(4)}", "s4[12,100,301]{2,1,0:T(8,128)(8,1)E(4)}"},
      {"s4[12,100,301]{2,1,0:T(8,128)(8,1)E(4)}", "s4[12,100,301]{2,1,0:E(4)}"},
      {"s4[12,103,301]{2,1,0:E(4)}", "s4[12,103,301]{2,1,0:T(8,128)(8,1)E(4)}"},
      {"s4[12,103,301]{2,1,0:T(8,128)(8,1)E(4)}", "s4[12,103,301]{2,1,0:E(4)}"},
      {"s4[103,301]{1,0}", "s4[103,301]{1,0:T(64,128)(8,1)E(4)}"},
      {"s4[103,301]{1,0:T(64,128)(8,1)E(4)}", "s4[103,301]{1,0}"},
      {"u4[65537]{0}", "u4[65537]{0:T(1024)(128)(8,1)E(4)}"},
      {"u4[65537]{0:T(1024)(128)(8,1)E(4)}", "u4[65537]{0}"},
      {"s4[40,5003]{1,0:T(8,128)(8,1)E(4)}", "s4[40,5003]{1,0:E(4)}"},
      {"s4[256,1024]{1,0:T(64,128)(8,1)E(4)}", "s4[256,1024]{1,0:E(4)}"},
      {"s4[256,1024]{1,0:E(4)}", "s4[256,1024]{1,0:T(64,128)(8,1)E(4)}"},
      {"s8[2048,256]{0,1:T(8,128)(4,1)}", "s8[2048,256]{1,0}"},
      // Elements of which no whole number fills a line.
      {"f64[101,203,3]{2,1,0}", "f64[101,203,3]{2,0,1}"},
      {"bf16[303,201,3]{2,1,0}", "bf16[303,201,3]{2,0,1}"},
      {"f32[151,103,7]{2,1,0}", "f32[151,103,7]{2,0,1}"},
      {"u8[303,201,5]{2,1,0}", "u8[303,201,5]{2,0,1}"},
      {"u8[203,101,59]{2,1,0}", "u8[203,101,59]{2,0,1}"},
      {"c128[103,51,3]{2,1,0}", "c128[103,51,3]{2,0,1}"},
      // Chains of loops longer than a block.
      {"u2[7,100,12,48]{3,0,1,2:E(2)}", "u2[7,100,12,48]{2,1,0,3:E(2)}"},
      {"s1[48,128,64]{0,2,1:E(1)}", "s1[48,128,64]{1,2,0:E(1)}"},
      {"s4[16,300,96]{2,1,0:T(1024)E(4)}", "s4[16,300,96]{1,0,2:T(32,128)(4,1)E(4)}"},
      {"u4[256,7,384]{0,1,2:T(8,128)E(4)}", "u4[256,7,384]{2,1,0:T(2,128)E(4)}"},
  };
  for (const auto& [from, to] : kSides) ExpectMoves(from, to, {false, true}, {0, 1, 16, 63});
}

// Runs of the target of some KiB whose rows are far apart: they leave the registers line by line. Sizes that fill
// lines, and sizes that do not; the last blocks of either axis shorter than the others.
TEST(RelayoutPlanTest, LongRunsPastTheCaches) {
  std::mt19937_64 random(20261125);
  const auto pick = [&](int64_t low, int64_t high) { return low + static_cast<int64_t>(random() % (high - low + 1)); };
  const std::pair<const char*, int64_t> kTypes[] = {{"u8", 1}, {"bf16", 2}, {"f32", 4}, {"f64", 8}};
  constexpr int kRounds = 150 / base::kShare;
  int line_by_line = 0;
  for (int i = 0; i < kRounds; ++i) {
    const auto& [type, bytes] = kTypes[pick(0, 3)];
    const int64_t line = 64 / bytes;
    const bool fills_lines = pick(0, 2) == 0;
    const int64_t rows = fills_lines ? line * pick(30, 120) : pick(30 * line, 120 * line);
    const int64_t columns = fills_lines ? line * pick(8, 11) : pick(8 * line, 11 * line);
    const bool is_3d = pick(0, 1) == 1;
    const std::string shape =
        absl::StrCat(type, "[", is_3d ? absl::StrCat(pick(1, 2), ",") : "", rows, ",", columns, "]");
    line_by_line +=
        ExpectMoves(shape, absl::StrCat(shape, is_3d ? "{1,2,0}" : "{0,1}"), {true}, {pick(0, 3) * pick(0, 21)});
  }
  EXPECT_GT(line_by_line, kRounds / 3);
}

TEST(RelayoutPlanTest, AnyNumberOfThreadsGivesTheSameBytes) {
  for (const auto& [from, to] : kThreadedPairs) {
    RelayoutOptions options = Padding(3);
    options.threads = 1;
    const RelayoutPlan one = PlanOf(from, to, options);
    const Bytes source = Noise(one.source_bytes(), 7);
    Bytes want(one.target_bytes(), 0xee);
    one.Execute(source.data(), want.data());
    for (int threads : {0, 2, 3, 100}) {
      options.threads = threads;
      Bytes target(one.target_bytes(), 0xdd);
      PlanOf(from, to, options).Execute(source.data(), target.data());
      EXPECT_TRUE(target == want) << from << " -> " << to << ", " << threads << " threads";
    }
  }
}

TEST(RelayoutPlanTest, ThreadsShareAPlan) {
  for (const auto& [from, to] : kThreadedPairs) {
    const RelayoutPlan plan = PlanOf(from, to);
    const Bytes source = Noise(plan.source_bytes(), 7);
    std::vector<Bytes> targets(4, Bytes(plan.target_bytes(), 0xee));
    std::vector<std::thread> threads;
    for (Bytes& target : targets) threads.emplace_back([&] { plan.Execute(source.data(), target.data()); });
    for (std::thread& thread : threads) thread.join();
    Bytes want(plan.target_bytes(), 0xee);
    plan.ExecuteByIndex(source.data(), want.data());
    for (const Bytes& target : targets) EXPECT_TRUE(target == want) << from << " -> " << to;
  }
}

}  // namespace
}  // namespace kashi::relayout
