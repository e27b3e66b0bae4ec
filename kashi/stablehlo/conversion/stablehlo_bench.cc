// Bytes of a program a second (`bytes_per_second`): reading StableHLO as text and as a portable artifact, and
// converting it. bench/stablehlo.py makes the program with JAX, names it in KASHI_STABLEHLO_PROGRAM (NAME.mlir and
// NAME.mlirbc), and measures MLIR beside it. Without the variable, a program of matrix products is made here.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "kashi/base/check.h"
#include "kashi/stablehlo/bytecode/bytecode_reader.h"
#include "kashi/stablehlo/conversion/read_stablehlo.h"
#include "kashi/stablehlo/conversion/stablehlo_to_hlo.h"
#include "kashi/stablehlo/text/text_reader.h"

namespace kashi::stablehlo {
namespace {

std::string ReadProgram(const std::string& ending) {
  const char* name = std::getenv("KASHI_STABLEHLO_PROGRAM");
  if (name == nullptr) return "";
  std::ifstream file(absl::StrCat(name, ending), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string MadeText() {
  std::string text = "func.func @main(%0: tensor<8x128xf32>, %1: tensor<128x128xf32>) -> tensor<8x128xf32> {\n";
  int last = 0, next = 2;
  for (int i = 0; i < 10'000; ++i, last = next - 1) {
    absl::StrAppend(&text, "  %", next, " = stablehlo.dot_general %", last, ", %1, contracting_dims = [1] x [0], ",
                    "precision = [DEFAULT, DEFAULT] : (tensor<8x128xf32>, tensor<128x128xf32>) -> tensor<8x128xf32>\n");
    absl::StrAppend(&text, "  %", next + 1, " = stablehlo.tanh %", next, " : tensor<8x128xf32>\n");
    next += 2;
  }
  return absl::StrCat(text, "  return %", last, " : tensor<8x128xf32>\n}\n");
}

const std::string& ProgramText() {
  static const auto* text = new std::string(ReadProgram(".mlir"));
  static const auto* made = new std::string(text->empty() ? MadeText() : "");
  return text->empty() ? *made : *text;
}

void BM_ReadText(benchmark::State& state) {
  const std::string& text = ProgramText();
  for (auto _ : state) {
    absl::StatusOr<Program> program = ReadText(text, "bench");
    KASHI_CHECK_OK(program);
    benchmark::DoNotOptimize(program);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(BM_ReadText)->Unit(benchmark::kMillisecond);

void BM_ReadBytecode(benchmark::State& state) {
  const std::string bytes = ReadProgram(".mlirbc");
  if (bytes.empty()) return state.SkipWithError("bench/stablehlo.py makes the artifact");
  for (auto _ : state) {
    absl::StatusOr<Program> program = ReadBytecode(bytes);
    KASHI_CHECK_OK(program);
    benchmark::DoNotOptimize(program);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(BM_ReadBytecode)->Unit(benchmark::kMillisecond);

void BM_Convert(benchmark::State& state) {
  const std::string& text = ProgramText();
  const Program program = ReadText(text, "bench").value();
  for (auto _ : state) {
    auto module = ConvertToHlo(program);
    KASHI_CHECK_OK(module);
    benchmark::DoNotOptimize(module);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(BM_Convert)->Unit(benchmark::kMillisecond);

void BM_ReadAndConvert(benchmark::State& state) {
  const std::string bytes = ReadProgram(".mlirbc");
  if (bytes.empty()) return state.SkipWithError("bench/stablehlo.py makes the artifact");
  for (auto _ : state) {
    auto module = ReadStableHlo(bytes, "bench");
    KASHI_CHECK_OK(module);
    benchmark::DoNotOptimize(module);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(BM_ReadAndConvert)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kashi::stablehlo
