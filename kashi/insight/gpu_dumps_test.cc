// Modules that real XLA compiled for GPUs (tests/data/gpu_dumps), beside the programs they were compiled from.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/analysis/fake_arguments.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/gpu_calls/gpu_call.h"
#include "kashi/insight/insight_testing.h"
#include "kashi/insight/roofline.h"
#include "kashi/literal/literal_comparison.h"

namespace kashi::insight {
namespace {

constexpr char kFolder[] = "tests/data/gpu_dumps/";

// A program before and after compilation.
struct Dump {
  std::string name;
  std::unique_ptr<HloModule> program, compiled;
};

std::vector<Dump> Dumps() {
  std::vector<Dump> dumps;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string file = entry.path().filename().string();
    absl::string_view name = file;
    if (!absl::ConsumeSuffix(&name, ".gpu.hlo")) continue;
    dumps.push_back(
        {std::string(name), ReadModuleFile(absl::StrCat(kFolder, name, ".hlo")), ReadModuleFile(entry.path())});
  }
  absl::c_sort(dumps, [](const Dump& a, const Dump& b) { return a.name < b.name; });
  EXPECT_GT(dumps.size(), 30u);
  return dumps;
}

// Of a result in the narrowest type: a library rounds once, where the program rounds after each operation.
double ToleranceOf(PrimitiveType type) {
  if (primitive_util::IsF8Type(type)) return 0.13;
  if (type == BF16) return 0.02;
  return type == F16 ? 4e-3 : 1e-5;
}

void ExpectSame(const LiteralSlice& program, const LiteralSlice& compiled) {
  ShapeUtil::ForEachSubshape(program.shape(), [&](const Shape& shape, const ShapeIndex& index) {
    if (!shape.IsArray()) return;
    const double tolerance = ToleranceOf(shape.element_type());
    const absl::Status same = literal_comparison::Near(LiteralSlice(program, index), LiteralSlice(compiled, index),
                                                       ErrorSpec(tolerance, tolerance), false, nullptr);
    EXPECT_TRUE(same.ok()) << same;
  });
}

TEST(GpuDumpsTest, ValuesAreThoseOfThePrograms) {
  for (const Dump& dump : Dumps()) {
    SCOPED_TRACE(dump.name);
    absl::StatusOr<std::vector<FakeArgument>> arguments = MakeFakeArguments(*dump.program);
    ASSERT_TRUE(arguments.ok()) << arguments.status();
    std::vector<const Literal*> literals;
    for (const FakeArgument& argument : *arguments) literals.push_back(&argument.literal);
    const absl::StatusOr<Literal> program = HloEvaluator().Evaluate(*dump.program, literals);
    const absl::StatusOr<Literal> compiled = HloEvaluator().Evaluate(*dump.compiled, literals);
    ASSERT_TRUE(program.ok()) << program.status();
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    ExpectSame(*program, *compiled);
  }
}

double FlopsOfProducts(const HloModule& module) {
  const absl::StatusOr<CostAnalysis> cost = CostAnalysis::Run(module);
  EXPECT_TRUE(cost.ok() && cost->total().unknown == 0 && cost->notes().empty());
  double flops = 0;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      const HloOpcode opcode = instruction->opcode();
      const bool is_product = opcode == HloOpcode::kDot || opcode == HloOpcode::kConvolution;
      if (is_product || gpu_calls::FindGpuCall(*instruction) != nullptr) flops += cost->CostOf(instruction).flops;
    }
  }
  return flops;
}

TEST(GpuDumpsTest, FlopsOfCallsAreThoseOfTheProducts) {
  // Here the compiler pads the input, and counts the padding; and flash attention computes products again.
  const std::vector<std::string> differ = {"conv_f16_dilated_bias", "layer_norm"};
  for (const Dump& dump : Dumps()) {
    if (absl::c_linear_search(differ, dump.name) || absl::StartsWith(dump.name, "attention")) continue;
    EXPECT_EQ(FlopsOfProducts(*dump.program), FlopsOfProducts(*dump.compiled)) << dump.name;
  }
}

// Scratch memory included. XLA counts the constants of Triton's fusions too, some bytes.
TEST(GpuDumpsTest, PeaksOfMemoryAreThoseOfXla) {
  std::map<std::string, int64_t> totals;
  std::ifstream file(absl::StrCat(kFolder, "totals.tsv"));
  std::string name;
  for (int64_t total; file >> name >> total;) totals[name] = total;
  for (const Dump& dump : Dumps()) {
    const absl::StatusOr<MemoryAnalysis> memory = AnalyzeMemory(*dump.compiled);
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(memory->target.name(), "gpu") << dump.name;
    const int64_t missing = totals.at(dump.name) - memory->default_space().peak_bytes;
    EXPECT_GE(missing, 0) << dump.name;
    EXPECT_LE(missing, absl::StartsWith(dump.name, "triton") ? 64 : 36) << dump.name;
  }
}

TEST(GpuDumpsTest, CallsTakeTheTimeOfTheirProducts) {
  const Accelerator* const h100 = FindAccelerator("h100");
  for (const Dump& dump : Dumps()) {
    const absl::StatusOr<CountedCost> cost = CountedCost::Compute(*dump.compiled);
    ASSERT_TRUE(cost.ok()) << cost.status();
    const absl::StatusOr<Roofline> roofline = Roofline::Compute(*dump.compiled, *cost, *h100);
    ASSERT_TRUE(roofline.ok()) << roofline.status();
    for (const HloInstruction* instruction : cost->instructions()) {
      const gpu_calls::GpuCall* const call = gpu_calls::FindGpuCall(*instruction);
      if (call == nullptr) continue;
      const InstructionTime time = roofline->TimeOf(instruction);
      EXPECT_GT(time.memory_seconds, 0) << dump.name;
      EXPECT_LT(cost->own().CostOf(instruction).bytes_accessed, 4e6) << dump.name;  // without scratch memory
      const bool has_products = call->counts != gpu_calls::GpuCall::Counts::kElements;
      EXPECT_EQ(time.matrix_seconds > 0, has_products) << dump.name;
      EXPECT_EQ(time.vector_seconds > 0, !has_products) << dump.name;
    }
  }
}

}  // namespace
}  // namespace kashi::insight
