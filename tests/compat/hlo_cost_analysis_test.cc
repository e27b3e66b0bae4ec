#include "xla/service/hlo_cost_analysis.h"

#include <cstdint>
#include <memory>

#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/hlo/testlib/test.h"
#include "xla/hlo/testlib/test_helpers.h"
#include "xla/shape.h"
#include "xla/shape_util.h"
#include "xla/tsl/lib/core/status_test_util.h"
#include "xla/tsl/platform/statusor.h"

namespace xla {
namespace {

TEST(HloCostAnalysisTest, Dot) {
  TF_ASSERT_OK_AND_ASSIGN(std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(R"(
HloModule m
ENTRY main {
  a = f32[10,5] parameter(0)
  b = f32[5,30] parameter(1)
  ROOT c = f32[10,30] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)"));
  HloCostAnalysis analysis;
  TF_ASSERT_OK(module->entry_computation()->Accept(&analysis));
  EXPECT_EQ(analysis.flop_count(), 2 * 10 * 30 * 5);
  EXPECT_EQ(analysis.bytes_accessed(), sizeof(float) * (10 * 5 + 5 * 30 + 10 * 30));
  EXPECT_EQ(analysis.flop_count(*module->entry_computation()->root_instruction()), 3000);
}

constexpr int64_t kPointerSize = 8;

int64_t ShapeSize(const Shape& shape) { return ShapeUtil::ByteSizeOf(shape, kPointerSize); }

constexpr char kFusion[] = R"(
HloModule m
fused {
  x = f32[100]{0} parameter(0)
  i = s32[] parameter(1)
  ROOT d = f32[10]{0} dynamic-slice(x, i), dynamic_slice_sizes={10}
}
ENTRY main {
  x = f32[100]{0} parameter(0)
  i = s32[] parameter(1)
  f = f32[10]{0} fusion(x, i), kind=kLoop, calls=fused
  ROOT e = f32[10]{0} exponential(f)
}
)";

TEST(HloCostAnalysisTest, OperandsAndResults) {
  TF_ASSERT_OK_AND_ASSIGN(std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(kFusion));
  HloInstruction* root = module->entry_computation()->root_instruction();
  const HloInstruction* fusion = root->operand(0);
  HloCostAnalysis analysis(ShapeSize);
  ASSERT_IS_OK(root->Accept(&analysis));

  EXPECT_EQ(analysis.bytes_accessed(*fusion), 40 + 4 + 40);
  EXPECT_EQ(analysis.operand_bytes_accessed(*fusion, 0), 40);
  EXPECT_EQ(analysis.operand_bytes_accessed(*fusion, 1), 4);
  EXPECT_EQ(analysis.output_bytes_accessed(*fusion), 40);
  EXPECT_EQ(analysis.operand_utilization(*fusion, 0), 1.0f);
  EXPECT_EQ(analysis.operand_utilization(*fusion->fused_expression_root(), 0), 0.1f);
  EXPECT_EQ(analysis.GetBytesRead(*fusion), 44);
  EXPECT_EQ(analysis.GetBytesWritten(*fusion), 40);
  EXPECT_EQ(analysis.transcendental_count(*root), 10);
  EXPECT_EQ(analysis.GetShapeSize(root->shape()), 40);

  const HloCostAnalysis::Properties& properties = analysis.properties();
  EXPECT_EQ(properties[HloCostAnalysis::kBytesAccessedKey], analysis.bytes_accessed());
  EXPECT_EQ(properties[HloCostAnalysis::GetOperandBytesAccessedKey(0)], 40 + 40);
  EXPECT_EQ(properties[HloCostAnalysis::GetOutputBytesAccessedKey()], 40 + 40);
  EXPECT_EQ(properties[HloCostAnalysis::GetOperandUtilizationKey(1)], 1);
  float sum_of_transcendentals = 0;
  properties.ForEach([&](absl::string_view key, float value) {
    if (key == HloCostAnalysis::kTranscendentalsKey) sum_of_transcendentals += value;
  });
  EXPECT_EQ(sum_of_transcendentals, 10);
}

TEST(HloCostAnalysisTest, OptimalSeconds) {
  TF_ASSERT_OK_AND_ASSIGN(std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(kFusion));
  HloCostAnalysis::Options options{ShapeSize};
  options.set_flops_per_second(1e9);
  options.set_transcendentals_per_second(5);
  options.set_bytes_per_second(1e9);
  options.set_bytes_min_latency_second(1);
  HloCostAnalysis analysis(options);
  TF_ASSERT_OK(module->entry_computation()->Accept(&analysis));
  EXPECT_EQ(analysis.optimal_seconds(*module->entry_computation()->root_instruction()), 2);
  EXPECT_EQ(analysis.optimal_seconds(), 2 + 1);
}

}  // namespace
}  // namespace xla
