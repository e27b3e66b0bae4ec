#include "kashi/hlo/ir/hlo_computation.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/random_graph_testing.h"

namespace kashi::hlo {
namespace {

template <typename List>
std::string Names(const List& list) {
  std::string names;
  for (const auto* item : list) absl::StrAppend(&names, names.empty() ? "" : " ", item->name());
  return names;
}

std::unique_ptr<HloInstruction> Parameter(int64_t number, absl::string_view name) {
  return HloInstruction::CreateParameter(number, TestVector(), name);
}
std::unique_ptr<HloInstruction> Negate(HloInstruction* x) {
  return HloInstruction::CreateUnary(TestVector(), HloOpcode::kNegate, x);
}
std::unique_ptr<HloInstruction> Add(HloInstruction* x, HloInstruction* y) {
  return HloInstruction::CreateBinary(TestVector(), HloOpcode::kAdd, x, y);
}

TEST(HloComputationBuilderTest, TheRootIsTheLastUnlessNamed) {
  EXPECT_EQ(MakeChain("f", 3)->root_instruction()->opcode(), HloOpcode::kNegate);
  HloComputation::Builder builder("g");
  HloInstruction* y = builder.AddInstruction(Parameter(1, "y"));
  HloInstruction* x = builder.AddInstruction(Parameter(0, "x"));
  EXPECT_EQ(builder.last_added_instruction(), x);
  auto g = builder.Build(y);
  EXPECT_EQ(g->root_instruction(), y);
  EXPECT_EQ(Names(g->parameter_instructions()), "x y");
  EXPECT_EQ(Names(g->instructions()), "y x");
  EXPECT_EQ(g->instructions().back(), x);
}

TEST(HloComputationBuilderTest, ParameterNumbers) {
  HloComputation::Builder builder("f");
  ASSERT_TRUE(builder.AddParameter(Parameter(0, "x")).ok());
  EXPECT_FALSE(builder.AddParameter(Parameter(0, "y")).ok());
  ASSERT_TRUE(builder.AddParameter(Parameter(2, "z")).ok());
  EXPECT_DEATH(builder.Build(), "no parameter 1");
  HloComputation::Builder empty("g");
  EXPECT_DEATH(empty.Build(), "has no instruction");
  HloComputation::Builder foreign("h");
  foreign.AddInstruction(Parameter(0, "x"));
  auto stranger = HloInstruction::CreateToken();
  EXPECT_DEATH(foreign.Build(stranger.get()), "is not in computation h");
}

TEST(HloComputationInArenaTest, FinishParametersOrdersThem) {
  base::Arena arena;  // outlives the instructions
  HloComputation computation("f");
  const SharedShape shape{ShapeWithText(TestVector())};
  const auto add = [&](int64_t number) {
    HloFieldList fields;
    fields.Set<HloField::parameter_number>(number);
    return computation.AddInArena(&arena, HloOpcode::kParameter, shape, {}, fields, "p");
  };
  add(2);
  HloInstruction* first = add(0);
  EXPECT_FALSE(computation.FinishParameters().ok());
  add(1);
  ASSERT_TRUE(computation.FinishParameters().ok());
  EXPECT_EQ(computation.parameter_instruction(0), first);
  add(1);
  EXPECT_FALSE(computation.FinishParameters().ok());
}

class HloComputationTest : public testing::Test {
 protected:
  HloComputationTest() : module_("m", HloModuleConfig()) {
    HloComputation::Builder builder("main");
    x_ = builder.AddInstruction(Parameter(0, "x"));
    y_ = builder.AddInstruction(Parameter(1, "y"));
    a_ = builder.AddInstruction(Add(x_, y_), "a");
    n_ = builder.AddInstruction(Negate(a_), "n");
    r_ = builder.AddInstruction(Add(n_, n_), "r");
    main_ = module_.AddEntryComputation(builder.Build());
  }
  ~HloComputationTest() override { EXPECT_EQ(BrokenLink(module_), ""); }

  HloModule module_;
  HloComputation* main_;
  HloInstruction *x_, *y_, *a_, *n_, *r_;
};

TEST_F(HloComputationTest, AddedInstructionsGetNamesAndIdsOfTheirOwn) {
  HloInstruction* copy = main_->AddInstruction(Add(x_, y_), "a");
  EXPECT_EQ(copy->name(), "a.1");
  EXPECT_EQ(main_->GetInstructionWithName("a.1"), copy);
  EXPECT_EQ(main_->GetInstructionWithName("b"), nullptr);
  EXPECT_DEATH(main_->AddInstruction(Parameter(2, "z")), "use AddParameter");
  EXPECT_DEATH(main_->AddParameter(Parameter(2, "z")), "IsEntryComputation");
}

TEST_F(HloComputationTest, OnlyWhatNobodyNeedsCanBeRemoved) {
  EXPECT_FALSE(main_->RemoveInstruction(r_).ok()) << "root";
  EXPECT_FALSE(main_->RemoveInstruction(a_).ok()) << "used";
  main_->set_root_instruction(a_);
  EXPECT_FALSE(main_->RemoveInstruction(n_).ok());
  ASSERT_TRUE(main_->RemoveInstruction(r_).ok());
  ASSERT_TRUE(x_->AddControlDependencyTo(n_).ok());
  EXPECT_FALSE(main_->RemoveInstruction(n_).ok()) << "control dependency";
  ASSERT_TRUE(n_->DropAllControlDeps().ok());
  ASSERT_TRUE(main_->RemoveInstruction(n_).ok());
  main_->set_root_instruction(x_);
  ASSERT_TRUE(main_->RemoveInstruction(a_).ok());
  EXPECT_FALSE(main_->RemoveInstruction(y_).ok()) << "parameter of the entry";
  EXPECT_EQ(Names(main_->instructions()), "x y");
  EXPECT_EQ(main_->instruction_count(), 2);
}

TEST_F(HloComputationTest, UnusedOperandsGoToo) {
  main_->set_root_instruction(x_);
  ASSERT_TRUE(main_->RemoveInstructionAndUnusedOperands(r_).ok());
  EXPECT_EQ(Names(main_->instructions()), "x y");
}

TEST_F(HloComputationTest, OperandsThatSomebodyElseUsesStay) {
  HloInstruction* other = main_->AddInstruction(Negate(a_), "other");
  main_->set_root_instruction(other);
  ASSERT_TRUE(main_->RemoveInstructionAndUnusedOperands(r_).ok());
  EXPECT_EQ(Names(main_->instructions()), "x y a other");
}

TEST_F(HloComputationTest, InstructionsMayBeRemovedOnAWalk) {
  main_->set_root_instruction(x_);
  std::string walked;
  for (HloInstruction* instruction : main_->instructions()) {
    absl::StrAppend(&walked, instruction->name(), " ");
    if (instruction == y_) {
      ASSERT_TRUE(main_->RemoveInstruction(r_).ok());
      ASSERT_TRUE(main_->RemoveInstruction(n_).ok());
      ASSERT_TRUE(main_->RemoveInstruction(a_).ok());
    }
  }
  EXPECT_EQ(walked, "x y ");
  EXPECT_EQ(main_->instructions().size(), 2);
  HloInstruction* late = main_->AddInstruction(Negate(x_), "late");
  EXPECT_EQ(late->local_id(), 5);
  main_->Cleanup();
  EXPECT_EQ(late->local_id(), 2);
  HloInstruction* later = main_->AddInstruction(Negate(x_), "later");
  EXPECT_NE(later->unique_id(), late->unique_id());
}

TEST_F(HloComputationTest, ReplaceInstruction) {
  OpMetadata metadata;
  metadata.set_op_name("jit(f)/neg");
  n_->set_metadata(metadata);
  n_->set_frontend_attribute("k", "v");
  ASSERT_TRUE(main_->ReplaceWithNewInstruction(n_, Negate(x_)).ok());
  const HloInstruction* replacement = r_->operand(0);
  EXPECT_EQ(replacement->operand(0), x_);
  EXPECT_EQ(replacement->metadata().op_name(), "jit(f)/neg");
  EXPECT_EQ(replacement->get_frontend_attribute("k"), "v");
  EXPECT_EQ(main_->GetInstructionWithName("a"), nullptr) << "nobody used it any more";
  HloInstruction* other = main_->AddInstruction(HloInstruction::CreateIota(ShapeUtil::MakeShape(F32, {5}), 0));
  EXPECT_FALSE(main_->ReplaceInstruction(r_, other).ok());
  ASSERT_TRUE(main_->ReplaceInstruction(r_, x_).ok());
  EXPECT_EQ(main_->root_instruction(), x_);
}

TEST_F(HloComputationTest, AFusionMayLoseParameters) {
  HloComputation* fused = module_.AddEmbeddedComputation(MakeBinaryComputation("fused", HloOpcode::kAdd));
  main_->AddInstruction(HloInstruction::CreateFusion(TestVector(), FusionKind::kLoop, {x_, y_}, fused));
  HloInstruction* y = fused->parameter_instruction(1);
  HloInstruction* root = fused->root_instruction();
  fused->set_root_instruction(y);
  ASSERT_TRUE(fused->RemoveInstruction(root).ok());
  ASSERT_TRUE(fused->RemoveInstruction(fused->parameter_instruction(0)).ok());
  EXPECT_EQ(fused->num_parameters(), 1);
  EXPECT_EQ(y->parameter_number(), 0);
  EXPECT_EQ(fused->AddParameter(Parameter(1, "z"))->parameter_number(), 1);
}

TEST_F(HloComputationTest, ProgramShape) {
  HloComputation::Builder builder("f");
  builder.AddInstruction(Parameter(0, "x.3"));
  auto f = builder.Build();
  EXPECT_EQ(f->ComputeProgramShape().ToString(), "(x.3: f32[4]) -> f32[4]");
  EXPECT_EQ(f->ComputeProgramShape(/*include_ids=*/false).ToString(), "(x: f32[4]) -> f32[4]");
}

TEST_F(HloComputationTest, Callers) {
  HloComputation* f = module_.AddEmbeddedComputation(MakeBinaryComputation("f", HloOpcode::kAdd));
  EXPECT_TRUE(f->caller_instructions().empty());
  HloInstruction* call = main_->AddInstruction(HloInstruction::CreateCall(TestVector(), {x_, y_}, f));
  EXPECT_EQ(f->caller_instructions(), (std::vector<HloInstruction*>{call}));
  EXPECT_EQ(f->GetUniqueCaller(HloOpcode::kCall), call);
  EXPECT_EQ(f->GetUniqueCaller(HloOpcode::kMap), std::nullopt);
  main_->AddInstruction(HloInstruction::CreateCall(TestVector(), {y_, x_}, f));
  EXPECT_EQ(f->GetUniqueCaller(HloOpcode::kCall), std::nullopt);
  EXPECT_TRUE(main_->IsEntryComputation());
  EXPECT_FALSE(f->IsEntryComputation());
}

// ---- Orders. The expected ones are XLA's (jaxlib 0.10.2 printed these programs so).

TEST_F(HloComputationTest, PostOrderVisitsControlPredecessorsBackwardsThenOperands) {
  HloComputation::Builder builder("e");
  HloInstruction* p = builder.AddInstruction(Parameter(0, "p"));
  HloInstruction* a = builder.AddInstruction(Negate(p), "a");
  HloInstruction* b = builder.AddInstruction(Negate(p), "b");
  HloInstruction* c = builder.AddInstruction(Negate(p), "c");
  HloInstruction* d = builder.AddInstruction(Add(a, p), "d");
  HloInstruction* q = builder.AddInstruction(Parameter(1, "q"));
  HloInstruction* r = builder.AddInstruction(Parameter(2, "r"));
  HloInstruction* z = builder.AddInstruction(Add(q, d), "z");
  auto e = builder.Build();
  ASSERT_TRUE(b->AddControlDependencyTo(d).ok());
  ASSERT_TRUE(c->AddControlDependencyTo(d).ok());
  ASSERT_TRUE(r->AddControlDependencyTo(z).ok());
  EXPECT_EQ(Names(e->MakeInstructionPostOrder()), "p b c r q a d z");
}

TEST_F(HloComputationTest, ComputationsInPrintOrderAreEnteredOnSight) {
  const auto calling = [](absl::string_view name, std::vector<HloComputation*> callees) {
    HloComputation::Builder builder(name);
    builder.AddInstruction(Parameter(0, "x"));
    builder.AddInstruction(HloInstruction::CreateCustomCall(TestVector(), {}, callees, "t"));
    return builder.Build();
  };
  HloModule module("m", HloModuleConfig());
  HloComputation* d = module.AddEmbeddedComputation(calling("d", {}));
  HloComputation* b = module.AddEmbeddedComputation(calling("b", {d}));
  HloComputation* k = module.AddEmbeddedComputation(calling("k", {b}));
  HloComputation* e = module.AddEntryComputation(calling("e", {k, d, b}));
  module.AddEmbeddedComputation(calling("u", {d}));
  EXPECT_EQ(Names(e->MakeEmbeddedComputationsList(/*print_order=*/true)), "k d b");
  EXPECT_EQ(Names(module.MakeComputationPostOrder(/*print_order=*/true)), "k d b e u");
  EXPECT_EQ(Names(e->MakeEmbeddedComputationsList()), "d b k");
  EXPECT_EQ(Names(module.MakeComputationPostOrder()), "d b k e u");
}

// Laws of both orders on random programs: everything once, and dependencies first.
TEST(HloComputationOrderTest, DependenciesComeFirst) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const auto module = RandomGraph(seed).MakeModule(1 + seed % 9, 5 + seed);
    ASSERT_EQ(BrokenLink(*module), "");
    const std::vector<HloComputation*> computations = module->MakeComputationPostOrder();
    ASSERT_EQ(static_cast<int64_t>(computations.size()), module->computation_count());
    absl::flat_hash_set<const HloComputation*> done;
    for (const HloComputation* computation : computations) {
      ASSERT_TRUE(done.insert(computation).second);
      absl::flat_hash_set<const HloInstruction*> before;
      for (const HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
        for (const HloInstruction* operand : instruction->operands()) ASSERT_TRUE(before.contains(operand));
        for (const HloInstruction* first : instruction->control_predecessors()) ASSERT_TRUE(before.contains(first));
        for (const HloComputation* callee : instruction->called_computations()) ASSERT_TRUE(done.contains(callee));
        ASSERT_TRUE(before.insert(instruction).second);
      }
      ASSERT_EQ(static_cast<int64_t>(before.size()), computation->instruction_count());
    }
    EXPECT_EQ(module->MakeComputationPostOrder(/*print_order=*/true).size(), computations.size());
  }
}

// A broken module has an order, too.
TEST(HloComputationOrderTest, CirclesAreWalkedOnce) {
  HloModule module("m", HloModuleConfig());
  HloComputation::Builder builder("main");
  HloInstruction* x = builder.AddInstruction(Parameter(0, "x"));
  HloInstruction* a = builder.AddInstruction(Negate(x), "a");
  HloInstruction* b = builder.AddInstruction(Negate(a), "b");
  HloComputation* main = module.AddEntryComputation(builder.Build(x));
  ASSERT_TRUE(a->ReplaceOperandWith(0, b).ok());
  EXPECT_EQ(main->MakeInstructionPostOrder().size(), 3u);

  HloComputation* f = module.AddEmbeddedComputation(MakeChain("f", 1));
  HloComputation* g = module.AddEmbeddedComputation(MakeChain("g", 1));
  f->AddInstruction(HloInstruction::CreateCall(TestVector(), {f->root_instruction()}, g));
  g->AddInstruction(HloInstruction::CreateCall(TestVector(), {g->root_instruction()}, f));
  for (bool print_order : {false, true}) EXPECT_EQ(module.MakeComputationPostOrder(print_order).size(), 3u);
}

// ---- Size: nothing recurses, and nothing is quadratic.

TEST(HloComputationScaleTest, LongChains) {
  constexpr int kLength = 200000;
  HloModule module("m", HloModuleConfig());
  HloComputation* main = module.AddEntryComputation(MakeChain("main", kLength));
  EXPECT_EQ(main->MakeInstructionPostOrder().size(), kLength + 1u);
  const auto copy = module.Clone("copy");
  EXPECT_TRUE(copy->Equal(module));
  EXPECT_EQ(copy->Hash(), module.Hash());
  HloInstruction* last = main->root_instruction();
  main->set_root_instruction(main->parameter_instruction(0));
  ASSERT_TRUE(main->RemoveInstructionAndUnusedOperands(last).ok());
  EXPECT_EQ(main->instruction_count(), 1);
}

TEST(HloComputationScaleTest, LongChainsOfCalls) {
  constexpr int kLength = 20000;
  HloModule module("m", HloModuleConfig());
  HloComputation* callee = nullptr;
  for (int i = 0; i < kLength; ++i) {
    HloComputation::Builder builder("f");
    HloInstruction* x = builder.AddInstruction(Parameter(0, "x"));
    if (callee) builder.AddInstruction(HloInstruction::CreateCall(TestVector(), {x}, callee));
    callee =
        i + 1 < kLength ? module.AddEmbeddedComputation(builder.Build()) : module.AddEntryComputation(builder.Build());
  }
  EXPECT_EQ(module.MakeComputationPostOrder().size(), kLength);
  EXPECT_EQ(module.MakeComputationPostOrder(/*print_order=*/true).size(), kLength);
  EXPECT_FALSE(callee->HasSideEffect());
  const auto copy = module.Clone("");
  EXPECT_TRUE(copy->Equal(module));
  EXPECT_EQ(copy->Hash(), module.Hash());
  EXPECT_FALSE(module.RemoveDeadCode());
}

// x1 = x0 + x0, x2 = x1 + x1, …: as many paths as 2 to the length.
TEST(HloComputationScaleTest, ManyPaths) {
  const auto make = [](HloOpcode last) {
    HloComputation::Builder builder("main");
    HloInstruction* x = builder.AddInstruction(Parameter(0, "x"));
    x = builder.AddInstruction(HloInstruction::CreateUnary(TestVector(), last, x));
    for (int i = 0; i < 100; ++i) x = builder.AddInstruction(Add(x, x));
    return builder.Build();
  };
  EXPECT_TRUE(make(HloOpcode::kNegate)->Equal(*make(HloOpcode::kNegate), /*layout_sensitive=*/true));
  EXPECT_FALSE(make(HloOpcode::kNegate)->Equal(*make(HloOpcode::kAbs), /*layout_sensitive=*/true));
}

}  // namespace
}  // namespace kashi::hlo
