// Where short floats are rounded: chains of operations on bf16, f16 and 8 bits, bit by bit. tests/data/cpu/rounding.txt
// holds random ones, with the outputs of real XLA's CPU compiler ("xla"), and those of operations that are rounded one
// by one ("rounded"). scripts/oracle_rounding.py wrote them, and compares many more.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/cpu/target.h"
#include "kashi/evaluator/stored_programs_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::cpu {
namespace {

const char kXla[] = "xla", kRounded[] = "rounded";

// A tuple of the program's outputs of this kind.
Literal OutputsOf(const evaluator::StoredProgram& program, absl::string_view kind) {
  std::vector<Literal> outputs;
  for (const evaluator::StoredProgram::Output& output : program.outputs) {
    if (output.tolerance == kind) outputs.push_back(evaluator::ReadStoredLiteral(output.literal));
  }
  return LiteralUtil::MakeTupleOwned(std::move(outputs));
}

std::vector<Literal> ArgumentsOf(const evaluator::StoredProgram& program) {
  std::vector<Literal> arguments;
  for (const std::string& input : program.inputs) arguments.push_back(evaluator::ReadStoredLiteral(input));
  return arguments;
}

CompileOptions WithExcessPrecision(bool is_allowed) {
  CompileOptions options;
  options.numbers.excess_precision = is_allowed;
  return options;
}

TEST(RoundingTest, ChainsGiveXlasBits) {
  const std::vector<evaluator::StoredProgram> programs = evaluator::ReadStoredPrograms("cpu/rounding.txt");
  ASSERT_GE(programs.size(), 60);
  int differing = 0;
  for (const evaluator::StoredProgram& program : programs) {
    SCOPED_TRACE(absl::StrCat("program ", program.name, "\n", program.text));
    const auto module = ReadVerified(program.text).value();
    const std::vector<Literal> arguments = ArgumentsOf(program);
    const Literal xla = OutputsOf(program, kXla), rounded = OutputsOf(program, kRounded);
    EXPECT_EQ(RunCompiled(*module, arguments, WithExcessPrecision(true)).value(), xla);
    EXPECT_EQ(RunCompiled(*module, arguments, WithExcessPrecision(false)).value(), rounded);
    EXPECT_EQ(HloEvaluator(EvaluationOptions()).Evaluate(*module, arguments).value(), xla);
    differing += xla == rounded ? 0 : 1;
  }
  EXPECT_GE(differing, 10) << "the two ways to round can hardly be told from each other";
}

// `body` computes with x = 256 and y = 1.
Literal RunOnBf16(absl::string_view body, bool allows_excess_precision) {
  const auto module =
      ReadVerified(absl::StrCat("ENTRY e { x = bf16[1] parameter(0) y = bf16[1] parameter(1) ", body, " }")).value();
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateR1<bfloat16>({bfloat16(256.0f)}));
  arguments.push_back(LiteralUtil::CreateR1<bfloat16>({bfloat16(1.0f)}));
  return RunCompiled(*module, arguments, WithExcessPrecision(allows_excess_precision)).value();
}

TEST(RoundingTest, OnlyConvertsToF32TakeWhatIsNotRounded) {
  // 256 + 1 is no bf16: it is 256, and then 256 again.
  for (bool allowed : {false, true}) {
    EXPECT_EQ(RunOnBf16("a = bf16[1] add(x, y) ROOT r = bf16[1] add(a, y)", allowed),
              LiteralUtil::CreateR1<bfloat16>({bfloat16(256.0f)}));
    EXPECT_EQ(RunOnBf16("a = bf16[1] add(x, y) c = bf16[1] copy(a) ROOT r = f32[1] convert(c)", allowed),
              LiteralUtil::CreateR1<float>({256}));
    EXPECT_EQ(RunOnBf16("w = f32[1] convert(x) z = f32[1] convert(y) a = f32[1] add(w, z) b = bf16[1] convert(a) "
                        "ROOT r = f32[1] convert(b)",
                        allowed),
              LiteralUtil::CreateR1<float>({256}));
    const float kept = allowed ? 257 : 256;
    EXPECT_EQ(RunOnBf16("a = bf16[1] add(x, y) ROOT r = f32[1] convert(a)", allowed),
              LiteralUtil::CreateR1<float>({kept}));
    // Another user gets the rounded number.
    EXPECT_EQ(RunOnBf16("a = bf16[1] add(x, y) w = f32[1] convert(a) b = bf16[1] add(a, y) c = f32[1] convert(b) "
                        "ROOT r = (f32[1], f32[1], bf16[1]) tuple(w, c, a)",
                        allowed),
              LiteralUtil::MakeTupleOwned(LiteralUtil::CreateR1<float>({kept}), LiteralUtil::CreateR1<float>({kept}),
                                          LiteralUtil::CreateR1<bfloat16>({bfloat16(256.0f)})));
    // A dot, too.
    EXPECT_EQ(RunOnBf16("v = bf16[2] concatenate(x, y), dimensions={0} o = bf16[] constant(1) w = bf16[2] "
                        "broadcast(o), dimensions={} d = bf16[] dot(v, w), lhs_contracting_dims={0}, "
                        "rhs_contracting_dims={0} ROOT r = f32[] convert(d)",
                        allowed),
              LiteralUtil::CreateR0<float>(kept));
  }
}

// Each engine gives 257, or 256 where a number is rounded on its way to the convert.
TEST(RoundingTest, EnginesAgreeAboutCallsFusionsAndScalars) {
  constexpr char kScalar[] =
      "g { u = bf16[] parameter(0) v = bf16[] parameter(1) ROOT a = bf16[] add(u, v) } f { u = bf16[] parameter(0) v = "
      "bf16[] parameter(1) a = bf16[] $CALL ROOT r = f32[] convert(a) } ENTRY e { x = bf16[40] parameter(0) y = "
      "bf16[40] parameter(1) ROOT r = f32[40] map(x, y), dimensions={0}, to_apply=f }";
  constexpr char kArray[] =
      "g { u = bf16[40] parameter(0) v = bf16[40] parameter(1) ROOT a = bf16[40] add(u, v) } ENTRY e { u = bf16[40] "
      "parameter(0) v = bf16[40] parameter(1) a = bf16[40] $CALL ROOT r = f32[40] convert(a) }";
  std::vector<Literal> arguments;
  for (float x : {256.0f, 1.0f}) {
    arguments.push_back(LiteralUtil::CreateR1<bfloat16>(std::vector<bfloat16>(40, bfloat16(x))));
  }
  for (const char* text : {kScalar, kArray}) {
    for (const char* call : {"call(u, v), to_apply=g", "fusion(u, v), kind=kLoop, calls=g"}) {
      const auto module = ReadVerified(absl::StrReplaceAll(text, {{"$CALL", call}})).value();
      const float want = absl::StartsWith(call, "call") ? 257 : 256;
      EXPECT_EQ(RunCompiled(*module, arguments, WithExcessPrecision(true)).value().data<float>()[0], want) << call;
      EXPECT_EQ(HloEvaluator(EvaluationOptions()).Evaluate(*module, arguments).value().data<float>()[0], want) << call;
    }
  }
}

TEST(RoundingTest, SumsOfBf16AreRoundedOnce) {
  const char kText[] =
      "add { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT c = bf16[] add(a, b) } ENTRY e { x = bf16[3] "
      "parameter(0) z = bf16[] constant(0) n = bf16[3] negate(x) s = bf16[] reduce(n, z), dimensions={0}, to_apply=add "
      "ROOT r = f32[] convert(s) }";
  const auto module = ReadVerified(kText).value();
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateR1<bfloat16>({bfloat16(256.0f), bfloat16(1.0f), bfloat16(1.0f)}));
  EXPECT_EQ(RunCompiled(*module, arguments, WithExcessPrecision(true)).value(), LiteralUtil::CreateR0<float>(-258));
}

class RoundingOnLevelTest : public LevelTest {};

// (1 + 2^-12)^2 has a bit at 2^-24, which f32 rounds off.
TEST_P(RoundingOnLevelTest, FusesProductsIntoSums) {
  const auto module = ReadVerified(
                          "ENTRY e { x = f32[1] parameter(0) y = f32[1] parameter(1) p = f32[1] multiply(x, x) ROOT r "
                          "= f32[1] subtract(p, y) }")
                          .value();
  const float x = 1 + 0x1p-12f, rounded = 1 + 0x1p-11f;
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateR1<float>({x}));
  arguments.push_back(LiteralUtil::CreateR1<float>({rounded}));
  const bool has_fma = GetParam() != "x86-64-v2";
  EXPECT_EQ(RunCompiled(*module, arguments, options).value(), LiteralUtil::CreateR1<float>({has_fma ? 0x1p-24f : 0}));
  options.numbers.excess_precision = false;
  EXPECT_EQ(RunCompiled(*module, arguments, options).value(), LiteralUtil::CreateR1<float>({0}));
}

INSTANTIATE_TEST_SUITE_P(Levels, RoundingOnLevelTest, testing::ValuesIn(Target::Levels()),
                         [](const auto& info) { return NameOfTarget(info.param); });

class HalvesOnLevelTest : public LevelTest {};

// All numbers of f16 as f32, and f32 around all of them as f16: without F16C, functions convert them.
TEST_P(HalvesOnLevelTest, AreConverted) {
  for (const bool flush_denormals : {false, true}) {
    options.numbers.flush_denormals = flush_denormals;
    ExpectAsEvaluator(
        "ENTRY e { i = u16[65536] iota(), iota_dimension=0 x = f16[65536] bitcast-convert(i) w = f32[65536] convert(x) "
        "t = f32[] constant(1.0002) b = f32[65536] broadcast(t), dimensions={} m = f32[65536] multiply(w, b) "
        "h = f16[65536] convert(m) ROOT r = (f32[65536], f16[65536]) tuple(w, h) }",
        {}, ErrorSpec(0, 0, /*relaxed_nans=*/true), /*kernels=*/2, options);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, HalvesOnLevelTest, testing::ValuesIn(Target::Levels()),
                         [](const auto& info) { return NameOfTarget(info.param); });

}  // namespace
}  // namespace kashi::cpu
