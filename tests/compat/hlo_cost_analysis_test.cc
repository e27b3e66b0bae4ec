#include "xla/service/hlo_cost_analysis.h"

#include <memory>

#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/hlo/testlib/test.h"
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
  TF_ASSERT_OK(analysis.Visit(*module->entry_computation()));
  EXPECT_EQ(analysis.flop_count(), 2 * 10 * 30 * 5);
  EXPECT_EQ(analysis.bytes_accessed(), sizeof(float) * (10 * 5 + 5 * 30 + 10 * 30));
  EXPECT_EQ(analysis.flop_count(*module->entry_computation()->root_instruction()), 3000);
}

}  // namespace
}  // namespace xla
