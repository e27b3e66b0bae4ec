#include "kashi/hlo/ir/hlo_module.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/random_graph_testing.h"

namespace kashi::hlo {
namespace {

HloSchedule PostOrderSchedule(const HloModule& module) {
  HloSchedule schedule;
  for (const HloComputation* computation : module.MakeNonfusionComputations()) {
    schedule.set_sequence(computation, computation->MakeInstructionPostOrder());
  }
  return schedule;
}

TEST(HloModuleTest, ComputationsGetNamesOfTheirOwn) {
  HloModule module("my module", HloModuleConfig());
  EXPECT_EQ(module.name(), "my_module");
  EXPECT_NE(HloModule("a", HloModuleConfig()).unique_id(), module.unique_id());
  HloComputation* f = module.AddEmbeddedComputation(MakeBinaryComputation("f", HloOpcode::kAdd));
  HloComputation* g = module.AddEmbeddedComputation(MakeBinaryComputation("f", HloOpcode::kAdd));
  HloComputation* main = module.AddEntryComputation(MakeChain("main", 1));
  EXPECT_EQ(f->name(), "f");
  EXPECT_EQ(g->name(), "f.1");
  EXPECT_EQ(g->root_instruction()->name(), "add.1");
  EXPECT_EQ(main->parameter_instruction(0)->name(), "x.2");
  EXPECT_EQ(module.GetComputationWithName("f.1"), g);
  EXPECT_EQ(module.GetComputationWithName("h"), nullptr);
  EXPECT_EQ(BrokenLink(module), "");
  EXPECT_EQ(module.instruction_count(), 8);
  EXPECT_DEATH(module.AddEntryComputation(MakeChain("main", 1)), "has an entry computation already");
}

TEST(HloModuleTest, TheEntryDecidesTheLayoutUnlessOneIsSet) {
  HloModule module("m", HloModuleConfig());
  EXPECT_DEATH(module.entry_computation(), "no entry computation");
  module.AddEntryComputation(MakeChain("main", 1));
  EXPECT_EQ(module.entry_computation_layout().ToString(), "(f32[4]{0})->f32[4]{0}");
  EXPECT_EQ(module.compute_computation_layout(), module.entry_computation_layout());
  EXPECT_EQ(module.result_shape(), TestVector());

  HloModuleConfig config;
  config.set_entry_computation_layout(ComputationLayout(ShapeLayout(ShapeUtil::MakeShape(F32, {4}))));
  HloModule chosen("m", config);
  chosen.AddEntryComputation(MakeChain("main", 1));
  EXPECT_EQ(chosen.entry_computation_layout().ToString(), "()->f32[4]{0}");
}

TEST(HloModuleTest, SwapExchangesAllButTheIds) {
  HloModule a("a", HloModuleConfig());
  HloModule b("b", HloModuleConfig());
  const int id_of_a = a.unique_id();
  HloComputation* main = a.AddEntryComputation(MakeChain("main", 3));
  EXPECT_TRUE(a.set_schedule(PostOrderSchedule(a)).ok());
  const std::string text = a.ToString();
  a.Swap(&b);
  EXPECT_EQ(a.unique_id(), id_of_a);
  EXPECT_EQ(b.ToString(), text);
  EXPECT_EQ(main->parent(), &b);
  EXPECT_EQ(b.entry_computation(), main);
  EXPECT_EQ(BrokenLink(b), "");
  EXPECT_EQ(a.name(), "b");
  EXPECT_FALSE(a.has_entry_computation());
  // The names that are taken went along.
  EXPECT_EQ(b.AddEmbeddedComputation(MakeChain("main", 1))->name(), "main.1");
  EXPECT_EQ(a.AddEntryComputation(MakeChain("main", 1))->name(), "main");
  EXPECT_EQ(BrokenLink(a), "");
}

TEST(HloModuleTest, NamesOfComputationsTakenAsTheyAreCount) {
  HloModule module("m", HloModuleConfig());
  module.AddComputationAsIs(MakeChain("main", 2), /*is_entry=*/true);  // two are called negate
  EXPECT_FALSE(module.CheckUniqueNamesAndIdsForComputationsAndInstructions().ok());
  module.MakeNamesUnique();
  EXPECT_EQ(BrokenLink(module), "");

  HloModule other("m", HloModuleConfig());
  HloComputation* main = other.AddComputationAsIs(MakeChain("main", 1), /*is_entry=*/true);
  HloInstruction* x = main->parameter_instruction(0);
  EXPECT_EQ(main->AddInstruction(HloInstruction::CreateUnary(TestVector(), HloOpcode::kNegate, x))->name(), "negate.1");
  EXPECT_EQ(main->AddInstruction(HloInstruction::CreateUnary(TestVector(), HloOpcode::kAbs, x))->name(), "abs");
  EXPECT_EQ(other.AddEmbeddedComputation(MakeChain("main", 1))->name(), "main.1");
  EXPECT_EQ(BrokenLink(other), "");
}

TEST(HloModuleTest, ReplaceEntryComputation) {
  const auto module = RandomGraph(1).MakeModule(2, 5);
  HloComputation* f0 = module->GetComputationWithName("f0");
  module->buffer_donor_config().AddBufferDonor(0, {});
  ASSERT_TRUE(module->input_output_alias_config().SetUpAlias({}, 0, {}).ok());
  module->ReplaceEntryComputation(f0);
  EXPECT_EQ(module->entry_computation(), f0);
  EXPECT_TRUE(module->buffer_donor_config().empty());
  EXPECT_TRUE(module->input_output_alias_config().empty());
}

TEST(HloModuleTest, RemoveComputations) {
  HloModule module("m", HloModuleConfig());
  HloComputation* f = module.AddEmbeddedComputation(MakeBinaryComputation("f", HloOpcode::kAdd));
  HloComputation* unused = module.AddEmbeddedComputation(MakeChain("unused", 1));
  HloComputation* main = module.AddEntryComputation(MakeChain("main", 1));
  HloInstruction* x = main->parameter_instruction(0);
  HloInstruction* fusion =
      main->AddInstruction(HloInstruction::CreateFusion(TestVector(), FusionKind::kLoop, {x, x}, f));
  unused->AddInstruction(HloInstruction::CreateFusion(TestVector(), FusionKind::kLoop,
                                                      {unused->root_instruction(), unused->root_instruction()}, f));
  EXPECT_NE(f->FusionInstruction(), fusion);
  EXPECT_FALSE(module.RemoveEmbeddedComputation(main).ok());
  EXPECT_FALSE(module.RemoveEmbeddedComputation(f).ok());
  ASSERT_TRUE(module.RemoveUnusedComputations().ok());
  EXPECT_EQ(module.computation_count(), 2);
  EXPECT_EQ(f->FusionInstruction(), nullptr) << "the fusion that it knew is gone";
  ASSERT_TRUE(main->RemoveInstruction(fusion).ok());
  ASSERT_TRUE(module.RemoveEmbeddedComputation(f).ok());
  EXPECT_EQ(module.computations(), (std::vector<HloComputation*>{main}));
}

// ---- Copies.

void ExpectSameLinks(const HloModule& a, const HloModule& b) {
  ASSERT_EQ(a.computation_count(), b.computation_count());
  for (int64_t c = 0; c < a.computation_count(); ++c) {
    const HloComputation& x = *a.computations()[c];
    const HloComputation& y = *b.computations()[c];
    EXPECT_EQ(x.unique_id(), y.unique_id());
    const auto order_of_x = x.MakeInstructionPostOrder();
    const auto order_of_y = y.MakeInstructionPostOrder();
    ASSERT_EQ(order_of_x.size(), order_of_y.size());
    for (size_t i = 0; i < order_of_x.size(); ++i) {
      EXPECT_EQ(order_of_x[i]->unique_id(), order_of_y[i]->unique_id());
      EXPECT_EQ(order_of_x[i]->user_count(), order_of_y[i]->user_count());
      EXPECT_EQ(order_of_x[i]->control_predecessors().size(), order_of_y[i]->control_predecessors().size());
      EXPECT_NE(order_of_x[i], order_of_y[i]);
    }
  }
}

TEST(HloModuleCloneTest, ACopyIsEqualInAllRespects) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const auto module = RandomGraph(seed).MakeModule(1 + seed % 6, 5 + seed);
    ASSERT_TRUE(module->set_schedule(PostOrderSchedule(*module)).ok());
    ASSERT_TRUE(module->input_output_alias_config().SetUpAlias({}, 1, {}).ok());
    module->buffer_donor_config().AddBufferDonor(0, {});
    FrontendAttributes attributes;
    (*attributes.mutable_map())["k"] = "v";
    module->set_frontend_attributes(attributes);
    const auto copy = module->Clone(seed % 2 ? "copy" : "");
    EXPECT_EQ(BrokenLink(*copy), "");
    EXPECT_TRUE(copy->Equal(*module));
    EXPECT_TRUE(module->Equal(*copy));
    EXPECT_EQ(copy->Hash(), module->Hash());
    ExpectSameLinks(*module, *copy);
    EXPECT_TRUE(copy->schedule().Verify(*copy).ok());
    EXPECT_EQ(copy->input_output_alias_config().ToShortString(), "{}: (1, {}, may-alias)");
    EXPECT_EQ(copy->buffer_donor_config().ToShortString(), "(0, {})");
    EXPECT_EQ(copy->frontend_attributes(), module->frontend_attributes());
    EXPECT_EQ(copy->name(), seed % 2 ? "random-copy" : "random");
    EXPECT_EQ(copy->entry_computation()->name(), seed % 2 ? "main.copy" : "main");
    // A copy is a module like any other.
    copy->RemoveDeadCode();
    EXPECT_EQ(BrokenLink(*copy), "");
    HloInstruction* p0 = copy->entry_computation()->parameter_instruction(0);
    copy->entry_computation()->AddInstruction(HloInstruction::CreateTuple({p0, p0}), p0->name());
    copy->AddEmbeddedComputation(MakeChain("main", 1));
    EXPECT_EQ(BrokenLink(*copy), "");
    EXPECT_EQ(BrokenLink(*module), "");
  }
}

TEST(HloModuleCloneTest, CalleesOfACopyAreCopies) {
  HloModule module("m", HloModuleConfig());
  HloComputation* f = module.AddEmbeddedComputation(MakeBinaryComputation("f", HloOpcode::kAdd));
  HloComputation* main = module.AddEntryComputation(MakeChain("main", 1));
  HloInstruction* x = main->parameter_instruction(0);
  main->AddInstruction(HloInstruction::CreateFusion(TestVector(), FusionKind::kLoop, {x, x}, f), "fused");
  const auto copy = module.Clone("");
  HloInstruction* fusion = copy->entry_computation()->GetInstructionWithName("fused");
  EXPECT_EQ(fusion->fused_instructions_computation(), copy->GetComputationWithName("f"));
  EXPECT_EQ(copy->GetComputationWithName("f")->FusionInstruction(), fusion);
}

TEST(HloModuleCloneTest, AComputationMayBeCopiedAlone) {
  HloModule module("m", HloModuleConfig());
  HloComputation* f = module.AddEmbeddedComputation(MakeBinaryComputation("f", HloOpcode::kAdd));
  HloComputation* main = module.AddEntryComputation(MakeChain("main", 1));
  HloInstruction* x = main->parameter_instruction(0);
  HloInstruction* fusion =
      main->AddInstruction(HloInstruction::CreateFusion(TestVector(), FusionKind::kLoop, {x, x}, f), "fused");
  HloInstructionMap copies;
  auto copy = main->Clone("clone", nullptr, &copies);
  EXPECT_EQ(copies.size(), 3u);
  EXPECT_EQ(copies[fusion]->name(), "fused.clone");
  EXPECT_EQ(copies[fusion]->fused_instructions_computation(), f);
  EXPECT_EQ(f->FusionInstruction(), fusion) << "a copy in no module changes nothing";
  EXPECT_TRUE(copy->Equal(*main, /*layout_sensitive=*/true));
  HloComputation* g = module.AddEmbeddedComputation(MakeBinaryComputation("g", HloOpcode::kMultiply));
  const HloComputationMap others = {{f, g}};
  auto changed = main->Clone("", &others, &copies);
  EXPECT_EQ(copies[fusion]->fused_instructions_computation(), g);
  module.AddEmbeddedComputation(std::move(copy));
  EXPECT_EQ(BrokenLink(module), "");
}

TEST(HloModuleTest, FingerprintsAreOfWhatIsComputed) {
  const auto module = RandomGraph(7).MakeModule(3, 12);
  const std::string fingerprint = module->GetFingerprint128();
  EXPECT_EQ(fingerprint.size(), 32u);
  const auto copy = module->Clone("copy");
  EXPECT_EQ(copy->GetFingerprint128(), fingerprint);
  EXPECT_EQ(copy->ToFingerprint(HloPrintOptions::ModuleFingerprint()),
            module->ToFingerprint(HloPrintOptions::ModuleFingerprint()));
  EXPECT_NE(copy->ToFingerprint(HloPrintOptions::Default()), module->ToFingerprint(HloPrintOptions::Default()));
  HloComputation* main = copy->entry_computation();
  main->set_root_instruction(
      main->AddInstruction(HloInstruction::CreateUnary(TestVector(), HloOpcode::kNegate, main->root_instruction())));
  EXPECT_NE(copy->GetFingerprint128(), fingerprint);
}

// ---- Dead code.

TEST(HloDceTest, OnlyWhatMattersStays) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const auto module = RandomGraph(seed).MakeModule(1 + seed % 6, 5 + seed);
    const auto before = module->Clone("");
    ASSERT_TRUE(module->set_schedule(PostOrderSchedule(*module)).ok());
    const bool changed = module->RemoveDeadCode();
    EXPECT_EQ(changed, module->instruction_count() != before->instruction_count());
    EXPECT_EQ(BrokenLink(*module), "");
    EXPECT_TRUE(module->schedule().Verify(*module).ok());
    EXPECT_FALSE(module->RemoveDeadCode()) << "a second time there is nothing to do";
    for (const HloComputation* computation : module->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        EXPECT_TRUE(!instruction->IsDead() || instruction->opcode() == HloOpcode::kParameter ||
                    instruction->HasControlDependencies())
            << instruction->name();
      }
    }
  }
}

TEST(HloDceTest, SideEffectsStayThroughCalls) {
  HloModule module("m", HloModuleConfig());
  HloComputation::Builder noisy_builder("noisy");
  HloInstruction* token = noisy_builder.AddInstruction(HloInstruction::CreateToken());
  noisy_builder.AddInstruction(HloInstruction::CreateInfeed(TestVector(), token, ""));
  HloComputation* noisy = module.AddEmbeddedComputation(noisy_builder.Build());
  HloComputation* quiet = module.AddEmbeddedComputation(MakeChain("quiet", 3));
  HloComputation* main = module.AddEntryComputation(MakeChain("main", 1));
  HloInstruction* x = main->parameter_instruction(0);
  const Shape& noise = noisy->root_instruction()->shape();
  main->AddInstruction(HloInstruction::CreateCall(noise, {}, noisy), "loud");
  HloInstruction* call = main->AddInstruction(HloInstruction::CreateCall(TestVector(), {x}, quiet));
  main->AddInstruction(HloInstruction::CreateTuple({call, call}));
  EXPECT_TRUE(module.RemoveDeadCode());
  EXPECT_NE(main->GetInstructionWithName("loud"), nullptr);
  EXPECT_EQ(main->instruction_count(), 3);
  EXPECT_EQ(module.GetComputationWithName("quiet"), nullptr);
}

// ---- Equality.

TEST(HloEqualityTest, NamesOrderAndMetadataDoNotCount) {
  const auto make = [](bool swapped, absl::string_view name) {
    HloComputation::Builder builder("f");
    HloInstruction* x = builder.AddInstruction(HloInstruction::CreateParameter(0, TestVector(), name));
    HloInstruction *a, *b;
    const auto negate = [&] {
      return builder.AddInstruction(HloInstruction::CreateUnary(TestVector(), HloOpcode::kNegate, x));
    };
    const auto abs = [&] {
      return builder.AddInstruction(HloInstruction::CreateUnary(TestVector(), HloOpcode::kAbs, x));
    };
    if (swapped) {
      b = abs();
      a = negate();
    } else {
      a = negate();
      b = abs();
    }
    builder.AddInstruction(HloInstruction::CreateBinary(TestVector(), HloOpcode::kSubtract, a, b));
    return builder.Build();
  };
  const auto f = make(false, "x");
  const auto g = make(true, "y");
  EXPECT_TRUE(*f == *g);
  EXPECT_EQ(f->Hash(), g->Hash());
  g->SetExecutionThread("other");
  EXPECT_FALSE(*f == *g);
  EXPECT_TRUE(f->Equal(*g, true, false, /*ignore_execution_thread=*/true));
}

TEST(HloEqualityTest, OneChangeIsSeen) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const auto module = RandomGraph(seed).MakeModule(1 + seed % 4, 20);
    const auto changed = module->Clone("");
    HloComputation* main = changed->entry_computation();
    HloInstruction* root = main->root_instruction();
    HloInstruction* negated = main->AddInstruction(HloInstruction::CreateUnary(TestVector(), HloOpcode::kNegate, root));
    main->set_root_instruction(negated);
    EXPECT_FALSE(changed->Equal(*module));
    EXPECT_FALSE(module->Equal(*changed));
    EXPECT_NE(module->Hash(), changed->Hash());
  }
}

TEST(HloEqualityTest, CalledComputationsCount) {
  const auto make = [](HloOpcode opcode) {
    auto module = std::make_unique<HloModule>("m", HloModuleConfig());
    HloComputation* f = module->AddEmbeddedComputation(MakeBinaryComputation("f", opcode));
    HloComputation::Builder builder("main");
    HloInstruction* x = builder.AddInstruction(HloInstruction::CreateParameter(0, TestVector(), "x"));
    builder.AddInstruction(HloInstruction::CreateCall(TestVector(), {x, x}, f));
    module->AddEntryComputation(builder.Build());
    return module;
  };
  EXPECT_TRUE(make(HloOpcode::kAdd)->Equal(*make(HloOpcode::kAdd)));
  EXPECT_FALSE(make(HloOpcode::kAdd)->Equal(*make(HloOpcode::kMultiply)));
  EXPECT_NE(make(HloOpcode::kAdd)->Hash(), make(HloOpcode::kMultiply)->Hash());
}

}  // namespace
}  // namespace kashi::hlo
