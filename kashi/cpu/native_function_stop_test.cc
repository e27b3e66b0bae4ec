#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "kashi/cpu/cpu_testing.h"

namespace kashi::cpu {
namespace {

// Three loops within each other, each of too few iterations to ask by itself whether the run goes on.
TEST(NativeFunctionTest, StopsWithinNestedLoops) {
  const auto loop = [](absl::string_view name, absl::string_view body) {
    return absl::StrCat(name, R"( { s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  zero = s32[] constant(0)
  j = s32[] add(i, one)
  u = (s32[], f32[]) tuple(zero, x)
)",
                        body, "\n ROOT t = (s32[], f32[]) tuple(j, y) }\n");
  };
  const auto inner = [](absl::string_view body) {
    return absl::StrCat("l = (s32[], f32[]) while(u), condition=less, body=", body,
                        "\n y = f32[] get-tuple-element(l), index=1");
  };
  const auto module = ReadVerified(absl::StrCat(R"(HloModule m
less { s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3000)
  ROOT c = pred[] compare(i, n), direction=LT }
)",
                                                loop("third", "y = f32[] sine(x)"), loop("second", inner("third")),
                                                loop("first", inner("second")), R"(
ENTRY e { zero = s32[] constant(0)
  x = f32[] parameter(0)
  u = (s32[], f32[]) tuple(zero, x)
  ROOT w = (s32[], f32[]) while(u), condition=less, body=first })"));
  ASSERT_TRUE(module.ok()) << module.status();
  const auto program = CompiledProgram::Compile(**module);
  ASSERT_TRUE(program.ok()) << program.status();
  std::atomic<bool> cancelled = false;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancelled = true;
  });
  EvaluationOptions options;
  options.cancelled = &cancelled;
  EXPECT_EQ(RunProgram(**program, RandomArguments(**module), options).status().code(), absl::StatusCode::kCancelled);
  later.join();
}

}  // namespace
}  // namespace kashi::cpu
