// Operations a second (`items_per_second`; a multiplication and an addition are two) of whole dot and convolution
// instructions, conversions and all.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "kashi/base/check.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/literal/literal.h"

namespace kashi::evaluator {
namespace {

// A module of two parameters, `shapes`, and one instruction, of `multiplications` for one result.
void RunInstruction(benchmark::State& state, const std::string& lhs, const std::string& rhs,
                    const std::string& instruction, double multiplications) {
  const auto module =
      ParseAndReturnUnverifiedModule(absl::StrCat("HloModule m\nENTRY e {\n  x = ", lhs, " parameter(0)\n  w = ", rhs,
                                                  " parameter(1)\n  ROOT r = ", instruction, "\n}"));
  KASHI_CHECK_OK(module);
  std::vector<Literal> arguments;
  for (const HloInstruction* parameter : (*module)->entry_computation()->parameter_instructions()) {
    arguments.push_back(Literal::CreateFromShape(parameter->shape()));
  }
  HloEvaluator evaluator;
  const std::vector<const Literal*> pointers = {&arguments[0], &arguments[1]};
  for (auto _ : state) {
    absl::StatusOr<Literal> result = evaluator.Evaluate(**module, pointers);
    KASHI_CHECK_OK(result);
    benchmark::DoNotOptimize(result);
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * multiplications * 2));
}

void BM_Dot(benchmark::State& state, const std::string& type) {
  const std::string shape = absl::StrCat(type, "[1024,1024]");
  RunInstruction(state, shape, shape,
                 absl::StrCat(shape, " dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"), 1 << 30);
}
BENCHMARK_CAPTURE(BM_Dot, f32, "f32")->UseRealTime();
BENCHMARK_CAPTURE(BM_Dot, bf16, "bf16")->UseRealTime();
BENCHMARK_CAPTURE(BM_Dot, s32, "s32")->UseRealTime();

// 8 images of 56 by 56 places.
void BM_Convolution3x3(benchmark::State& state, int64_t inputs, int64_t outputs, int64_t groups) {
  const std::string out = absl::StrCat("f32[8,56,56,", outputs, "]");
  RunInstruction(state, absl::StrCat("f32[8,56,56,", inputs, "]"),
                 absl::StrCat("f32[3,3,", inputs / groups, ",", outputs, "]"),
                 absl::StrCat(out, " convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, ",
                              "feature_group_count=", groups),
                 8.0 * 56 * 56 * 9 * inputs / groups * outputs);
}
BENCHMARK_CAPTURE(BM_Convolution3x3, few_inputs, 3, 64, 1)->UseRealTime();
BENCHMARK_CAPTURE(BM_Convolution3x3, many, 64, 64, 1)->UseRealTime();
BENCHMARK_CAPTURE(BM_Convolution3x3, few_outputs, 64, 3, 1)->UseRealTime();
BENCHMARK_CAPTURE(BM_Convolution3x3, groups_of_16, 64, 64, 4)->UseRealTime();
BENCHMARK_CAPTURE(BM_Convolution3x3, by_channel, 64, 64, 64)->UseRealTime();

// 64 products of 128 by 128 as compilers for TPU write them.
void BM_ConvolutionOfPairs(benchmark::State& state) {
  RunInstruction(state, "f32[64,128,128]", "f32[64,128,128]",
                 "f32[64,128,128] convolution(x, w), window={size=64 stride=63 lhs_dilate=64}, dim_labels=0bf_0io->0bf",
                 64.0 * 128 * 128 * 128);
}
BENCHMARK(BM_ConvolutionOfPairs)->UseRealTime();

}  // namespace
}  // namespace kashi::evaluator
