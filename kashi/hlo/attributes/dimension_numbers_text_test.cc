#include "kashi/hlo/attributes/dimension_numbers_text.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "kashi/hlo/attributes/window_util.h"

namespace kashi::hlo {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// Reads a text and prints the result; or "error: …".
std::string RereadWindow(absl::string_view text) {
  std::string error;
  std::optional<Window> window = ParseWindow(text, &error);
  return window ? window_util::ToString(*window) : "error: " + error;
}
std::string RereadPadding(absl::string_view text) {
  std::string error;
  std::optional<PaddingConfig> padding = ParsePadding(text, &error);
  return padding ? PaddingConfigToString(*padding) : "error: " + error;
}
std::string RereadLabels(absl::string_view text) {
  std::string error;
  std::optional<ConvolutionDimensionNumbers> dnums = ParseDimLabels(text, &error);
  return dnums ? ConvolutionDimensionNumbersToString(*dnums) : "error: " + error;
}

// ---- Windows -------------------------------------------------------------------------------------------------------

TEST(WindowTextTest, FieldsInAnyOrder) {
  EXPECT_EQ(RereadWindow(""), "");
  EXPECT_EQ(RereadWindow("size=3"), "size=3");
  EXPECT_EQ(RereadWindow("rhs_reversal=1x0 rhs_dilate=1x2 lhs_dilate=2x1 pad=1_1x-1_0 stride=1x3 size=3x4"),
            "size=3x4 stride=1x3 pad=1_1x-1_0 lhs_dilate=2x1 rhs_dilate=1x2 rhs_reversal=1x0");
}

TEST(WindowTextTest, UsualValuesAreNotPrinted) {
  EXPECT_EQ(RereadWindow("size=2x2 stride=1x1 pad=0_0x0_0 lhs_dilate=1x1 rhs_dilate=1x1 rhs_reversal=0x0"), "size=2x2");
  EXPECT_EQ(RereadWindow("size=2x2 stride=0x1 lhs_dilate=0x1 rhs_dilate=0x1"),
            "size=2x2 stride=0x1 lhs_dilate=0x1 rhs_dilate=0x1");
}

TEST(WindowTextTest, SpaceAndComments) {
  EXPECT_EQ(RereadWindow(" size= 2x2\n/* c */ stride=2x2 // end"), "size=2x2 stride=2x2");
  EXPECT_EQ(RereadWindow("size=2x2stride=2x2"), "size=2x2 stride=2x2");
  EXPECT_EQ(RereadWindow("size=2pad=1_1stride=2"), "size=2 stride=2 pad=1_1");
  EXPECT_EQ(RereadWindow("size =2"), "error: expects sub-attributes in window");
  EXPECT_EQ(RereadWindow("size=2,stride=2"), "error: expects sub-attributes in window");
  EXPECT_EQ(RereadWindow("size=2 /* c"), "error: expects sub-attributes in window");
}

TEST(WindowTextTest, Numbers) {
  EXPECT_EQ(RereadWindow("size=-2"), "size=-2");
  EXPECT_EQ(RereadWindow("size=02x0x5"), "size=2x0x5");
  EXPECT_EQ(RereadWindow("size=18446744073709551615"), "size=-1");
  EXPECT_EQ(RereadWindow("size=-9223372036854775808"), "size=-9223372036854775808");
  EXPECT_EQ(RereadWindow("size=18446744073709551616"), "error: expects token type kInt or kDxD");
  EXPECT_EQ(RereadWindow("size=9223372036854775808x2"), "error: expects sub-attribute 'size=ixj...'");
  EXPECT_EQ(RereadWindow("size=-2x3"), "error: expects sub-attributes in window");
  EXPECT_EQ(RereadWindow("size=2x-3"), "error: expects sub-attributes in window");
  EXPECT_EQ(RereadWindow("size=2x2x"), "error: expects sub-attributes in window");
  EXPECT_EQ(RereadWindow("size="), "error: expects token type kInt or kDxD");
  EXPECT_EQ(RereadWindow("size=?"), "error: expects token type kInt or kDxD");
  EXPECT_EQ(RereadWindow("size=2_2"), "error: expects sub-attributes in window");
  EXPECT_EQ(RereadWindow("size=2.5"), "error: expects sub-attributes in window");
}

TEST(WindowTextTest, Padding) {
  EXPECT_EQ(RereadWindow("size=2 pad=-1_-1"), "size=2 pad=-1_-1");
  EXPECT_EQ(RereadWindow("size=2 pad=1"), "error: expects window pad pattern, e.g., '0_0x3_3'");
  EXPECT_EQ(RereadWindow("size=2 pad=1_"), "error: expects window pad pattern, e.g., '0_0x3_3'");
  EXPECT_EQ(RereadWindow("size=2 pad=1_1x"), "error: expects sub-attributes in window");
  EXPECT_EQ(RereadWindow("size=2x2 pad=1_1_1x1_1"), "error: expects padding_low and padding_high separated by '_'");
  EXPECT_EQ(RereadWindow("size=2 pad=1_99999999999999999999"),
            "error: expects padding_low and padding_high separated by '_'");
}

TEST(WindowTextTest, EachFieldOnce) {
  EXPECT_EQ(RereadWindow("size=1 size=2"), "error: sub-attribute 'size=' already exists");
  EXPECT_EQ(RereadWindow("rhs_reversal=0 rhs_reversal=0"), "error: sub-attribute 'rhs_reversal=' already exists");
  EXPECT_EQ(RereadWindow("pad=0_0 pad=0_0"), "error: sub-attribute 'pad=' already exists");
  EXPECT_EQ(RereadWindow("size=2 foo=1"), "error: unexpected attribute name: foo");
}

TEST(WindowTextTest, AsManyAsSizes) {
  EXPECT_EQ(RereadWindow("stride=2"), "error: expects 'stride=' has the same size as 'size='");
  EXPECT_EQ(RereadWindow("size=2 stride=2x2"), "error: expects 'stride=' has the same size as 'size='");
  EXPECT_EQ(RereadWindow("size=2 lhs_dilate=1x1"), "error: expects 'lhs_dilate=' has the same size as 'size='");
  EXPECT_EQ(RereadWindow("size=2 rhs_dilate=1x1"), "error: expects 'rhs_dilate=' has the same size as 'size='");
  EXPECT_EQ(RereadWindow("pad=1_1"), "error: expects 'pad=' has the same size as 'size='");
}

// XLA reads past the end of the shorter list and finds 0 there. Only 1 is true.
TEST(WindowTextTest, ReversalIsNotCounted) {
  EXPECT_EQ(RereadWindow("rhs_reversal=1"), "");
  EXPECT_EQ(RereadWindow("size=2x2 rhs_reversal=1"), "size=2x2 rhs_reversal=1x0");
  EXPECT_EQ(RereadWindow("size=2 rhs_reversal=1x0x1"), "size=2 rhs_reversal=1");
  EXPECT_EQ(RereadWindow("size=2x2 rhs_reversal=2x1"), "size=2x2 rhs_reversal=0x1");
}

// ---- Padding -------------------------------------------------------------------------------------------------------

TEST(PaddingTextTest, InteriorForAllOrNone) {
  EXPECT_EQ(RereadPadding("0_1"), "0_1");
  EXPECT_EQ(RereadPadding("0_1_0x1_1"), "0_1x1_1");
  EXPECT_EQ(RereadPadding("0_1_2x3_4"), "0_1_2x3_4_0");
  EXPECT_EQ(RereadPadding("-1_-2_3"), "-1_-2_3");
  EXPECT_EQ(RereadPadding("-0_00"), "0_0");
  EXPECT_EQ(RereadPadding("9223372036854775807_-9223372036854775808"), "9223372036854775807_-9223372036854775808");
  EXPECT_EQ(PaddingConfigToString(PaddingConfig()), "");
}

TEST(PaddingTextTest, Errors) {
  const char* const kNoPadding = "error: expects padding config, e.g., '0_0_0x3_3_1'";
  for (const char* text : {"", "1", "_1", "1_", "x", "0_1x", "0_1xx2_3", "x0_1", "0_1_-1", "0_1_2_3", "0_1 x2_3",
                           " 0_1", "0_1 ", "0_1x?", "1_2x3", "0_1_x2_3", "0x1_1", "0.5_1", "01_01->01"}) {
    EXPECT_EQ(RereadPadding(text), kNoPadding) << text;
  }
  const char* const kBadNumber = "error: expects padding config pattern like 'low_high_interior' or 'low_high'";
  for (const char* text : {"9223372036854775808_0", "0_-9223372036854775809", "0_0_9223372036854775808x1_1"}) {
    EXPECT_EQ(RereadPadding(text), kBadNumber) << text;
  }
}

// ---- Convolutions --------------------------------------------------------------------------------------------------

TEST(DimLabelsTest, ReadBack) {
  for (const char* text : {"bf_io->bf", "fb_oi->fb", "b0f_0io->b0f", "b01f_01io->b01f", "f10b_o0i1->1bf0",
                           "?b0f_0io->b0f", "b?0f_0?io->?\?b0f", "b0123456789f_0123456789io->b0123456789f"}) {
    EXPECT_EQ(RereadLabels(text), text);
  }
}

TEST(DimLabelsTest, Dimensions) {
  std::string error;
  std::optional<ConvolutionDimensionNumbers> dnums = ParseDimLabels("b?1f0_o0i1->01fb", &error);
  ASSERT_TRUE(dnums.has_value()) << error;
  EXPECT_EQ(dnums->input_batch_dimension(), 0);
  EXPECT_EQ(dnums->input_feature_dimension(), 3);
  EXPECT_EQ(dnums->input_spatial_dimensions(), (RepeatedField<int64_t>{4, 2}));
  EXPECT_EQ(dnums->kernel_output_feature_dimension(), 0);
  EXPECT_EQ(dnums->kernel_input_feature_dimension(), 2);
  EXPECT_EQ(dnums->kernel_spatial_dimensions(), (RepeatedField<int64_t>{1, 3}));
  EXPECT_EQ(dnums->output_batch_dimension(), 3);
  EXPECT_EQ(dnums->output_feature_dimension(), 2);
  EXPECT_EQ(dnums->output_spatial_dimensions(), (RepeatedField<int64_t>{0, 1}));
}

// Trailing ? have no trace in the record, and a missing letter is dimension 0.
TEST(DimLabelsTest, WhatIsLost) {
  EXPECT_EQ(RereadLabels("b0f_0io->b0f?\?"), "b0f_0io->b0f");
  EXPECT_EQ(RereadLabels("01_01->01"), "01_01->01");
  EXPECT_EQ(RereadLabels("b0_0i->b0"), "f0_0i->f0");
  EXPECT_EQ(RereadLabels("?\?_?\?->?\?"), "f_o->f");
}

TEST(DimLabelsTest, Errors) {
  for (const char* text :
       {"",          "bf",         "bf_io",      "bf_io->",    "bf_io->b",    "b_io->bf",  "bf_i->bf",
        "_io->bf",   "bf->io_bf",  "bf-io->bf",  "BF_io->bf",  "bx_io->bf",   "bf_bf->bf", "io_io->io",
        "bf_io->io", " bf_io->bf", "bf_io->bf ", "bf_io_->bf", "bf_io->bf->", "bf_io-bf"}) {
    EXPECT_EQ(RereadLabels(text), "error: expects dim labels pattern, e.g., 'bf0_0io->0bf'") << text;
  }
  EXPECT_EQ(RereadLabels("b00f_01io->b01f"), "error: expects unique lhs dimension numbers, but sees b00f");
  EXPECT_EQ(RereadLabels("bf_ii->bf"), "error: expects unique rhs dimension numbers, but sees ii");
  EXPECT_EQ(RereadLabels("bf_io->ff"), "error: expects unique output dimension numbers, but sees ff");
  EXPECT_EQ(RereadLabels("b04f_04io->b04f"), "error: expects [0-3bf?] in lhs dimension numbers");
  EXPECT_EQ(RereadLabels("b0f_9io->b0f"), "error: expects [0-2io?] in rhs dimension numbers");
  EXPECT_EQ(RereadLabels("b0f_01io->b0f"),
            "error: input, kernel, and output must have same number of spatial dimensions, but got 1, 2, 1, "
            "respectively.");
  // With a gap in the digits, XLA writes outside of its list.
  EXPECT_EQ(RereadLabels("b1f_0io->b0f"), "error: expects [0-2bf?] in lhs dimension numbers");
  EXPECT_EQ(RereadLabels("?b1f_0io->b0f"), "error: expects [0-3bf?] in lhs dimension numbers");
}

TEST(DimLabelsTest, HostileDimensionsArePrintedWithoutThem) {
  ConvolutionDimensionNumbers dnums;
  dnums.set_input_batch_dimension(kMax);
  dnums.set_input_feature_dimension(kMin);
  dnums.add_input_spatial_dimensions(-1);
  dnums.set_kernel_output_feature_dimension(255);
  EXPECT_EQ(ConvolutionDimensionNumbersToString(dnums), "_i" + std::string(254, '?') + "o->f");
}

// ---- Lists ---------------------------------------------------------------------------------------------------------

TEST(DimensionNumbersTextTest, Dot) {
  RaggedDotDimensionNumbers ragged;
  EXPECT_EQ(RaggedDotDimensionNumbersToString(ragged), "lhs_contracting_dims={}, rhs_contracting_dims={}");
  DotDimensionNumbers* dot = ragged.mutable_dot_dimension_numbers();
  dot->add_lhs_contracting_dimensions(1);
  dot->add_rhs_batch_dimensions(0);
  dot->add_rhs_batch_dimensions(-1);
  EXPECT_EQ(DotDimensionNumbersToString(*dot),
            "lhs_contracting_dims={1}, rhs_batch_dims={0,-1}, rhs_contracting_dims={}");
  dot->add_lhs_batch_dimensions(2);
  ragged.add_rhs_group_dimensions(3);
  EXPECT_EQ(RaggedDotDimensionNumbersToString(ragged),
            "lhs_batch_dims={2}, lhs_contracting_dims={1}, rhs_batch_dims={0,-1}, rhs_contracting_dims={}, "
            "rhs_group_dims={3}");
  ragged.add_lhs_ragged_dimensions(0);
  EXPECT_EQ(RaggedDotDimensionNumbersToString(ragged),
            "lhs_batch_dims={2}, lhs_contracting_dims={1}, rhs_batch_dims={0,-1}, rhs_contracting_dims={}, "
            "lhs_ragged_dims={0}, rhs_group_dims={3}");
}

TEST(DimensionNumbersTextTest, GatherAndScatter) {
  GatherDimensionNumbers gather;
  gather.set_index_vector_dim(-3);
  EXPECT_EQ(GatherDimensionNumbersToString(gather),
            "offset_dims={}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim=-3");
  gather.add_offset_dims(1);
  gather.add_offset_dims(0);
  gather.add_start_indices_batching_dims(4);
  EXPECT_EQ(GatherDimensionNumbersToString(gather),
            "offset_dims={1,0}, collapsed_slice_dims={}, start_index_map={}, start_indices_batching_dims={4}, "
            "index_vector_dim=-3");

  ScatterDimensionNumbers scatter;
  scatter.add_inserted_window_dims(2);
  scatter.add_input_batching_dims(0);
  scatter.add_scatter_indices_batching_dims(1);
  EXPECT_EQ(ScatterDimensionNumbersToString(scatter),
            "update_window_dims={}, inserted_window_dims={2}, scatter_dims_to_operand_dims={}, "
            "input_batching_dims={0}, scatter_indices_batching_dims={1}, index_vector_dim=0");
}

// A parser accepts any bytes without dying; and the text that it accepts prints as text that reads the same.
TEST(DimensionNumbersTextTest, RandomTexts) {
  const std::string alphabet = "0123_x->?bfio=- size=stride=pad=";
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = static_cast<int>(random() % 24); i > 0; --i) text += alphabet[random() % alphabet.size()];
    for (auto reread : {RereadWindow, RereadPadding, RereadLabels}) {
      const std::string printed = reread(text);
      if (printed.substr(0, 6) == "error:" || printed.empty()) continue;
      EXPECT_EQ(reread(printed), printed) << text;
    }
  }
}

}  // namespace
}  // namespace kashi::hlo
