#include "kashi/buffers/best_fit_heap.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::buffers {
namespace {

using ::testing::ElementsAre;

HeapLayout Place(const std::vector<HeapInterval>& intervals, int64_t alignment = 64) {
  absl::StatusOr<HeapLayout> layout = PlaceByBestFit(intervals, alignment);
  EXPECT_TRUE(layout.ok()) << layout.status();
  return layout.ok() ? *std::move(layout) : HeapLayout();
}

TEST(BestFitHeap, NothingTakesNothing) {
  const HeapLayout layout = Place({});
  EXPECT_EQ(layout.bytes, 0);
  EXPECT_TRUE(layout.offsets.empty());
}

TEST(BestFitHeap, WhatIsThereTogetherLiesApartAtMultiplesOfTheAlignment) {
  const HeapLayout layout = Place({{100, 0, 4}, {10, 1, 5}, {64, 2, 6}});
  EXPECT_THAT(layout.offsets, ElementsAre(0, 192, 128));
  EXPECT_EQ(layout.bytes, 202);  // the last is not rounded up
}

TEST(BestFitHeap, WhatComesLaterTakesThePlaceOfWhatIsGone) {
  const HeapLayout layout = Place({{64, 0, 1}, {64, 2, 3}});
  EXPECT_THAT(layout.offsets, ElementsAre(0, 0));
  EXPECT_EQ(layout.bytes, 64);
}

// Gaps of 128 and 64 bytes: 64 bytes go into the second.
TEST(BestFitHeap, TheSmallestGapThatIsLargeEnough) {
  const HeapLayout layout = Place({{640, 0, 20},  // always there
                                   {128, 1, 10},
                                   {640, 2, 21},
                                   {64, 3, 11},
                                   {640, 4, 22},
                                   {64, 12, 15}},
                                  64);
  EXPECT_EQ(layout.bytes, 3 * 640 + 128 + 64);
  EXPECT_EQ(layout.offsets[5], layout.offsets[3] < layout.offsets[1] ? layout.offsets[3] : layout.offsets[1]);
}

TEST(BestFitHeap, OfEqualOnesTheLowestRankIsFirst) {
  EXPECT_THAT(Place({{64, 0, 3, -1, 7}, {64, 1, 4, -1, 2}}).offsets, ElementsAre(64, 0));
}

TEST(BestFitHeap, SharedOnesLieTogetherAndNeedRoomForTheLargest) {
  const HeapLayout layout = Place({{64, 0, 3}, {256, 4, 7, 0}, {128, 5, 8}});
  EXPECT_EQ(layout.offsets[0], layout.offsets[1]);
  EXPECT_EQ(layout.bytes, 256 + 128);
}

// By size: 0 at 0, 1 beside it; by time likewise. Empty intervals take no place.
TEST(BestFitHeap, EmptyOnesTakeNothing) {
  const HeapLayout layout = Place({{0, 0, 0}, {64, 0, 3}, {0, 0, 0, 1}});
  EXPECT_THAT(layout.offsets, ElementsAre(0, 0, 0));
  EXPECT_EQ(layout.bytes, 64);
}

// 100,000 that are all there at once are refused, not computed for hours; as many that come one by one are no matter.
TEST(BestFitHeap, WorkIsLimited) {
  constexpr int32_t kCount = 100'000;
  std::vector<HeapInterval> together, in_turn;
  for (int32_t i = 0; i < kCount; ++i) together.push_back({64, i, 2 * kCount - i});
  for (int32_t i = 0; i < kCount; ++i) in_turn.push_back({64, 2 * i, 2 * i + 1});
  EXPECT_EQ(PlaceByBestFit(together, 64).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Place(in_turn).bytes, 64);
  EXPECT_EQ(PlaceByBestFit(std::vector<HeapInterval>((1 << 20) + 1), 64).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace kashi::buffers
