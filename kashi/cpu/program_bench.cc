// The time of a call, and of the compilation, of small programs.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "kashi/engine/client.h"
#include "kashi/engine/program.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/literal/literal_util.h"

namespace kashi {
namespace {

constexpr char kAdd[] =
    "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n  ROOT r = f32[4] add(x, y)\n}\n";
constexpr char kThreeOperations[] =
    "HloModule m\nENTRY e {\n  x = f32[1024] parameter(0)\n  y = f32[1024] parameter(1)\n  a = f32[1024] add(x, y)\n"
    "  b = f32[1024] multiply(a, x)\n  ROOT r = f32[1024] subtract(b, y)\n}\n";

void BM_Compile(benchmark::State& state, const char* text) {
  const auto module = ParseAndReturnUnverifiedModule(text).value();
  for (auto _ : state) benchmark::DoNotOptimize(Program::Compile(*module).value());
}
BENCHMARK_CAPTURE(BM_Compile, add, kAdd);
BENCHMARK_CAPTURE(BM_Compile, three_operations, kThreeOperations);

void BM_ExecuteOnMemory(benchmark::State& state, const char* text, int64_t elements) {
  const auto program = Program::Compile(*ParseAndReturnUnverifiedModule(text).value()).value();
  const std::vector<float> x(elements, 1), y(elements, 2);
  std::vector<float> result(elements);
  const void* const arguments[] = {x.data(), y.data()};
  void* const results[] = {result.data()};
  for (auto _ : state) benchmark::DoNotOptimize(program->ExecuteOnMemory(arguments, results).ok());
}
BENCHMARK_CAPTURE(BM_ExecuteOnMemory, add, kAdd, 4);
BENCHMARK_CAPTURE(BM_ExecuteOnMemory, three_operations, kThreeOperations, 1024);

void BM_Deserialize(benchmark::State& state, const char* text) {
  CompileOptions options;
  options.keep_code = true;
  const auto program = Program::Compile(*ParseAndReturnUnverifiedModule(text).value(), options).value();
  const std::string bytes = program->Serialize().value();
  for (auto _ : state) benchmark::DoNotOptimize(Program::Deserialize(bytes).value());
}
BENCHMARK_CAPTURE(BM_Deserialize, add, kAdd);
BENCHMARK_CAPTURE(BM_Deserialize, three_operations, kThreeOperations);

// Includes the buffers of the results, which the caller frees.
void BM_ExecuteOnBuffers(benchmark::State& state) {
  const auto client = Client::Create().value();
  const auto program = client->Compile(*ParseAndReturnUnverifiedModule(kAdd).value()).value();
  const auto x = client->BufferFromLiteral(LiteralUtil::CreateR1<float>({1, 2, 3, 4})).value();
  for (auto _ : state) benchmark::DoNotOptimize(program->Execute({{x.get(), x.get()}}).value());
}
BENCHMARK(BM_ExecuteOnBuffers);

void BM_ExecuteLiterals(benchmark::State& state) {
  const auto program = Program::Compile(*ParseAndReturnUnverifiedModule(kAdd).value()).value();
  const Literal x = LiteralUtil::CreateR1<float>({1, 2, 3, 4});
  for (auto _ : state) benchmark::DoNotOptimize(program->Execute({&x, &x}).value());
}
BENCHMARK(BM_ExecuteLiterals);

}  // namespace
}  // namespace kashi
