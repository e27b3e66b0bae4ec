// Sums of up to 32 bits: both engines add in f64 and round once, so they give the same bits, in any kernel.
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::cpu {
namespace {

using Sizes = std::vector<int64_t>;

std::string Sum(const std::string& type, const Sizes& sizes, const Sizes& reduced) {
  Sizes kept;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!absl::c_linear_search(reduced, static_cast<int64_t>(i))) kept.push_back(sizes[i]);
  }
  return absl::StrCat("add { a = ", type, "[] parameter(0) b = ", type, "[] parameter(1) ROOT r = ", type,
                      "[] add(a, b) } ENTRY e { x = ", type, "[", absl::StrJoin(sizes, ","),
                      "] parameter(0) init = ", type, "[] parameter(1) ROOT r = ", type, "[", absl::StrJoin(kept, ","),
                      "] reduce(x, init), dimensions={", absl::StrJoin(reduced, ","), "}, to_apply=add }");
}

// Numbers of both signs and of many magnitudes, so that a sum in the type would lose most of its digits.
Literal CancellingNumbers(const Shape& shape, uint32_t seed) {
  std::minstd_rand random(seed);
  Literal wide(ShapeUtil::ChangeElementType(shape, F64));
  for (double& x : wide.data<double>()) {
    x = std::ldexp(static_cast<double>(random() % 4001) - 2000, static_cast<int>(random() % 10));
  }
  return wide.Convert(shape.element_type()).value();
}

void ExpectSameBits(const std::string& text, const CompileOptions& options = {}) {
  const auto module = ReadVerified(text).value();
  std::vector<Literal> arguments;
  for (const HloInstruction* parameter : module->entry_computation()->parameter_instructions()) {
    arguments.push_back(CancellingNumbers(parameter->shape(), static_cast<uint32_t>(arguments.size()) + 1));
  }
  ExpectAsEvaluator(text, arguments, ErrorSpec(0, 0), /*kernels=*/-1, options);
}

TEST(ExactSumsTest, OfRowsColumnsAndAll) {
  const std::vector<std::tuple<Sizes, Sizes>> cases = {
      {{1000}, {0}},    {{7, 333}, {1}},  {{7, 333}, {0}},    {{333, 7}, {1}},       {{333, 7}, {0}},
      {{40, 600}, {0}}, {{41, 601}, {0}}, {{5, 30, 40}, {1}}, {{5, 30, 40}, {0, 2}}, {{5, 30, 40}, {0, 1, 2}},
      {{4, 3}, {1}},    {{4, 3}, {0}},    {{2, 1}, {1}},      {{1, 2}, {0}},         {{3, 5, 2, 9}, {1, 3}},
      {{1025}, {0}},
  };
  for (const std::string type : {"f32", "f16", "bf16"}) {
    for (const auto& [sizes, reduced] : cases) ExpectSameBits(Sum(type, sizes, reduced));
  }
}

// Users of a sum in the same kernel read the rounded sum.
TEST(ExactSumsTest, InKernelsOfRows) {
  ExpectSameBits(R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[37,130] parameter(0)
  zero = f32[] constant(0)
  sum = f32[37] reduce(x, zero), dimensions={1}, to_apply=add
  spread = f32[37,130] broadcast(sum), dimensions={0}
  difference = f32[37,130] subtract(x, spread)
  sum2 = f32[37] reduce(difference, zero), dimensions={1}, to_apply=add
  spread2 = f32[37,130] broadcast(sum2), dimensions={0}
  ROOT r = f32[37,130] subtract(difference, spread2)
})");
}

TEST(ExactSumsTest, InLoopsOnSmallArrays) {
  ExpectSameBits(R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
body {
  state = (s32[], f32[3,5]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[3,5] get-tuple-element(state), index=1
  one = s32[] constant(1)
  zero = f32[] constant(0)
  sum = f32[3] reduce(x, zero), dimensions={1}, to_apply=add
  spread = f32[3,5] broadcast(sum), dimensions={0}
  y = f32[3,5] subtract(x, spread)
  j = s32[] add(i, one)
  ROOT next = (s32[], f32[3,5]) tuple(j, y)
}
condition {
  state = (s32[], f32[3,5]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  end = s32[] constant(9)
  ROOT r = pred[] compare(i, end), direction=LT
}
ENTRY e {
  x = f32[3,5] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[3,5]) tuple(zero, x)
  end = (s32[], f32[3,5]) while(start), condition=condition, body=body
  ROOT r = f32[3,5] get-tuple-element(end), index=1
})");
}

// A window that is cumulative from the end is unrolled, and folds from its front in both engines.
TEST(ExactSumsTest, OfWindows) {
  const auto text = [](absl::string_view type, absl::string_view window, absl::string_view combiner) {
    return absl::StrCat("f { a = ", type, "[] parameter(0) b = ", type, "[] parameter(1) ROOT r = ", type, "[] ",
                        combiner, "(a, b) } ENTRY e { x = ", type, "[20,37] parameter(0) init = ", type,
                        "[] parameter(1) ROOT r = ", type, "[20,37] reduce-window(x, init), window={", window,
                        "}, to_apply=f }");
  };
  const char* const windows[] = {"size=20x1 pad=0_19x0_0", "size=20x1 pad=19_0x0_0", "size=5x1 pad=2_2x0_0",
                                 "size=1x37 pad=0_0x0_36", "size=1x37 pad=0_0x36_0", "size=3x5 pad=1_1x2_2"};
  for (const char* type : {"f64", "f32", "f16", "bf16"}) {
    for (const char* window : windows) ExpectSameBits(text(type, window, "add"));
    for (const char* window : windows) ExpectSameBits(text(type, window, "maximum"));
  }
}

// Without excess precision a bf16 sum is rounded after each step, which the order of steps shows.
TEST(ExactSumsTest, Bf16WithoutExcessPrecisionRoundsEachStep) {
  CompileOptions options;
  options.numbers.excess_precision = false;
  const std::string text = Sum("bf16", {3}, {0});
  const auto module = ReadVerified(text).value();
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateR1<float>({1, 256, 1}).Convert(BF16).value());
  arguments.push_back(LiteralUtil::CreateR0<float>(0).Convert(BF16).value());
  const Literal result = RunCompiled(*module, arguments, options).value().Convert(F32).value();
  EXPECT_EQ(result.Get<float>({}), 256);
  const Literal wide = RunCompiled(*module, arguments).value().Convert(F32).value();
  EXPECT_EQ(wide.Get<float>({}), 258);
}

}  // namespace
}  // namespace kashi::cpu
