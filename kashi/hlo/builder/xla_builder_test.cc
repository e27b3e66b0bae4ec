// A builder's contents: errors, names, embedded computations, annotations, results. Lowering: xla_builder_*_test.cc.
#include "kashi/hlo/builder/xla_builder.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/sharding_builder.h"
#include "kashi/hlo/builder/xla_builder_testing.h"

namespace kashi::hlo {
namespace {

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(XlaBuilderTest, AProgramAndItsText) {
  XlaBuilder builder("affine");
  const XlaOp x = Parameter(&builder, 0, ShapeOf("f32[2,3]"), "x");
  const XlaOp y = Parameter(&builder, 1, ShapeOf("f32[3]"), "y");
  Add(x, y, {1});
  const XlaComputation computation = builder.Build().value();
  EXPECT_EQ(computation.name(), "affine.5");
  EXPECT_EQ(computation.module().ToString(),
            "HloModule affine.5, entry_computation_layout={(f32[2,3]{1,0}, f32[3]{0})->f32[2,3]{1,0}}\n\n"
            "ENTRY %affine.5 (x.1: f32[2,3], y.2: f32[3]) -> f32[2,3] {\n"
            "  %x.1 = f32[2,3]{1,0} parameter(0)\n"
            "  %y.2 = f32[3]{0} parameter(1)\n"
            "  %broadcast.3 = f32[2,3]{1,0} broadcast(%y.2), dimensions={1}\n"
            "  ROOT %add.4 = f32[2,3]{1,0} add(%x.1, %broadcast.3)\n"
            "}\n\n");
  const ProgramShape shape = computation.GetProgramShape().value();
  EXPECT_EQ(shape.parameter_names(0), "x");
  EXPECT_EQ(shape.parameter_names(1), "y");
  EXPECT_EQ(ShapeUtil::HumanString(shape.result()), "f32[2,3]");
}

TEST(XlaBuilderTest, TheRootMayBeNamedAndParametersComeInAnyOrder) {
  XlaBuilder builder("b");
  const XlaOp y = Param(&builder, 1, "f32[]");
  const XlaOp x = Param(&builder, 0, "s32[]");
  Neg(y);
  EXPECT_EQ(ShapeUtil::HumanString(builder.GetProgramShape()->result()), "f32[]");
  EXPECT_EQ(ShapeUtil::HumanString(builder.GetProgramShape(x)->result()), "s32[]");
  const XlaComputation computation = builder.Build(x).value();
  EXPECT_EQ(computation.module().entry_computation()->root_instruction()->parameter_number(), 0);
}

TEST(XlaBuilderTest, TheFirstErrorCounts) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[2]"), y = Param(&builder, 1, "f32[3]");
  const XlaOp bad = Add(x, y);
  EXPECT_FALSE(bad.valid());
  EXPECT_FALSE(bad.IsUninitialized());
  EXPECT_FALSE(Neg(bad).valid());
  EXPECT_FALSE(Reshape(x, {7}).valid());
  EXPECT_TRUE(absl::StrContains(Message(builder.first_error()), "incompatible shapes")) << builder.first_error();
  EXPECT_EQ(builder.Build().status(), builder.first_error());
  EXPECT_EQ(builder.GetShape(x).status(), builder.first_error());
  EXPECT_EQ(builder.GetProgramShape().status(), builder.first_error());
}

TEST(XlaBuilderTest, ReportErrorOrReturn) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[2]");
  EXPECT_TRUE(builder.ReportErrorOrReturn(absl::StatusOr<XlaOp>(x)).IsIdenticalTo(x));
  EXPECT_TRUE(builder.ReportErrorOrReturn([&]() -> absl::StatusOr<XlaOp> { return x; }).IsIdenticalTo(x));
  EXPECT_FALSE(builder.ReportError(absl::InternalError("mine")).valid());
  builder.ReportError(absl::InternalError("another"));
  EXPECT_EQ(builder.first_error(), absl::InternalError("mine"));
  EXPECT_DEATH(builder.ReportError(absl::OkStatus()), "");
  EXPECT_DEATH(XlaOp().builder(), "this XlaOp does not belong to a builder");
  XlaBuilder strict("strict");
  strict.set_die_immediately_on_error(true);
  EXPECT_DEATH(Param(&strict, 0, "f32[]") + Param(&strict, 0, "f32[]"), "already registered");
}

TEST(XlaBuilderTest, OperationsOfAnotherBuilder) {
  XlaBuilder a("a"), b("b");
  const XlaOp x = Param(&a, 0, "f32[]"), y = Param(&b, 0, "f32[]");
  EXPECT_FALSE(a.Build(y).ok());
  EXPECT_FALSE(a.GetShape(y).ok());
  Add(x, y);
  EXPECT_EQ(Message(a.first_error()), "Do not add XlaOp from builder b to builder a");
  EXPECT_TRUE(b.first_error().ok());
}

TEST(XlaBuilderTest, Parameters) {
  XlaBuilder twice("b");
  Param(&twice, 0, "f32[]");
  Param(&twice, 0, "f32[]");
  EXPECT_EQ(Message(twice.first_error()), "parameter 0 already registered");
  XlaBuilder gap("b");
  Param(&gap, 1, "f32[]");
  EXPECT_TRUE(gap.first_error().ok());
  EXPECT_EQ(Message(gap.Build().status()), "invalid parameter number: 1");
  XlaBuilder none("b");
  EXPECT_FALSE(none.Build().ok());
  XlaBuilder replicated("b");
  Parameter(&replicated, 0, ShapeOf("(f32[], f32[2])"), "p", {true, false});
  EXPECT_TRUE(absl::StrContains(replicated.Build()->module().ToString(), "parameter_replication={true,false}"));
}

TEST(XlaBuilderTest, ABuilderIsSpentOnceBuilt) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[]");
  ASSERT_TRUE(builder.Build().ok());
  EXPECT_FALSE(builder.Build().ok());
  EXPECT_FALSE(builder.Build(x).ok());
}

// ---- Embedded computations -----------------------------------------------------------------------------------------

TEST(XlaBuilderTest, CalledComputationsAreCopiedAndNumberedAnew) {
  const XlaComputation add = ScalarFunction(kashi::Add, "f32[]");
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[]");
  Call(&builder, add, {Call(&builder, add, {x, x}), x});
  const XlaComputation computation = builder.Build().value();
  EXPECT_TRUE(computation.module().CheckUniqueNamesAndIdsForComputationsAndInstructions().ok());
  EXPECT_EQ(computation.module().computation_count(), 3);
  const std::string text = computation.module().ToString();
  EXPECT_EQ(ParseAndReturnUnverifiedModule(text).value()->ToString(), text);
  // The callee is unchanged.
  EXPECT_EQ(add.module().computation_count(), 1);
}

TEST(XlaBuilderTest, SubBuilders) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[]");
  const auto negate = builder.CreateSubBuilder("negate");
  Neg(Param(negate.get(), 0, "f32[]"));
  const XlaComputationId negate_id = negate->BuildSubComputation().value();
  EXPECT_TRUE(negate_id.valid());
  EXPECT_FALSE(XlaComputationId().valid());

  // One sub-computation calls another.
  const auto twice = builder.CreateSubBuilder("twice");
  Call(twice.get(), negate_id, {Call(twice.get(), negate_id, {Param(twice.get(), 0, "f32[]")})});
  const XlaComputationId twice_id = twice->BuildSubComputation().value();
  Call(&builder, twice_id, {x});

  const XlaComputation alone = builder.Build(twice_id).value();
  EXPECT_EQ(alone.module().computation_count(), 2);
  const XlaComputation all = builder.Build().value();
  EXPECT_EQ(all.module().computation_count(), 3);
  EXPECT_TRUE(all.module().CheckUniqueNamesAndIdsForComputationsAndInstructions().ok());
  const std::string text = all.module().ToString();
  EXPECT_EQ(ParseAndReturnUnverifiedModule(text).value()->ToString(), text);
}

TEST(XlaBuilderTest, WhatASubBuilderMayNot) {
  XlaBuilder builder("b");
  const XlaComputationId id = builder.AddSubComputation(ScalarFunction(kashi::Add, "f32[]"));
  EXPECT_TRUE(id.valid());
  const auto sub = builder.CreateSubBuilder("sub");
  const XlaOp x = Param(sub.get(), 0, "f32[]");
  Call(sub.get(), id, {x, x});
  EXPECT_EQ(Message(sub->Build().status()),
            "Build() is not supported when the builder calls computations from its parent.");
  EXPECT_TRUE(sub->BuildSubComputation().ok());
  EXPECT_FALSE(builder.BuildSubComputation().ok());
  // An id is invalid in another builder.
  XlaBuilder other("other");
  Call(&other, id, {Param(&other, 0, "f32[]"), Param(&other, 1, "f32[]")});
  EXPECT_FALSE(other.first_error().ok());
  // Nor is a null computation valid.
  EXPECT_FALSE(other.AddSubComputation(XlaComputation()).valid());
}

TEST(XlaBuilderTest, BuildAndNoteError) {
  XlaBuilder builder("parent");
  const auto good = builder.CreateSubBuilder("good");
  Param(good.get(), 0, "f32[]");
  EXPECT_FALSE(good->BuildAndNoteError().IsNull());
  const auto bad = builder.CreateSubBuilder("bad");
  bad->ReportError(absl::InternalError("oh"));
  EXPECT_TRUE(bad->BuildAndNoteError().IsNull());
  EXPECT_EQ(builder.first_error(), absl::InternalError("oh; error from: bad"));
}

TEST(XlaBuilderTest, ANullComputation) {
  const XlaComputation null;
  EXPECT_TRUE(null.IsNull());
  EXPECT_EQ(null.name(), "");
  EXPECT_FALSE(null.GetProgramShape().ok());
  EXPECT_FALSE(null.GetModule().ok());
  EXPECT_DEATH(null.module(), "null");
}

// ---- Annotations ---------------------------------------------------------------------------------------------------

OpMetadata MetadataOf(const std::string& op_name) {
  OpMetadata metadata;
  metadata.set_op_name(op_name);
  return metadata;
}

TEST(XlaBuilderTest, Metadata) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[]");
  XlaOp y, z, w, v;
  {
    XlaScopedOpMetadataAssignment scope(&builder, MetadataOf("jit(f)/my op"));
    y = Neg(x);
    builder.SetOneShotOpMetadata(MetadataOf("once"));
    z = Neg(x);
    w = Neg(x);
  }
  v = Neg(x);
  Tuple(&builder, {y, z, w, v});
  const XlaComputation computation = builder.Build().value();
  const HloInstruction* root = computation.module().entry_computation()->root_instruction();
  // Names come from the last part of the path.
  EXPECT_EQ(root->operand(0)->name(), "my_op.2");
  EXPECT_EQ(root->operand(0)->metadata().op_name(), "jit(f)/my op");
  EXPECT_EQ(root->operand(1)->name(), "once.3");
  EXPECT_EQ(root->operand(2)->metadata().op_name(), "jit(f)/my op");
  EXPECT_FALSE(root->operand(3)->has_metadata());
  EXPECT_EQ(root->operand(3)->name(), "negate.5");
}

TEST(XlaBuilderTest, Sharding) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[2]");
  XlaOp pair, sum;
  {
    XlaScopedShardingAssignment scope(&builder, sharding_builder::AssignDevice(3));
    pair = Tuple(&builder, {x, x});
    sum = Add(x, ConstantR1<float>(&builder, 2, 1.0f));
    XlaScopedShardingAssignment none(&builder, std::nullopt);
    EXPECT_FALSE(builder.sharding().has_value());
  }
  EXPECT_FALSE(builder.sharding().has_value());
  EXPECT_EQ(builder.GetOpSharding(x).value(), std::nullopt);
  EXPECT_EQ(builder.GetOpSharding(sum).value()->type(), OpSharding::MAXIMAL);
  // For a tuple, one sharding for each element.
  EXPECT_EQ(builder.GetOpSharding(pair).value()->type(), OpSharding::TUPLE);
  ASSERT_TRUE(builder.SetInstructionSharding(sum, std::nullopt).ok());
  EXPECT_EQ(builder.GetOpSharding(sum).value(), std::nullopt);
  ASSERT_TRUE(builder.SetInstructionSharding(sum, sharding_builder::Replicate()).ok());
  EXPECT_EQ(builder.GetOpSharding(sum).value()->type(), OpSharding::REPLICATED);
  // The scalar of which a constant is made has no sharding.
  const XlaComputation computation = builder.Build(sum).value();
  const HloInstruction* root = computation.module().entry_computation()->root_instruction();
  EXPECT_TRUE(root->operand(1)->has_sharding());
  EXPECT_FALSE(root->operand(1)->operand(0)->has_sharding());
}

TEST(XlaBuilderTest, FrontendAttributesAndOriginalValues) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[]");
  FrontendAttributes attributes;
  (*attributes.mutable_map())["k"] = "v";
  XlaOp y;
  {
    XlaScopedFrontendAttributesAssignment scope(&builder, attributes);
    XlaScopedOriginalValueAssignment value_scope(&builder, OriginalValue::SyntheticCall());
    y = Neg(x);
  }
  EXPECT_TRUE(builder.frontend_attributes().empty());
  EXPECT_FALSE(builder.original_value().has_value());
  ASSERT_TRUE(builder.SetInstructionFrontendAttribute(y, "more", "text").ok());
  Neg(y);
  const XlaComputation computation = builder.Build().value();
  const HloInstruction* root = computation.module().entry_computation()->root_instruction();
  EXPECT_TRUE(root->frontend_attributes().empty());
  EXPECT_EQ(root->operand(0)->get_frontend_attribute("k"), "v");
  EXPECT_EQ(root->operand(0)->get_frontend_attribute("more"), "text");
  EXPECT_TRUE(root->operand(0)->original_value()->is_synthetic_call());
  EXPECT_EQ(root->original_value(), nullptr);
}

TEST(XlaBuilderTest, AliasesAndDonors) {
  const auto build = [](absl::FunctionRef<void(XlaBuilder*)> set_up) -> absl::StatusOr<std::string> {
    XlaBuilder builder("b");
    Tuple(&builder, {Param(&builder, 0, "f32[2]"), Param(&builder, 1, "f32[2]")});
    set_up(&builder);
    KASHI_ASSIGN_OR_RETURN(const XlaComputation computation, builder.Build());
    const std::string text = computation.module().ToString();
    return text.substr(0, text.find(", entry_computation_layout"));
  };
  EXPECT_EQ(build([](XlaBuilder* b) {
              b->SetUpAlias({0}, 1, {});
              b->SetUpAlias({1}, 0, {}, HloInputOutputAliasConfig::kMustAlias);
            }).value(),
            "HloModule b.4, input_output_alias={ {0}: (1, {}, may-alias), {1}: (0, {}, must-alias) }");
  EXPECT_EQ(build([](XlaBuilder* b) { b->AddBufferDonor(1, {}); }).value(), "HloModule b.4, buffer_donor={ (1, {}) }");
  EXPECT_EQ(Message(build([](XlaBuilder* b) { b->SetUpAlias({0}, 2, {}); }).status()),
            "Invalid parameter number 2 (total 2)");
  EXPECT_EQ(Message(build([](XlaBuilder* b) { b->AddBufferDonor(0, {1}); }).status()),
            "Invalid parameter 0 index: {1}");
  EXPECT_FALSE(build([](XlaBuilder* b) { b->SetUpAlias({7}, 0, {}); }).ok());
}

TEST(XlaBuilderTest, RemoveDynamicDimensions) {
  XlaBuilder builder("b");
  Neg(Param(&builder, 0, "f32[<=4]"));
  const XlaComputation computation = builder.Build(/*remove_dynamic_dimensions=*/true).value();
  EXPECT_EQ(ShapeUtil::HumanString(computation.GetProgramShape()->result()), "f32[4]");
  EXPECT_EQ(ShapeUtil::HumanString(computation.GetProgramShape()->parameters(0)), "f32[4]");
}

// ---- Constants -----------------------------------------------------------------------------------------------------

TEST(XlaBuilderTest, IsConstant) {
  XlaBuilder builder("b");
  const XlaOp p = Param(&builder, 0, "f32[<=3]");
  const XlaOp c = ConstantR0<float>(&builder, 1);
  EXPECT_FALSE(builder.IsConstant(p).value());
  EXPECT_TRUE(builder.IsConstant(c).value());
  EXPECT_TRUE(builder.IsConstant(Add(c, Neg(c))).value());
  EXPECT_FALSE(builder.IsConstant(Add(c, p)).value());
  EXPECT_FALSE(builder.IsConstant(RngUniform(c, c, ShapeOf("f32[2]"))).value());
  EXPECT_FALSE(builder.IsConstant(GetDimensionSize(p, 0)).value());
  EXPECT_TRUE(builder.IsConstant(GetDimensionSize(RemoveDynamicDimension(p, 0), 0)).value());
  EXPECT_FALSE(builder.IsConstant(XlaOp()).ok());
}

TEST(XlaBuilderTest, BuildConstantSubGraph) {
  XlaBuilder builder("b");
  const XlaOp p = Param(&builder, 0, "f32[<=3]");
  const XlaOp size = GetDimensionSize(p, 0);
  const XlaOp twice = Add(size, size);
  Neg(p);
  EXPECT_EQ(Lines(*builder.BuildConstantSubGraph(twice)), "constant ->s32[]\nadd s32[], s32[]->s32[]");
  const XlaComputation unknown = builder.BuildConstantSubGraph(twice, /*dynamic_dimension_is_minus_one=*/true).value();
  EXPECT_EQ(unknown.module().entry_computation()->root_instruction()->operand(0)->literal().ToStringWithoutShape(),
            "-1");
  const absl::Status status = builder.BuildConstantSubGraph(p).status();
  EXPECT_TRUE(absl::StrContains(status.message(), "depends on a parameter")) << status;
  // The builder can still be used.
  EXPECT_TRUE(builder.Build().ok());
}

TEST(XlaBuilderTest, BuildConstantSubGraphWithCallees) {
  XlaBuilder builder("b");
  const XlaOp zero = ConstantR0<float>(&builder, 0);
  const XlaOp sum = Reduce(ConstantR1<float>(&builder, {1, 2}), zero, ScalarFunction(kashi::Add, "f32[]"), {0});
  const XlaComputation constant = builder.BuildConstantSubGraph(sum).value();
  EXPECT_EQ(constant.module().computation_count(), 2);
  const std::string text = constant.module().ToString();
  EXPECT_EQ(ParseAndReturnUnverifiedModule(text).value()->ToString(), text);
}

TEST(XlaBuilderTest, OpToString) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[]");
  EXPECT_EQ(builder.OpToString(Neg(x)),
            "%negate.2 = f32[] negate(%p0.1)\n"
            "  %p0.1 = f32[] parameter(0)\n");
}

TEST(XlaBuilderTest, Operators) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "s32[]"), y = Param(&builder, 1, "s32[]"), u = Param(&builder, 2, "u32[]");
  Tuple(&builder, {-x, x + y, x - y, x * y, x / y, x % y, ~x, x & y, x | y, x ^ y, x << y, x >> y, u >> u});
  const XlaComputation computation = builder.Build().value();
  std::string opcodes;
  for (const HloInstruction* x : computation.module().entry_computation()->root_instruction()->operands()) {
    absl::StrAppend(&opcodes, HloOpcodeString(x->opcode()), " ");
  }
  EXPECT_EQ(opcodes,
            "negate add subtract multiply divide remainder not and or xor shift-left shift-right-arithmetic "
            "shift-right-logical ");
  XlaBuilder floats("b");
  Param(&floats, 0, "f32[]") >> Param(&floats, 1, "f32[]");
  EXPECT_FALSE(floats.first_error().ok());
}

}  // namespace
}  // namespace kashi::hlo
