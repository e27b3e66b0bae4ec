// Operations a second (`items_per_second`; a multiplication and an addition are two) of square products on this
// machine's threads, of small ones, of a matrix times a vector; and of whole dot and convolution instructions,
// conversions and all.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "kashi/base/check.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/evaluator/matrix_product.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/literal/literal.h"

namespace kashi::internal {
namespace {

template <typename T>
std::vector<T> MakeMatrix(int64_t size) {
  std::vector<T> matrix(size);
  for (int64_t i = 0; i < size; ++i) matrix[i] = T(i % 7);
  return matrix;
}

template <typename T>
void RunProducts(benchmark::State& state, const MatrixProductSizes& sizes, bool is_rhs_transposed) {
  const std::vector<T> lhs = MakeMatrix<T>(sizes.batch * sizes.m * sizes.k);
  const std::vector<T> rhs = MakeMatrix<T>(sizes.batch * sizes.k * sizes.n);
  std::vector<T> out(sizes.batch * sizes.m * sizes.n);
  const int64_t rhs_size = sizes.k * sizes.n;
  for (auto _ : state) {
    const absl::Status status = MatrixProduct<T>(sizes, {lhs.data(), sizes.m * sizes.k, sizes.k, 1},
                                                 is_rhs_transposed ? MatrixOperand<T>{rhs.data(), rhs_size, 1, sizes.k}
                                                                   : MatrixOperand<T>{rhs.data(), rhs_size, sizes.n, 1},
                                                 {out.data(), sizes.m * sizes.n, sizes.n});
    benchmark::DoNotOptimize(status.ok());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * sizes.batch * sizes.m * sizes.n * sizes.k * 2);
}

template <typename T>
void BM_Square(benchmark::State& state) {
  RunProducts<T>(state, {1, state.range(0), state.range(0), state.range(0)}, /*is_rhs_transposed=*/false);
}
template <typename T>
void BM_SquareTransposed(benchmark::State& state) {
  RunProducts<T>(state, {1, state.range(0), state.range(0), state.range(0)}, /*is_rhs_transposed=*/true);
}
template <typename T>
void BM_Batch(benchmark::State& state) {
  RunProducts<T>(state, {1024, state.range(0), state.range(0), state.range(0)}, /*is_rhs_transposed=*/false);
}
template <typename T>
void BM_Row(benchmark::State& state) {
  RunProducts<T>(state, {1, 1, state.range(0), state.range(0)}, /*is_rhs_transposed=*/false);
}
template <typename T>
void BM_Column(benchmark::State& state) {
  RunProducts<T>(state, {1, state.range(0), state.range(0), 1}, /*is_rhs_transposed=*/false);
}
template <typename T>
void BM_Tall(benchmark::State& state) {
  RunProducts<T>(state, {1, 65536, state.range(0), state.range(0)}, /*is_rhs_transposed=*/false);
}

BENCHMARK_TEMPLATE(BM_Square, float)->Arg(4)->Arg(16)->Arg(64)->Arg(256)->Arg(1024)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Square, double)->Arg(64)->Arg(1024)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Square, uint32_t)->Arg(1024)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Square, uint64_t)->Arg(1024)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Square, complex64)->Arg(512)->UseRealTime();
BENCHMARK_TEMPLATE(BM_SquareTransposed, float)->Arg(64)->Arg(1024)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Batch, float)->Arg(4)->Arg(16)->Arg(64)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Row, float)->Arg(1024)->Arg(4096)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Column, float)->Arg(1024)->Arg(4096)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Tall, float)->Arg(16)->Arg(64)->UseRealTime();

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
}  // namespace kashi::internal
