// Bytes of elements a second (`bytes_per_second`, those read): new layouts and element types, beside memcpy of as many.
#include <cstring>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_parser.h"
#include "kashi/literal/literal.h"

namespace kashi::literal {
namespace {

Literal Make(const std::string& shape) { return Literal::CreateFromShape(ParseShape(shape).value()); }

void BM_Memcpy(benchmark::State& state) {
  const std::vector<char> from(int64_t{1} << 24, 1);
  std::vector<char> to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(from.size()));
}

// Into a literal that is there already, so that the memory of a new one does not count.
void BM_CopyFrom(benchmark::State& state, const std::string& from, const std::string& to) {
  const Literal source = Make(from);
  Literal target = Make(to);
  for (auto _ : state) {
    KASHI_CHECK_OK(target.CopyFrom(source));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * source.size_bytes());
}

void BM_Convert(benchmark::State& state, const std::string& from, PrimitiveType to) {
  const Literal source = Make(from);
  for (auto _ : state) benchmark::DoNotOptimize(source.Convert(to));
  state.SetBytesProcessed(state.iterations() * source.size_bytes());
}

void BM_EachCell(benchmark::State& state, const std::string& shape) {
  const Literal source = Make(shape);
  for (auto _ : state) {
    float sum = 0;
    source.EachCell<float>([&](absl::Span<const int64_t>, float value) { sum += value; });
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(state.iterations() * source.size_bytes());
}

void BM_MakeScalar(benchmark::State& state) {
  const Shape shape = ParseShape("f32[]").value();
  for (auto _ : state) benchmark::DoNotOptimize(Literal(shape));
}

BENCHMARK(BM_Memcpy);
BENCHMARK_CAPTURE(BM_CopyFrom, same, "f32[2048,2048]{1,0}", "f32[2048,2048]{1,0}");
BENCHMARK_CAPTURE(BM_CopyFrom, transpose_f32, "f32[2048,2048]{1,0}", "f32[2048,2048]{0,1}");
BENCHMARK_CAPTURE(BM_CopyFrom, transpose_u8, "u8[4096,4096]{1,0}", "u8[4096,4096]{0,1}");
BENCHMARK_CAPTURE(BM_CopyFrom, nhwc_to_nchw, "f32[16,64,64,64]{3,2,1,0}", "f32[16,64,64,64]{2,1,3,0}");
BENCHMARK_CAPTURE(BM_Convert, f32_to_bf16, "f32[2048,2048]", BF16);
BENCHMARK_CAPTURE(BM_Convert, f32_to_s32, "f32[2048,2048]", S32);
BENCHMARK_CAPTURE(BM_Convert, bf16_to_f32, "bf16[2048,4096]", F32);
BENCHMARK_CAPTURE(BM_Convert, f8_to_f32, "f8e4m3fn[4096,4096]", F32);
BENCHMARK_CAPTURE(BM_Convert, s32_to_s8, "s32[2048,2048]", S8);
BENCHMARK_CAPTURE(BM_EachCell, row_major, "f32[2048,2048]{1,0}");
BENCHMARK_CAPTURE(BM_EachCell, column_major, "f32[2048,2048]{0,1}");
BENCHMARK(BM_MakeScalar);

}  // namespace
}  // namespace kashi::literal
