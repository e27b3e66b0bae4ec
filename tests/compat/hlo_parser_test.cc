#include "xla/hlo/parser/hlo_parser.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla/array.h"
#include "xla/hlo/ir/collective_device_list.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_sharding.h"
#include "xla/hlo/testlib/test.h"
#include "xla/service/hlo_module_config.h"
#include "xla/shape_util.h"
#include "xla/tsl/lib/core/status_test_util.h"
#include "xla/tsl/platform/statusor.h"
#include "xla/window_util.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HloParserTest : public ::testing::Test {
 protected:
  static void ExpectHasSubstr(absl::string_view text, absl::string_view expected) {
    EXPECT_THAT(std::string(text), HasSubstr(std::string(expected)));
  }
};

constexpr absl::string_view kAxpy =
    R"(HloModule axpy, entry_computation_layout={(f32[], f32[4]{0}, f32[4]{0})->f32[4]{0}}

ENTRY %main (a: f32[], x: f32[4], y: f32[4]) -> f32[4] {
  %a = f32[] parameter(0)
  %spread = f32[4]{0} broadcast(%a), dimensions={}
  %x = f32[4]{0} parameter(1)
  %scaled = f32[4]{0} multiply(%spread, %x)
  %y = f32[4]{0} parameter(2)
  ROOT %sum = f32[4]{0} add(%scaled, %y)
}

)";

TEST_F(HloParserTest, ModulesComeBackAsTheyWere) {
  TF_ASSERT_OK_AND_ASSIGN(std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(kAxpy));
  EXPECT_EQ(module->name(), "axpy");
  EXPECT_EQ(module->entry_computation()->root_instruction()->opcode(), HloOpcode::kAdd);
  EXPECT_EQ(module->ToString(HloPrintOptions::ShortParsable().set_print_program_shape(true)).substr(0, 14),
            "HloModule axpy");
  TF_ASSERT_OK_AND_ASSIGN(auto again, ParseAndReturnUnverifiedModule(module->ToString()));
  EXPECT_EQ(again->ToString(), module->ToString());
}

TEST_F(HloParserTest, ErrorsNameTheirPlace) {
  const absl::Status status = ParseAndReturnUnverifiedModule("HloModule m\nENTRY e { ROOT x = f32[] frob() }").status();
  EXPECT_THAT(status, StatusIs(tsl::error::INVALID_ARGUMENT));
  ExpectHasSubstr(status.message(), "frob");
}

TEST_F(HloParserTest, TheConfigGivesWhatTheTextDoesNotSay) {
  HloModuleConfig config;
  config.set_replica_count(2);
  config.set_num_partitions(4);
  TF_ASSERT_OK_AND_ASSIGN(auto module, ParseAndReturnUnverifiedModule(kAxpy, config));
  EXPECT_EQ(module->config().replica_count(), 2);
  EXPECT_EQ(module->config().num_partitions(), 4);
}

TEST_F(HloParserTest, LayoutsMayStayUnset) {
  const std::string text = "HloModule m\nENTRY e { ROOT x = f32[2,3] parameter(0) }";
  TF_ASSERT_OK_AND_ASSIGN(auto filled, ParseAndReturnUnverifiedModule(text));
  EXPECT_TRUE(filled->entry_computation()->root_instruction()->shape().has_layout());
  TF_ASSERT_OK_AND_ASSIGN(auto unset,
                          ParseAndReturnUnverifiedModule(text, {}, HloParserOptions().set_fill_missing_layouts(false)));
  EXPECT_FALSE(unset->entry_computation()->root_instruction()->shape().has_layout());
}

TEST_F(HloParserTest, OneInstructionIsAModule) {
  TF_ASSERT_OK_AND_ASSIGN(auto module, ParseAndReturnUnverifiedModule("f32[8]{0} add(f32[8]{0} x, f32[8]{0} y)"));
  const HloInstruction* root = module->entry_computation()->root_instruction();
  EXPECT_EQ(root->opcode(), HloOpcode::kAdd);
  EXPECT_EQ(root->operand_count(), 2);
}

TEST_F(HloParserTest, Shapes) {
  TF_ASSERT_OK_AND_ASSIGN(Shape shape, ParseShape("(f32[1572864]{0}, token[], bf16[2,<=3]{0,1:T(8,128)(2,1)})"));
  EXPECT_EQ(shape.tuple_shapes().size(), 3);
  EXPECT_TRUE(shape.tuple_shapes(2).is_dynamic_dimension(1));
  EXPECT_FALSE(ParseShape("f32[2").ok());
  TF_ASSERT_OK_AND_ASSIGN(Layout layout, ParseLayout("{1,0:T(2,128)}"));
  EXPECT_EQ(layout, LayoutUtil::MakeLayout({1, 0}, {Tile({2, 128})}));
}

TEST_F(HloParserTest, ShardingsAndGroups) {
  TF_ASSERT_OK_AND_ASSIGN(HloSharding sharding, ParseSharding("{devices=[2,2]0,1,2,3}"));
  EXPECT_EQ(sharding.ToString(), "{devices=[2,2]0,1,2,3}");
  TF_ASSERT_OK_AND_ASSIGN(HloSharding replicated, ParseSharding("{replicated}"));
  EXPECT_TRUE(replicated.IsReplicated());
  EXPECT_FALSE(ParseSharding("{replicated} x").ok());
  TF_ASSERT_OK_AND_ASSIGN(std::vector<ReplicaGroup> groups, ParseReplicaGroupsOnly("{{0,2},{1,3}}"));
  ASSERT_EQ(groups.size(), 2);
  EXPECT_THAT(groups[0].replica_ids(), ElementsAre(0, 2));
  EXPECT_THAT(groups[1].replica_ids(), ElementsAre(1, 3));
  TF_ASSERT_OK_AND_ASSIGN(CollectiveDeviceList devices, ParseCollectiveDeviceListOnly("[2,2]<=[4]"));
  EXPECT_EQ(devices.ToString(), "[2,2]<=[4]");
}

TEST_F(HloParserTest, WindowsPaddingsAndNumbers) {
  TF_ASSERT_OK_AND_ASSIGN(Window window, ParseWindow("size=3x5 stride=1x2 pad=0_1x-2_2 rhs_reversal=0x1"));
  EXPECT_EQ(window_util::ToString(window), "size=3x5 stride=1x2 pad=0_1x-2_2 rhs_reversal=0x1");
  TF_ASSERT_OK_AND_ASSIGN(ConvolutionDimensionNumbers numbers, ParseConvolutionDimensionNumbers("b0f_0io->b0f"));
  EXPECT_EQ(numbers.output_feature_dimension(), 2);
  EXPECT_EQ(ConvolutionDimensionNumbersToString(numbers), "b0f_0io->b0f");
  TF_ASSERT_OK_AND_ASSIGN(PaddingConfig padding, ParsePaddingConfig("0_1_2x3_4"));
  ASSERT_EQ(padding.dimensions_size(), 2);
  EXPECT_EQ(padding.dimensions(0).interior_padding(), 2);
  EXPECT_EQ(PaddingConfigToString(padding), "0_1_2x3_4_0");
  EXPECT_THAT(ParsePaddingConfig("0_1x"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(HloParserTest, Lists) {
  TF_ASSERT_OK_AND_ASSIGN(FrontendAttributes attributes, ParseFrontendAttributes(R"({a="1",b="x y"})"));
  EXPECT_EQ(attributes.map().at("b"), "x y");
  EXPECT_EQ(FrontendAttributesToString(attributes), R"({a="1",b="x y"})");
  TF_ASSERT_OK_AND_ASSIGN(std::vector<Shape> shapes, ParseShapeList("{f32[2]{0}, s32[]}"));
  EXPECT_THAT(shapes, ElementsAre(ShapeUtil::MakeShape(F32, {2}), ShapeUtil::MakeShape(S32, {})));
  TF_ASSERT_OK_AND_ASSIGN(std::shared_ptr<OriginalValue> origin, ParseOriginalValue(R"({({"a"}, {"b" {0}})})"));
  EXPECT_EQ(origin->ToString(), R"(({"a"}, {"b" {0}}))");
  EXPECT_FALSE(ParseOriginalValue(R"({"a"} x)").ok());
  TF_ASSERT_OK_AND_ASSIGN(std::vector<bool> replicated, ParseParameterReplication("{true,false}"));
  EXPECT_THAT(replicated, ElementsAre(true, false));
}

// What XLA's parser tests do most: one text, parametrised.
struct TestData {
  std::string test_name;
  std::string module_string;
  int64_t replica_count = 1;
};

class HloParameterizedParserTest : public ::testing::Test, public ::testing::WithParamInterface<TestData> {};

TEST_P(HloParameterizedParserTest, RoundTrips) {
  HloModuleConfig config;
  config.set_replica_count(GetParam().replica_count);
  auto verified = ParseAndReturnUnverifiedModule(GetParam().module_string, config);
  TF_ASSERT_OK(verified.status());
  std::unique_ptr<HloModule> module = std::move(verified).value();
  EXPECT_EQ(GetParam().module_string, module->ToString(HloPrintOptions().set_print_large_constants(true)));
  for (const HloComputation* computation : module->computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kWhile) {
        EXPECT_EQ(instruction->while_body()->GetUniqueCaller(HloOpcode::kWhile).value_or(nullptr), instruction);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, HloParameterizedParserTest,
                         ::testing::ValuesIn(std::vector<TestData>{
                             {"Axpy", absl::StrCat(kAxpy)},
                             {"Constant", R"(HloModule c, entry_computation_layout={()->s32[2,2]{1,0}}, replica_count=2

ENTRY %c () -> s32[2,2] {
  ROOT %c.1 = s32[2,2]{1,0} constant({ { 1, 2 }, { 3, 4 } })
}

)",
                              2},
                         }),
                         [](const ::testing::TestParamInfo<TestData>& info) { return info.param.test_name; });

}  // namespace
}  // namespace xla
