// Every f32 as an argument of each function: the largest error, and the rate of the function alone. Some minutes each.
#include <chrono>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "kashi/cpu/vector_math_testing.h"

namespace kashi::cpu {
namespace {

constexpr int64_t kBlock = 1 << 20;
constexpr int64_t kBlocks = (int64_t{1} << 32) / kBlock;

struct Part {
  WorstError worst;
  double seconds = 0;
  std::vector<float> arguments = std::vector<float>(kBlock), results = std::vector<float>(kBlock);

  void Run(const Program& program, const FunctionOfF32& function, int64_t block) {
    for (int64_t i = 0; i < kBlock; ++i) arguments[i] = FloatOfBits(static_cast<uint32_t>(block * kBlock + i));
    const auto begin = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(program.ExecuteOnMemory({arguments.data()}, {results.data()}).ok());
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    worst.Add(arguments, results, function, /*flush_denormals=*/false);
  }
};

void BM_AllArguments(benchmark::State& state) {
  const FunctionOfF32& function = FunctionsOfF32()[state.range(0)];
  const auto program = CompileFunction(function, kBlock, /*flush_denormals=*/false);
  Part part;
  for (auto _ : state) {
    for (int64_t block = 0; block < kBlocks; ++block) part.Run(*program, function, block);
  }
  state.SetLabel(function.opcode);
  state.counters["worst_ulp"] = part.worst.ulp;
  state.counters["at"] = part.worst.at;
  state.counters["elements/s"] = static_cast<double>(kBlocks * kBlock) / part.seconds;
}
BENCHMARK(BM_AllArguments)->DenseRange(0, static_cast<int>(FunctionsOfF32().size()) - 1)->Iterations(1);

}  // namespace
}  // namespace kashi::cpu
