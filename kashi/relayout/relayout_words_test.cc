// Words of a few elements of which one side has only a part, or other partners: each plan equals the index loop for
// all small sizes, on every target of Highway, within the caches and past them; and the right kernel does it.
#include "kashi/relayout/simd/highway_targets.h"  // before Highway

#include <hwy/highway.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/relayout/relayout_plan.h"
#include "kashi/relayout/relayout_trial_testing.h"

namespace kashi::relayout {
namespace {

using relayout_testing::Runner;
using relayout_testing::Trial;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class WordsTest : public testing::Test {
 protected:
  ~WordsTest() override { hwy::SetSupportedTargetsForTest(0); }

  // Both directions; other options that change the execution take turns.
  void ExpectEqual(const std::string& dense, const std::string& tiled) {
    constexpr absl::uint128 kPadding[] = {0, 0xb7a5937f5b3d1e2c};
    if (cases_++ % base::kShare != 0) return;
    for (const bool is_back : {false, true}) {
      Trial trial;
      trial.from.shape = ParseShape(is_back ? tiled : dense).value();
      trial.to.shape = ParseShape(is_back ? dense : tiled).value();
      trial.options.threads = 1;
      trial.options.non_temporal_stores = runs_ / 2 % 2 == 0;
      trial.options.padding = std::nullopt;
      if (runs_ / 4 % 5 != 0) trial.options.padding = kPadding[runs_ / 4 % 2];
      trial.from_shift = runs_ % 3 == 0 ? relayout_testing::kAtEnd : runs_ % 7;
      trial.to_shift = runs_ % 4 < 2 ? 0 : runs_ % 13;
      ++runs_;
      ASSERT_EQ(runner_.Run(trial), "") << ToString(trial);
    }
  }

  std::string Run(const Trial& trial) { return runner_.Run(trial); }

  static std::string Plan(absl::string_view from, absl::string_view to, RelayoutOptions options = {}) {
    return RelayoutPlan::Make(ParseShape(from).value(), ParseShape(to).value(), options).value().ToString();
  }

 private:
  Runner runner_{1 << 22};
  int64_t cases_ = 0, runs_ = 0;
};

TEST_F(WordsTest, ChannelsOfImages) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (int channels = 1; channels <= 9; ++channels) {
      for (const char* sizes : {"1,1", "5,7", "33,25", "130,19", "7,90"}) {
        for (const char* type : {"s8", "bf16", "f32", "f64"}) {
          const std::string shape = absl::StrCat(type, "[", sizes, ",", channels, "]");
          for (const char* tile : {"(2,128)(2,1)", "(4,128)(2,1)", "(8,128)(4,1)", "(4,128)(4,1)"}) {
            ExpectEqual(shape, absl::StrCat(shape, "{0,2,1:T", tile, "}"));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// The last row of a word is the first in memory. Nothing behind the source's last word may be read.
TEST_F(WordsTest, LastRowsBackwards) {
  for (const auto& [rows, tile] : {std::pair<int64_t, int64_t>{6, 4}, {7, 4}, {5, 2}, {11, 8}}) {
    for (const bool non_temporal_stores : {false, true}) {
      Trial trial;
      trial.from.shape = ParseShape(absl::StrCat("u16[", rows, ",520]{1,0:T(", tile, ",1)}")).value();
      trial.from.sizes = trial.to.sizes = {rows, 520};
      trial.to.shape = ParseShape(absl::StrCat("u16[", rows, ",520]")).value();
      trial.to.byte_strides = relayout_testing::Index{-1040, 2};
      trial.from_shift = relayout_testing::kAtEnd;
      trial.options.non_temporal_stores = non_temporal_stores;
      trial.options.threads = 1;
      EXPECT_EQ(Run(trial), "") << ToString(trial);
    }
  }
}

TEST_F(WordsTest, LastRows) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (int rows = 1; rows <= 9; ++rows) {
      for (int columns : {1, 31, 128, 300, 2100}) {
        for (const char* type : {"s8", "bf16", "f32"}) {
          const std::string shape = absl::StrCat(type, "[3,", rows, ",", columns, "]");
          for (const char* tile : {"(2,128)(2,1)", "(4,128)(2,1)", "(8,128)(4,1)", "(8,128)(8,1)"}) {
            ExpectEqual(shape, absl::StrCat(shape, "{2,1,0:T", tile, "}"));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_F(WordsTest, OtherPartners) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const char* sizes : {"2,2,130", "3,5,128", "4,8,300", "9,7,33", "16,16,64", "5,4,1"}) {
      for (const char* type : {"s8", "bf16", "f32", "f64"}) {
        for (const char* tile : {"(8,128)(2,1)", "(8,128)(4,1)", "(4,32)(2,1)"}) {
          const std::string shape = absl::StrCat(type, "[", sizes, "]");
          ExpectEqual(absl::StrCat(shape, "{2,1,0:T", tile, "}"), absl::StrCat(shape, "{2,0,1:T", tile, "}"));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(WordsTest, MinorDimensionsChangePlaces) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const char* sizes : {"24,40", "130,66", "256,128", "300,7", "3,129,257"}) {
      for (const char* type : {"s8", "bf16", "f32", "f64"}) {
        for (const char* tile : {"(8,128)", "(8,128)(2,1)", "(8,128)(4,1)", "(4,32)(2,1)"}) {
          const std::string shape = absl::StrCat(type, "[", sizes, "]");
          const bool is_deep = sizes[0] == '3' && sizes[1] == ',';
          ExpectEqual(absl::StrCat(shape, is_deep ? "{2,1,0:T" : "{1,0:T", tile, "}"),
                      absl::StrCat(shape, is_deep ? "{1,2,0:T" : "{0,1:T", tile, "}"));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(WordsTest, WhichKernel) {
  RelayoutOptions within_caches, non_temporal_stores;
  within_caches.non_temporal_stores = false;
  non_temporal_stores.non_temporal_stores = true;
  const char* const pairs = "bf16[512,1024]{1,0:T(8,128)(2,1)}";
  const char* const other_pairs = "bf16[512,1024]{0,1:T(8,128)(2,1)}";
  EXPECT_THAT(Plan(pairs, other_pairs, within_caches),
              AllOf(HasSubstr("shuffled"), HasSubstr("in tiles of whole lines")));
  EXPECT_THAT(Plan(pairs, other_pairs, non_temporal_stores), AllOf(HasSubstr("shuffled"), Not(HasSubstr("in tiles"))));
  EXPECT_THAT(Plan("f32[512,512]", "f32[512,512]{0,1}", within_caches), Not(HasSubstr("in tiles")));
  EXPECT_THAT(Plan("f32[512,512]{1,0}", "f32[512,512]{1,0:T(8,128)}"), HasSubstr("rows of 512 bytes, 32 at a time"));
  EXPECT_THAT(Plan("bf16[192,256,1024]{2,1,0:T(8,128)(2,1)}", "bf16[192,256,1024]{2,0,1:T(8,128)(2,1)}"),
              HasSubstr("exchange of 128 words of 2 x 2 bytes, 2 rows of them"));
  EXPECT_THAT(Plan("s8[64,64,1024]{2,1,0:T(8,128)(4,1)}", "s8[64,64,1024]{2,0,1:T(8,128)(4,1)}"),
              HasSubstr("exchange of 128 words of 4 x 1 byte, 4 rows of them"));
  EXPECT_THAT(Plan("bf16[64,64]{1,0:T(8,128)(2,1)}", "bf16[64,64]{0,1:T(8,128)(2,1)}"), Not(HasSubstr("  exchange")));
  const char* const images = "bf16[128,50,50,3]";
  const char* const tiled_images = "bf16[128,50,50,3]{0,3,2,1:T(4,128)(2,1)}";
  EXPECT_THAT(Plan(images, tiled_images), AllOf(HasSubstr("groups of 6 as 8 bytes"), Not(HasSubstr("padding:"))));
  EXPECT_THAT(Plan(tiled_images, images), HasSubstr("groups of 6 as 8 bytes"));
  RelayoutOptions leave_padding;
  leave_padding.padding = std::nullopt;
  EXPECT_THAT(Plan(images, tiled_images, leave_padding), Not(HasSubstr("groups")));
  EXPECT_THAT(Plan(tiled_images, images, leave_padding), HasSubstr("groups of 6 as 8 bytes"));
  EXPECT_THAT(Plan("bf16[1,256]{1,0:T(2,128)(2,1)}", "bf16[1,256]{1,0:T(2,128)(2,1)}"), HasSubstr("identity"));
  const char* const rows = "s8[10,7,1024]";
  const char* const tiled_rows = "s8[10,7,1024]{2,1,0:T(8,128)(4,1)}";
  EXPECT_THAT(Plan(rows, tiled_rows),
              AllOf(HasSubstr("tails of 128 words of 4 x 1 byte with 3 elements"), Not(HasSubstr("padding:"))));
  EXPECT_THAT(Plan(tiled_rows, rows), HasSubstr("tails of 128 words of 4 x 1 byte"));
  EXPECT_THAT(Plan(rows, tiled_rows, leave_padding), Not(HasSubstr("tails")));
}

}  // namespace
}  // namespace kashi::relayout
