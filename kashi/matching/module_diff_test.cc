#include "kashi/matching/module_diff.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/random_graph_testing.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::matching {
namespace {

std::unique_ptr<HloModule> Parse(const std::string& text) {
  auto module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return *std::move(module);
}

// One line per difference.
std::vector<std::string> Lines(const ModuleDiff& diff) {
  std::vector<std::string> lines;
  const auto add_only = [&](const char* sign, const std::vector<const HloInstruction*>& instructions) {
    for (const HloInstruction* x : instructions) lines.push_back(absl::StrCat(sign, x->name()));
  };
  for (const ComputationDiff& computation : diff.computations) {
    for (const InstructionChange& change : computation.changes) {
      lines.push_back(absl::StrCat(change.a->name(), change.a->name() == change.b->name() ? "" : "=",
                                   change.a->name() == change.b->name() ? "" : change.b->name(), ": ", change.what, " ",
                                   change.from, " -> ", change.to, change.is_consequence ? " (consequence)" : ""));
    }
    add_only("- ", computation.only_a);
    add_only("+ ", computation.only_b);
  }
  for (const HloComputation* x : diff.only_a) lines.push_back(absl::StrCat("- computation ", x->name()));
  for (const HloComputation* x : diff.only_b) lines.push_back(absl::StrCat("+ computation ", x->name()));
  return lines;
}

std::string Differences(const std::string& a, const std::string& b, bool with_layouts = true) {
  const auto module_a = Parse(a);
  const auto module_b = Parse(b);
  return absl::StrJoin(Lines(DiffModules(*module_a, *module_b, with_layouts)), "\n");
}

// The instructions of a and b that correspond, as names.
std::vector<std::pair<std::string, std::string>> Pairs(const ModuleDiff& diff, bool swapped = false) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [a, b] : diff.counterparts) {
    pairs.emplace_back((swapped ? b : a)->name(), (swapped ? a : b)->name());
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

void ExpectSymmetric(const HloModule& a, const HloModule& b) {
  EXPECT_EQ(Pairs(DiffModules(a, b, true)), Pairs(DiffModules(b, a, true), /*swapped=*/true));
}

// ---- Laws -----------------------------------------------------------------------------------------------------------

// The module with other names and ids, its instructions in another order, and its computations too.
std::unique_ptr<HloModule> Disguised(const HloModule& module, uint32_t seed) {
  std::unique_ptr<HloModule> copy = module.Clone("");
  std::mt19937 random(seed);
  int64_t number = 0;
  std::vector<HloInstruction*> all;
  for (HloComputation* computation : copy->computations()) {
    copy->SetAndUniquifyComputationName(computation, absl::StrCat("c", random() % 1000));
    for (HloInstruction* x : computation->instructions()) all.push_back(x);
  }
  std::shuffle(all.begin(), all.end(), random);
  for (HloInstruction* x : all) copy->SetAndUniquifyInstrName(x, absl::StrCat("n", number++));
  // The reader takes instructions in the order of the text: callees first, operands first, otherwise any.
  std::string text = absl::StrCat("HloModule disguised\n\n");
  const auto options = HloPrintOptions::ShortParsable();
  for (const HloComputation* computation : copy->MakeComputationPostOrder()) {
    std::vector<HloInstruction*> waiting(computation->instructions().begin(), computation->instructions().end());
    std::vector<HloInstruction*> order;
    const auto is_ready = [&](const HloInstruction* x) {
      return std::all_of(x->operands().begin(), x->operands().end(), [&](const HloInstruction* operand) {
        return std::find(order.begin(), order.end(), operand) != order.end();
      });
    };
    while (!waiting.empty()) {
      std::shuffle(waiting.begin(), waiting.end(), random);
      const auto next = std::find_if(waiting.begin(), waiting.end(), is_ready);
      order.push_back(*next);
      waiting.erase(next);
    }
    absl::StrAppend(&text, computation->IsEntryComputation() ? "ENTRY " : "", computation->name(), " {\n");
    for (const HloInstruction* x : order) {
      absl::StrAppend(&text, "  ", x->IsRoot() ? "ROOT " : "", x->ToString(options), "\n");
    }
    absl::StrAppend(&text, "}\n\n");
  }
  return Parse(text);
}

// A random module in which the entry depends on everything: twins without users have no counterpart of their own.
std::unique_ptr<HloModule> LivingModule(uint32_t seed, int computations, int instructions) {
  auto module = hlo::RandomGraph(seed).MakeModule(computations, instructions);
  for (HloComputation* computation : module->computations()) {
    for (HloInstruction* x : computation->instructions()) KASHI_CHECK_OK(x->DropAllControlDeps());
  }
  module->RemoveDeadCode();
  return module;
}

TEST(ModuleDiffTest, AModuleMatchesItselfFully) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const auto module = hlo::RandomGraph(seed).MakeModule(1 + seed % 5, 3 + 3 * (seed % 20));
    const auto copy = module->Clone("");
    const ModuleDiff diff = DiffModules(*module, *copy, true);
    EXPECT_EQ(diff.size(), 0) << absl::StrJoin(Lines(diff), "\n");
    EXPECT_EQ(diff.renamed, 0);
    EXPECT_EQ(diff.counterparts.size(), module->instruction_count());
    for (const auto& [a, b] : diff.counterparts) EXPECT_EQ(a->name(), b->name());
  }
}

TEST(ModuleDiffTest, NamesAndOrderAreNoDifference) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const auto module = LivingModule(seed, 1 + seed % 4, 3 + 2 * (seed % 20));
    const auto other = Disguised(*module, seed);
    const ModuleDiff diff = DiffModules(*module, *other, true);
    EXPECT_EQ(absl::StrJoin(Lines(diff), "\n"), "") << "seed " << seed << "\n"
                                                    << module->ToString() << other->ToString();
    EXPECT_EQ(diff.counterparts.size(), module->instruction_count());
    ExpectSymmetric(*module, *other);
  }
}

// Makes a fusion of this instruction and some of the values that only it uses.
void FuseAt(HloInstruction* root, std::mt19937* random) {
  HloComputation* computation = root->parent();
  HloComputation::Builder builder("fused");
  std::vector<HloInstruction*> operands;
  HloInstructionMap copies;
  const auto copy_of = [&](HloInstruction* x) {
    const auto found = copies.find(x);
    if (found != copies.end()) return found->second;
    operands.push_back(x);
    return copies[x] = builder.AddInstruction(HloInstruction::CreateParameter(
               static_cast<int64_t>(operands.size()) - 1, x->shape(), absl::StrCat("q", operands.size())));
  };
  std::vector<HloInstruction*> members = {root};
  for (size_t i = 0; i < members.size() && members.size() < 4; ++i) {
    for (HloInstruction* operand : members[i]->operands()) {
      const bool is_inside = operand->user_count() == 1 && operand->IsElementwise() && (*random)() % 4 != 0;
      if (is_inside && std::find(members.begin(), members.end(), operand) == members.end()) members.push_back(operand);
    }
  }
  const auto order = computation->MakeInstructionPostOrder();
  HloInstruction* last = nullptr;
  for (HloInstruction* x : order) {
    if (std::find(members.begin(), members.end(), x) == members.end()) continue;
    std::vector<HloInstruction*> new_operands;
    for (HloInstruction* operand : x->operands()) new_operands.push_back(copy_of(operand));
    last = copies[x] = builder.AddInstruction(x->CloneWithNewOperands(x->shape(), new_operands, ""));
  }
  HloComputation* fused = root->GetModule()->AddEmbeddedComputation(builder.Build(last));
  HloInstruction* fusion = computation->AddInstruction(
      HloInstruction::CreateFusion(root->shape(), HloInstruction::FusionKind::kLoop, operands, fused));
  KASHI_CHECK_OK(root->ReplaceAllUsesWith(fusion));
  root->GetModule()->RemoveDeadCode();
}

TEST(ModuleDiffTest, FusionsAreTheOnlyDifferenceOfAFusedModule) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const auto module = LivingModule(seed, 1, 6 + 2 * (seed % 20));
    const int64_t count = module->instruction_count();
    std::unique_ptr<HloModule> fused = module->Clone("");
    std::mt19937 random(seed);
    for (int i = 0; i < 3; ++i) {
      std::vector<HloInstruction*> roots;
      for (HloInstruction* x : fused->entry_computation()->instructions()) {
        if (x->IsElementwise()) roots.push_back(x);
      }
      if (!roots.empty()) FuseAt(roots[random() % roots.size()], &random);
    }
    for (const auto& other : {fused->Clone(""), Disguised(*fused, seed)}) {
      const ModuleDiff diff = DiffModules(*module, *other, true);
      EXPECT_EQ(static_cast<int64_t>(diff.counterparts.size()), count);
      for (const ComputationDiff& computation : diff.computations) {
        for (const InstructionChange& change : computation.changes) EXPECT_EQ(change.what, "moved");
        EXPECT_TRUE(computation.only_a.empty());
        for (const HloInstruction* x : computation.only_b) EXPECT_EQ(x->opcode(), HloOpcode::kFusion);
      }
      EXPECT_TRUE(diff.only_a.empty());
      EXPECT_TRUE(diff.only_b.empty());
      ExpectSymmetric(*module, *other);
    }
  }
}

TEST(ModuleDiffTest, OneChangedInstructionIsOneDifference) {
  int64_t found = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const auto module = LivingModule(seed, 1, 6 + 2 * (seed % 20));
    std::unique_ptr<HloModule> changed = module->Clone("");
    std::mt19937 random(seed);
    std::vector<HloInstruction*> sums;
    for (HloInstruction* x : changed->entry_computation()->instructions()) {
      if (x->opcode() == HloOpcode::kAdd) sums.push_back(x);
    }
    if (sums.empty()) continue;
    HloInstruction* sum = sums[random() % sums.size()];
    const std::string name(sum->name());
    auto difference = HloInstruction::CreateBinary(sum->shape(), HloOpcode::kSubtract, sum->mutable_operand(0),
                                                   sum->mutable_operand(1));
    KASHI_CHECK_OK(changed->entry_computation()->ReplaceWithNewInstruction(sum, std::move(difference)));
    ++found;
    const auto lines = Lines(DiffModules(*module, *changed, true));
    ASSERT_EQ(lines.size(), 1) << absl::StrJoin(lines, "\n");
    EXPECT_EQ(lines[0].substr(lines[0].find(':')), ": opcode add -> subtract");
    ExpectSymmetric(*module, *changed);
    ExpectSymmetric(*module, *Disguised(*changed, seed));
  }
  EXPECT_GT(found, 30);
}

TEST(ModuleDiffTest, AnyTwoModulesMatchSymmetrically) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const auto a = hlo::RandomGraph(seed).MakeModule(1 + seed % 4, 3 + 2 * (seed % 20));
    const auto b = hlo::RandomGraph(seed + 1000).MakeModule(1 + seed % 3, 3 + 2 * (seed % 17));
    ExpectSymmetric(*a, *b);
  }
}

// ---- Cases ----------------------------------------------------------------------------------------------------------

TEST(ModuleDiffTest, UsersOfANewCopyAreNoDifference) {
  EXPECT_EQ(Differences("ENTRY e { p = f32[2] parameter(0) n = f32[2] negate(p) ROOT r = f32[2] add(n, p) }",
                        "ENTRY e { p = f32[2] parameter(0) c = f32[2] copy(p) n = f32[2] negate(c) k = f32[2] copy(n) "
                        "ROOT r = f32[2] add(k, p) }"),
            "+ c\n+ k");
}

TEST(ModuleDiffTest, UsersOfADuplicateAreNoDifference) {
  const std::string one = "ENTRY e { p = f32[2] parameter(0) n = f32[2] negate(p) ROOT r = f32[2] add(n, n) }";
  const std::string two =
      "ENTRY e { p = f32[2] parameter(0) n = f32[2] negate(p) m = f32[2] negate(p) ROOT r = f32[2] add(n, m) }";
  EXPECT_EQ(Differences(one, two), "+ m");
  EXPECT_EQ(Differences(two, one), "- m");
}

TEST(ModuleDiffTest, AComputationThatHasLostItsFusionStays) {
  const std::string fused =
      "f { p = f32[2] parameter(0) ROOT n = f32[2] negate(p) } g { q = f32[2] parameter(0) ROOT m = f32[2] negate(q) "
      "} ";
  EXPECT_EQ(Differences(fused + "ENTRY e { x = f32[2] parameter(0) a = f32[2] fusion(x), kind=kLoop, calls=f "
                                "b = f32[2] fusion(x), kind=kLoop, calls=g ROOT r = f32[2] add(a, b) }",
                        fused + "ENTRY e { x = f32[2] parameter(0) a = f32[2] fusion(x), kind=kLoop, calls=f "
                                "ROOT r = f32[2] add(a, a) }"),
            "r: operands (a, b) -> (a, a)\n- b");
}

TEST(ModuleDiffTest, AnotherOperationIsOneDifference) {
  EXPECT_EQ(Differences("ENTRY e { p = f32[2] parameter(0) n = f32[2] negate(p) ROOT r = f32[2] sine(n) }",
                        "ENTRY e { p = f32[2] parameter(0) n = f32[2] negate(p) c = f32[2] cosine(p) "
                        "ROOT r = f32[2] add(n, c) }"),
            "r: opcode sine -> add\n+ c");
}

TEST(ModuleDiffTest, LayoutsAreConsequencesOfTheOperandsLayout) {
  const std::string a =
      "ENTRY e { p = f32[2,3]{1,0} parameter(0) n = f32[2,3]{1,0} negate(p) ROOT s = f32[2,3]{1,0} sine(n) }";
  const std::string b =
      "ENTRY e { p = f32[2,3]{0,1} parameter(0) n = f32[2,3]{0,1} negate(p) ROOT s = f32[2,3]{0,1} sine(n) }";
  EXPECT_EQ(Differences(a, b),
            "p: shape f32[2,3]{1,0} -> f32[2,3]{0,1}\n"
            "n: shape f32[2,3]{1,0} -> f32[2,3]{0,1} (consequence)\n"
            "s: shape f32[2,3]{1,0} -> f32[2,3]{0,1} (consequence)");
  EXPECT_EQ(Differences(a, b, /*with_layouts=*/false), "");
}

TEST(ModuleDiffTest, NamesOfAnotherCompilationAreNoEvidence) {
  // A layer more at the begin: add.1 and mul.1 of A are add.2 and mul.2 of B.
  EXPECT_EQ(Differences("ENTRY e { p = f32[2] parameter(0) w = f32[2] parameter(1) m.1 = f32[2] multiply(p, w) "
                        "a.1 = f32[2] add(m.1, w) m.2 = f32[2] multiply(a.1, w) a.2 = f32[2] add(m.2, w) "
                        "ROOT s = f32[2] sine(a.2) }",
                        "ENTRY e { p = f32[2] parameter(0) w = f32[2] parameter(1) t = f32[2] tanh(p) "
                        "m.0 = f32[2] multiply(t, w) a.0 = f32[2] add(m.0, w) m.1 = f32[2] multiply(a.0, w) "
                        "a.1 = f32[2] add(m.1, w) m.2 = f32[2] multiply(a.1, w) a.2 = f32[2] add(m.2, w) "
                        "ROOT s.1 = f32[2] sine(a.2) }"),
            "m.1: operands (p, w) -> (a.0, w)\n+ t\n+ m.0\n+ a.0");
}

TEST(ModuleDiffTest, ConstantsDifferByValue) {
  const std::string zeros = "ENTRY e { ROOT c = f32[12] constant({0,0,0,0,0,0,0,0,0,0,0,0}) }";
  const std::string one = "ENTRY e { ROOT c = f32[12] constant({0,0,0,0,0,0,0,0,0,0,0,1}) }";
  const std::string elided = "ENTRY e { ROOT c = f32[12] constant({...}) }";
  EXPECT_EQ(Differences(zeros, zeros), "");
  EXPECT_EQ(Differences(zeros, one), "c: value constant({...}) -> constant({...})");
  EXPECT_EQ(Differences(zeros, elided), "c: value known -> elided");
  EXPECT_EQ(Differences("ENTRY e { ROOT c = f32[2,2]{1,0} constant({{1,2},{3,4}}) }",
                        "ENTRY e { ROOT c = f32[2,2]{0,1} constant({{1,2},{3,4}}) }", /*with_layouts=*/false),
            "");
}

TEST(ModuleDiffTest, ReducersAndBodiesOfLoopsArePairedByTheirCallers) {
  const std::string a = R"(
body { s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0 x = f32[2] get-tuple-element(s), index=1
  one = s32[] constant(1) j = s32[] add(i, one) y = f32[2] negate(x) ROOT t = (s32[], f32[2]) tuple(j, y) }
cond { s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { p = (s32[], f32[2]) parameter(0) ROOT w = (s32[], f32[2]) while(p), condition=cond, body=body })";
  const std::string b = R"(
b.1 { s.1 = (s32[], f32[2]) parameter(0) i.1 = s32[] get-tuple-element(s.1), index=0
  x.1 = f32[2] get-tuple-element(s.1), index=1 one.1 = s32[] constant(1) j.1 = s32[] add(i.1, one.1)
  y.1 = f32[2] sine(x.1) ROOT t.1 = (s32[], f32[2]) tuple(j.1, y.1) }
c.1 { s.2 = (s32[], f32[2]) parameter(0) i.2 = s32[] get-tuple-element(s.2), index=0 n.2 = s32[] constant(4)
  ROOT c.2 = pred[] compare(i.2, n.2), direction=LT }
ENTRY e.1 { p.1 = (s32[], f32[2]) parameter(0) ROOT w.1 = (s32[], f32[2]) while(p.1), condition=c.1, body=b.1 })";
  EXPECT_EQ(Differences(a, b), "y=y.1: opcode negate -> sine\nn=n.2: value constant(3) -> constant(4)");
}

TEST(ModuleDiffTest, WhatMovesOutOfALoopIsPairedByName) {
  const std::string head = R"(
cond { s = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
body { s.1 = (s32[], f32[]) parameter(0) i.1 = s32[] get-tuple-element(s.1), index=0 )";
  const auto lines = Differences(
      absl::StrCat(head, "k = f32[] constant(2) q = f32[] sqrt(k) one = s32[] constant(1) j = s32[] add(i.1, one) ",
                   "ROOT t = (s32[], f32[]) tuple(j, q) } ENTRY e { p = (s32[], f32[]) parameter(0) ",
                   "ROOT w = (s32[], f32[]) while(p), condition=cond, body=body }"),
      absl::StrCat(
          head, "x = f32[] get-tuple-element(s.1), index=1 one = s32[] constant(1) j = s32[] add(i.1, one) ",
          "ROOT t = (s32[], f32[]) tuple(j, x) } ENTRY e { p = (s32[], f32[]) parameter(0) ",
          "i.2 = s32[] get-tuple-element(p), index=0 k = f32[] constant(2) q = f32[] sqrt(k) ",
          "p.2 = (s32[], f32[]) tuple(i.2, q) ROOT w = (s32[], f32[]) while(p.2), condition=cond, body=body }"));
  EXPECT_NE(lines.find("k: moved body -> e"), std::string::npos) << lines;
  EXPECT_NE(lines.find("q: moved body -> e"), std::string::npos) << lines;
}

TEST(ModuleDiffTest, ManyTwinsTakeLinearTime) {
  // 20,000 instructions of 4 kinds, 2,000 of them constants of equal value, and a root with 2,000 operands.
  std::string text = "ENTRY e { p = f32[2] parameter(0) ";
  std::vector<std::string> last;
  for (int i = 0; i < 2000; ++i) {
    absl::StrAppend(&text, "k", i, " = f32[] constant(1) b", i, " = f32[2] broadcast(k", i, "), dimensions={} ");
    std::string before = "p";
    for (int j = 0; j < 4; ++j) {
      absl::StrAppend(&text, "x", i, ".", j, " = f32[2] multiply(", before, ", b", i, ") y", i, ".", j,
                      " = f32[2] add(x", i, ".", j, ", p) ");
      before = absl::StrCat("y", i, ".", j);
    }
    last.push_back(before);
  }
  const auto a = Parse(absl::StrCat(text, "ROOT t = (", absl::StrJoin(std::vector<std::string>(2000, "f32[2]"), ", "),
                                    ") tuple(", absl::StrJoin(last, ", "), ") }"));
  const auto b = a->Clone("");
  int64_t number = 0;
  for (HloInstruction* x : b->entry_computation()->instructions()) {
    b->SetAndUniquifyInstrName(x, absl::StrCat("n", number++));
  }
  const ModuleDiff diff = DiffModules(*a, *b, true);
  EXPECT_EQ(diff.size(), 0);
  EXPECT_EQ(diff.counterparts.size(), a->instruction_count());
}

}  // namespace
}  // namespace kashi::matching
