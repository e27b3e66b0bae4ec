#include "kashi/hlo/ir/hlo_instruction.h"

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/random_graph_testing.h"
#include "kashi/literal/literal.h"

namespace kashi::hlo {
namespace {

std::vector<std::string> Names(const HloInstruction::InstructionVector& instructions) {
  std::vector<std::string> names;
  for (const HloInstruction* instruction : instructions) names.emplace_back(instruction->name());
  return names;
}

// p0, p1 and the instructions of a test, in a module.
class HloInstructionTest : public testing::Test {
 protected:
  HloInstructionTest() : module_("m", HloModuleConfig()) {
    HloComputation::Builder builder("main");
    p0_ = builder.AddInstruction(HloInstruction::CreateParameter(0, TestVector(), "p0"));
    p1_ = builder.AddInstruction(HloInstruction::CreateParameter(1, TestVector(), "p1"));
    main_ = module_.AddEntryComputation(builder.Build());
  }
  HloInstruction* Add(HloInstruction* a, HloInstruction* b, absl::string_view name = "") {
    return main_->AddInstruction(HloInstruction::CreateBinary(TestVector(), HloOpcode::kAdd, a, b), name);
  }
  HloInstruction* Negate(HloInstruction* a, absl::string_view name = "") {
    return main_->AddInstruction(HloInstruction::CreateUnary(TestVector(), HloOpcode::kNegate, a), name);
  }
  ~HloInstructionTest() override { EXPECT_EQ(BrokenLink(module_), ""); }

  HloModule module_;
  HloComputation* main_;
  HloInstruction* p0_;
  HloInstruction* p1_;
};

TEST_F(HloInstructionTest, UsersAreEnteredOnceInTheOrderOfFirstUse) {
  HloInstruction* a = Add(p0_, p0_, "a");
  Negate(p0_, "n");
  HloInstruction* b = Add(p0_, a, "b");
  EXPECT_EQ(Names(p0_->users()), (std::vector<std::string>{"a", "n", "b"}));
  EXPECT_EQ(a->unique_operands().size(), 1u);
  EXPECT_EQ(a->OperandIndices(p0_), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(b->operand_index(a), 1);
  EXPECT_TRUE(b->IsUserOf(a));
  EXPECT_FALSE(a->IsUserOf(b));
  // The last user moves into the gap that a removed one leaves.
  ASSERT_TRUE(a->ReplaceOperandWith(0, p1_).ok());
  EXPECT_EQ(Names(p0_->users()), (std::vector<std::string>{"a", "n", "b"}));
  ASSERT_TRUE(a->ReplaceOperandWith(1, p1_).ok());
  EXPECT_EQ(Names(p0_->users()), (std::vector<std::string>{"b", "n"}));
  EXPECT_EQ(Names(p1_->users()), (std::vector<std::string>{"a"}));
}

TEST_F(HloInstructionTest, AppendedOperandsAreUsed) {
  HloInstruction* tuple = main_->AddInstruction(HloInstruction::CreateTuple({p0_, p1_}));
  tuple->AppendOperand(p0_);
  tuple->AppendOperand(Negate(p0_));
  EXPECT_EQ(tuple->operand_count(), 4);
  EXPECT_EQ(p0_->user_count(), 2);
}

TEST_F(HloInstructionTest, ReplaceUses) {
  HloInstruction* a = Add(p0_, p0_, "a");
  HloInstruction* b = Add(p0_, p1_, "b");
  HloInstruction* n = Negate(p1_, "n");
  ASSERT_TRUE(p0_->ReplaceUseWith(a, 1, n).ok());
  EXPECT_EQ(a->operand(0), p0_);
  EXPECT_EQ(a->operand(1), n);
  EXPECT_FALSE(p1_->ReplaceUseWith(a, n).ok());
  EXPECT_FALSE(p0_->ReplaceUseWith(a, 1, n).ok());
  ASSERT_TRUE(p0_->ReplaceAllUsesWith(n).ok());
  EXPECT_EQ(p0_->user_count(), 0);
  EXPECT_EQ(Names(n->users()), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(b->operand(0), n);
}

TEST_F(HloInstructionTest, TheRootMovesWithItsUses) {
  HloInstruction* a = Add(p0_, p1_, "a");
  main_->set_root_instruction(a);
  EXPECT_TRUE(a->IsRoot());
  HloInstruction* n = Negate(a, "n");  // uses what it is going to replace
  ASSERT_TRUE(a->ReplaceAllUsesWith(n).ok());
  EXPECT_TRUE(n->IsRoot());
  EXPECT_EQ(n->operand(0), a);
  EXPECT_FALSE(a->IsDead());
}

TEST_F(HloInstructionTest, ShapesOfReplacementsMustBeCompatible) {
  HloInstruction* a = Add(p0_, p1_);
  HloInstruction* other = main_->AddInstruction(HloInstruction::CreateIota(ShapeUtil::MakeShape(F32, {5}), 0));
  HloInstruction* narrow = main_->AddInstruction(HloInstruction::CreateIota(ShapeUtil::MakeShape(BF16, {4}), 0));
  EXPECT_FALSE(a->ReplaceOperandWith(0, other).ok());
  EXPECT_FALSE(p0_->ReplaceAllUsesWith(other).ok());
  EXPECT_EQ(a->operand(0), p0_);
  EXPECT_TRUE(a->ReplaceOperandWith(0, narrow).ok());
  EXPECT_TRUE(a->ReplaceOperandWithDifferentShape(0, other).ok());
  EXPECT_FALSE(a->ReplaceOperandWithDifferentShape(2, other).ok());
}

TEST_F(HloInstructionTest, ControlDependencies) {
  HloInstruction* a = Negate(p0_, "a");
  HloInstruction* b = Negate(p1_, "b");
  ASSERT_TRUE(a->AddControlDependencyTo(b).ok());
  ASSERT_TRUE(a->AddControlDependencyTo(b).ok());
  EXPECT_EQ(a->control_successors(), (std::vector<HloInstruction*>{b}));
  EXPECT_EQ(b->control_predecessors(), (std::vector<HloInstruction*>{a}));
  EXPECT_TRUE(a->HasControlDependencies());
  EXPECT_FALSE(b->RemoveControlDependencyTo(a).ok());
  ASSERT_TRUE(a->RemoveControlDependencyTo(b).ok());
  EXPECT_FALSE(b->HasControlDependencies());
  ASSERT_TRUE(a->AddControlDependencyTo(b).ok());
  ASSERT_TRUE(p0_->AddControlDependencyTo(b).ok());
  ASSERT_TRUE(b->DropAllControlDeps().ok());
  EXPECT_FALSE(a->HasControlDependencies());
  auto stranger = HloInstruction::CreateToken();
  EXPECT_FALSE(a->AddControlDependencyTo(stranger.get()).ok());
}

TEST_F(HloInstructionTest, Identical) {
  HloInstruction* a = Add(p0_, p1_);
  HloInstruction* b = Add(p0_, p1_);
  HloInstruction* swapped = Add(p1_, p0_);
  OpMetadata metadata;
  metadata.set_op_name("elsewhere");
  b->set_metadata(metadata);
  EXPECT_TRUE(a->Identical(*b));
  EXPECT_FALSE(a->Identical(*swapped));
  EXPECT_TRUE(a->Identical(*swapped, [](const HloInstruction*, const HloInstruction*) { return true; }));
  b->set_raw_backend_config_string("{}");
  EXPECT_FALSE(a->Identical(*b));
}

TEST_F(HloInstructionTest, IdenticalLooksAtFieldsAndLayouts) {
  const Shape matrix = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3}, {1, 0});
  const Shape other_layout = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3}, {0, 1});
  auto a = HloInstruction::CreateIota(matrix, 0);
  auto b = HloInstruction::CreateIota(matrix, 1);
  auto c = HloInstruction::CreateIota(other_layout, 0);
  EXPECT_FALSE(a->Identical(*b));
  EXPECT_FALSE(a->Identical(*c));
  const auto same_operands = std::equal_to<const HloInstruction*>();
  const auto same_computations = std::equal_to<const HloComputation*>();
  EXPECT_TRUE(a->Identical(*c, same_operands, same_computations, /*layout_sensitive=*/false));

  auto d = HloInstruction::CreateConstant(Literal::CreateFromShape(matrix));
  auto e = HloInstruction::CreateConstant(Literal::CreateFromShape(other_layout));
  EXPECT_FALSE(d->Identical(*e));
  EXPECT_TRUE(d->Identical(*e, same_operands, same_computations, /*layout_sensitive=*/false));
}

TEST_F(HloInstructionTest, IdenticalMayIgnoreChannels) {
  HloComputation* sum = module_.AddEmbeddedComputation(MakeBinaryComputation("sum", HloOpcode::kAdd));
  const auto reduce = [&](std::optional<int64_t> channel) {
    return main_->AddInstruction(
        HloInstruction::CreateAllReduce(TestVector(), {p0_}, sum, CollectiveDeviceList(), false, channel, false));
  };
  HloInstruction* one = reduce(1);
  HloInstruction* two = reduce(2);
  HloInstruction* none = reduce(std::nullopt);
  const auto identical = [](const HloInstruction* a, const HloInstruction* b) {
    return a->Identical(*b, std::equal_to<const HloInstruction*>(), std::equal_to<const HloComputation*>(), true, false,
                        /*ignore_channel_id_values=*/true);
  };
  EXPECT_FALSE(one->Identical(*two));
  EXPECT_TRUE(identical(one, two));
  EXPECT_FALSE(identical(one, none));
  one->set_channel_id(std::nullopt);
  EXPECT_TRUE(one->Identical(*none));
}

TEST_F(HloInstructionTest, SideEffects) {
  HloComputation* sum = module_.AddEmbeddedComputation(MakeBinaryComputation("sum", HloOpcode::kAdd));
  const auto reduce = [&](std::optional<int64_t> channel) {
    return main_->AddInstruction(
        HloInstruction::CreateAllReduce(TestVector(), {p0_}, sum, CollectiveDeviceList(), false, channel, false));
  };
  EXPECT_FALSE(Add(p0_, p1_)->HasSideEffect());
  EXPECT_FALSE(reduce(std::nullopt)->HasSideEffect());
  EXPECT_TRUE(reduce(1)->HasSideEffect());
  module_.mutable_config().set_use_spmd_partitioning(true);
  EXPECT_FALSE(reduce(1)->HasSideEffect());
  auto custom = HloInstruction::CreateCustomCall(TestVector(), {}, "f");
  EXPECT_FALSE(custom->HasSideEffect());
  EXPECT_TRUE(custom->IsCustomCall("f"));
  custom->mutable_fields()->Set<HloField::custom_call_has_side_effect>(true);
  EXPECT_TRUE(custom->HasSideEffect());
  HloInstruction* token = main_->AddInstruction(HloInstruction::CreateToken());
  EXPECT_TRUE(main_->AddInstruction(HloInstruction::CreateInfeed(TestVector(), token, ""))->HasSideEffect());

  HloComputation::Builder builder("noisy");
  HloInstruction* inner_token = builder.AddInstruction(HloInstruction::CreateToken());
  builder.AddInstruction(HloInstruction::CreateInfeed(TestVector(), inner_token, ""));
  HloComputation* noisy = module_.AddEmbeddedComputation(builder.Build());
  HloInstruction* call =
      main_->AddInstruction(HloInstruction::CreateCall(noisy->root_instruction()->shape(), {}, noisy));
  EXPECT_FALSE(call->HasSideEffectNoRecurse());
  EXPECT_TRUE(call->HasSideEffect());
}

TEST_F(HloInstructionTest, AFusionOfElementwiseOperationsIsElementwise) {
  HloComputation* sum = module_.AddEmbeddedComputation(MakeBinaryComputation("sum", HloOpcode::kAdd));
  HloInstruction* fusion =
      main_->AddInstruction(HloInstruction::CreateFusion(TestVector(), FusionKind::kLoop, {p0_, p1_}, sum));
  EXPECT_TRUE(fusion->IsElementwise());
  EXPECT_TRUE(fusion->IsLoopFusion());
  EXPECT_FALSE(fusion->IsInputFusion());
  EXPECT_TRUE(sum->IsFusionComputation());
  EXPECT_TRUE(fusion->fused_expression_root()->IsFused());
  HloInstruction* x = sum->parameter_instruction(0);
  HloInstruction* reversed = sum->AddInstruction(HloInstruction::CreateReverse(TestVector(), x, {0}));
  sum->set_root_instruction(reversed);
  EXPECT_FALSE(fusion->IsElementwise());
}

TEST_F(HloInstructionTest, AsyncChains) {
  HloComputation* wrapped = module_.AddEmbeddedComputation(MakeChain("wrapped", 1));
  const Shape shape = ShapeUtil::MakeTupleShape({ShapeUtil::MakeTupleShape({TestVector()}), TestVector()});
  HloInstruction* start = main_->AddInstruction(HloInstruction::CreateAsyncStart(shape, {p0_}, wrapped, "other"));
  HloInstruction* update = main_->AddInstruction(HloInstruction::CreateAsyncUpdate(shape, start));
  HloInstruction* done = main_->AddInstruction(HloInstruction::CreateAsyncDone(TestVector(), update));
  EXPECT_EQ(done->async_chain_start(), start);
  EXPECT_EQ(done->async_wrapped_computation(), wrapped);
  EXPECT_EQ(done->async_wrapped_opcode(), HloOpcode::kNegate);
  EXPECT_EQ(done->async_execution_thread(), "other");
  EXPECT_EQ(wrapped->AsyncStart(), start);
  EXPECT_TRUE(wrapped->CanExpandIntoSingleInstruction());
  HloInstruction* broken = main_->AddInstruction(HloInstruction::CreateAsyncDone(TestVector(), p0_));
  EXPECT_EQ(broken->async_wrapped_computation(), nullptr);
  EXPECT_EQ(broken->async_execution_thread(), kMainExecutionThread);
}

TEST_F(HloInstructionTest, NamesOfCopies) {
  EXPECT_EQ(NameWithSuffix("add", "clone"), "add.clone");
  EXPECT_EQ(NameWithSuffix("add.clone", "clone"), "add.clone2");
  EXPECT_EQ(NameWithSuffix("add.clone2", "clone"), "add.clone3");
  EXPECT_EQ(NameWithSuffix("add.clone.7", "clone"), "add.clone.7.clone");
  EXPECT_EQ(NameWithSuffix("add.clone99999999999", "clone"), "add.clone99999999999.clone");
  EXPECT_EQ(NameWithSuffix("add", ""), "add");
}

TEST_F(HloInstructionTest, ACopyHasEverythingButControlDependencies) {
  HloInstruction* a = Add(p0_, p1_, "a");
  a->set_raw_backend_config_string("{\"x\":1}");
  a->set_frontend_attribute("key", "value");
  OpMetadata metadata;
  metadata.set_op_name("jit(f)/add");
  a->set_metadata(metadata);
  ASSERT_TRUE(p0_->AddControlDependencyTo(a).ok());
  HloInstruction* copy = main_->AddInstruction(a->Clone());
  EXPECT_EQ(copy->name(), "a.clone");
  EXPECT_TRUE(copy->Identical(*a));
  EXPECT_EQ(copy->metadata().op_name(), "jit(f)/add");
  EXPECT_EQ(copy->get_frontend_attribute("key"), "value");
  EXPECT_EQ(copy->get_frontend_attribute("lock"), std::nullopt);
  EXPECT_FALSE(copy->HasControlDependencies());
  EXPECT_EQ(p0_->user_count(), 2);

  const Shape other = ShapeUtil::MakeShape(BF16, {4});
  HloInstruction* changed = main_->AddInstruction(a->CloneWithNewOperands(other, {p1_, p1_}, "wide"));
  EXPECT_EQ(changed->name(), "a.wide");
  EXPECT_EQ(changed->shape(), other);
  EXPECT_EQ(changed->operand(0), p1_);
}

TEST_F(HloInstructionTest, CopiesShareNoShapeThatSomebodyWritesTo) {
  HloInstruction* a = Add(p0_, p1_);
  HloInstruction* before = main_->AddInstruction(a->Clone());
  EXPECT_TRUE(before->shared_shape().SameAs(a->shared_shape()));
  Shape* shape = a->mutable_shape();
  HloInstruction* after = main_->AddInstruction(a->Clone());
  shape->set_element_type(F16);
  EXPECT_EQ(a->shape().element_type(), F16);
  EXPECT_EQ(before->shape().element_type(), F32);
  EXPECT_EQ(after->shape().element_type(), F32);
  EXPECT_EQ(a->shared_shape()->text(), "f16[4]{0}");
  shape->set_element_type(F64);
  EXPECT_EQ(a->shared_shape()->text(), "f64[4]{0}");
}

TEST(ShapeWithTextTest, ManyThreadsMayAskForTheText) {
  const ShapeWithText shape(ShapeUtil::MakeShape(F32, {2, 3}));
  std::vector<std::thread> threads;
  std::vector<const std::string*> texts(4);
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { texts[i] = &shape.text(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string* text : texts) {
    EXPECT_EQ(text, texts[0]);
    EXPECT_EQ(*text, "f32[2,3]{1,0}");
  }
}

TEST_F(HloInstructionTest, InstructionsInASetAreOrderedByTheirIds) {
  HloInstruction* a = Add(p0_, p1_);
  const HloPtrComparator less;
  EXPECT_TRUE(less(p0_, a));
  EXPECT_FALSE(less(a, p0_));
  EXPECT_TRUE(less(nullptr, a));
  EXPECT_FALSE(less(a, nullptr));
  EXPECT_FALSE(less(nullptr, nullptr));
}

TEST_F(HloInstructionTest, AccessorsOfOtherOperationsDie) {
  HloInstruction* a = Add(p0_, p1_);
  EXPECT_DEATH(a->tuple_index(), "has no tuple_index");
  EXPECT_DEATH(a->dimensions(), "has no dimensions");
  EXPECT_DEATH(a->to_apply(), "calls 0 computations");
  EXPECT_DEATH(a->while_body(), "computation 0 of 0");
  EXPECT_DEATH(a->sharding(), "has no sharding");
  EXPECT_DEATH(a->operand(2), "i < operand_count");
}

// Building, replacing and destroying must not look through all users of a value for each of them.
TEST(HloInstructionScaleTest, AValueWithManyUsers) {
  constexpr int kUsers = 100000;
  HloModule module("m", HloModuleConfig());
  HloComputation::Builder builder("main");
  HloInstruction* x = builder.AddInstruction(HloInstruction::CreateParameter(0, TestVector(), "x"));
  HloInstruction* y = builder.AddInstruction(HloInstruction::CreateParameter(1, TestVector(), "y"));
  std::vector<HloInstruction*> users;
  for (int i = 0; i < kUsers; ++i) {
    users.push_back(builder.AddInstruction(HloInstruction::CreateUnary(TestVector(), HloOpcode::kNegate, x)));
  }
  HloInstruction* tuple = builder.AddInstruction(HloInstruction::CreateTuple(users));
  HloComputation* main = module.AddEntryComputation(builder.Build());
  EXPECT_EQ(x->user_count(), kUsers);
  ASSERT_TRUE(x->ReplaceAllUsesWith(y).ok());
  EXPECT_EQ(y->user_count(), kUsers);
  for (HloInstruction* user : users) ASSERT_TRUE(user->ReplaceOperandWith(0, x).ok());
  EXPECT_EQ(y->user_count(), 0);
  main->set_root_instruction(x, /*accept_different_shape=*/true);
  ASSERT_TRUE(main->RemoveInstruction(tuple).ok());
  std::reverse(users.begin(), users.begin() + kUsers / 2);
  for (HloInstruction* user : users) ASSERT_TRUE(main->RemoveInstruction(user).ok());
  EXPECT_EQ(x->user_count(), 0);
  EXPECT_EQ(main->instruction_count(), 2);
}

// Destroyed from the first to the last, and without a computation.
TEST(HloInstructionScaleTest, InstructionsMayGoInAnyOrder) {
  constexpr int kLength = 200000;
  std::vector<std::unique_ptr<HloInstruction>> chain;
  chain.push_back(HloInstruction::CreateParameter(0, TestVector(), "x"));
  for (int i = 0; i < kLength; ++i) {
    chain.push_back(HloInstruction::CreateUnary(TestVector(), HloOpcode::kNegate, chain.back().get()));
  }
  for (auto& instruction : chain) instruction.reset();

  HloComputation::Builder builder("never built");
  HloInstruction* x = builder.AddInstruction(HloInstruction::CreateParameter(0, TestVector(), "x"));
  std::vector<HloInstruction*> users;
  for (int i = 0; i < 100000; ++i) {
    users.push_back(builder.AddInstruction(HloInstruction::CreateUnary(TestVector(), HloOpcode::kNegate, x)));
  }
  builder.AddInstruction(HloInstruction::CreateTuple(users));
}

TEST(BackendConfigTest, LosesEmptyWaits) {
  EXPECT_EQ(BackendConfigToKeep(R"({"wait_on_operation_queues":[],"x":1})"), R"({"x":1})");
  EXPECT_EQ(
      BackendConfigToKeep(R"({"a":{"wait_on_operation_queues" : [ ] ,"q":3},"wait_on_operation_queues":[],"x":1})"),
      R"({"a":{"q":3},"x":1})");
  for (const char* const kept :
       {R"({"x":1,"wait_on_operation_queues":[]})", R"({"wait_on_operation_queues":["1"],"x":1})",
        R"({"wait_on_operation_queues":[)", "plain", ""}) {
    EXPECT_EQ(BackendConfigToKeep(kept), kept);
  }
}

}  // namespace
}  // namespace kashi::hlo
