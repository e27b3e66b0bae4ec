// Guard pages find accesses beyond arrays in machine code and in thunks; checkers of steps name what computes wrongly.
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/cpu/kernel_step.h"
#include "kashi/cpu/thunks/thunk_program.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/step_checker.h"
#include "kashi/literal/literal_util.h"

namespace kashi::cpu {
namespace {

double TenThousandth(PrimitiveType) { return 1e-4; }

// ---- Programs that once read beyond their arrays. They run between guard pages as all programs of this room's tests.

// A kernel of rows took the sum for one of its own rows: it read v as f32[17,33].
TEST(GuardedProgramsTest, SumOfAnotherSizeThanTheRows) {
  ExpectAsEvaluator(R"(
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    ENTRY e { x = f32[17,17] parameter(0) v = f32[33] parameter(1) z = f32[] constant(0)
      s = f32[] reduce(v, z), dimensions={0}, to_apply=add
      b = f32[17,17] broadcast(s), dimensions={}
      ROOT r = f32[17,17] multiply(x, b) })");
}

// Thunks of one operation read scalar operands as arrays.
TEST(GuardedProgramsTest, ScalarOperandsOfElementwiseOperations) {
  ExpectAsEvaluator(R"(
    ENTRY e { lo = f32[] parameter(0) x = f32[16] parameter(1) hi = f32[] parameter(2)
      ROOT r = f32[16] clamp(lo, x, hi) })");
  ExpectAsEvaluator(R"(
    ENTRY e { p = pred[] parameter(0) x = f32[2048] parameter(1) y = f32[2048] parameter(2)
      ROOT r = f32[2048] select(p, x, y) })");
}

// ---- Guard pages ----------------------------------------------------------------------------------------------------

constexpr const char* kNegation = "ENTRY e { x = f32[33] parameter(0) ROOT r = f32[33] negate(x) }";

// Negates operand 0, an element too far: `Shift` elements behind the one that it should read.
template <int64_t shift>
void NegateShifted(const void* const* operands, void* const* results, int64_t, int64_t, int64_t begin, int64_t end) {
  const float* const x = static_cast<const float*>(operands[0]);
  for (int64_t i = begin; i < end; ++i) static_cast<float*>(results[0])[i] = -x[i + shift];
}
// Writes to the operand.
void NegateInPlace(const void* const* operands, void* const* results, int64_t, int64_t, int64_t begin, int64_t end) {
  float* const x = static_cast<float*>(const_cast<void*>(operands[0]));
  for (int64_t i = begin; i < end; ++i) static_cast<float*>(results[0])[i] = x[i] = -x[i];
}
// Only one element in two.
void NegateHalf(const void* const* operands, void* const* results, int64_t, int64_t, int64_t begin, int64_t end) {
  const float* const x = static_cast<const float*>(operands[0]);
  for (int64_t i = begin; i < end; i += 2) static_cast<float*>(results[0])[i] = -x[i];
}

// The root of the entry has this kernel.
class OneKernel : public evaluator::CompiledSteps {
 public:
  OneKernel(const HloModule& module, codegen::KernelFunction* function)
      : root_(module.entry_computation()->root_instruction()), step_(KernelOf(*root_), NumberOptions()) {
    step_.SetFunction(function);
  }
  const evaluator::CompiledStep* Find(const HloInstruction& x) const override { return &x == root_ ? &step_ : nullptr; }

 private:
  static codegen::Kernel KernelOf(const HloInstruction& root) {
    codegen::Kernel kernel;
    kernel.columns = ShapeUtil::ElementsIn(root.shape());
    return kernel;
  }

  const HloInstruction* root_;
  KernelStep step_;
};

class OneKernelTest : public testing::Test {
 protected:
  absl::StatusOr<Literal> Run(codegen::KernelFunction* function, evaluator::StepChecker* checker = nullptr) {
    const OneKernel steps(*module_, function);
    return RunSteps(*module_, &steps, RandomArguments(*module_), {}, checker);
  }
  std::unique_ptr<HloModule> module_ = ReadVerified(kNegation).value();
};

TEST_F(OneKernelTest, ReadsBehindAndBeforeAnOperandEndTheProcess) {
  for (const base::GuardPages pages : {base::GuardPages::kBehind, base::GuardPages::kBefore}) {
    const base::WithGuardPages guarded(pages);
    EXPECT_TRUE(Run(&NegateShifted<0>).ok());
  }
  {
    const base::WithGuardPages guarded(base::GuardPages::kBehind);
    EXPECT_DEATH(Run(&NegateShifted<1>).status().IgnoreError(), "guard pages: r reads byte 132 of x, which has 132");
  }
  const base::WithGuardPages guarded(base::GuardPages::kBefore);
  EXPECT_DEATH(Run(&NegateShifted<-1>).status().IgnoreError(), "guard pages: r reads byte -4 of x, which has 132");
}

TEST_F(OneKernelTest, WritesToAnArgumentEndTheProcess) {
  const base::WithGuardPages guarded(base::GuardPages::kBehind);
  EXPECT_DEATH(Run(&NegateInPlace).status().IgnoreError(), "r writes byte 0 of x, which is only to be read");
}

TEST_F(OneKernelTest, ElementsThatNobodyWroteDependOnThePlacement) {
  const base::WithGuardPages behind(base::GuardPages::kBehind);
  const Literal first = Run(&NegateHalf).value();
  const base::WithGuardPages before(base::GuardPages::kBefore);
  EXPECT_NE(first, Run(&NegateHalf).value());
}

// Copies one byte more than the array has.
class LongCopy : public Thunk {
 public:
  absl::Status Run(const ThunkFrame& frame) const override {
    std::memmove(frame.pointers[1], frame.pointers[0], 5);
    return absl::OkStatus();
  }
};

// A program that copies its argument, s32[], to a buffer in this home.
ThunkProgramParts LongCopyTo(const HloModule& module, buffers::Home home) {
  ThunkProgramParts parts;
  parts.thunks.Add(std::make_unique<LongCopy>(), 1);
  parts.thunks.EndStep(*module.entry_computation()->root_instruction(), 0);
  parts.buffers.buffers = {
      {buffers::Home::kArgument, 0, 8}, {buffers::Home::kArena, 0, 4}, {buffers::Home::kResult, 0, 4}};
  parts.buffers.arena_bytes = 64;
  parts.buffers.result_shape = module.result_shape();
  parts.buffers.results = {2};
  parts.pointers = {0, home == buffers::Home::kArena ? 1 : 2};
  return parts;
}

TEST(GuardedThunksTest, AccessesBeyondArraysOfTheProgramEndTheProcess) {
  const auto module = ReadVerified("ENTRY e { x = s32[2] parameter(0) ROOT r = s32[] constant(0) }").value();
  const base::WithGuardPages guarded(base::GuardPages::kBehind);
  const auto run_with = [&](buffers::Home home) {
    evaluator::EvaluationRun run;
    std::vector<Value> arguments = {run.MakeArray(S32, {2}).value()};
    const ThunkProgram program(LongCopyTo(*module, home));
    return program.Run(absl::MakeSpan(arguments), run).status();
  };
  EXPECT_DEATH(run_with(buffers::Home::kArena).IgnoreError(), "r writes byte 4 of arena.0, which has 4 bytes");
  EXPECT_DEATH(run_with(buffers::Home::kResult).IgnoreError(), "r writes byte 4 of result 0, which has 4 bytes");
}

// The caller's arrays are not between guard pages, but copies of them are.
TEST(GuardedThunksTest, MemoryOfTheCallerIsGuarded) {
  const auto program = Program::Compile(*ReadVerified(kNegation).value()).value();
  for (const base::GuardPages pages : {base::GuardPages::kOff, base::GuardPages::kBehind, base::GuardPages::kBefore}) {
    const base::WithGuardPages guarded(pages);
    const std::vector<float> x(33, 2);
    std::vector<float> result(33);
    ASSERT_TRUE(program->ExecuteOnMemory({x.data()}, {result.data()}).ok());
    EXPECT_EQ(result, std::vector<float>(33, -2));
  }
}

// ---- Checks of steps ------------------------------------------------------------------------------------------------

TEST_F(OneKernelTest, TheCheckerNamesTheFirstWrongElement) {
  evaluator::StepChecker right(&TenThousandth);
  EXPECT_TRUE(Run(&NegateShifted<0>, &right).ok());
  EXPECT_FALSE(right.first().has_value());
  EXPECT_EQ(right.compared_steps(), 1);

  evaluator::StepChecker wrong(&TenThousandth);
  const base::WithGuardPages guarded(base::GuardPages::kBefore);  // the elements that it leaves are 3.4e38
  EXPECT_EQ(Run(&NegateHalf, &wrong).status().code(), absl::StatusCode::kCancelled);
  ASSERT_TRUE(wrong.first().has_value());
  EXPECT_EQ(wrong.first()->instruction->name(), "r");
  EXPECT_EQ(wrong.first()->index, "[1]");
  EXPECT_EQ(wrong.first()->statistics.mismatches, 16);
  EXPECT_THAT(wrong.first()->actual, testing::HasSubstr("e+38"));
}

// Kernels, native loops, thunks of single operations, loops of thunks, conditionals: all steps agree.
TEST(StepCheckerTest, StepsOfAllKindsAreCompared) {
  constexpr const char* kProgram = R"(
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    c { s = (s32[], f32[8], f32[8,8]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(5)
      ROOT r = pred[] compare(i, n), direction=LT }
    b { s = (s32[], f32[8], f32[8,8]) parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1)
      x = f32[8] get-tuple-element(s), index=1 w = f32[8,8] get-tuple-element(s), index=2
      y = f32[8] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
      t = f32[8] tanh(y) u = f32[8] add(t, x) zero = s32[] constant(0)
      row = f32[1,8] dynamic-slice(w, i, zero), dynamic_slice_sizes={1,8}
      flat = f32[8] reshape(row) v = f32[8] multiply(u, flat)
      next = f32[8,8] dynamic-update-slice(w, row, zero, i) j = s32[] add(i, one)
      ROOT r = (s32[], f32[8], f32[8,8]) tuple(j, v, next) }
    yes { x = f32[8] parameter(0) ROOT r = f32[8] exponential(x) }
    no { x = f32[8] parameter(0) ROOT r = f32[8] negate(x) }
    ENTRY e { x = f32[8] parameter(0) w = f32[8,8] parameter(1) p = pred[] parameter(2) z = s32[] constant(0)
      s = (s32[], f32[8], f32[8,8]) tuple(z, x, w) l = (s32[], f32[8], f32[8,8]) while(s), condition=c, body=b
      y = f32[8] get-tuple-element(l), index=1 q = f32[8] conditional(p, y, y), true_computation=yes,
      false_computation=no zero = f32[] constant(0) k = f32[] reduce(q, zero), dimensions={0}, to_apply=add
      ROOT r = (f32[], f32[8]) tuple(k, q) })";
  const auto module = ReadVerified(kProgram);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto program = CompiledProgram::Compile(**module).value();
  evaluator::StepChecker checker(&TenThousandth);
  const absl::StatusOr<Literal> result = RunProgram(*program, RandomArguments(**module), {}, &checker);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(*result, RunProgram(*program, RandomArguments(**module)).value());
  EXPECT_GE(checker.compared_steps(), 5 * 4);
}

TEST(StepCheckerTest, NamesAWrongPlan) {
  const auto module =
      ReadVerified("ENTRY e { x = f32[2] parameter(0) n = f32[2] negate(x) ROOT r = (f32[2]) tuple(n) }");
  ASSERT_TRUE(module.ok()) << module.status();
  const HloInstruction& root = *(*module)->entry_computation()->root_instruction();
  const evaluator::EvaluationRun run;
  const auto value_of = [&run](float x) {
    const Literal literal = LiteralUtil::MakeTupleOwned(LiteralUtil::CreateR1<float>({1, x}));
    return Value::FromLiteral(literal, run.budget()).value();
  };
  evaluator::StepChecker checker(&TenThousandth);
  EXPECT_TRUE(checker.ComparePlanned(root, value_of(2), value_of(2), run).ok());
  EXPECT_FALSE(checker.ComparePlanned(root, value_of(2), value_of(3), run).ok());
  ASSERT_TRUE(checker.first().has_value());
  EXPECT_TRUE(checker.first()->is_of_plan);
  EXPECT_EQ(checker.first()->instruction, &root);
  EXPECT_EQ(checker.first()->leaf, ShapeIndex({0}));
  EXPECT_EQ(checker.first()->index, "[1]");
  EXPECT_EQ(checker.first()->expected, "2");
  EXPECT_EQ(checker.first()->actual, "3");
}

// A step that depends on the run is computed only once.
TEST(StepCheckerTest, RandomNumbersAreDrawnOnce) {
  const auto module = ReadVerified(R"(
    ENTRY e { lo = f32[] constant(0) hi = f32[] constant(1) a = f32[8] rng(lo, hi), distribution=rng_uniform
      b = f32[8] rng(lo, hi), distribution=rng_uniform t = f32[8] tanh(a) u = f32[8] add(t, b)
      ROOT r = f32[8] exponential(u) })")
                          .value();
  const auto program = CompiledProgram::Compile(*module).value();
  evaluator::StepChecker checker(&TenThousandth);
  const Literal unchecked = RunProgram(*program, {}).value();
  EXPECT_EQ(RunProgram(*program, {}, {}, &checker).value(), unchecked);
  EXPECT_FALSE(checker.first().has_value());
}

}  // namespace
}  // namespace kashi::cpu
