#include "xla/hlo/builder/xla_builder.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "xla/client/xla_builder.h"
#include "xla/client/xla_computation.h"
#include "xla/hlo/builder/padding.h"
#include "xla/hlo/builder/sharding_builder.h"
#include "xla/hlo/builder/xla_computation.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/testlib/test.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

using ::testing::HasSubstr;

// As XLA's tests do it: through the proto.
absl::StatusOr<std::unique_ptr<HloModule>> BuildHloModule(XlaBuilder& b) {
  TF_ASSIGN_OR_RETURN(XlaComputation computation, b.Build(/*remove_dynamic_dimensions=*/false));
  const HloModuleProto& proto = computation.proto();
  TF_ASSIGN_OR_RETURN(const auto& config, HloModule::CreateModuleConfigFromProto(proto));
  return HloModule::CreateFromProto(proto, config);
}

const HloInstruction* GetRoot(HloModule& module) { return module.entry_computation()->root_instruction(); }

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

}  // namespace
}  // namespace xla
