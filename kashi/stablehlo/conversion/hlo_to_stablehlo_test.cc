#include "kashi/stablehlo/conversion/hlo_to_stablehlo.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::stablehlo {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::string> StableHloOf(const std::string& hlo) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(hlo);
  if (!module.ok()) return module.status();
  return ConvertToStableHlo(**module);
}

TEST(HloToStableHloTest, WritesAFunctionInTheGenericForm) {
  const absl::StatusOr<std::string> text = StableHloOf(R"(HloModule m
ENTRY e {
  x = f32[2,3] parameter(0)
  c = f32[2,3] constant({{1, 2.5, nan}, {0, -0.0, 3}})
  ROOT s = f32[2,3] add(x, c)
})");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, R"("builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x3xf32>) -> tensor<2x3xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%0: tensor<2x3xf32>):
    %1 = "stablehlo.constant"() <{value = dense<[[1.0e+00, 2.5e+00, 0x7FC00000], [0.0e+00, -0.0e+00, 3.0e+00]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    "func.return"(%2) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
)");
}

TEST(HloToStableHloTest, TakesTuplesOfLoopsApart) {
  const absl::StatusOr<std::string> text = StableHloOf(R"(HloModule m
body {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[2] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[2]) tuple(next, v)
}
condition {
  q = (s32[], f32[2]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(j, n), direction=LT
}
ENTRY e {
  a = s32[] parameter(0)
  b = f32[2] parameter(1)
  t = (s32[], f32[2]) tuple(a, b)
  ROOT w = (s32[], f32[2]) while(t), condition=condition, body=body
})");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("%2:2 = \"stablehlo.while\"(%0, %1) ({\n    ^bb0(%3: tensor<i32>, %4: tensor<2xf32>):"));
  EXPECT_THAT(*text, HasSubstr("\"func.return\"(%2#0, %2#1) : (tensor<i32>, tensor<2xf32>) -> ()"));
}

TEST(HloToStableHloTest, NamesAnInstructionWithoutAForm) {
  const absl::StatusOr<std::string> text = StableHloOf(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  ROOT b = f32[2,2] bitcast(x)
})");
  EXPECT_EQ(text.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(text.status().message(), "instruction b (bitcast): StableHLO has no operation for it");
}

// Deep nesting becomes functions, so that readers accept the text.
TEST(HloToStableHloTest, DeepRegionsBecomeFunctions) {
  constexpr int kDepth = 200;
  std::string hlo = "HloModule m\nb0 { x0 = f32[] parameter(0)\n ROOT y0 = f32[] negate(x0) }\n";
  for (int i = 1; i < kDepth; ++i) {
    hlo += absl::StrCat("b", i, " { x", i, " = f32[] parameter(0)\n p", i, " = pred[] constant(true)\n ROOT y", i,
                        " = f32[] conditional(p", i, ", x", i, ", x", i, "), true_computation=b", i - 1,
                        ", false_computation=b", i - 1, " }\n");
  }
  hlo += absl::StrCat("ENTRY e { x = f32[] parameter(0)\n ROOT c = f32[] call(x), to_apply=b", kDepth - 1, " }\n");
  const absl::StatusOr<std::string> text = StableHloOf(hlo);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_LT(text->size(), 1000 * kDepth);
}

}  // namespace
}  // namespace kashi::stablehlo
