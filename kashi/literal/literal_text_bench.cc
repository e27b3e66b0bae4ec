// Bytes of text a second (`bytes_per_second`): reading and printing one large constant.
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/check.h"
#include "kashi/literal/literal_parser.h"
#include "kashi/literal/literal_text.h"

namespace kashi::literal {
namespace {

// 2^18 numbers from 0 to `largest`.
Literal MakeConstant(const std::string& type, double largest) {
  Literal literal(ParseShape(absl::StrCat(type, "[256,1024]")).value());
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> distribution(0, largest);
  primitive_util::ArrayTypeSwitch(
      [&](auto primitive_type) {
        using T = primitive_util::NativeTypeOf<primitive_type>;
        for (T& element : literal.data<T>()) element = static_cast<T>(distribution(random));
      },
      literal.shape().element_type());
  return literal;
}

void BM_Parse(benchmark::State& state, const std::string& type, double largest) {
  const Literal literal = MakeConstant(type, largest);
  std::string text;
  AppendLiteralValue(literal, &text);
  for (auto _ : state) {
    absl::StatusOr<Literal> read = ParseLiteral(text, literal.shape());
    KASHI_CHECK_OK(read);
    benchmark::DoNotOptimize(read);
  }
  state.SetBytesProcessed(state.iterations() * text.size());
}

void BM_Print(benchmark::State& state, const std::string& type, double largest) {
  const Literal literal = MakeConstant(type, largest);
  size_t size = 0;
  for (auto _ : state) {
    std::string text;
    AppendLiteralValue(literal, &text);
    size = text.size();
    benchmark::DoNotOptimize(text);
  }
  state.SetBytesProcessed(state.iterations() * size);
}

BENCHMARK_CAPTURE(BM_Parse, f32, "f32", 1);
BENCHMARK_CAPTURE(BM_Parse, f64, "f64", 1);
BENCHMARK_CAPTURE(BM_Parse, f16, "f16", 1);
BENCHMARK_CAPTURE(BM_Parse, s32_large, "s32", 1e9);
BENCHMARK_CAPTURE(BM_Parse, s32_small, "s32", 9);
BENCHMARK_CAPTURE(BM_Parse, u8, "u8", 255);
BENCHMARK_CAPTURE(BM_Print, f32, "f32", 1);
BENCHMARK_CAPTURE(BM_Print, f64, "f64", 1);
BENCHMARK_CAPTURE(BM_Print, f16, "f16", 1);
BENCHMARK_CAPTURE(BM_Print, s32_large, "s32", 1e9);
BENCHMARK_CAPTURE(BM_Print, s32_small, "s32", 9);

}  // namespace
}  // namespace kashi::literal
