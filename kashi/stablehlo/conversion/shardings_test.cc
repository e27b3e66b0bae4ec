#include "kashi/stablehlo/conversion/shardings.h"

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/sdy_sharding_rule.h"
#include "kashi/stablehlo/conversion/op_sharding_bytes.h"
#include "kashi/stablehlo/conversion/read_stablehlo.h"

namespace kashi::stablehlo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The sharding of an argument with these attributes, or an error.
std::string ShardingOf(absl::string_view attributes, absl::string_view symbols = "") {
  const std::string text = absl::StrCat("module {\n", symbols, "\nfunc.func @main(%x: tensor<8xf32> {", attributes,
                                        "}) -> tensor<8xf32> {\n return %x : tensor<8xf32>\n}\n}\n");
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ReadStableHlo(text, "test");
  if (!module.ok()) return std::string(module.status().message());
  const HloInstruction& x = *(*module)->entry_computation()->parameter_instruction(0);
  return x.has_sharding() ? x.sharding().ToString() : "none";
}

TEST(ShardingsTest, TextOfHlo) {
  EXPECT_EQ(ShardingOf("mhlo.sharding = \"{replicated}\""), "{replicated}");
  EXPECT_EQ(ShardingOf("mhlo.sharding = \"{devices=[2]<=[2]}\""), "{devices=[2]<=[2]}");
  EXPECT_EQ(ShardingOf("mhlo.sharding = \"{devices=[1]<=[1]}\""), "{replicated}");
  EXPECT_THAT(ShardingOf("mhlo.sharding = \"{devices=}\""), HasSubstr("{devices=}"));
}

// The bytes are those of OpSharding::SerializeAsString.
TEST(ShardingsTest, BytesOfAProto) {
  EXPECT_EQ(ShardingOf("mhlo.sharding = \"\""), "{replicated}");
  EXPECT_EQ(ShardingOf(R"(mhlo.sharding = "\08\04")"), "{manual}");
  EXPECT_EQ(ShardingOf(R"(mhlo.sharding = "\08\01\1A\01\01\22\01\03")"), "{maximal device=3}");
  EXPECT_EQ(ShardingOf(R"(mhlo.sharding = "\08\03\1A\01\02\4A\01\02\52\01\00")"), "{devices=[2]<=[2]}");
  EXPECT_EQ(ShardingOf(R"(mhlo.sharding = "\08\03\1A\01\02\22\02\01\00")"), "{devices=[2]1,0}");
  EXPECT_EQ(ShardingOf(R"(mhlo.sharding = "\08\03\1A\02\02\02\22\04\00\01\02\03\30\01")"),
            "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}");
  EXPECT_EQ(ShardingOf(R"(mhlo.sharding = "\08\03\1A\02\02\02\22\04\00\01\02\03\42\01\04")"),
            "{devices=[2,2]0,1,2,3 last_tile_dims={manual}}");
  // Numbers that are not packed, and fields that nobody knows.
  EXPECT_EQ(ShardingOf(R"(mhlo.sharding = "\08\03\18\02\20\01\20\00\FA\01\02xy")"), "{devices=[2]1,0}");
}

TEST(ShardingsTest, TuplesOfAProto) {
  const absl::StatusOr<OpSharding> proto =
      ReadOpShardingBytes(absl::string_view("\x08\x02\x2A\x00\x2A\x02\x08\x04", 8));
  ASSERT_TRUE(proto.ok()) << proto.status();
  EXPECT_EQ(HloSharding::FromProto(*proto)->ToString(), "{{replicated}, {manual}}");
}

TEST(ShardingsTest, BytesThatAreNoProto) {
  EXPECT_THAT(ShardingOf("mhlo.sharding = \"replicated\""), HasSubstr("is no text of a sharding"));
  EXPECT_THAT(ShardingOf(R"(mhlo.sharding = "\08\07")"), HasSubstr("no serialised OpSharding"));
  EXPECT_THAT(ShardingOf(R"(mhlo.sharding = "\08")"), HasSubstr("no serialised OpSharding"));
  EXPECT_THAT(ShardingOf(R"(mhlo.sharding = "\08\03\1A\05\02")"), HasSubstr("no serialised OpSharding"));
  EXPECT_THAT(ShardingOf(R"(mhlo.sharding = "\08\FF\FF\FF\FF\FF\FF\FF\FF\FF\FF\01")"),
              HasSubstr("no serialised OpSharding"));
  EXPECT_THAT(ShardingOf(R"(mhlo.sharding = "\08\03\1A\01\03\22\02\01\00")"), HasSubstr("2 devices for 3 tiles"));
}

TEST(ShardingsTest, AMeshThatIsNotThereIsAnError) {
  const absl::string_view mesh = "sdy.mesh @mesh = <[\"x\"=2]>";
  const auto of = [](absl::string_view name) {
    return absl::StrCat("sdy.sharding = #sdy.sharding<@", name, ", [{\"x\"}]>");
  };
  EXPECT_EQ(ShardingOf(of("mesh"), mesh), "{devices=[2]<=[2]}");
  EXPECT_THAT(ShardingOf(of("other"), mesh), HasSubstr("a mesh of the module, not `other`"));
  EXPECT_THAT(ShardingOf(of("mesh")), HasSubstr("a mesh of the module, not `mesh`"));
  // Beside a sharding that counts first, and of a function that the entry does not need.
  EXPECT_THAT(ShardingOf(absl::StrCat("mhlo.sharding = \"{replicated}\", ", of("other")), mesh),
              HasSubstr("not `other`"));
}

// The rules of the custom calls, in the order of the program.
std::vector<std::string> RulesOf(absl::string_view code) {
  std::vector<std::string> rules;
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ReadStableHlo(code, "test");
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return rules;
  for (const HloInstruction* instruction : (*module)->entry_computation()->MakeInstructionPostOrder()) {
    const auto& attributes = instruction->frontend_attributes().map();
    const auto rule = attributes.find("xla.sdy.sharding_rule");
    if (rule != attributes.end()) rules.push_back(rule->second);
  }
  return rules;
}

TEST(ShardingsTest, RulesOfCustomCalls) {
  std::stringstream bytes;
  bytes << std::ifstream(std::string(KASHI_TEST_DATA) + "/stablehlo/sharding_rules.mlirbc", std::ios::binary).rdbuf();
  const std::vector<std::string> rules = RulesOf(bytes.str());
  EXPECT_THAT(rules,
              ElementsAre("#sdy.op_sharding_rule<([ij, k], [k, l])->([ij, l]) {i=2, j=4, k=16, l=4} reduction={k} "
                          "need_replication={l} permutation={i} blocked_propagation={j}, custom>",
                          "#sdy.op_sharding_rule<([i, j])->([]) {i=8, j=4} reduction={i, j}>",
                          "#sdy.op_sharding_rule<([])->([i, j]) {i=8, j=4}>",
                          "#sdy.op_sharding_rule<([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, z_1, z_2, "
                          "z_3])->([i, jzz_1z_2, z_3]) {i=8, j=4, k=1, l=1, m=1, n=1, o=1, p=1, q=1, r=1, s=1, t=1, "
                          "u=1, v=1, w=1, x=1, y=1, z=2, z_1=2, z_2=2, z_3=2}, custom>"));
  for (const std::string& rule : rules) EXPECT_TRUE(hlo::ParseSdyShardingRule(rule).ok()) << rule;
  const std::string text = "#sdy.op_sharding_rule<([i, j])->([]) {i=8, j=4} reduction={i, j}>";
  EXPECT_THAT(
      RulesOf(absl::StrCat("func.func @main(%x: tensor<8x4xf32>) -> tensor<f32> {\n  %0 = stablehlo.custom_call "
                           "@f(%x) {sdy.sharding_rule = ",
                           text, "} : (tensor<8x4xf32>) -> tensor<f32>\n  return %0 : tensor<f32>\n}\n")),
      ElementsAre(text));
}

}  // namespace
}  // namespace kashi::stablehlo
