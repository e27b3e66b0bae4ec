#include "kashi/insight/scopes.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/insight/insight_testing.h"

namespace kashi::insight {
namespace {

using testing::ElementsAre;

std::string Scope(absl::string_view op_name) { return absl::StrJoin(ScopeParts(op_name), "/"); }
std::string Kept(absl::string_view op_name) { return absl::StrJoin(ScopeParts(op_name, {true}), "/"); }

TEST(ScopePartsTest, TheProgramAndTheOperationAreNotInTheScope) {
  EXPECT_EQ(Scope("jit(step)/layer_3/attention/dot_general"), "layer_3/attention");
  EXPECT_EQ(Scope("jit(step)/dot_general"), "");
  EXPECT_EQ(Scope("jit(<lambda>)/layer/add"), "layer");
  EXPECT_EQ(Scope("pmap(step)/layer/add"), "layer");
  EXPECT_EQ(Scope("layer/add"), "layer");  // of a called function
  EXPECT_EQ(Scope("add"), "");
  EXPECT_EQ(Scope(""), "");
  EXPECT_EQ(Scope("jit(step)"), "");
}

TEST(ScopePartsTest, TransformationsBelongToWhatTheyTransform) {
  for (const char* name :
       {"jit(step)/jvp(layer_3)/attention/dot_general", "jit(step)/transpose(jvp(layer_3))/attention/dot_general",
        "jit(step)/vmap(layer_3)/attention/add", "jit(step)/transpose(jvp(vmap(layer_3)))/vmap()/attention/add",
        "jit(step)/jvp()/layer_3/attention/mul", "jit(step)/vmap(layer_3/attention)/tanh",
        "jit(step)/checkpoint/layer_3/rematted_computation/attention/mul",
        "jit(step)/jvp()/while/body/closed_call/layer_3/attention/mul", "jit(step)/while/cond/layer_3/attention/lt",
        "jit(step)/while/body_pred/layer_3/attention/lt", "jit(step)/cond/branch_12_fun/layer_3/attention/mul",
        "jit(step)/shard_map/layer_3/attention/psum", "jit(step)/layer_3/layer_3/checkpoint/attention/mul",
        "jit(step)/transpose(jvp())/layer_3/attention/layer_3/attention/checkpoint/mul",
        "jit(step)/layer_3/attention/mul;jit(step)/layer_4/mlp/add",
        "jit(step)/layer_3/attention/reduce_sum:transpose(jvp())"}) {
    EXPECT_EQ(Scope(name), "layer_3/attention") << name;
  }
  EXPECT_EQ(Scope("jit(step)/layer/jit(silu)/logistic"), "layer/silu");
  EXPECT_EQ(Scope("jit(step)/jvp(jit(silu))/logistic"), "silu");
  EXPECT_EQ(Scope("jit(f)/jit(<lambda>)/add"), "<lambda>");
}

TEST(ScopePartsTest, NamesOfTheUserStay) {
  EXPECT_EQ(Scope("jit(step)/body/add"), "body");          // not in a loop
  EXPECT_EQ(Scope("jit(step)/cond/mlp/add"), "cond/mlp");  // no branch
  EXPECT_EQ(Scope("jit(step)/cond/branch_x_fun/add"), "cond/branch_x_fun");
  EXPECT_EQ(Scope("jit(step)/block/block/add"), "block/block");  // no recomputation
  EXPECT_EQ(Scope("jit(step)/f(x)g/add"), "f(x)g");
  EXPECT_EQ(Scope("jit(step)/a b(x)/add"), "a b(x)");
  EXPECT_EQ(Scope("jit(step)/bhts,bshd->bthd/dot_general"), "bhts,bshd->bthd");
  EXPECT_EQ(Scope("jit(f)/jit(main)/reshape[new_sizes=(2, 3) a/b]"), "main");
}

TEST(ScopePartsTest, BrokenNames) {
  EXPECT_EQ(Scope("jit(step)/jvp(layer/add"), "");
  EXPECT_EQ(Scope("jit(step)/))layer/add"), "))layer");
  EXPECT_EQ(Scope("////"), "");
  EXPECT_EQ(Scope("jit(f)/(x)/add"), "(x)");
  std::string deep = "x";
  for (int i = 0; i < 50; ++i) deep = absl::StrCat("jvp(", deep, ")");
  EXPECT_EQ(Scope(absl::StrCat("jit(f)/", deep, "/add")), "x");
  std::string deeper = "jit(f)/";
  for (int i = 0; i < 50000; ++i) absl::StrAppend(&deeper, "a(");
  EXPECT_GT(Scope(absl::StrCat(deeper, std::string(50000, ')'), "/add")).size(), 1000);  // soon
}

TEST(ScopePartsTest, TransformationsApart) {
  EXPECT_EQ(Kept("jit(step)/transpose(jvp(layer_3))/while/body/attention/dot_general"),
            "transpose(jvp(layer_3))/while/body/attention");
}

TEST(ArgumentPartsTest, SplitsNames) {
  EXPECT_THAT(ArgumentParts("params['layer_3']['kernel']"), ElementsAre("(arguments)", "params", "layer_3"));
  EXPECT_THAT(ArgumentParts("opt_state[0].mu['layer_3']['kernel']"),
              ElementsAre("(arguments)", "opt_state", "0", "mu", "layer_3"));
  EXPECT_THAT(ArgumentParts("x"), ElementsAre("(arguments)", "x"));
  EXPECT_THAT(ArgumentParts("a[4]"), ElementsAre("(arguments)", "a"));
}

// ---- Modules.

struct Read {
  std::unique_ptr<HloModule> module;
  std::unique_ptr<ExecutionCounts> counts;
  std::unique_ptr<Scopes> scopes;

  const HloInstruction& operator[](absl::string_view name) const { return *Find(*module, name); }
};

Read ReadScopes(std::unique_ptr<HloModule> module, const ScopeOptions& options = {}) {
  Read read;
  read.module = std::move(module);
  read.counts = std::make_unique<ExecutionCounts>(ExecutionCounts::Compute(*read.module).value());
  read.scopes = std::make_unique<Scopes>(Scopes::Create(*read.module, *read.counts, options).value());
  return read;
}

std::string Negates(const std::vector<std::string>& op_names) {
  std::string text =
      "HloModule m\nENTRY e {\n  x = f32[] parameter(0), metadata={op_name=\"params[\\'layer_2\\'][\\'w\\']\"}\n";
  for (size_t i = 0; i < op_names.size(); ++i) {
    absl::StrAppend(&text, absl::Substitute("  n$0 = f32[] negate(x), metadata={op_name=\"$1\"}\n", i, op_names[i]));
  }
  return absl::StrCat(text, "}");
}

TEST(LayersTest, NumbersWithSiblings) {
  const Read read = ReadScopes(
      ReadModule(Negates({"jit(f)/encoder_0/layer_1/attention/mul", "jit(f)/encoder_0/jvp(layer_2)/dense_0/mul",
                          "jit(f)/embed/add", "jit(f)/encoder_0/transpose(jvp(layer_2))/dense_1/mul",
                          "jit(f)/head_7/mul", "jit(f)/h/0/mul", "jit(f)/h/1/mul", "jit(f)/add"})));
  const auto layer = [&](int i) { return read.scopes->LayerOf(read[absl::StrCat("n", i)]); };
  EXPECT_EQ(layer(0), "encoder_0/layer_1");
  EXPECT_EQ(layer(1), "encoder_0/layer_2");  // not dense_0, which is within
  EXPECT_EQ(layer(2), "embed");
  EXPECT_EQ(layer(3), "encoder_0/layer_2");
  EXPECT_EQ(layer(4), "head_7");  // without siblings: the first part
  EXPECT_EQ(layer(5), "h/0");
  EXPECT_EQ(layer(6), "h/1");
  EXPECT_EQ(layer(7), "");
  EXPECT_EQ(read.scopes->LayerOf(read["x"]), "encoder_0/layer_2");  // the argument has its name
  EXPECT_EQ(read.scopes->ScopeOf(read["x"]), "(arguments)/params/layer_2");
}

TEST(LayersTest, TransformationsApart) {
  const Read read = ReadScopes(ReadModule(Negates({"jit(f)/jvp(layer_1)/mul", "jit(f)/transpose(jvp(layer_1))/mlp/mul",
                                                   "jit(f)/jvp(layer_2)/mul"})),
                               {true});
  EXPECT_EQ(read.scopes->LayerOf(read["n0"]), "jvp(layer_1)");
  EXPECT_EQ(read.scopes->LayerOf(read["n1"]), "transpose(jvp(layer_1))");
  EXPECT_EQ(read.scopes->ScopeOf(read["n1"]), "transpose(jvp(layer_1))/mlp");
}

TEST(ScopesTest, InstructionsWithoutNames) {
  const Read read = ReadScopes(ReadModule(R"(HloModule m
fused { p = f32[2,3] parameter(0)  ROOT t = f32[2,3] tanh(p), metadata={op_name="jit(f)/inner/tanh"} }
ENTRY e { x = f32[2,3] parameter(0), metadata={op_name="x"}
  before = f32[2,3] copy(x)
  used = f32[2,3] negate(before), metadata={op_name="jit(f)/layer/neg"}
  unnamed = f32[2,3] negate(used)
  fusion = f32[2,3] fusion(used), kind=kLoop, calls=fused
  after = f32[2,3] copy(fusion)
  dead = f32[2,3] copy(after) })"));
  EXPECT_EQ(read.scopes->ScopeOf(read["before"]), "layer");  // its user's
  EXPECT_EQ(read.scopes->ScopeOf(read["unnamed"]), "");
  EXPECT_EQ(read.scopes->ScopeOf(read["fusion"]), "inner");
  EXPECT_EQ(read.scopes->ScopeOf(read["dead"]), "inner");  // its operand's
  EXPECT_EQ(read.scopes->ScopeOf(read["x"]), "(arguments)/x");
}

// The op_names of a called function continue those of its calls, also within loops.
TEST(ScopesTest, CalledFunctions) {
  const Read read = ReadScopes(ReadModule(R"hlo(HloModule m
leaf { p = f32[] parameter(0)  ROOT t = f32[] tanh(p), metadata={op_name="mlp/tanh"} }
layer { p = f32[] parameter(0)  ROOT c = f32[] call(p), to_apply=leaf, metadata={op_name="jit(leaf)"} }
body { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  x = f32[] get-tuple-element(s), index=1
  one = s32[] constant(1)  j = s32[] add(i, one)
  y = f32[] call(x), to_apply=layer, metadata={op_name="jit(f)/while/body/in_loop/jit(layer)"}
  whole = f32[] negate(y), metadata={op_name="jit(f)/while/body/in_loop/neg"}
  ROOT r = (s32[], f32[]) tuple(j, whole) }
condition { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[] parameter(0), metadata={op_name="x"}
  a = f32[] call(x), to_apply=layer, metadata={op_name="jit(f)/layer_0/jit(layer)"}
  zero = s32[] constant(0)  s = (s32[], f32[]) tuple(zero, a)
  ROOT loop = (s32[], f32[]) while(s), condition=condition, body=body })hlo"));
  EXPECT_EQ(read.scopes->ScopeOf(read["whole"]), "in_loop");
  const std::vector<Scopes::Place> places = read.scopes->PlacesOf(read["t"]);
  ASSERT_EQ(places.size(), 2);
  EXPECT_THAT(places[0].parts, ElementsAre("in_loop", "layer", "leaf", "mlp"));
  EXPECT_DOUBLE_EQ(places[0].share, 0.75);  // 3 of 4 runs
  EXPECT_THAT(places[1].parts, ElementsAre("layer_0", "layer", "leaf", "mlp"));
  EXPECT_DOUBLE_EQ(places[1].share, 0.25);
}

// A function with a loop, inlined twice: the loops share their body, whose op_names continue theirs.
TEST(ScopesTest, BodiesOfInlinedLoops) {
  const Read read = ReadScopes(ReadModule(R"hlo(HloModule m
body { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  x = f32[] get-tuple-element(s), index=1
  one = s32[] constant(1)  j = s32[] add(i, one)  y = f32[] tanh(x), metadata={op_name="while/body/mlp/tanh"}
  ROOT r = (s32[], f32[]) tuple(j, y) }
condition { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[] parameter(0)  zero = s32[] constant(0)  s = (s32[], f32[]) tuple(zero, x)
  a = (s32[], f32[]) while(s), condition=condition, body=body, metadata={op_name="jit(f)/layer_0/jit(layer)/while"}
  y = f32[] get-tuple-element(a), index=1  t = (s32[], f32[]) tuple(zero, y)
  ROOT b = (s32[], f32[]) while(t), condition=condition, body=body, metadata={op_name="jit(f)/layer_1/jit(layer)/while"} })hlo"));
  const std::vector<Scopes::Place> places =
      read.scopes->PlacesOf(*Find(*read.module, "j")->parent()->GetInstructionWithName("y"));
  ASSERT_EQ(places.size(), 2);
  EXPECT_THAT(places[0].parts, ElementsAre("layer_0", "layer", "mlp"));
  EXPECT_THAT(places[1].parts, ElementsAre("layer_1", "layer", "mlp"));
}

// A chain of functions, each called twice by the one before: the places do not double without end.
TEST(ScopesTest, ManyPlaces) {
  std::string text =
      "HloModule m\ng0 { a = f32[] parameter(0)  ROOT leaf = f32[] negate(a), metadata={op_name=\"neg\"} }\n";
  for (int i = 1; i <= 40; ++i) {
    absl::StrAppend(
        &text,
        absl::Substitute("g$0 { a = f32[] parameter(0)  b = f32[] call(a), to_apply=g$1, metadata={op_name=\"x/c\"}"
                         "  ROOT c = f32[] call(b), to_apply=g$1, metadata={op_name=\"y/c\"} }\n",
                         i, i - 1));
  }
  absl::StrAppend(
      &text,
      "ENTRY e { a = f32[] parameter(0)  ROOT r = f32[] call(a), to_apply=g40, metadata={op_name=\"jit(f)/c\"} }\n");
  const Read read = ReadScopes(ReadModule(text));
  const std::vector<Scopes::Place> places = read.scopes->PlacesOf(read["leaf"]);
  EXPECT_LE(places.size(), Scopes::kMostPlaces);
  double sum = 0;
  for (const Scopes::Place& place : places) sum += place.share;
  EXPECT_NEAR(sum, 1, 1e-9);
}

// The same layers, whether their function is inlined, called, or differentiated.
TEST(ScopesTest, ModelsOfJax) {
  for (const char* name : {"unrolled", "called", "unrolled_grad", "unrolled.cpu"}) {
    const Read read = ReadScopes(ReadModuleFile(absl::StrCat("tests/data/insight/models/", name, ".hlo")));
    std::set<std::string> layers;
    for (const HloComputation* computation : read.module->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        if (instruction->opcode() != HloOpcode::kDot) continue;
        for (const Scopes::Place& place : read.scopes->PlacesOf(*instruction)) {
          layers.insert(read.scopes->LayerOfParts(place.parts));
        }
      }
    }
    const std::string in = absl::string_view(name) == "unrolled_grad" ? "loss/" : "";
    std::set<std::string> expected;
    for (int i = 0; i < 6; ++i) expected.insert(absl::StrCat(in, "layer_", i));
    EXPECT_EQ(layers, expected) << name;
  }
  for (const char* name : {"scanned", "scanned_grad", "scanned_remat_grad", "scanned.cpu"}) {
    const Read read = ReadScopes(ReadModuleFile(absl::StrCat("tests/data/insight/models/", name, ".hlo")));
    std::set<std::string> scopes;
    for (const HloComputation* computation : read.module->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        if (instruction->opcode() != HloOpcode::kDot) continue;
        const std::vector<std::string> parts = read.scopes->PartsOf(*instruction);
        // loss/layer/attention: the first two parts within loss
        const size_t begin = !parts.empty() && parts[0] == "loss" ? 1 : 0;
        scopes.insert(parts.size() < begin + 2 ? "?" : absl::StrCat(parts[begin], "/", parts[begin + 1]));
      }
    }
    EXPECT_EQ(scopes, (std::set<std::string>{"layer/attention", "layer/mlp"})) << name;
  }
}

}  // namespace
}  // namespace kashi::insight
