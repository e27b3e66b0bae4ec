#include "kashi/hlo/spmd/sdy_sharding_rule.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::hlo {
namespace {

std::string TextOf(const std::vector<SdyShardingRule::Mapping>& mappings) {
  return absl::StrJoin(mappings, " ", [](std::string* out, const SdyShardingRule::Mapping& mapping) {
    absl::StrAppend(out, "[",
                    absl::StrJoin(mapping, ",",
                                  [](std::string* text, const SdyShardingRule::Dimension& dim) {
                                    absl::StrAppend(text, absl::StrJoin(dim, "."));
                                  }),
                    "]");
  });
}

std::string Parsed(absl::string_view text) {
  const absl::StatusOr<SdyShardingRule> rule = ParseSdyShardingRule(text);
  if (!rule.ok()) return std::string(rule.status().message());
  std::string result = absl::StrCat(TextOf(rule->operands), " to ", TextOf(rule->results), " of ",
                                    absl::StrJoin(rule->factor_sizes, ","));
  if (!rule->reduction.empty()) absl::StrAppend(&result, " reduction ", absl::StrJoin(rule->reduction, ","));
  if (!rule->need_replication.empty()) absl::StrAppend(&result, " whole ", absl::StrJoin(rule->need_replication, ","));
  if (!rule->permutation.empty()) absl::StrAppend(&result, " permutation ", absl::StrJoin(rule->permutation, ","));
  if (!rule->blocked_propagation.empty()) {
    absl::StrAppend(&result, " blocked ", absl::StrJoin(rule->blocked_propagation, ","));
  }
  return result;
}

// The texts are those that jaxlib 0.10.2 prints.
TEST(SdyShardingRuleTest, Rules) {
  EXPECT_EQ(Parsed("#sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=8, j=16, k=4} reduction={j}, custom>"),
            "[0,1] [1,2] to [0,2] of 8,16,4 reduction 1");
  EXPECT_EQ(Parsed("#sdy.op_sharding_rule<([ij, k])->([i, j, k]) {i=2, j=4, k=16}, custom>"),
            "[0.1,2] to [0,1,2] of 2,4,16");
  EXPECT_EQ(Parsed("#sdy.op_sharding_rule<([i, j])->([i], [j], []) {i=8, j=16} need_replication={j} permutation={i}>"),
            "[0,1] to [0] [1] [] of 8,16 whole 1 permutation 0");
  EXPECT_EQ(Parsed("#sdy.op_sharding_rule<([])->([i]) {i=8} blocked_propagation={i}, custom>"),
            "[] to [0] of 8 blocked 0");
  EXPECT_EQ(Parsed("#sdy.op_sharding_rule<()->() >"), " to  of ");
}

TEST(SdyShardingRuleTest, NamesOfManyFactors) {
  std::string names, sizes;
  for (int i = 0; i < 21; ++i) {
    const std::string name = i < 18 ? std::string(1, static_cast<char>('i' + i)) : absl::StrCat("z_", i - 17);
    absl::StrAppend(&names, name);
    absl::StrAppend(&sizes, i == 0 ? "" : ", ", name, "=2");
  }
  const absl::StatusOr<SdyShardingRule> rule =
      ParseSdyShardingRule(absl::StrCat("#sdy.op_sharding_rule<([", names, "])->([z_3, z]) {", sizes, "}>"));
  ASSERT_TRUE(rule.ok()) << rule.status();
  ASSERT_EQ(rule->operands[0][0].size(), 21u);
  for (int i = 0; i < 21; ++i) EXPECT_EQ(rule->operands[0][0][i], i);
  EXPECT_EQ(TextOf(rule->results), "[20,17]");
}

TEST(SdyShardingRuleTest, Errors) {
  EXPECT_EQ(Parsed("#sdy.sharding<>"), "`#sdy.sharding<>`, at byte 0: expected `#sdy.op_sharding_rule`");
  for (const absl::string_view text :
       {"#sdy.op_sharding_rule<([a])->() {i=2}>", "#sdy.op_sharding_rule<([i])->()>",
        "#sdy.op_sharding_rule<([i])->() {j=2}>", "#sdy.op_sharding_rule<([i])->() {i=2, k=3}>",
        "#sdy.op_sharding_rule<([i])->() {i=-2}>", "#sdy.op_sharding_rule<([i])->() {i=2} reduction={j}>",
        "#sdy.op_sharding_rule<([i])->() {i=2} other={i}>", "#sdy.op_sharding_rule<([i_1])->() {i=2}>",
        "#sdy.op_sharding_rule<([z_0])->() {i=2}>", "#sdy.op_sharding_rule<([z_9999999999])->() {i=2}>",
        "#sdy.op_sharding_rule<([i])->() {i=2}", "#sdy.op_sharding_rule<([i])->() {i=2}> x",
        "#sdy.op_sharding_rule<([i])->() {i=2}, other>"}) {
    EXPECT_FALSE(ParseSdyShardingRule(text).ok()) << text;
  }
}

TEST(SdyShardingRuleTest, RulesFitTheirInstructions) {
  const auto of_call = [](absl::string_view rule) {
    const std::string text = absl::StrCat(R"(HloModule m
ENTRY e {
  p = f32[8,16] parameter(0)
  ROOT c = (f32[8], f32[2,4,16]) custom-call(p), custom_call_target="f", frontend_attributes={xla.sdy.sharding_rule=")",
                                          rule, "\"}\n}\n");
    const auto module = ParseAndReturnUnverifiedModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    return SdyShardingRuleOf(*(*module)->entry_computation()->root_instruction());
  };
  EXPECT_TRUE(of_call("#sdy.op_sharding_rule<([ij, k])->([ij], [i, j, k]) {i=2, j=4, k=16}>").value().has_value());
  for (const absl::string_view rule : {"#sdy.op_sharding_rule<([ij, k])->([ij]) {i=2, j=4, k=16}>",
                                       "#sdy.op_sharding_rule<([ij])->([ij], [i, j, k]) {i=2, j=4, k=16}>",
                                       "#sdy.op_sharding_rule<([ij, k])->([ij], [j, i, k]) {i=2, j=4, k=16}>",
                                       "#sdy.op_sharding_rule<([ij, k])->([ij], [i, j, k]) {i=2, j=8, k=16}>"}) {
    EXPECT_EQ(of_call(rule).status().message(),
              absl::StrCat("xla.sdy.sharding_rule: `", rule, "` is for other shapes"));
  }
}

}  // namespace
}  // namespace kashi::hlo
