// Programs without the engine cpu, whose tests are in kashi/cpu/program_test.cc.
#include "kashi/engine/program.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/engine/engine.h"
#include "kashi/engine/engine_choice.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/literal/literal_util.h"

namespace kashi::engine {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

constexpr char kDouble[] = "ENTRY e { x = f32[3] parameter(0) ROOT y = f32[3] add(x, x) }";

std::unique_ptr<HloModule> Read(absl::string_view text) { return ParseAndReturnUnverifiedModule(text).value(); }

TEST(ProgramTest, EnginesByName) {
  CompileOptions options;
  options.engine = "gpu";
  EXPECT_THAT(Program::Compile(*Read(kDouble), options).status().ToString(),
              HasSubstr(absl::StrCat(
                  "no engine has the name `gpu`; the engines are: ", absl::StrJoin(EngineNames(), ", "), "; or auto")));
  EXPECT_THAT(EngineNames(), IsSupersetOf({"cpu", "evaluator"}));
  options.engine = "evaluator";
  EXPECT_EQ(Program::Compile(*Read(kDouble), options).value()->engine(), "evaluator");
  options.engine = "cpu";
  const auto compiled = Program::Compile(*Read(kDouble), options);
  if (FindEngine("cpu") == nullptr) {
    EXPECT_EQ(compiled.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_EQ(Program::Compile(*Read(kDouble)).value()->engine(), "evaluator") << "auto takes what is there";
  } else {
    EXPECT_EQ((*compiled)->engine(), "cpu");
  }
}

TEST(ProgramTest, OneEngineOfAName) { EXPECT_DEATH(RegisterEngine(MakeEvaluatorEngine()), "the name evaluator"); }

TEST(ProgramTest, TheModuleIsCopiedUnlessItIsShared) {
  CompileOptions options;
  options.engine = "evaluator";
  std::shared_ptr<const HloModule> module = Read(kDouble);
  EXPECT_NE(&Program::Compile(*module, options).value()->module(), module.get());
  const auto program = Program::Compile(module, options).value();
  EXPECT_EQ(&program->module(), module.get());
  module = nullptr;
  const Literal x = LiteralUtil::CreateR1<float>({1, 2, 3});
  EXPECT_EQ(program->Execute({&x}).value(), LiteralUtil::CreateR1<float>({2, 4, 6}));
}

TEST(ProgramTest, OnMemory) {
  CompileOptions options;
  options.engine = "evaluator";
  const auto program = Program::Compile(*Read(kDouble), options).value();
  const std::vector<float> x = {1, 2, 3};
  std::vector<float> y(3);
  ASSERT_TRUE(program->ExecuteOnMemory({x.data()}, {y.data()}).ok());
  EXPECT_EQ(y, std::vector<float>({2, 4, 6}));
}

// CompileOptions decides how numbers are rounded, for any options of a run.
TEST(ProgramTest, PrecisionIsThatOfTheCompileOptions) {
  const auto module = Read(R"(ENTRY e { x = bf16[] parameter(0) y = bf16[] multiply(x, x)
    ROOT z = f32[] convert(y) })");
  const Literal x = LiteralUtil::CreateR0<bfloat16>(bfloat16(1.0078125f));  // its square has more bits than bf16
  for (const bool excess : {true, false}) {
    CompileOptions options;
    options.engine = "evaluator";
    options.numbers.excess_precision = excess;
    const auto program = Program::Compile(*module, options).value();
    const float exact = 1.0078125f * 1.0078125f;
    EvaluationOptions run;
    run.excess_precision = !excess;
    for (const Literal& y : {program->Execute({&x}).value(), program->Execute({&x}, run).value()}) {
      EXPECT_EQ(y.data<float>()[0] == exact, excess);
    }
  }
}

TEST(EngineChoiceTest, WhatPays) {
  const auto small = Read(kDouble);
  const auto large = Read(
      "ENTRY e { x = f32[1000,1000] parameter(0) a = f32[1000,1000] exponential(x) "
      "ROOT b = f32[1000,1000] exponential(a) }");
  CompileOptions options;
  EXPECT_EQ(ChooseEngine(*small, options), "cpu");
  options.runs = 1;
  EXPECT_EQ(ChooseEngine(*small, options), "evaluator");
  options.runs = 1'000'000;
  EXPECT_EQ(ChooseEngine(*small, options), "cpu");
  options.runs = 100;
  EXPECT_EQ(ChooseEngine(*large, options), "cpu");
  options.limits.max_work = 1000;
  EXPECT_EQ(ChooseEngine(*large, options), "evaluator") << "it refuses the program at once";
}

TEST(EngineChoiceTest, NobodyWaitsForTheCompilerOfAHugeProgram) {
  std::string text = "ENTRY e { x0 = f32[1000000] parameter(0)\n";
  for (int i = 1; i <= 20'001; ++i) {
    text += "x" + std::to_string(i) + " = f32[1000000] negate(x" + std::to_string(i - 1) + ")\n";
  }
  text += "ROOT r = f32[1000000] negate(x20001) }";
  const auto module = Read(text);
  CompileOptions options;
  options.runs = 1;
  EXPECT_EQ(ChooseEngine(*module, options), "evaluator");
  options.runs = CompileOptions::kManyRuns;
  EXPECT_EQ(ChooseEngine(*module, options), "cpu");
}

}  // namespace
}  // namespace kashi::engine
