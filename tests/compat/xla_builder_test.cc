#include "xla/hlo/builder/xla_builder.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "xla/client/xla_builder.h"
#include "xla/client/xla_computation.h"
#include "xla/hlo/builder/padding.h"
#include "xla/hlo/builder/sharding_builder.h"
#include "xla/hlo/builder/value_inference.h"
#include "xla/hlo/builder/xla_computation.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/hlo/testlib/pattern_matcher_gmock.h"
#include "xla/hlo/testlib/test.h"
#include "xla/service/pattern_matcher.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

namespace m = ::xla::match;
using ::testing::HasSubstr;

// As XLA's tests do it: through the proto.
absl::StatusOr<std::unique_ptr<HloModule>> BuildHloModule(XlaBuilder& b) {
  TF_ASSIGN_OR_RETURN(XlaComputation computation, b.Build(/*remove_dynamic_dimensions=*/false));
  const HloModuleProto& proto = computation.proto();
  TF_ASSIGN_OR_RETURN(const auto& config, HloModule::CreateModuleConfigFromProto(proto));
  return HloModule::CreateFromProto(proto, config);
}

const HloInstruction* GetRoot(HloModule& module) { return module.entry_computation()->root_instruction(); }

// The token of an infeed or outfeed is on device 0 whatever sharding the data have.
TEST(XlaBuilderTest, ShardingsOfTransfersHoldATokenToo) {
  const Shape shape = ShapeUtil::MakeShapeWithDenseLayout(S32, {1}, {0});
  const Shape pair = ShapeUtil::MakeTupleShape({shape, shape});
  const auto text = [](const HloInstruction* instruction) { return instruction->sharding().ToString(); };
  {
    XlaBuilder b("outfeed");
    b.SetSharding(sharding_builder::AssignDevice(1));
    Outfeed(ConstantR1<int32_t>(&b, {0}), shape, "");
    TF_ASSERT_OK_AND_ASSIGN(const auto module, BuildHloModule(b));
    EXPECT_FALSE(GetRoot(*module)->has_sharding());
    const HloInstruction* outfeed = nullptr;
    for (const HloInstruction* instruction : module->entry_computation()->instructions()) {
      if (instruction->opcode() == HloOpcode::kOutfeed) outfeed = instruction;
    }
    ASSERT_NE(outfeed, nullptr);
    EXPECT_EQ(text(outfeed), "{{maximal device=1}, {maximal device=0}}");
    EXPECT_EQ(text(outfeed->operand(1)), "{maximal device=0}");
  }
  {
    XlaBuilder b("infeed");
    OpSharding sharding;
    sharding.set_type(OpSharding::TUPLE);
    *sharding.add_tuple_shardings() = sharding_builder::AssignDevice(2);
    *sharding.add_tuple_shardings() = sharding_builder::AssignDevice(3);
    b.SetSharding(sharding);
    Infeed(&b, pair);
    TF_ASSERT_OK_AND_ASSIGN(const auto module, BuildHloModule(b));
    const HloInstruction* const infeed = GetRoot(*module)->operand(0);
    EXPECT_EQ(text(infeed), "{{maximal device=2}, {maximal device=3}, {maximal device=0}}");
    EXPECT_EQ(text(infeed->operand(0)), "{maximal device=0}");
    EXPECT_EQ(text(GetRoot(*module)), "{{maximal device=2}, {maximal device=3}}");
  }
  for (const OpSharding& refused : {sharding_builder::Replicate(), sharding_builder::Tile1D(shape, 1)}) {
    XlaBuilder b("refused");
    b.SetSharding(refused);
    Infeed(&b, shape);
    EXPECT_THAT(std::string(b.Build().status().message()), HasSubstr("not supported for infeeds"));
  }
}

TEST(XlaBuilderTest, ValuesAndBoundsBeforeAnyRun) {
  XlaBuilder b("values");
  const XlaOp size = GetDimensionSize(Parameter(&b, 0, ShapeUtil::MakeShape(F32, {8}, {true}), "x"), 0);
  ValueInference inference(&b);
  TF_ASSERT_OK_AND_ASSIGN(const Literal is_dynamic, inference.AnalyzeIsDynamic(size));
  EXPECT_TRUE(is_dynamic.Get<bool>({}));
  TF_ASSERT_OK_AND_ASSIGN(OptionalLiteral bound, inference.AnalyzeConstant(size, ValueInferenceMode::kUpperBound));
  EXPECT_EQ(bound.Get<int32_t>({}), 8);
  TF_ASSERT_OK_AND_ASSIGN(OptionalLiteral value, inference.AnalyzeConstant(size, kValue));
  EXPECT_FALSE(value.AllValid());
  EXPECT_FALSE(value.GetValue().has_value());
  EXPECT_EQ(inference.builder(), &b);
}

TEST(XlaBuilderTest, OnePlusTwo) {
  XlaBuilder b("one_plus_two");
  Add(ConstantR0<float>(&b, 1.0), ConstantR0<float>(&b, 2.0));
  TF_ASSERT_OK_AND_ASSIGN(const auto module, BuildHloModule(b));
  const HloInstruction* root = GetRoot(*module);
  EXPECT_EQ(root->opcode(), HloOpcode::kAdd);
  EXPECT_EQ(root->operand(0)->opcode(), HloOpcode::kConstant);
}

TEST(XlaBuilderTest, ParamPlusConstantHasScalarBroadcast) {
  XlaBuilder b("param_plus_constant");
  auto x = Parameter(&b, 0, ShapeUtil::MakeShape(F32, {3, 5}), "x");
  x + ConstantR0<float>(&b, 1.0);
  TF_ASSERT_OK_AND_ASSIGN(const auto module, BuildHloModule(b));
  EXPECT_EQ(GetRoot(*module)->operand(1)->opcode(), HloOpcode::kBroadcast);
}

TEST(XlaBuilderTest, ShapeInferenceError) {
  XlaBuilder b("error");
  auto x = Parameter(&b, 0, ShapeUtil::MakeShape(U32, {2, 4, 6}), "x");
  auto y = Parameter(&b, 1, ShapeUtil::MakeShape(U32, {2, 4}), "y");
  Add(x, y);
  auto statusor = BuildHloModule(b);
  ASSERT_FALSE(statusor.ok());
  EXPECT_FALSE(b.first_error().ok());
}

TEST(XlaBuilderTest, CallAndSubComputation) {
  XlaBuilder b_call("the_only_to_apply");
  auto p0 = Parameter(&b_call, 0, ShapeUtil::MakeShape(F32, {}), "p0");
  auto p1 = Parameter(&b_call, 1, ShapeUtil::MakeShape(F32, {}), "p1");
  Add(p0, p1);
  TF_ASSERT_OK_AND_ASSIGN(const auto call, b_call.Build());
  XlaBuilder b("call");
  auto one = ConstantR0<float>(&b, 1);
  Call(&b, call, {one, one});
  std::unique_ptr<XlaBuilder> sub = b.CreateSubBuilder("sub");
  Neg(Parameter(sub.get(), 0, ShapeUtil::MakeShape(F32, {}), "x"));
  TF_ASSERT_OK_AND_ASSIGN(XlaComputationId id, sub->BuildSubComputation());
  Call(&b, id, {one});
  TF_ASSERT_OK_AND_ASSIGN(const auto module, BuildHloModule(b));
  EXPECT_EQ(GetRoot(*module)->opcode(), HloOpcode::kCall);
}

TEST(XlaBuilderTest, AComputationFromItsProto) {
  XlaBuilder b("b");
  Neg(Parameter(&b, 0, ShapeUtil::MakeShape(F32, {2}), "x"));
  TF_ASSERT_OK_AND_ASSIGN(XlaComputation computation, b.Build());
  XlaComputation copy(computation.proto());
  EXPECT_FALSE(copy.IsNull());
  EXPECT_EQ(copy.name(), computation.name());
  EXPECT_EQ(copy.module().ToString(), computation.module().ToString());
  TF_ASSERT_OK_AND_ASSIGN(ProgramShape shape, copy.GetProgramShape());
  EXPECT_EQ(shape.parameter_names(0), "x");
  copy.mutable_proto()->set_name("renamed");
  EXPECT_EQ(copy.name(), "renamed");
  EXPECT_EQ(copy.module().name(), "renamed");
  TF_ASSERT_OK_AND_ASSIGN(std::unique_ptr<HloSnapshot> snapshot, copy.Snapshot());
  EXPECT_EQ(snapshot->hlo().hlo_module().name(), "renamed");
  EXPECT_FALSE(XlaComputation().Snapshot().ok());
  EXPECT_EQ(XlaComputation().proto().computations_size(), 0);

  // Another builder may call it.
  XlaBuilder caller("caller");
  Call(&caller, copy, {Parameter(&caller, 0, ShapeUtil::MakeShape(F32, {2}), "y")});
  EXPECT_TRUE(caller.Build().ok());
  // Not one that is no module.
  copy.mutable_proto()->clear_computations();
  XlaBuilder broken("broken");
  Call(&broken, copy, {});
  EXPECT_FALSE(broken.Build().ok());
}

TEST(XlaBuilderTest, ShardingAndWindows) {
  XlaBuilder b("b");
  auto x = Parameter(&b, 0, ShapeUtil::MakeShape(F32, {4, 6}), "x");
  {
    XlaScopedShardingAssignment scope(&b, sharding_builder::Replicate());
    ReduceWindow(
        x, ConstantR0<float>(&b, 0),
        [] {
          XlaBuilder add("add");
          auto scalar = ShapeUtil::MakeShape(F32, {});
          Add(Parameter(&add, 0, scalar, "x"), Parameter(&add, 1, scalar, "y"));
          return add.Build().value();
        }(),
        /*window_dimensions=*/{2, 2}, /*window_strides=*/{2, 2}, Padding::kSame);
  }
  TF_ASSERT_OK_AND_ASSIGN(const auto module, BuildHloModule(b));
  EXPECT_THAT(GetRoot(*module)->ToString(), HasSubstr("sharding={replicated}"));
}

// ---- What builders check, and what they make beside the operation itself.

std::string ErrorOf(XlaBuilder& b) { return std::string(b.Build().status().message()); }

TEST(XlaBuilderTest, InfeedsFollowEachOther) {
  XlaBuilder b("b");
  const Shape shape = ShapeUtil::MakeShapeWithDenseLayout(F32, {2}, {0});
  const XlaOp first = Infeed(&b, shape), second = Infeed(&b, shape);
  Tuple(&b, {first, second});
  TF_ASSERT_OK_AND_ASSIGN(const auto computation, b.Build());
  const HloInstruction* root = computation.module().entry_computation()->root_instruction();
  const HloInstruction *earlier = nullptr, *token_of = nullptr;
  EXPECT_THAT(root, GmockMatch(m::Tuple(
                        m::GetTupleElement(m::Infeed(&earlier, m::AfterAll()), 0),
                        m::GetTupleElement(m::Infeed(m::GetTupleElement(m::Infeed(&token_of, m::Op()), 1)), 0))));
  EXPECT_EQ(earlier, token_of);
}

TEST(XlaBuilderTest, AnAliasedParameterIsNoDonor) {
  XlaBuilder b("b");
  const Shape shape = ShapeUtil::MakeShape(F32, {2});
  Tuple(&b, {Parameter(&b, 0, shape, "p0"), Parameter(&b, 1, shape, "p1")});
  b.SetUpAlias({0}, 0, {});
  b.AddBufferDonor(0, {});
  EXPECT_THAT(ErrorOf(b), HasSubstr("already aliased"));
}

TEST(XlaBuilderTest, ShardingsFitTheShape) {
  XlaBuilder b("b");
  b.SetSharding(sharding_builder::Tile1D(ShapeUtil::MakeShape(F32, {4}), 4));
  Parameter(&b, 0, ShapeUtil::MakeShape(F32, {2, 3}), "p0");
  EXPECT_FALSE(b.Build().ok());
}

TEST(XlaBuilderTest, UnboundedReshapes) {
  TF_ASSERT_OK_AND_ASSIGN(const Shape any, ParseShape("f32[?]"));
  XlaBuilder known("known");
  const XlaOp reshaped = Reshape(Parameter(&known, 0, any, "p"), {2, 3});
  TF_ASSERT_OK_AND_ASSIGN(const Shape shape, known.GetShape(reshaped));
  EXPECT_EQ(ShapeUtil::HumanString(shape), "f32[2,3]");
  XlaBuilder sizes("sizes");
  Reshape(Parameter(&sizes, 0, ShapeUtil::MakeShape(F32, {6}), "p"), {Shape::kUnboundedSize, Shape::kUnboundedSize});
  EXPECT_THAT(ErrorOf(sizes), HasSubstr("unbounded dimensions is not supported"));
  XlaBuilder result("result");
  Reshape(any, Parameter(&result, 0, any, "p"));
  EXPECT_THAT(ErrorOf(result), HasSubstr("unbounded result shape is not supported"));
}

TEST(XlaBuilderTest, UnboundedAllToAll) {
  XlaBuilder b("b");
  TF_ASSERT_OK_AND_ASSIGN(const Shape operand, ParseShape("f32[?, 15]"));
  TF_ASSERT_OK_AND_ASSIGN(const Shape expected, ParseShape("f32[?, 45]"));
  AllToAll(Parameter(&b, 0, operand, "operand"), /*split_dimension=*/0, /*concat_dimension=*/1, /*split_count=*/3);
  TF_ASSERT_OK_AND_ASSIGN(const auto computation, b.Build());
  EXPECT_TRUE(ShapeUtil::Compatible(computation.module().entry_computation()->root_instruction()->shape(), expected));
}

TEST(XlaBuilderTest, MhloBroadcastAndReshapeFit) {
  const Shape sizes = ShapeUtil::MakeShape(S32, {3});
  XlaBuilder rank("rank");
  MhloDynamicBroadcastInDim(Parameter(&rank, 0, ShapeUtil::MakeShape(F32, {1, 2}), "x"),
                            Parameter(&rank, 1, sizes, "sizes"), {0, 3}, ShapeUtil::MakeShape(F32, {1, 2, 3}));
  EXPECT_THAT(ErrorOf(rank), HasSubstr("invalid value 3"));
  XlaBuilder size("size");
  MhloDynamicBroadcastInDim(Parameter(&size, 0, ShapeUtil::MakeShape(F32, {1, 2}), "x"),
                            Parameter(&size, 1, sizes, "sizes"), {0, 1}, ShapeUtil::MakeShape(F32, {1, 4, 3}));
  EXPECT_THAT(ErrorOf(size), HasSubstr("is not compatible with size of result dimension 1 (4)"));
  XlaBuilder count("count");
  MhloDynamicReshape(Parameter(&count, 0, ShapeUtil::MakeShape(F32, {3, 4}), "x"), Parameter(&count, 1, sizes, "sizes"),
                     ShapeUtil::MakeShape(F32, {1, 2, 3}));
  EXPECT_THAT(ErrorOf(count), HasSubstr("mismatched element counts: from=12 (f32[3,4]) to=6 (f32[1,2,3])"));
}

TEST(XlaBuilderTest, CompositeCallsHaveNamesAndVersions) {
  const Shape shape = ShapeUtil::MakeShape(F32, {});
  XlaBuilder callee("callee");
  Neg(Parameter(&callee, 0, shape, "x"));
  TF_ASSERT_OK_AND_ASSIGN(const auto computation, callee.Build());
  const auto error = [&](const std::string& name, std::optional<absl::string_view> attributes,
                         std::optional<int64_t> version) {
    XlaBuilder b("caller");
    CompositeCall(&b, computation, {Parameter(&b, 0, shape, "x")}, name, attributes, version);
    return ErrorOf(b);
  };
  EXPECT_EQ(error("foo.bar", std::nullopt, std::nullopt), "");
  EXPECT_EQ(error("foo.bar", "{n = 1 : i32}", 1), "");
  EXPECT_THAT(error("", "{}", 1), HasSubstr("composite.name"));
  EXPECT_THAT(error("foo.bar", "", 1), HasSubstr("composite.attributes"));
  EXPECT_THAT(error("foo.bar", "{}", -1), HasSubstr("composite.version"));
}

TEST(XlaBuilderTest, TheSameCallsGiveTheSameProto) {
  std::string protos[2];
  for (std::string& proto : protos) {
    const Shape shape = ShapeUtil::MakeShape(F32, {});
    XlaBuilder callee("callee");
    Add(Parameter(&callee, 0, shape, "x"), Parameter(&callee, 1, shape, "y"));
    TF_ASSERT_OK_AND_ASSIGN(const auto computation, callee.Build());
    XlaBuilder b("b");
    const XlaOp x = Parameter(&b, 0, shape, "x");
    Add(Call(&b, computation, {x, x}), Call(&b, computation, {x, ConstantR0<float>(&b, 1)}));
    TF_ASSERT_OK_AND_ASSIGN(const auto caller, b.Build());
    proto = caller.proto().SerializeAsString();
  }
  EXPECT_EQ(protos[0], protos[1]);
}

TEST(XlaBuilderTest, InstructionsAsProtos) {
  XlaBuilder b("b");
  const XlaOp x = Parameter(&b, 0, ShapeUtil::MakeShape(F32, {2}), "x");
  const XlaOp sum = Add(x, x);
  TF_ASSERT_OK(b.SetInstructionFrontendAttribute(sum, "key", "value"));
  const HloInstructionProto* proto = internal::XlaBuilderFriend::GetInstruction(sum);
  EXPECT_EQ(proto->opcode(), "add");
  EXPECT_EQ(proto->operand_ids_size(), 2);
  EXPECT_EQ(proto->frontend_attributes().map().at("key"), "value");
}

TEST(XlaBuilderTest, DynamicReshapeToAScalar) {
  XlaBuilder b("b");
  const XlaOp scalar = DynamicReshape(Parameter(&b, 0, ShapeUtil::MakeShape(F32, {1}), "x"), {}, {}, {});
  TF_ASSERT_OK_AND_ASSIGN(const Shape shape, b.GetShape(scalar));
  EXPECT_EQ(ShapeUtil::HumanString(shape), "f32[]");
}

TEST(XlaBuilderTest, AfterAllOfNothing) {
  XlaBuilder b("b");
  AfterAll(&b, {});
  EXPECT_THAT(ErrorOf(b), HasSubstr("AfterAll requires at least one operand"));
}

}  // namespace
}  // namespace xla
