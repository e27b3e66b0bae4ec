#include "kashi/stablehlo/conversion/hlo_to_stablehlo.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
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

TEST(HloToStableHloTest, NamesAllInstructionsWithoutAForm) {
  const absl::StatusOr<std::string> text = StableHloOf(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  b = s8[16] bitcast(x)
  y = f32[4] negate(x)
  ROOT c = u16[8] bitcast(y)
})");
  EXPECT_EQ(text.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(text.status().message(),
            "instruction b (bitcast): StableHLO has no form for a bitcast from f32 to s8\n"
            "instruction c (bitcast): StableHLO has no form for a bitcast from f32 to u16");
}

// ---- Optimised modules ----------------------------------------------------------------------------------------------

TEST(HloToStableHloTest, FusionsBecomeTheirOperations) {
  const absl::StatusOr<std::string> text = StableHloOf(R"(HloModule m
fused {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  s = f32[4] add(a, b)
  ROOT t = (f32[4], f32[4]) tuple(s, a)
}
ENTRY e {
  x = f32[4] parameter(0)
  f = (f32[4], f32[4]) fusion(x, x), kind=kLoop, calls=fused
  g = f32[4] get-tuple-element(f), index=0
  h = f32[4] get-tuple-element(f), index=1
  ROOT r = f32[4] multiply(g, h)
})");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("%1 = \"stablehlo.add\"(%0, %0)"));
  EXPECT_THAT(*text, HasSubstr("%2 = \"stablehlo.multiply\"(%1, %0)"));
}

std::string BitcastOf(const std::string& from, const std::string& to) {
  const absl::StatusOr<std::string> text =
      StableHloOf(absl::StrCat("HloModule m\nENTRY e { x = ", from, " parameter(0)  ROOT b = ", to, " bitcast(x) }"));
  if (!text.ok()) return std::string(text.status().message());
  const size_t begin = text->find(":\n", text->find("^bb0(")) + 2;
  return text->substr(begin, text->find("    \"func.return\"") - begin);
}

TEST(HloToStableHloTest, BitcastsBecomeTheMovesThatTheirLayoutsMean) {
  EXPECT_EQ(BitcastOf("f32[2,3]{1,0}", "f32[2,3]{1,0}"), "");
  EXPECT_EQ(BitcastOf("f32[2,3]{1,0}", "f32[6]{0}"),
            "    %1 = \"stablehlo.reshape\"(%0) : (tensor<2x3xf32>) -> tensor<6xf32>\n");
  EXPECT_EQ(BitcastOf("f32[2,3]{1,0}", "f32[3,2]{0,1}"),
            "    %1 = \"stablehlo.transpose\"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> "
            "tensor<3x2xf32>\n");
  EXPECT_EQ(BitcastOf("f32[4]{0}", "s32[4]{0}"),
            "    %1 = \"stablehlo.bitcast_convert\"(%0) : (tensor<4xf32>) -> tensor<4xi32>\n");
  EXPECT_EQ(BitcastOf("f32[2,3]{0,1}", "f32[6]{0}"),
            "    %1 = \"stablehlo.transpose\"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> "
            "tensor<3x2xf32>\n"
            "    %2 = \"stablehlo.reshape\"(%1) : (tensor<3x2xf32>) -> tensor<6xf32>\n");
}

TEST(HloToStableHloTest, BitcastsOfTilesThatStayInPlace) {
  EXPECT_EQ(BitcastOf("f32[2,8,128]{2,1,0:T(8,128)}", "f32[16,128]{1,0:T(8,128)}"),
            "    %1 = \"stablehlo.reshape\"(%0) : (tensor<2x8x128xf32>) -> tensor<16x128xf32>\n");
  EXPECT_THAT(BitcastOf("f32[4,4,128]{2,1,0:T(8,128)}", "f32[16,128]{1,0:T(8,128)}"),
              HasSubstr("a bitcast whose tiles change the order of elements"));
  EXPECT_THAT(BitcastOf("f32[16,256]{1,0:T(8,128)}", "f32[4096]{0:T(1024)}"),
              HasSubstr("a bitcast whose tiles change the order of elements"));
}

TEST(HloToStableHloTest, AsynchronousPairsAreOneOperation) {
  const absl::StatusOr<std::string> text = StableHloOf(R"(HloModule m, replica_count=2
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[4] parameter(0)
  c = (f32[4], f32[4], u32[]) copy-start(x)
  d = f32[4] copy-done(c)
  g = (f32[4], f32[8]) all-gather-start(d), replica_groups={{0,1}}, dimensions={0}
  h = f32[8] all-gather-done(g)
  r = f32[8] all-reduce-start(h), replica_groups={{0,1}}, to_apply=add
  s = f32[8] all-reduce-done(r)
  p = (f32[8], f32[8]) collective-permute-start(s), source_target_pairs={{0,1}}
  q = f32[8] collective-permute-done(p)
  n = ((f32[8]), f32[8], s32[]) negate-start(q)
  u = ((f32[8]), f32[8], s32[]) negate-update(n)
  ROOT o = f32[8] negate-done(u)
})");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("%1 = \"stablehlo.all_gather\"(%0)"));
  EXPECT_THAT(*text, HasSubstr("%2 = \"stablehlo.all_reduce\"(%1)"));
  EXPECT_THAT(*text, HasSubstr("%6 = \"stablehlo.collective_permute\"(%2)"));
  EXPECT_THAT(*text, HasSubstr("%7 = \"stablehlo.negate\"(%6)"));
  EXPECT_THAT(*text, HasSubstr("\"func.return\"(%7)"));
}

// The data of a send is its operand, and its context has no value in StableHLO.
TEST(HloToStableHloTest, ElementsOfSends) {
  const std::string send = R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  t = token[] after-all()
  s = (f32[4], u32[], token[]) send(x, t), channel_id=1
  d = token[] send-done(s), channel_id=1
  g = $[] get-tuple-element(s), index=#
  ROOT n = $[] negate(g)
})";
  const absl::StatusOr<std::string> data = StableHloOf(absl::StrReplaceAll(send, {{"$[]", "f32[4]"}, {"#", "0"}}));
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_THAT(*data, HasSubstr("\"stablehlo.negate\"(%0)"));
  EXPECT_THAT(StableHloOf(absl::StrReplaceAll(send, {{"$", "u32"}, {"#", "1"}})).status().message(),
              HasSubstr("no value for the context"));
}

TEST(HloToStableHloTest, AliasesOfPartsAreLeftOutWithANote) {
  const auto module = ParseAndReturnUnverifiedModule(R"(HloModule m, input_output_alias={ {0}: (0, {1}, may-alias) }
ENTRY e {
  x = (f32[4], f32[4]) parameter(0)
  a = f32[4] get-tuple-element(x), index=1
  ROOT r = (f32[4], f32[4]) tuple(a, a)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<std::string> notes;
  StableHloTextOptions options;
  options.notes = &notes;
  EXPECT_TRUE(ConvertToStableHlo(**module, options).ok());
  ASSERT_EQ(notes.size(), 1);
  EXPECT_THAT(notes[0], HasSubstr("result {0} in the buffer of parameter 0 {1}"));
}

// ---- Sizes ----------------------------------------------------------------------------------------------------------

size_t SizeOf(const std::string& shape, const std::string& instructions) {
  const absl::StatusOr<std::string> text =
      StableHloOf(absl::StrCat("HloModule m\nENTRY e {\n x = ", shape, " parameter(0)\n", instructions, "}\n"));
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? text->size() : 0;
}

TEST(HloToStableHloTest, TextIsLinearInTheDepthOfTuples) {
  const auto size_at = [](int depth) {
    return SizeOf(absl::StrCat(std::string(depth, '('), "f32[2]", std::string(depth, ')')),
                  " ROOT c = f32[2] custom-call(x), custom_call_target=\"f\"\n");
  };
  EXPECT_LT(size_at(2000), 2.2 * size_at(1000));
}

TEST(HloToStableHloTest, TextIsLinearInTheWidthOfTuples) {
  const auto size_at = [](int width) {
    std::string shape = "(f32[2]";
    std::string calls;
    for (int i = 1; i < width; ++i) absl::StrAppend(&shape, ", f32[2]");
    for (int i = 0; i < width; ++i) {
      absl::StrAppend(&calls, " call", i, " = f32[2] custom-call(x), custom_call_target=\"f\"\n g", i,
                      " = f32[2] get-tuple-element(x), index=", i, "\n");
    }
    return SizeOf(shape + ")", absl::StrCat(calls, " ROOT r = f32[2] add(call0, g0)\n"));
  };
  EXPECT_LT(size_at(1000), 2.2 * size_at(500));
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
