// The steps of a compiled program in a profile: kernels, and thunks by their instructions.
#include <string>

#include "absl/container/flat_hash_map.h"
#include "gtest/gtest.h"
#include "kashi/cpu/compiled_program.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/step_profile.h"

namespace kashi::cpu {
namespace {

TEST(ThunkProfileTest, StepsOfALoopAndItsBody) {
  const auto module = ReadVerified(R"(HloModule m
body {
  s = (s32[], f32[100,100]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[100,100] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  d = f32[100,100] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[100,100] tanh(d)
  y = f32[100,100] multiply(t, x)
  ROOT r = (s32[], f32[100,100]) tuple(next, y)
}
condition {
  u = (s32[], f32[100,100]) parameter(0)
  j = s32[] get-tuple-element(u), index=0
  five = s32[] constant(5)
  ROOT c = pred[] compare(j, five), direction=LT
}
ENTRY e {
  p = f32[100,100] parameter(0)
  zero = s32[] constant(0)
  initial = (s32[], f32[100,100]) tuple(zero, p)
  ROOT w = (s32[], f32[100,100]) while(initial), condition=condition, body=body
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto program = CompiledProgram::Compile(**module);
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ((*program)->thunk_program_count(), 1);
  evaluator::StepProfile profile;
  evaluator::RunHooks hooks;
  hooks.profile = &profile;
  hooks.compiled = program->get();
  evaluator::EvaluationRun run({}, hooks);
  const HloComputation& entry = *(*program)->module().entry_computation();
  absl::StatusOr<Value> p = run.MakeArray(F32, {100, 100});
  ASSERT_TRUE(p.ok());
  ASSERT_TRUE(run.Call(entry, {*std::move(p)}).ok());
  absl::flat_hash_map<std::string, evaluator::StepTime> times;
  for (const evaluator::StepTime& time : profile.Times()) {
    const std::string opcode(time.instruction == nullptr ? "" : HloOpcodeString(time.instruction->opcode()));
    evaluator::StepTime& sum = times.try_emplace(opcode, evaluator::StepTime{time.instruction}).first->second;
    sum.calls += time.calls;
    sum.has_steps |= time.has_steps;
  }
  EXPECT_EQ(times.at("").calls, 1);
  EXPECT_EQ(times.at("while").calls, 1);
  EXPECT_TRUE(times.at("while").has_steps);
  EXPECT_EQ(times.at("dot").calls, 5);
  EXPECT_FALSE(times.at("dot").has_steps);
  EXPECT_GE(times.at("fusion").calls, 5) << "tanh and multiply";
}

}  // namespace
}  // namespace kashi::cpu
