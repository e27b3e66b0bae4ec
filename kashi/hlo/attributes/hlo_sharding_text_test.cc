#include "kashi/hlo/attributes/hlo_sharding_text.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/recorded_cases_testing.h"
#include "kashi/array/shape_parser.h"
#include "kashi/hlo/attributes/sharding_reader.h"

namespace kashi::hlo {
namespace {

using ::testing::HasSubstr;

std::string Reprint(absl::string_view text) {
  absl::StatusOr<HloSharding> sharding = ParseSharding(text);
  return sharding.ok() ? sharding->ToString(/*include_metadata=*/true) : std::string(sharding.status().message());
}

// Texts that XLA accepts read and print alike. Texts that it refuses, dies of, or takes by luck are errors with places.
TEST(HloShardingTextTest, AgreesWithXla) {
  for (const auto& row : array::ReadTestData("sharding_cases.tsv")) {
    if (row[0] != "sharding") continue;
    absl::StatusOr<HloSharding> sharding = ParseSharding(row[1]);
    if (row[2] != "ok") {
      ASSERT_FALSE(sharding.ok()) << row[1];
      EXPECT_EQ(sharding.status().code(), absl::StatusCode::kInvalidArgument) << row[1];
      EXPECT_THAT(std::string(sharding.status().message()),
                  ::testing::ContainsRegex("^sharding:[0-9]+:[0-9]+: error: .+\n"));
      continue;
    }
    ASSERT_TRUE(sharding.ok()) << row[1] << ": " << sharding.status();
    EXPECT_EQ(sharding->ToString(/*include_metadata=*/true), row[3]) << row[1];
  }
}

// False for texts that are printed but do not read back, nor in XLA: quotes within names, lists of no or one device.
bool IsReadable(absl::string_view printed) {
  return !absl::StrContains(printed, "'a'b'") && !absl::StrContains(printed, "'it's'") &&
         !absl::StrContains(printed, "devices=[]");
}
// The short forms `manual` and `unreduced` do not show axes of size 1 that are manual or unreduced as well.
bool HidesAxes(absl::string_view printed) {
  return absl::StrContains(printed, "'=1") &&
         (absl::EndsWith(printed, "], manual}") || absl::EndsWith(printed, "], unreduced}") ||
          absl::EndsWith(printed, "), unreduced}"));
}

// Law: printed text reads back as an equal value with an equal hash, which prints the same; records and back as well.
TEST(HloShardingTextTest, RoundTrips) {
  for (const auto& row : array::ReadTestData("sharding_cases.tsv")) {
    if (row[0] != "sharding" || row[2] != "ok" || !IsReadable(row[3])) continue;
    const HloSharding sharding = ParseSharding(row[1]).value();
    absl::StatusOr<HloSharding> again = ParseSharding(row[3]);
    ASSERT_TRUE(again.ok()) << row[3] << again.status();
    // XLA's own second print is shorter where other groups had been dropped beside one that has all devices.
    if (again->IsUnreduced() && !sharding.IsUnreduced()) continue;
    EXPECT_EQ(again->ToString(true), row[3]);
    if (!HidesAxes(row[3])) {
      EXPECT_EQ(*again, sharding) << row[1] << " printed as " << row[3];
      EXPECT_EQ(absl::HashOf(*again), absl::HashOf(sharding)) << row[3];
    }
    absl::StatusOr<HloSharding> from_proto = HloSharding::FromProto(sharding.ToProto());
    if (from_proto.ok() && !absl::StrContains(row[3], "]<=[1]")) {  // XLA makes a device of these
      EXPECT_EQ(from_proto->ToString(true), row[3]);
    }
  }
}

std::string RandomSharding(std::mt19937* random) {
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(*random); };
  std::vector<int> dims, reshape, perm;
  for (int i = pick(4); i >= 0; --i) dims.push_back(1 + pick(4));
  dims.push_back(2);
  for (int dim : dims) reshape.push_back(dim);
  std::shuffle(reshape.begin(), reshape.end(), *random);
  for (size_t i = 0; i < reshape.size(); ++i) perm.push_back(static_cast<int>(i));
  std::shuffle(perm.begin(), perm.end(), *random);
  std::string text = absl::StrCat("{devices=[", absl::StrJoin(dims, ","), "]<=[", absl::StrJoin(reshape, ","), "]T(",
                                  absl::StrJoin(perm, ","), ")");
  const char* const suffixes[] = {"",
                                  " last_tile_dim_replicate",
                                  " last_tile_dims={manual}",
                                  " last_tile_dims={replicated, manual}",
                                  " shard_as 3",
                                  " metadata={op_name=\"x\"}"};
  return absl::StrCat(text, suffixes[pick(6)], "}");
}

TEST(HloShardingTextTest, RandomShardingsSettleAfterOnePrint) {
  std::mt19937 random(20240607);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = RandomSharding(&random);
    absl::StatusOr<HloSharding> sharding = ParseSharding(text);
    ASSERT_TRUE(sharding.ok()) << text << sharding.status();
    const std::string printed = sharding->ToString(true);
    EXPECT_EQ(Reprint(printed), printed) << text;
    EXPECT_EQ(ParseSharding(printed).value(), *sharding) << text;
  }
}

TEST(HloShardingTextTest, OneShardingServesAllLeavesOfATuple) {
  const Shape shape = ParseShape("(f32[4], (f32[], s32[3]), ())").value();
  const auto read = [&](absl::string_view text) {
    array::Lexer lexer(text);
    std::vector<Diagnostic> diagnostics;
    std::optional<HloSharding> sharding = ParseShardingPrefix(&lexer, &shape, &diagnostics);
    EXPECT_TRUE(lexer.AtIdent("rest"));
    return sharding.value().ToString();
  };
  EXPECT_EQ(read("{replicated} rest"), "{{replicated}, {replicated}, {replicated}}");
  EXPECT_EQ(read("{mesh['a'=2], manual} rest"),
            "{{mesh['a'=2], manual}, {mesh['a'=2], manual}, {mesh['a'=2], manual}}");
  EXPECT_EQ(read("{} rest"), "{}");
  EXPECT_EQ(read("{{manual}} rest"), "{{manual}}");  // the wrong count is the verifier's business
}

TEST(HloShardingTextTest, ErrorsSayWhere) {
  std::vector<Diagnostic> diagnostics;
  const std::string text = "x, sharding={devices=[2,2]<=[2,2]T(0,2)}";
  array::Lexer lexer(text, text.find('{'));
  EXPECT_FALSE(ParseShardingPrefix(&lexer, nullptr, &diagnostics).has_value());
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(text.substr(diagnostics[0].begin, diagnostics[0].end - diagnostics[0].begin), "2");
  EXPECT_THAT(Reprint("{sideways}"), HasSubstr("got `sideways`"));
}

// Claims in a text cost neither time nor memory, whatever they are.
TEST(HloShardingTextTest, ClaimsAreNotBelieved) {
  for (absl::string_view text : {
           "{devices=[1000000,1000000]<=[1000000000000]}",
           "{devices=[1000000,1000000]<=[1000000,1000000]T(1,0) last_tile_dim_replicate}",
           "{mesh['a'=4294967296,'b'=4294967296], [{'a'}]}",
       }) {
    EXPECT_EQ(Reprint(text), text);
    EXPECT_EQ(ParseSharding(text).value(), ParseSharding(text).value());
    (void)absl::HashOf(ParseSharding(text).value());
  }
  for (absl::string_view text : {
           "{devices=[1000000,1000000]0,1}",
           "{devices=[1000003,1000000]<=[1000003,1000000]T(1,0) last_tile_dim_replicate}",
           "{devices=[2,500000,1000003]<=[1000000,1000003]T(1,0) last_tile_dims={manual,replicated}}",
           "{mesh['a'=1000000,'b'=1000000], device_ids=(0,1), [{'a'}]}",
       }) {
    EXPECT_FALSE(ParseSharding(text).ok()) << text;
  }
  // A mesh that can be read, but whose devices cannot be computed.
  const HloSharding odd = ParseSharding("{mesh['a'=-2,'b'=0], [{'a'}, {}], manual={'b'}}").value();
  EXPECT_FALSE(odd.IsManualSubgroup());
  EXPECT_EQ(odd, odd);
  (void)absl::HashOf(odd);
}

TEST(HloShardingTextTest, HostileTextsEndInErrors) {
  EXPECT_FALSE(ParseSharding(std::string(100000, '{')).ok());
  EXPECT_FALSE(ParseSharding(absl::StrCat("{devices=[", std::string(200000, '1'), "]<=[2]}")).ok());
  std::string many = "{devices=[2,2]<=[1";
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&many, ",1");
  EXPECT_FALSE(ParseSharding(many + "]T(0)}").ok());
  const std::string good =
      "{{devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual} metadata={op_name=\"x\"} shard_as 3}, "
      "{mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)), [{'a':(1)2, ?}], replicated={'b'}}, {maximal_mesh[device_id=2]}}";
  EXPECT_TRUE(ParseSharding(good).ok());
  for (size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(ParseSharding(good.substr(0, i)).ok());
    for (char c : {'\0', '{', '}', ',', '9', '-', '\'', 'x'}) {
      std::string bad = good;
      bad[i] = c;
      (void)ParseSharding(bad);
    }
  }
}

// A search for a term of XLA's error finds Kashi's error.
TEST(HloShardingTextTest, ErrorsHaveXlasTerms) {
  const std::pair<absl::string_view, absl::string_view> cases[] = {
      {"{replicated device=1}", "replicated shardings should not have any devices assigned"},
      {"{manual devices=[2]0,1}", "manual shardings should not have any devices assigned"},
      {"{unknown device=0}", "unknown shardings should not have any devices assigned"},
      {"{unreduced device=0}", "unreduced shardings should not have any devices assigned"},
      {"{maximal}", "maximal shardings should have exactly one device assigned, not 0"},
      {"{devices=[2]0}", "non-maximal shardings must have more than one device assigned"},
      {"{device=1}", "non-maximal shardings must have a tile assignment list including dimensions"},
      {"{devices=2}", "expected `[` to start sharding devices shape, got `2`"},
      {"{devices=[2}", "expected `]` to end sharding devices shape, got `}`"},
      {"{devices=[2]}", "expects integer, got `}`"},
      {"{devices=[2]<=}", "expected `[` to start sharding iota_reshape_dims"},
      {"{devices=[2]<=[2}", "expected `]` to end sharding iota_reshape_dims"},
      {"{devices=[2,2]<=[2,2]}", "expected 'T(' to start sharding devices iota_transpose_perm"},
      {"{devices=[2,2]<=[2,2]T0,1)}", "expected 'T(' to start sharding devices iota_transpose_perm"},
      {"{devices=[2,2]<=[2,2]T(1,0}", "expected `)` to end sharding devices iota_transpose_perm"},
      {"{devices=[2,2]<=[2,2]T(0,2)}", "Out of range iota minor_to_major value 2, expecting value in range [0, 2)"},
      {"{devices=[2,2]<=[2,2]T(0)}", "iota_transpose_perm should have the same rank as iota_reshape_dims"},
      {"{devices=[2]0,1 last_tile_dims=manual}", "expected `{` to start sharding type list"},
      {"{device=x}", "device= attribute must be an integer, got `x`"},
      {"{sideways}", "unexpected token: "},
      {"replicated", "expected `{` to start sharding attribute"},
      {"{{replicated}", "expected `}` to end sharding attribute"},
      {"{mesh}", "expected `[` after mesh"},
      {"{maximal_mesh[device_id]}", "expected device_id= attribute in maximal_mesh"},
      {"{maximal_mesh[device_id=0}", "expected `]` to end maximal_mesh"},
      {"{mesh[\"a\" 2]}", "expected `=` after axis name"},
      {"{mesh[\"a\"=2], [{\"b\"}]}", "axis 'b' is not a valid axis name or index in mesh['a'=2]"},
      {"{mesh[\"a\"=2], [{?,\"a\"}]}", "Saw axis ref after '?'"},
      {"{mesh[\"a\"=2], device_ids=(1,2,3)}", "Expected 2 device_ids based on mesh axes, but got 3"},
      {"{mesh[\"a\"=2], [{\"a\":1)2}]}", "expected `(` before pre_size in sub axis"},
      {"{mesh[\"a\"=2], [{\"a\"}], foo={}}", "unknown attribute in named sharding"},
      {"{replicated metadata=1}", "expects '{' to start sub attributes"},
      {"{replicated metadata={foo=1}}", "unexpected attribute \"foo\""},
  };
  for (const auto& [text, term] : cases) {
    EXPECT_THAT(Reprint(text), ::testing::HasSubstr(std::string(term))) << text;
  }
}

}  // namespace
}  // namespace kashi::hlo
