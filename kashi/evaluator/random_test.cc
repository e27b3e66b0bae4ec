#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Lt;

absl::StatusOr<Literal> TryBits(absl::string_view algorithm, const std::vector<uint64_t>& state,
                                absl::string_view result) {
  const Literal literal = LiteralUtil::CreateR1<uint64_t>(state);
  return TryEvaluateText(
      absl::Substitute("ENTRY e { s = u64[$0] parameter(0) ROOT r = (u64[$0], $1) rng-bit-generator(s), algorithm=$2 }",
                       state.size(), result, algorithm),
      {&literal});
}

template <typename T>
std::vector<uint64_t> Numbers(absl::Span<const T> elements) {
  std::vector<uint64_t> numbers;
  for (T element : elements) numbers.push_back(static_cast<uint64_t>(element));
  return numbers;
}

// The state afterwards, then the bits.
template <typename T>
std::vector<uint64_t> Bits(absl::string_view algorithm, const std::vector<uint64_t>& state, absl::string_view result) {
  const absl::StatusOr<Literal> literal = TryBits(algorithm, state, result);
  EXPECT_TRUE(literal.ok()) << literal.status();
  if (!literal.ok()) return {};
  std::vector<uint64_t> numbers = Numbers<uint64_t>(LiteralSlice(*literal, {0}).data<uint64_t>());
  for (uint64_t bits : Numbers<T>(LiteralSlice(*literal, {1}).data<T>())) numbers.push_back(bits);
  return numbers;
}

constexpr uint64_t kKey = 30064771073, kCounter = 4294967295;

// docs/spec/hlo-ops.md 15, all of these.
TEST(RngBitGeneratorTest, Threefry32) {
  const std::vector<uint64_t> state = {kKey, kCounter};
  EXPECT_THAT(Bits<uint32_t>("rng_three_fry", state, "u32[8]"),
              ElementsAre(kKey, 4294967299, 2339376870, 724258159, 1741727090, 2326748124, 1384314782, 2618801020,
                          1654294073, 2130935025));
  EXPECT_THAT(Bits<uint32_t>("rng_three_fry", state, "u32[5]"),
              ElementsAre(kKey, 4294967298, 2339376870, 724258159, 1741727090, 2326748124, 1384314782));
  EXPECT_THAT(Bits<uint32_t>("rng_three_fry", state, "u32[]"), ElementsAre(kKey, 4294967296, 2339376870));
  EXPECT_THAT(Bits<uint32_t>("rng_three_fry", state, "u32[4,3]"),
              ElementsAre(kKey, 4294967301, 2339376870, 1741727090, 1384314782, 724258159, 2326748124, 2618801020,
                          1654294073, 333123014, 2828927842, 2130935025, 2844444283, 477891979));
  const std::vector<uint64_t> rows = Bits<uint32_t>("rng_three_fry", state, "u32[3,4]");
  EXPECT_EQ(rows[1], 4294967301);
  EXPECT_THAT(
      std::vector<uint64_t>(rows.begin() + 2, rows.begin() + 10),
      ElementsAre(2339376870, 724258159, 1741727090, 2326748124, 1384314782, 2618801020, 1654294073, 2130935025));
}

TEST(RngBitGeneratorTest, ThreefryOtherWidths) {
  const std::vector<uint64_t> state = {kKey, kCounter};
  EXPECT_THAT(Bits<uint64_t>("rng_three_fry", state, "u64[3]"),
              ElementsAre(kKey, 4294967298, 3110665109105544934u, 9993307100351079794u, 11247664737015756702u));
  EXPECT_THAT(Bits<uint16_t>("rng_three_fry", state, "u16[5]"),
              ElementsAre(kKey, 4294967298, 3814, 19823, 42354, 23516, 63390));
  EXPECT_THAT(Bits<uint8_t>("rng_three_fry", state, "u8[5]"), ElementsAre(kKey, 4294967298, 230, 111, 114, 220, 158));
  EXPECT_THAT(Bits<u4>("rng_three_fry", state, "u4[5]"), ElementsAre(kKey, 4294967298, 6, 15, 2, 12, 14));
}

TEST(RngBitGeneratorTest, Philox) {
  EXPECT_THAT(Bits<uint32_t>("rng_philox", {5, std::numeric_limits<uint64_t>::max(), 7}, "u32[6]"),
              ElementsAre(5, 1, 8, 408654879, 156914071, 4246078289, 2550873154, 1414544935, 1163734151));
  const std::vector<uint64_t> bits = {5, 11, 209387248, 2186151673, 3180873510, 1854507780, 2571302373, 3977262027};
  EXPECT_THAT(Bits<uint32_t>("rng_philox", {5, 9}, "u32[6]"), ElementsAreArray(bits));
  EXPECT_THAT(Bits<uint32_t>("rng_default", {5, 9}, "u32[2,3]"), ElementsAreArray(bits));
  EXPECT_THAT(Bits<uint64_t>("rng_philox", {5, 9}, "u64[3]"),
              ElementsAre(5, 11, 9389449939840073456u, 7965050268458436390u, 17082210336158971365u));
  EXPECT_THAT(Bits<uint8_t>("rng_philox", {5, 9}, "u8[3]"), ElementsAre(5, 10, 240, 249, 38));
}

// Computes the definition, one element at a time, from the stream of blocks that a long one-dimensional array shows.
TEST(RngBitGeneratorTest, ThreefrySplitsDimensions) {
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{{6, 5},
                                                                             {5, 6},
                                                                             {5, 7},
                                                                             {7, 5},
                                                                             {3, 3, 3},
                                                                             {40, 37},
                                                                             {37, 40},
                                                                             {41, 37},
                                                                             {3, 2, 29},
                                                                             {1, 1},
                                                                             {101},
                                                                             {3, 0}}) {
    int64_t count = 1, split = -1;
    for (int64_t i = 0; i < sizes.size(); ++i) {
      count *= sizes[i];
      if (split < 0 && sizes[i] % 2 == 0) split = i;
    }
    if (split < 0) split = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
    const std::vector<uint64_t> stream =
        Bits<uint32_t>("rng_three_fry", {9, 8}, absl::Substitute("u32[$0]", 2 * count + 100));
    std::string shape = absl::StrCat("u32[", absl::StrJoin(sizes, ","), "]");
    const std::vector<uint64_t> bits = Bits<uint32_t>("rng_three_fry", {9, 8}, shape);
    const int64_t half = (sizes[split] + 1) / 2;
    for (int64_t i = 0; i < count; ++i) {
      int64_t inner = 1;
      for (int64_t d = split + 1; d < sizes.size(); ++d) inner *= sizes[d];
      const int64_t at = i / inner % sizes[split], outer = i / inner / sizes[split];
      const int64_t block = (outer * half + at / 2) * inner + i % inner;
      ASSERT_EQ(bits[2 + i], stream[2 + 2 * block + at % 2]) << shape << " " << i;
    }
  }
}

TEST(RngBitGeneratorTest, LongArraysAreShortOnesBehindEachOther) {
  const std::vector<uint64_t> all = Bits<uint32_t>("rng_philox", {3, 4}, "u32[100003]");
  for (uint64_t start : {1, 7777, 24999}) {
    const std::vector<uint64_t> part = Bits<uint32_t>("rng_philox", {3, 4 + start, 3}, "u32[7]");
    for (int64_t i = 0; i < 7; ++i) EXPECT_EQ(part[3 + i], all[2 + 4 * start + i]);
  }
}

TEST(RngBitGeneratorTest, OtherTypesHoldTheBits) {
  const absl::StatusOr<Literal> floats = TryBits("rng_philox", {5, 9}, "f32[2]");
  const float first = absl::bit_cast<float>(uint32_t{209387248});
  EXPECT_EQ(LiteralSlice(*floats, {1}).data<float>()[0], first);
  EXPECT_EQ(LiteralSlice(*TryBits("rng_philox", {5, 9}, "s8[3]"), {1}), LiteralUtil::CreateR1<int8_t>({-16, -7, 38}));
}

TEST(RngBitGeneratorTest, TheBitsAlone) {
  const Literal state = LiteralUtil::CreateR1<uint64_t>({5, 9});
  EXPECT_EQ(
      EvaluateText("ENTRY e { s = u64[2] parameter(0) ROOT r = u32[1] rng-bit-generator(s), algorithm=rng_default }",
                   {&state}),
      LiteralUtil::CreateR1<uint32_t>({209387248}));
}

TEST(RngBitGeneratorTest, Refuses) {
  EXPECT_THAT(TryBits("rng_philox", {5, 9, 1, 1}, "u32[2]").status().ToString(), HasSubstr("u64[2] or u64[3]"));
  EXPECT_THAT(TryBits("rng_three_fry", {5, 9, 1}, "u32[2]").status().ToString(), HasSubstr("rng_three_fry"));
  EXPECT_EQ(TryBits("rng_philox", {5, 9}, "pred[2]").status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(TryBits("rng_philox", {5, 9}, "c64[2]").status().code(), absl::StatusCode::kUnimplemented);
}

std::string Rng(absl::string_view type, absl::string_view a, absl::string_view b, absl::string_view distribution) {
  return absl::Substitute(
      "ENTRY e { a = $0[] constant($1) b = $0[] constant($2) ROOT r = $0[100,1000] rng(a, b), distribution=$3 }", type,
      a, b, distribution);
}

TEST(RngTest, UniformReals) {
  const Literal result = EvaluateText(Rng("f32", "-2", "6", "rng_uniform"));
  EXPECT_THAT(result.data<float>(), Each(AllOf(Ge(-2), Lt(6))));
  double sum = 0, squares = 0;
  for (float x : result.data<float>()) {
    sum += x;
    squares += double{x} * x;
  }
  EXPECT_NEAR(sum / 1e5, 2, 0.05);
  EXPECT_NEAR(squares / 1e5 - 4, 64.0 / 12, 0.1);
}

TEST(RngTest, NarrowUniformRealsStayBelowTheirBound) {
  const Literal result = EvaluateText(Rng("bf16", "0", "1", "rng_uniform"));
  for (bfloat16 x : result.data<bfloat16>()) ASSERT_LT(static_cast<float>(x), 1);
}

TEST(RngTest, UniformIntegers) {
  const Literal result = EvaluateText(Rng("s8", "-3", "2", "rng_uniform"));
  std::vector<int> counts(5);
  for (int8_t x : result.data<int8_t>()) {
    ASSERT_TRUE(-3 <= x && x < 2);
    ++counts[x + 3];
  }
  EXPECT_THAT(counts, Each(AllOf(Ge(19000), Lt(21000))));
  EXPECT_THAT(EvaluateText(Rng("u64", "5", "5", "rng_uniform")).data<uint64_t>(), Each(5));
}

TEST(RngTest, Normal) {
  const Literal result = EvaluateText(Rng("f64", "3", "2", "rng_normal"));
  double sum = 0, squares = 0, fourth = 0;
  for (double x : result.data<double>()) {
    const double z = (x - 3) / 2;
    sum += z;
    squares += z * z;
    fourth += z * z * z * z;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.03);
  EXPECT_NEAR(fourth / 1e5, 3, 0.2);
}

TEST(RngTest, TheSeedDecides) {
  const std::string text = Rng("f32", "0", "1", "rng_uniform");
  EvaluationOptions other;
  other.seed = 43;
  EXPECT_EQ(EvaluateText(text), EvaluateText(text));
  EXPECT_NE(EvaluateText(text), *TryEvaluateText(text, {}, other));
}

TEST(RngGetAndUpdateStateTest, CountsInOneRun) {
  const Literal result = EvaluateText(
      "ENTRY e { a = u64[2] rng-get-and-update-state(), delta=131072 "
      "b = u64[2] rng-get-and-update-state(), delta=1, control-predecessors={a} ROOT r = (u64[2], u64[2]) tuple(a, b) "
      "}");
  EXPECT_EQ(LiteralSlice(result, {0}), LiteralUtil::CreateR1<uint64_t>({117515157, 0}));
  EXPECT_EQ(LiteralSlice(result, {1}), LiteralUtil::CreateR1<uint64_t>({117515157 + 131072, 0}));
}

}  // namespace
}  // namespace kashi::evaluator
