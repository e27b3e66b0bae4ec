#include "kashi/evaluator/excess_precision.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/evaluator/stored_programs_testing.h"
#include "kashi/kernels/element_kernel.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

// Programs on x = 256 and y = 1, whose sum is no bf16. V stands for bf16[4], W for f32[4], P for the parameters x, y.
std::string TextOf(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"P ", "x = bf16[4] parameter(0) y = bf16[4] parameter(1) "}, {"V", "bf16[4]"}, {"W", "f32[4]"}});
}

absl::StatusOr<Literal> RunOnSum(absl::string_view text, const EvaluationOptions& options = {}) {
  const Literal x = LiteralUtil::CreateR1<bfloat16>(std::vector<bfloat16>(4, bfloat16(256.0f)));
  const Literal y = LiteralUtil::CreateR1<bfloat16>(std::vector<bfloat16>(4, bfloat16(1.0f)));
  return TryEvaluateText(TextOf(text), {&x, &y}, options);
}

// The first number of the result, or of its first element.
float First(const Literal& result) {
  return result.shape().IsTuple() ? result.data<float>({0})[0] : result.data<float>()[0];
}
float FirstOf(absl::string_view text, bool excess_precision = true) {
  EvaluationOptions options;
  options.excess_precision = excess_precision;
  const absl::StatusOr<Literal> result = RunOnSum(text, options);
  EXPECT_TRUE(result.ok()) << result.status() << "\n" << TextOf(text);
  return result.ok() ? First(*result) : 0;
}

TEST(ExcessPrecisionTest, ChainsGiveTheBitsOfXlasCompiler) {
  int differing = 0;
  for (const StoredProgram& program : ReadStoredPrograms("cpu/rounding.txt")) {
    SCOPED_TRACE(absl::StrCat("program ", program.name, "\n", program.text));
    std::vector<Literal> arguments, xla, rounded;
    std::vector<const Literal*> pointers;
    for (const std::string& input : program.inputs) arguments.push_back(ReadStoredLiteral(input));
    for (const Literal& argument : arguments) pointers.push_back(&argument);
    for (const StoredProgram::Output& output : program.outputs) {
      (output.tolerance == "xla" ? xla : rounded).push_back(ReadStoredLiteral(output.literal));
    }
    const Literal want = LiteralUtil::MakeTupleOwned(std::move(xla)),
                  other = LiteralUtil::MakeTupleOwned(std::move(rounded));
    EXPECT_EQ(EvaluateText(program.text, pointers), want);
    EvaluationOptions options;
    options.excess_precision = false;
    EXPECT_EQ(TryEvaluateText(program.text, pointers, options).value(), other);
    differing += want == other ? 0 : 1;
  }
  EXPECT_GE(differing, 10);
}

TEST(ExcessPrecisionTest, ConvertsToF32TakeWhatIsNotRounded) {
  constexpr char kSum[] = "ENTRY e { P a = V add(x, y) ROOT r = W convert(a) }";
  EXPECT_EQ(FirstOf(kSum), 257);
  EXPECT_EQ(FirstOf(kSum, /*excess_precision=*/false), 256);
  // Two converts, and a user that gets the rounded number.
  EXPECT_EQ(FirstOf("ENTRY e { P a = V add(x, y) b = V subtract(a, x) c = W convert(b) d = W convert(a) ROOT r = W "
                    "subtract(d, c) }"),
            257);
  EXPECT_EQ(FirstOf("ENTRY e { P d = bf16[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} e = bf16[] "
                    "add(d, d) ROOT r = f32[] convert(e) }"),
            2048);
}

TEST(ExcessPrecisionTest, MovesTuplesLoopsAndFusionsKeepRoundedNumbers) {
  for (
      const char* text : {
          "ENTRY e { P a = V add(x, y) c = V copy(a) ROOT r = W convert(c) }",
          "ENTRY e { P a = V add(x, y) c = V reshape(a) ROOT r = W convert(c) }",
          "ENTRY e { P a = V add(x, y) c = V opt-barrier(a) ROOT r = W convert(c) }",
          "ENTRY e { P a = V add(x, y) t = (V) tuple(a) c = V get-tuple-element(t), index=0 ROOT r = W convert(c) }",
          "ENTRY e { P u = W convert(x) v = W convert(y) s = W add(u, v) a = V convert(s) ROOT r = W convert(a) }",
          "ENTRY e { P a = V add(x, y) p = pred[4] compare(x, y), direction=GT s = V select(p, a, y) ROOT r = W "
          "convert(s) }",
          "f { P ROOT a = V add(x, y) } ENTRY e { P a = V fusion(x, y), kind=kLoop, calls=f ROOT r = W convert(a) }",
          "f { a = V parameter(0) ROOT r = W convert(a) } ENTRY e { P a = V add(x, y) ROOT r = W fusion(a), "
          "kind=kLoop, calls=f }",
          "f { a = V parameter(0) ROOT r = W convert(a) } ENTRY e { P a = V add(x, y) z = s32[] constant(0) ROOT r = W "
          "conditional(z, a, a), branch_computations={f, f} }",
          "b { s = V parameter(0) e = bf16[] constant(1) y = V broadcast(e), dimensions={} ROOT a = V add(s, y) } c { "
          "s "
          "= V parameter(0) t = W convert(s) u = f32[1] slice(t), slice={[0:1]} v = f32[] reshape(u) n = f32[] "
          "constant(256) ROOT l = pred[] compare(v, n), direction=LT } ENTRY e { P w = V while(x), condition=c, body=b "
          "ROOT r = W convert(w) }",
      }) {
    EXPECT_EQ(FirstOf(text), 256) << text;
  }
}

TEST(ExcessPrecisionTest, ControlDependenciesRound) {
  EXPECT_EQ(FirstOf("ENTRY e { P b = V add(y, y) a = V add(x, y), control-predecessors={b} ROOT r = W convert(a) }"),
            256);
  EXPECT_EQ(FirstOf("ENTRY e { P a = V add(x, y) b = V add(y, y) ROOT r = W convert(a), control-predecessors={b} }"),
            256);
}

TEST(ExcessPrecisionTest, CallsAreAsTheirComputations) {
  constexpr char kAdd[] = "add { P ROOT a = V add(x, y) } ",
                 kWiden[] = "widen { a = V parameter(0) ROOT r = W convert(a) } ";
  EXPECT_EQ(FirstOf(absl::StrCat(kAdd, "ENTRY e { P a = V call(x, y), to_apply=add ROOT r = W convert(a) }")), 257);
  EXPECT_EQ(FirstOf(absl::StrCat(kWiden, "ENTRY e { P a = V add(x, y) ROOT r = W call(a), to_apply=widen }")), 257);
  EXPECT_EQ(FirstOf(absl::StrCat(
                kAdd, kWiden,
                "id { ROOT a = V parameter(0) } same { a = V parameter(0) ROOT b = V call(a), to_apply=id } ENTRY e { "
                "P a = V "
                "call(x, y), to_apply=add b = V call(a), to_apply=same ROOT r = W call(b), to_apply=widen }")),
            257);
  // A computation that a loop runs as well: there the state is rounded.
  EXPECT_EQ(
      FirstOf(absl::StrCat(
          "b { s = V parameter(0) e = bf16[] constant(1) y = V broadcast(e), dimensions={} ROOT a = V add(s, y) } c { "
          "s "
          "= V parameter(0) t = W convert(s) u = f32[1] slice(t), slice={[0:1]} v = f32[] reshape(u) n = f32[] "
          "constant(257) ROOT l = pred[] compare(v, n), direction=GE } ENTRY e { P w = V while(x), condition=c, body=b "
          "z = V call(x), to_apply=b f = W convert(z) g = W convert(w) ROOT r = W subtract(f, g) }")),
      1);
}

TEST(ExcessPrecisionTest, ComputationsOnScalars) {
  EXPECT_EQ(
      FirstOf("f { x = bf16[] parameter(0) y = bf16[] parameter(1) a = bf16[] add(x, y) ROOT r = f32[] convert(a) "
              "} ENTRY e { P ROOT r = W map(x, y), dimensions={0}, to_apply=f }"),
      257);
  EXPECT_EQ(
      FirstOf("g { x = bf16[] parameter(0) y = bf16[] parameter(1) ROOT a = bf16[] add(x, y) } f { x = bf16[] "
              "parameter(0) y = bf16[] parameter(1) a = bf16[] call(x, y), to_apply=g ROOT r = f32[] convert(a) } "
              "ENTRY e { P ROOT r = W map(x, y), dimensions={0}, to_apply=f }"),
      257);
  EXPECT_EQ(FirstOf("g { x = bf16[] parameter(0) y = bf16[] parameter(1) ROOT a = bf16[] add(x, y) } f { x = bf16[] "
                    "parameter(0) y = bf16[] parameter(1) a = bf16[] fusion(x, y), kind=kLoop, calls=g ROOT r = f32[] "
                    "convert(a) } ENTRY e { P ROOT r = W map(x, y), dimensions={0}, to_apply=f }"),
            256);
}

TEST(ExcessPrecisionTest, ObserversSeeRoundedNumbers) {
  float seen = 0, converted = 0;
  EvaluationOptions options;
  options.observer = [&](const HloInstruction& instruction, const Value& value) {
    if (instruction.name() == "a") seen = static_cast<float>(value.data<bfloat16>()[0]);
    if (instruction.name() == "r") converted = value.data<float>()[0];
    return absl::OkStatus();
  };
  ASSERT_TRUE(RunOnSum("ENTRY e { P a = V add(x, y) ROOT r = W convert(a) }", options).ok());
  EXPECT_EQ(seen, 256);
  EXPECT_EQ(converted, 257);
}

TEST(ExcessPrecisionTest, SingleInstructionsAreRounded) {
  const auto module =
      ParseAndReturnUnverifiedModule(
          "ENTRY e { x = bf16[] constant(256) y = bf16[] constant(1) a = bf16[] add(x, y) ROOT r = f32[] convert(a) }")
          .value();
  HloEvaluator evaluator{EvaluationOptions()};
  const HloInstruction* root = module->entry_computation()->root_instruction();
  EXPECT_EQ(evaluator.Evaluate(root, {}, /*recursively_evaluate_nonconstant_operands=*/true).value(),
            LiteralUtil::CreateR0<float>(256));
  const absl::Span<const Literal* const> none;
  EXPECT_EQ(evaluator.Evaluate(*module, none).value(), LiteralUtil::CreateR0<float>(257));
  EXPECT_EQ(HloEvaluator().Evaluate(*module, none).value(), LiteralUtil::CreateR0<float>(256));  // XLA's interface
}

TEST(ExcessPrecisionTest, DevicesFollowTheRule) {
  const auto module = ParseAndReturnUnverifiedModule(
                          "HloModule m, replica_count=2\nENTRY e { x = bf16[] constant(256) y = bf16[] constant(1) a = "
                          "bf16[] add(x, y) ROOT r = f32[] convert(a) }")
                          .value();
  EvaluationOptions options;
  for (const float want : {257.0f, 256.0f}) {
    options.excess_precision = want == 257;
    const std::vector<Literal> results = RunOnDevices(*module, std::vector<std::vector<Literal>>(2), options).value();
    ASSERT_EQ(results.size(), 2);
    for (const Literal& result : results) EXPECT_EQ(result, LiteralUtil::CreateR0<float>(want));
  }
}

// 4 MiB of bf16 and 8 MiB of f32, which is freed after its last convert. The rounded array lives on, beside others.
TEST(ExcessPrecisionTest, MemoryIsCounted) {
  constexpr char kText[] =
      "ENTRY e { x = bf16[2097152] parameter(0) a = bf16[2097152] negate(x) r = f32[2097152] convert(a) z = f32[] "
      "constant(0) s = f32[1] slice(r), slice={[0:1]} t = bf16[1] convert(s) i = s32[] constant(0) b = bf16[2097152] "
      "dynamic-update-slice(a, t, i) n = bf16[2097152] negate(b) m = bf16[2097152] negate(n) ROOT o = bf16[2097152] "
      "add(m, a) }";
  Literal x(ShapeUtil::MakeShape(BF16, {2097152}));
  EvaluationOptions options;
  options.memory_limit_bytes = int64_t{13} << 20;
  const absl::StatusOr<Literal> enough = TryEvaluateText(kText, {&x}, options);
  EXPECT_TRUE(enough.ok()) << enough.status();
  options.memory_limit_bytes = int64_t{11} << 20;
  EXPECT_EQ(TryEvaluateText(kText, {&x}, options).status().code(), absl::StatusCode::kResourceExhausted);
}

// The rule changes nothing else: a result has the same bf16 numbers with and without a convert.
TEST(ExcessPrecisionTest, RoundedNumbersAreThoseOfTheOperation) {
  Literal x(ShapeUtil::MakeShape(BF16, {65536})), y(ShapeUtil::MakeShape(BF16, {65536}));
  for (int64_t i = 0; i < 65536; ++i) {
    x.data<bfloat16>()[i] = bfloat16::FromRep(static_cast<uint16_t>(i));
    y.data<bfloat16>()[i] = bfloat16::FromRep(static_cast<uint16_t>(i * 40503 + 11));
  }
  int operations = 0;
  for (int number = 0; number < static_cast<int>(HloOpcodeCount()); ++number) {
    const auto opcode = static_cast<HloOpcode>(number);
    if (!HasElementKernel(opcode)) continue;
    const int arity = GetHloOpcodeInfo(opcode).arity;
    std::string operands = "x";
    for (int i = 1; i < arity; ++i) operands += i % 2 == 1 ? ", y" : ", x";
    const std::string head = absl::StrCat(
        "ENTRY e { x = bf16[65536] parameter(0) y = bf16[65536] parameter(1) a = "
        "bf16[65536] ",
        HloOpcodeString(opcode), "(", operands, ") ");
    const auto plain = TryEvaluateText(absl::StrCat(head, "ROOT r = bf16[65536] copy(a) }"), {&x, &y});
    if (!plain.ok()) continue;  // not on bf16, or with attributes
    ++operations;
    const auto both = TryEvaluateText(
        absl::StrCat(head, "w = f32[65536] convert(a) ROOT r = (bf16[65536], f32[65536]) tuple(a, w) }"), {&x, &y});
    ASSERT_TRUE(both.ok()) << both.status();
    for (int64_t i = 0; i < 65536; ++i) {
      const bfloat16 want = plain->data<bfloat16>()[i], got = both->data<bfloat16>({0})[i];
      const float wide = both->data<float>({1})[i];
      if (want != want) {
        ASSERT_TRUE(got != got && wide != wide) << HloOpcodeString(opcode) << " of " << x.data<bfloat16>()[i];
      } else {
        ASSERT_EQ(want.rep(), got.rep()) << HloOpcodeString(opcode) << " of " << x.data<bfloat16>()[i];
        ASSERT_EQ(want.rep(), bfloat16(wide).rep()) << HloOpcodeString(opcode) << " of " << x.data<bfloat16>()[i];
      }
    }
  }
  EXPECT_GE(operations, 30);
}

}  // namespace
}  // namespace kashi::evaluator
