#include "kashi/cpu/evaluator_steps.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::cpu {
namespace {

// An FFT over all but the first dimension, which is 3; the innermost of the others is n.
std::string FftProgram(absl::string_view type, absl::string_view outer_lengths, int64_t n, bool is_wide) {
  const bool from_real = type == "RFFT", to_real = type == "IRFFT";
  const auto array = [&](bool is_real, int64_t length) {
    const absl::string_view element = is_real ? (is_wide ? "f64" : "f32") : (is_wide ? "c128" : "c64");
    return absl::StrCat(element, "[3,", outer_lengths, length, "]");
  };
  return absl::Substitute(
      "ENTRY e { x = $0 parameter(0)  y = $0 add(x, x)  ROOT z = $1 fft(y), fft_type=$2, fft_length={$3$4} }",
      array(from_real, to_real ? n / 2 + 1 : n), array(to_real, from_real ? n / 2 + 1 : n), type, outer_lengths, n);
}

TEST(FftStepTest, AsEvaluator) {
  for (absl::string_view type : {"FFT", "IFFT", "RFFT", "IRFFT"}) {
    for (absl::string_view outer : {"", "5,", "12,7,"}) {
      for (int64_t n : {1, 2, 3, 8, 17, 64, 67, 100, 101, 256}) {
        ExpectAsEvaluator(FftProgram(type, outer, n, /*is_wide=*/false), ErrorSpec(2e-4, 1e-5));
        ExpectAsEvaluator(FftProgram(type, outer, n, /*is_wide=*/true), ErrorSpec(1e-9, 1e-12));
      }
    }
    ExpectAsEvaluator(FftProgram(type, "", 1 << 16, /*is_wide=*/false), ErrorSpec(1e-2, 1e-4));
  }
}

// 2^24 + 3: the ones are added one by one in f32, and some are lost.
TEST(FftStepTest, ComputesInTheType) {
  const auto module =
      ReadVerified("ENTRY e { x = c64[4] parameter(0)  ROOT y = c64[4] fft(x), fft_type=FFT, fft_length={4} }");
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateR1<complex64>({16777216, 1, 1, 1}));
  const Literal exact = HloEvaluator().Evaluate(**module, arguments).value();
  const Literal rounded = RunCompiled(**module, arguments).value();
  EXPECT_EQ(exact.data<complex64>()[0], complex64(16777220));
  EXPECT_NE(rounded.data<complex64>()[0], complex64(16777220));
}

// The tables that the first run made for six rows do not fit the three rows of the next run.
TEST(FftStepTest, SizesMayChangeBetweenRuns) {
  const auto module = ReadVerified(R"(
    HloModule m
    add {
      a = c64[] parameter(0)
      b = c64[] parameter(1)
      ROOT c = c64[] add(a, b)
    }
    ENTRY e {
      x = c64[6,8] parameter(0)
      rows = s32[] parameter(1)
      some = c64[<=6,8] set-dimension-size(x, rows), dimensions={0}
      y = c64[<=6,8] fft(some), fft_type=FFT, fft_length={8}
      zero = c64[] constant((0, 0))
      ROOT sum = c64[8] reduce(y, zero), dimensions={0}, to_apply=add
    })");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto program = CompiledProgram::Compile(**module).value();
  std::vector<Literal> arguments = RandomArguments(**module);
  for (int32_t rows : {6, 3, 6}) {
    arguments[1] = LiteralUtil::CreateR0<int32_t>(rows);
    const Literal expected = HloEvaluator().Evaluate(**module, arguments).value();
    const Literal actual = RunProgram(*program, arguments).value();
    EXPECT_TRUE(literal_comparison::Near(expected, actual, ErrorSpec(1e-4, 1e-5)).ok()) << rows;
  }
}

TEST(FftStepTest, MixedPrecisionIsTheEvaluators) {
  const auto module =
      ReadVerified("ENTRY e { x = c64[3] parameter(0)  ROOT y = bf16[4] fft(x), fft_type=IRFFT, fft_length={4} }");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_FALSE(evaluator::IsFftOfOnePrecision(*(*module)->entry_computation()->root_instruction()));
  ExpectAsEvaluator((*module)->ToString());
}

}  // namespace
}  // namespace kashi::cpu
