#include "kashi/hlo/attributes/enum_text.h"

#include <cmath>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "kashi/hlo/attributes/fusion_kind.h"

namespace kashi::hlo {
namespace {

// Every number from 0 to `last` has a word that reads back as it; the next number has none.
template <typename Enum, typename ToText, typename FromText>
void ExpectRoundTrips(int last, ToText to_text, FromText from_text) {
  for (int number = 0; number <= last; ++number) {
    const std::string text(to_text(static_cast<Enum>(number)));
    EXPECT_NE(text, "") << number;
    auto value = from_text(text);
    ASSERT_TRUE(value.ok()) << text;
    EXPECT_EQ(*value, static_cast<Enum>(number)) << text;
  }
  EXPECT_EQ(to_text(static_cast<Enum>(last + 1)), "");
  EXPECT_FALSE(from_text("").ok());
  EXPECT_FALSE(from_text("nonsense").ok());
}

TEST(EnumTextTest, EveryWordReadsBack) {
  ExpectRoundTrips<PrecisionConfig::Precision>(2, PrecisionToString, StringToPrecision);
  ExpectRoundTrips<PrecisionConfig::Algorithm>(13, AlgorithmToString, StringToAlgorithm);
  ExpectRoundTrips<RandomAlgorithm>(2, RandomAlgorithmToString, StringToRandomAlgorithm);
  ExpectRoundTrips<RandomDistribution>(2, RandomDistributionToString, StringToRandomDistribution);
  ExpectRoundTrips<ResultAccuracy::Mode>(1, ResultAccuracyToString, StringToResultAccuracy);
  ExpectRoundTrips<FftType>(3, FftTypeToString, StringToFftType);
  ExpectRoundTrips<CustomCallSchedule>(2, CustomCallScheduleToString, StringToCustomCallSchedule);
  ExpectRoundTrips<CustomCallApiVersion>(4, CustomCallApiVersionToString, StringToCustomCallApiVersion);
  ExpectRoundTrips<PaddingType>(2, PaddingTypeToString, StringToPaddingType);
  ExpectRoundTrips<TriangularSolveOptions::Transpose>(3, TransposeToString, StringToTranspose);
  ExpectRoundTrips<ConvolutionKind>(3, ConvolutionKindToString, StringToConvolutionKind);
  ExpectRoundTrips<FusionKind>(
      3, [](FusionKind kind) { return ToString(kind); }, StringToFusionKind);
}

TEST(EnumTextTest, WordsAreXlas) {
  EXPECT_EQ(PrecisionToString(PrecisionConfig::HIGHEST), "highest");
  EXPECT_EQ(AlgorithmToString(PrecisionConfig::ALG_UNSET), "unset");
  EXPECT_EQ(AlgorithmToString(PrecisionConfig::ALG_DOT_BF16_BF16_F32_X9), "dot_bf16_bf16_f32_x9");
  EXPECT_EQ(RandomAlgorithmToString(RNG_THREE_FRY), "rng_three_fry");
  EXPECT_EQ(RandomDistributionToString(RNG_INVALID), "rng_invalid");
  EXPECT_EQ(FftTypeToString(IRFFT), "IRFFT");
  EXPECT_EQ(CustomCallScheduleToString(SCHEDULE_EARLIEST), "SCHEDULE_EARLIEST");
  EXPECT_EQ(CustomCallApiVersionToString(API_VERSION_TYPED_FFI), "API_VERSION_TYPED_FFI");
  EXPECT_EQ(PaddingTypeToString(PADDING_SAME), "PADDING_SAME");
  EXPECT_EQ(TransposeToString(TriangularSolveOptions::NO_TRANSPOSE), "NO_TRANSPOSE");
  EXPECT_EQ(ConvolutionKindToString(CONVOLUTION_KIND_DGRAD), "dgrad");
  EXPECT_EQ(ToString(FusionKind::kOutput), "kOutput");
}

TEST(EnumTextTest, SomeAreReadInAnyCase) {
  EXPECT_EQ(*StringToPrecision("HiGhEsT"), PrecisionConfig::HIGHEST);
  EXPECT_EQ(*StringToAlgorithm("DOT_F32_F32_F32"), PrecisionConfig::ALG_DOT_F32_F32_F32);
  EXPECT_EQ(*StringToRandomAlgorithm("RNG_PHILOX"), RNG_PHILOX);
  EXPECT_EQ(*StringToRandomDistribution("RNG_UNIFORM"), RNG_UNIFORM);
  EXPECT_EQ(*StringToResultAccuracy("HIGHEST"), ResultAccuracy::HIGHEST);

  EXPECT_FALSE(StringToFftType("fft").ok());
  EXPECT_FALSE(StringToPaddingType("padding_valid").ok());
  EXPECT_FALSE(StringToConvolutionKind("FPROP").ok());
  EXPECT_FALSE(StringToFusionKind("KLOOP").ok());
  EXPECT_FALSE(StringToCustomCallSchedule("schedule_none").ok());
  EXPECT_FALSE(StringToTranspose("adjoint").ok());
}

TEST(EnumTextTest, ErrorsSayWhatIsUnknown) {
  EXPECT_EQ(StringToPrecision("x").status().message(), "Unknown precision");
  EXPECT_EQ(StringToAlgorithm("alg_unset").status().message(), "Unknown algorithm");
  EXPECT_EQ(StringToRandomDistribution("uniform").status().message(), "Unknown distribution");
  EXPECT_EQ(StringToCustomCallSchedule("none").status().message(), "Unknown schedule");
  EXPECT_EQ(StringToCustomCallApiVersion("v1").status().message(), "Unknown API version");
  EXPECT_EQ(StringToFusionKind("loop").status().message(), "Unknown fusion kind: loop");
}

TEST(EnumTextTest, UnspecifiedTriStateHasNoWord) {
  EXPECT_EQ(TriStateToString(TRI_STATE_TRUE), "true");
  EXPECT_EQ(TriStateToString(TRI_STATE_FALSE), "false");
  EXPECT_EQ(TriStateToString(TRI_STATE_UNSPECIFIED), "");
  EXPECT_EQ(*StringToTriState("true"), TRI_STATE_TRUE);
  EXPECT_EQ(*StringToTriState("false"), TRI_STATE_FALSE);
  EXPECT_FALSE(StringToTriState("").ok());
  EXPECT_FALSE(StringToTriState("1").ok());
}

// ---- Accuracy of a result ------------------------------------------------------------------------------------------

std::string Reread(absl::string_view text) {
  std::string error;
  std::optional<ResultAccuracy> accuracy = ParseResultAccuracy(text, &error);
  return accuracy ? ResultAccuracyAttributeToString(*accuracy) : "error: " + error;
}

TEST(ResultAccuracyTest, ReadsAndPrints) {
  EXPECT_EQ(Reread("{mode=highest}"), "{mode=highest}");
  EXPECT_EQ(Reread("{mode=HIGHEST}"), "{mode=highest}");
  EXPECT_EQ(Reread("{mode=default}"), "{mode=default}");
  EXPECT_EQ(Reread("{tolerance={}}"), "{tolerance={atol=0,rtol=0,ulps=0}}");
  EXPECT_EQ(Reread("{ tolerance={ ulps=3 , atol=1e-5 } }"), "{tolerance={atol=1e-05,rtol=0,ulps=3}}");
  EXPECT_EQ(Reread("{tolerance={atol=1,atol=2}}"), "{tolerance={atol=2,rtol=0,ulps=0}}");
  EXPECT_EQ(Reread("{tolerance={atol=1,ulps=3,ulps=,atol=}}"), "{tolerance={atol=1,rtol=0,ulps=3}}");
  EXPECT_EQ(Reread("{tolerance={ulps=3.99}}"), "{tolerance={atol=0,rtol=0,ulps=3}}");
  EXPECT_EQ(Reread("{tolerance={atol=inf,rtol=1e-310}}"), "{tolerance={atol=inf,rtol=1e-310,ulps=0}}");
  EXPECT_EQ(Reread("{tolerance={atol=0.333333333333,rtol=123456789.125}}"),
            "{tolerance={atol=0.333333,rtol=1.23457e+08,ulps=0}}");
}

TEST(ResultAccuracyTest, Errors) {
  EXPECT_EQ(Reread(""), "error: expected '{' to start result precision list");
  EXPECT_EQ(Reread("highest"), "error: expected '{' to start result precision list");
  EXPECT_EQ(Reread("{}"), "error: expects string for result_accuracy spec");
  EXPECT_EQ(Reread("{foo=1}"), "error: invalid attribute name: foo");
  EXPECT_EQ(Reread("{mode=\"highest\"}"), "error: expects ResultAccuracy type");
  EXPECT_EQ(Reread("{mode=foo}"), "error: expects ResultAccuracy type but sees: foo, error: Unknown accuracy mode");
  EXPECT_EQ(Reread("{mode=highest,}"), "error: expected '}' to end result_accuracy");
  EXPECT_EQ(Reread("{mode=highest"), "error: expected '}' to end result_accuracy");
  EXPECT_EQ(Reread("{mode=highest,tolerance={ulps=1}}"), "error: expected '}' to end result_accuracy");
  EXPECT_EQ(Reread("{mode=highest}}"), "error: unexpected text after result_accuracy");
  EXPECT_EQ(Reread("{tolerance=3}"), "error: expected '{' to start result precision list");
  EXPECT_EQ(Reread("{tolerance={foo=1}}"), "error: invalid attribute name: foo");
  EXPECT_EQ(Reread("{tolerance={atol=1,}}"), "error: expects string for result_accuracy spec");
  EXPECT_EQ(Reread("{tolerance={atol=1 rtol=2}}"), "error: expects '}' at the end of result precision");
  EXPECT_EQ(Reread("{tolerance={atol=1e400}}"), "error: expects decimal or integer");
  EXPECT_EQ(Reread("{tolerance={atol=x}}"), "error: expects decimal or integer");
}

bool IsValid(absl::string_view text) {
  std::string error;
  std::optional<ResultAccuracy> accuracy = ParseResultAccuracy(text, &error);
  EXPECT_TRUE(accuracy.has_value()) << text << ": " << error;
  return accuracy && IsValidResultAccuracy(*accuracy);
}

TEST(ResultAccuracyTest, Validity) {
  EXPECT_TRUE(IsValid("{mode=highest}"));
  EXPECT_TRUE(IsValid("{tolerance={atol=-0.0,rtol=inf,ulps=0}}"));
  EXPECT_FALSE(IsValid("{tolerance={atol=-1}}"));
  EXPECT_FALSE(IsValid("{tolerance={rtol=nan}}"));
  EXPECT_FALSE(IsValid("{tolerance={rtol=-inf}}"));
  EXPECT_FALSE(IsValid("{tolerance={ulps=-3}}"));
  EXPECT_FALSE(IsValid("{tolerance={ulps=1e30}}"));
  EXPECT_FALSE(IsValid("{tolerance={ulps=nan}}"));
  EXPECT_FALSE(IsValid("{tolerance={ulps=9223372036854775807}}"));   // 2^63 as a double
  EXPECT_FALSE(IsValid("{tolerance={atol=18446744073709551615}}"));  // wraps to -1
}

}  // namespace
}  // namespace kashi::hlo
