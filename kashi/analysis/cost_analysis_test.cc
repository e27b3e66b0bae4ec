// The expected numbers are those of XLA's own cost analysis (jaxlib 0.10.2) for the same modules.
#include "kashi/analysis/cost_analysis.h"

#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"

namespace kashi {
namespace {

struct Case {
  const char* instructions;
  double flops;
  double transcendentals;
  double bytes;
};
std::ostream& operator<<(std::ostream& out, const Case& test_case) { return out << test_case.instructions; }

constexpr char kCallees[] = R"(HloModule m
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
add2 { x = f32[] parameter(0)  k = s32[] parameter(1)  y = f32[] parameter(2)  l = s32[] parameter(3)
  z = f32[] add(x, y)  m = s32[] add(k, l)  ROOT t = (f32[], s32[]) tuple(z, m) }
lt2 { x = f32[] parameter(0)  y = f32[] parameter(1)  k = s32[] parameter(2)  l = s32[] parameter(3)
  ROOT z = pred[] compare(x, y), direction=LT }
neg { x = f32[10] parameter(0)  ROOT z = f32[10] negate(x) }
expadd { x = f32[10] parameter(0)  y = f32[10] exponential(x)  ROOT z = f32[10] add(x, y) }
yes { x = f32[10] parameter(0)  ROOT z = pred[] constant(true) }
update { x = f32[10] parameter(0)  u = f32[3] parameter(1)  i = s32[] parameter(2)
  ROOT z = f32[10] dynamic-update-slice(x, u, i) }
nested { x = f32[10] parameter(0)  y = f32[10] fusion(x), kind=kLoop, calls=expadd  ROOT z = f32[10] add(x, y) }
element { x = (f32[10], f32[7]) parameter(0)  y = f32[10] get-tuple-element(x), index=0  ROOT z = f32[10] negate(y) }
table { x = f32[3] parameter(0)  k = f32[3] constant({1, 2, 3})  s = f32[] constant(4)
  b = f32[3] broadcast(s), dimensions={}  y = f32[3] add(k, x)  ROOT z = f32[3] add(y, b) }
take { x = f32[10] parameter(0)  i = s32[4,1] parameter(1)  ROOT b = f32[4] gather(x, i), offset_dims={},
  collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1} }
ENTRY e {
)";

class CostCaseTest : public ::testing::TestWithParam<Case> {};

TEST_P(CostCaseTest, CountsAsXlaDoes) {
  const auto module = ReadModule(absl::StrCat(kCallees, GetParam().instructions, "\n}\n"));
  const absl::StatusOr<CostAnalysis> costs = CostAnalysis::Run(*module);
  ASSERT_TRUE(costs.ok()) << costs.status();
  EXPECT_EQ(costs->total().flops, GetParam().flops);
  EXPECT_EQ(costs->total().transcendentals, GetParam().transcendentals);
  EXPECT_EQ(costs->total().bytes_accessed, GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Operations, CostCaseTest,
    ::testing::Values(
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] add(a, a)", 10, 0, 120},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] tanh(a)", 0, 10, 80},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] copy(a)", 0, 0, 80},
        Case{"a = f32[10] parameter(0)  ROOT b = s32[10] bitcast-convert(a)", 10, 0, 80},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[3] slice(a), slice={[2:5]}", 0, 0, 24},
        Case{"a = f32[10] parameter(0)  ROOT b = (f32[10], f32[10]) tuple(a, a)", 0, 0, 16},
        Case{"a = (f32[10], f32[10]) parameter(0)  ROOT b = (f32[10], f32[10]) opt-barrier(a)", 0, 0, 96},
        Case{"a = f32[10] parameter(0)  s = (f32[10], f32[10], u32[]) copy-start(a)  ROOT b = f32[10] copy-done(s)", 0,
             0, 188},
        Case{"a = f32[3,5] parameter(0)  b = s32[3,5] parameter(1)  ROOT c = (f32[3,5], s32[3,5]) sort(a, b), "
             "dimensions={1}, to_apply=lt2",
             60, 0, 240},
        Case{"a = f32[6,10] parameter(0)  c = s32[6,10] parameter(1)  z = f32[] parameter(2)  y = s32[] parameter(3)  "
             "ROOT b = (f32[6], s32[6]) reduce(a, c, z, y), dimensions={1}, to_apply=add2",
             108, 0, 536},
        Case{"a = f32[10] parameter(0)  i = s32[4,1] parameter(1)  u = f32[4] parameter(2)  ROOT b = f32[10] "
             "scatter(a, i, "
             "u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
             "index_vector_dim=1, "
             "to_apply=add",
             4, 0, 64},
        Case{"a = f32[10] parameter(0)  c = s32[7] parameter(1)  ROOT b = (f32[10], s32[7]) all-reduce(a, c), "
             "replica_groups={}, to_apply=add2",
             17, 0, 136},
        Case{"a = u64[2] parameter(0)  ROOT c = (u64[2], u32[10]) rng-bit-generator(a), algorithm=rng_default", 0, 12,
             72},
        Case{"a = f32[<=10] parameter(0)  ROOT b = s32[] get-dimension-size(a), dimensions={0}", 0, 0, 48},
        Case{"p = pred[] parameter(0)  a = f32[10] parameter(1)  ROOT b = f32[10] conditional(p, a, a), "
             "true_computation=neg, false_computation=expadd",
             10, 10, 200},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] while(a), condition=yes, body=neg", 10, 0, 80}));

INSTANTIATE_TEST_SUITE_P(
    Fusions, CostCaseTest,
    ::testing::Values(
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] fusion(a), kind=kLoop, calls=expadd", 10, 10, 80},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] fusion(a), kind=kLoop, calls=nested", 20, 10, 120},
        Case{"a = (f32[10], f32[7]) parameter(0)  ROOT b = f32[10] fusion(a), kind=kLoop, calls=element", 10, 0, 96},
        Case{"a = f32[3] parameter(0)  ROOT b = f32[3] fusion(a), kind=kLoop, calls=table", 6, 0, 36},
        Case{"a = f32[10] parameter(0)  u = f32[3] parameter(1)  i = s32[] parameter(2)  ROOT b = f32[10] fusion(a, u, "
             "i), "
             "kind=kLoop, calls=update",
             0, 0, 28},
        Case{"a = f32[10] parameter(0)  i = s32[4,1] parameter(1)  ROOT b = f32[4] fusion(a, i), kind=kCustom, "
             "calls=take",
             0, 0, 48},
        Case{
            "a = f32[10] parameter(0)  i = s32[4,1] parameter(1)  ROOT b = f32[4] fusion(a, i), kind=kLoop, calls=take",
            0, 0, 72}));

TEST(CostAnalysisTest, ProductsAndConvolutions) {
  const auto module = ReadModule(R"(
HloModule m
ENTRY e {
  a = f32[3,5] parameter(0)
  b = f32[5,7] parameter(1)
  c = f32[3,7] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  x = f32[2,9,3] parameter(2)
  k = f32[3,3,4] parameter(3)
  y = f32[2,9,4] convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f
  ROOT t = (f32[3,7], f32[2,9,4]) tuple(c, y)
}
)");
  const absl::StatusOr<CostAnalysis> costs = CostAnalysis::Run(*module);
  ASSERT_TRUE(costs.ok()) << costs.status();
  const auto of = [&](absl::string_view name) {
    return costs->CostOf(module->entry_computation()->GetInstructionWithName(name)).flops;
  };
  EXPECT_EQ(of("c"), 2 * 3 * 7 * 5);
  EXPECT_EQ(of("y"), 2 * 2 * 3 * 4 * (9 + 8 + 8));  // the kernel's ends meet padding once each
}

// Against the obvious double loop.
TEST(CostAnalysisTest, CountsStayFinite) {
  std::string text = "HloModule m\nc0_ { p = f32[8] parameter(0)\n ROOT r = f32[8] exponential(p) }\n";
  for (int i = 1; i <= 400; ++i) {  // 8^800 runs in all
    absl::StrAppend(&text, "c", i, "_ { p = f32[8] parameter(0)\n a = f32[8] map(p), to_apply=c", i - 1,
                    "_\n ROOT r = f32[8] map(a), to_apply=c", i - 1, "_ }\n");
  }
  absl::StrAppend(&text, "ENTRY e { p = f32[0] parameter(0)\n z = f32[0] map(p), to_apply=c400_\n",
                  " q = f32[8] parameter(1)\n ROOT r = f32[8] map(q), to_apply=c400_ }\n");
  const auto module = ReadModule(text);
  const Cost total = CostAnalysis::Run(*module)->total();
  EXPECT_EQ(total.transcendentals, std::numeric_limits<double>::max());
  EXPECT_EQ(total.bytes_accessed, 2 * 8 * 4);
}

TEST(CostAnalysisTest, DilatedConvolutions) {
  for (const int stride : {1, 2, 7}) {
    for (const int dilation : {1, 3, 8}) {
      for (const int padding : {-2, 0, 7}) {
        constexpr int kInput = 8, kOutput = 6, kKernel = 5;
        const auto module = ReadModule(absl::StrCat(
            "HloModule m\nENTRY e { a = f32[", kInput, ",1,1] parameter(0)  b = f32[", kKernel,
            ",1,1] parameter(1)  ROOT c = f32[", kOutput, ",1,1] convolution(a, b), window={size=", kKernel,
            " stride=", stride, " pad=", padding, "_0 lhs_dilate=", dilation, "}, dim_labels=0bf_0io->0bf }\n"));
        double count = 0;
        for (int k = 0; k < kKernel; ++k) {
          for (int o = 0; o < kOutput; ++o) {
            const int position = o * stride + k - padding;
            count += position >= 0 && position % dilation == 0 && position / dilation < kInput;
          }
        }
        EXPECT_EQ(ConvolutionFlops(*module->entry_computation()->root_instruction()), 2 * count)
            << stride << " " << dilation << " " << padding;
      }
    }
  }
}

TEST(CostAnalysisTest, CustomCallsAreUnknown) {
  const auto module = ReadModule(
      "HloModule m\nENTRY e { a = f32[10] parameter(0)  ROOT b = f32[10] custom-call(a), custom_call_target=\"x\" }\n");
  const absl::StatusOr<CostAnalysis> costs = CostAnalysis::Run(*module);
  ASSERT_TRUE(costs.ok()) << costs.status();
  EXPECT_EQ(costs->total().unknown, 1);
  EXPECT_EQ(costs->total().bytes_accessed, 0);
}

}  // namespace
}  // namespace kashi
