#include "kashi/stablehlo/conversion/shardings.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/stablehlo/conversion/op_sharding_bytes.h"
#include "kashi/stablehlo/conversion/read_stablehlo.h"

namespace kashi::stablehlo {
namespace {

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

}  // namespace
}  // namespace kashi::stablehlo
