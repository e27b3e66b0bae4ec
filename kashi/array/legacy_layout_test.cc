#include "kashi/array/legacy_layout.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/index_map.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"

namespace kashi::array {
namespace {

using ::testing::HasSubstr;
using Index = std::vector<int64_t>;

LegacyLayout MakeLegacy(const Index& minor_to_major, const Index& padded = {},
                        PaddingValue value = PaddingValue::kInvalid) {
  LegacyLayout layout;
  layout.minor_to_major.assign(minor_to_major.begin(), minor_to_major.end());
  layout.padded_dimensions.assign(padded.begin(), padded.end());
  layout.padding_value = value;
  return layout;
}

// The picture with elements a, b, c, … and `fill` for padding, as the documents draw it.
std::string Letters(const LegacyLayout& layout, const Shape& shape, const std::string& fill) {
  std::string letters;
  const absl::StatusOr<std::vector<int64_t>> picture = LegacyPicture(layout, shape);
  EXPECT_TRUE(picture.ok()) << picture.status();
  for (int64_t element : *picture) {
    absl::StrAppend(&letters, letters.empty() ? "" : " ",
                    element == kLegacyPadding ? fill : std::string(1, static_cast<char>('a' + element)));
  }
  return letters;
}

const Shape& TwoByThree() {
  static const Shape& shape = *new Shape(F32, {2, 3});
  return shape;
}

std::string LegacyError(const LegacyLayout& layout, const Shape& shape) {
  return std::string(ValidateLegacyLayout(layout, shape).message());
}

TEST(LegacyLayoutTest, TheDocumentsExamples) {
  EXPECT_EQ(Letters(MakeLegacy({0, 1}), TwoByThree(), "?"), "a d b e c f");
  EXPECT_EQ(Letters(MakeLegacy({1, 0}), TwoByThree(), "?"), "a b c d e f");
  const LegacyLayout column_major = MakeLegacy({0, 1}, {3, 5}, PaddingValue::kZero);
  EXPECT_EQ(Letters(column_major, TwoByThree(), "0"), "a d 0 b e 0 c f 0 0 0 0 0 0 0");
  EXPECT_EQ(*LegacyPaddedElementCount(column_major, TwoByThree()), 15);
  EXPECT_EQ(*LegacyByteSize(column_major, TwoByThree()), 60);
  EXPECT_EQ(*LegacyLinearIndex(column_major, TwoByThree(), {1, 2}), 7);
  EXPECT_EQ(ToModernLayout(column_major, TwoByThree())->ToString(), "{0,1:T(5,3)}");
  const LegacyLayout row_major = MakeLegacy({1, 0}, {3, 5}, PaddingValue::kZero);
  EXPECT_EQ(Letters(row_major, TwoByThree(), "0"), "a b c 0 0 d e f 0 0 0 0 0 0 0");
  EXPECT_EQ(*LegacyLinearIndex(row_major, TwoByThree(), {1, 2}), 7);
  EXPECT_EQ(ToModernLayout(row_major, TwoByThree())->ToString(), "{1,0:T(3,5)}");
  EXPECT_EQ(*LegacyByteSize(MakeLegacy({1, 0}), TwoByThree()), 24);
}

TEST(LegacyLayoutTest, Text) {
  EXPECT_EQ(MakeLegacy({1, 0}, {3, 5}, PaddingValue::kOne).ToString(), "{1,0}");
  LegacyLayout sparse;
  sparse.format = LegacyFormat::kSparse;
  sparse.max_sparse_elements = 7;
  EXPECT_EQ(sparse.ToString(), "sparse{7}");
  const char* const kNames[] = {"INVALID", "ZERO", "ONE", "LOWEST", "HIGHEST", "UNKNOWN", ""};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(PaddingValueName(static_cast<PaddingValue>(i)), kNames[i]);
}

TEST(LegacyLayoutTest, Validation) {
  EXPECT_EQ(LegacyError(MakeLegacy({1, 0}, {2, 3}), TwoByThree()), "");
  EXPECT_EQ(LegacyError(MakeLegacy({0}), TwoByThree()),
            "layout minor_to_major field contains 1 elements, but shape is rank 2: {0}; shape: f32[2,3]");
  EXPECT_EQ(LegacyError(MakeLegacy({1, 2}), TwoByThree()),
            "layout minor_to_major field has out-of-bounds value: {1, 2}");
  EXPECT_EQ(LegacyError(MakeLegacy({-1, 0}), TwoByThree()),
            "layout minor_to_major field has out-of-bounds value: {-1, 0}");
  EXPECT_EQ(LegacyError(MakeLegacy({1, 1}), TwoByThree()), "layout minor_to_major field has duplicate values: {1, 1}");
  EXPECT_EQ(LegacyError(MakeLegacy({1, 0}, {4}), TwoByThree()), "layout has 1 padded dimensions, but shape is rank 2");
  EXPECT_EQ(LegacyError(MakeLegacy({1, 0}, {2, 2}), TwoByThree()),
            "for dimension 1, dimension padding (2) is smaller than the dimension size (3) of the shape");
  EXPECT_EQ(LegacyError(MakeLegacy({}), *ParseShape("(f32[2])")), "a single Layout is not valid for tuple shapes");
  EXPECT_THAT(LegacyError(MakeLegacy({}), *ParseShape("token[]")), HasSubstr("not valid for token[]"));
  EXPECT_THAT(LegacyError(MakeLegacy({0}), *ParseShape("f32[?]")), HasSubstr("has no size"));
  LegacyLayout layout = MakeLegacy({1, 0});
  layout.format = LegacyFormat::kInvalid;
  EXPECT_THAT(LegacyError(layout, TwoByThree()), HasSubstr("does not have a valid format"));
  layout.format = LegacyFormat::kSparse;
  EXPECT_EQ(LegacyError(layout, TwoByThree()), "");
  EXPECT_EQ(LegacyByteSize(layout, TwoByThree()).status().code(), absl::StatusCode::kUnimplemented);
  layout.padded_dimensions = {3, 5};
  EXPECT_THAT(LegacyError(layout, TwoByThree()), HasSubstr("sparse layout must not have padded dimensions"));
}

TEST(LegacyLayoutTest, RefusesWhatDoesNotFit) {
  const int64_t huge = int64_t{1} << 62;
  EXPECT_THAT(LegacyPaddedElementCount(MakeLegacy({1, 0}, {huge, 3}), TwoByThree()).status().message(),
              HasSubstr("do not fit in 63 bits"));
  EXPECT_EQ(*LegacyPaddedElementCount(MakeLegacy({0}, {huge}), Shape(F32, {2})), huge);
  EXPECT_THAT(LegacyByteSize(MakeLegacy({0}, {huge}), Shape(F32, {2})).status().message(), HasSubstr("do not fit"));
  EXPECT_EQ(LegacyPicture(MakeLegacy({0}, {huge}), Shape(F32, {2})).status().code(),
            absl::StatusCode::kResourceExhausted);
  for (const Index& index : {Index{2, 0}, Index{0, -1}, Index{0}, Index{0, 3}}) {
    EXPECT_FALSE(LegacyLinearIndex(MakeLegacy({1, 0}, {9, 9}), TwoByThree(), index).ok());
  }
}

// The exception to the exact conversion.
TEST(LegacyLayoutTest, PaddedArraysWithoutElements) {
  const Shape empty(F32, {0, 3});
  const LegacyLayout padded = MakeLegacy({1, 0}, {2, 4});
  EXPECT_EQ(*LegacyPaddedElementCount(padded, empty), 8);
  EXPECT_EQ(Letters(padded, empty, "."), ". . . . . . . .");
  EXPECT_THAT(ToModernLayout(padded, empty).status().message(), HasSubstr("has no tiled layout"));
  EXPECT_EQ(ToModernLayout(MakeLegacy({1, 0}), empty)->ToString(), "{1,0}");
  EXPECT_EQ(ToModernLayout(MakeLegacy({1, 0}, {0, 4}), empty)->ToString(), "{1,0}");
}

TEST(LegacyLayoutTest, Scalars) {
  EXPECT_EQ(Letters(MakeLegacy({}), Shape(F32, {}), "."), "a");
  EXPECT_EQ(*LegacyLinearIndex(MakeLegacy({}), Shape(F32, {}), {}), 0);
  EXPECT_EQ(ToModernLayout(MakeLegacy({}), Shape(F32, {}))->ToString(), "{}");
}

// Post of ToModernLayout: the legacy picture and the modern index map give the same positions.
TEST(LegacyLayoutTest, ModernLayoutHasTheSamePositions) {
  constexpr uint32_t kSeed = 2018;
  std::mt19937 random(kSeed);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int i = 0; i < 500; ++i) {
    Index sizes(pick(0, 4)), order(sizes.size()), padded;
    for (int64_t& size : sizes) size = pick(1, 5);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    if (pick(0, 4) != 0) {
      for (int64_t size : sizes) padded.push_back(size + pick(0, 3));
    }
    const LegacyLayout legacy = MakeLegacy(order, padded);
    Shape shape(F32, sizes);
    const absl::StatusOr<std::vector<int64_t>> picture = LegacyPicture(legacy, shape);
    ASSERT_TRUE(picture.ok()) << picture.status();
    *shape.mutable_layout() = *ToModernLayout(legacy, shape);
    SCOPED_TRACE(absl::StrCat("seed ", kSeed, " number ", i, ": ", shape.ToString(true)));
    const absl::StatusOr<IndexMap> map = IndexMap::Make(shape);
    ASSERT_TRUE(map.ok()) << map.status();
    ASSERT_EQ(map->padded_element_count(), static_cast<int64_t>(picture->size()));
    int64_t element = 0;
    map->ForEachLogical([&](absl::Span<const int64_t> index, int64_t physical) {
      ASSERT_EQ(*LegacyLinearIndex(legacy, shape, index), physical);
      ASSERT_EQ((*picture)[physical], element++);
    });
    ASSERT_EQ(std::count(picture->begin(), picture->end(), kLegacyPadding),
              static_cast<int64_t>(picture->size()) - element);
  }
}

}  // namespace
}  // namespace kashi::array
