#include "kashi/engine/program.h"
#include "kashi/engine/serialized_program.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <future>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kashi/base/denormals.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::cpu {
namespace {

std::unique_ptr<Program> MakeProgram(absl::string_view text) {
  CompileOptions options;
  options.engine = "cpu";
  return Program::Compile(*ReadVerified(text).value(), options).value();
}

// Also a result that is an argument, and one that is a constant.
constexpr char kSmall[] = R"(ENTRY e {
  x = f32[3] parameter(0)  y = (f32[3], s32[]) parameter(1)  y0 = f32[3] get-tuple-element(y), index=0
  y1 = s32[] get-tuple-element(y), index=1  c = s32[2] constant({7, 8})  a = f32[3] add(x, y0)  n = f32[3] negate(a)
  inner = (s32[], s32[2]) tuple(y1, c)  ROOT r = (f32[3], (s32[], s32[2])) tuple(n, inner) })";

TEST(ProgramTest, LiteralsValuesAndMemory) {
  const auto program = MakeProgram(kSmall);
  const Literal x = LiteralUtil::CreateR1<float>({1, 2, 3});
  const Literal y =
      LiteralUtil::MakeTupleFromSlices({LiteralUtil::CreateR1<float>({10, 20, 30}), LiteralUtil::CreateR0<int32_t>(5)});
  const Literal expected = HloEvaluator().Evaluate(*ReadVerified(kSmall).value(), {&x, &y}).value();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(program->Execute({&x, &y}).value(), expected);
  EXPECT_EQ(program->Execute({&x, &y}, EvaluationOptions()).value(), expected);

  const std::vector<float> x0 = {1, 2, 3}, y0 = {10, 20, 30};
  const int32_t y1 = 5;
  std::vector<float> r0(3);
  std::vector<int32_t> r1(1), r2(2);
  ASSERT_TRUE(program->ExecuteOnMemory({x0.data(), y0.data(), &y1}, {r0.data(), r1.data(), r2.data()}).ok());
  EXPECT_EQ(r0, std::vector<float>({-11, -22, -33}));
  EXPECT_EQ(r1, std::vector<int32_t>({5}));
  EXPECT_EQ(r2, std::vector<int32_t>({7, 8}));
}

// A caller of ours may be compiled with -ffast-math, or may have told PyTorch to flush.
TEST(ProgramTest, ACallerThatFlushesDenormalsChangesNothing) {
  const base::DenormalMode flush(true);
  for (const size_t size : {3, 100'000}) {
    const std::string array = absl::StrCat("f32[", size, "]");
    const auto module = ReadVerified(absl::StrCat("ENTRY e { x = ", array, " parameter(0) y = ", array,
                                                  " add(x, x) ROOT z = ", array, " negate(y) }"))
                            .value();
    for (const char* engine : {"cpu", "evaluator"}) {
      CompileOptions options;
      options.engine = engine;
      options.numbers.flush_denormals = false;
      const auto program = Program::Compile(*module, options).value();
      const std::vector<uint32_t> x(size, 1), expected(size, 0x80000002);  // bits, which nobody flushes
      std::vector<uint32_t> z(size);
      ASSERT_TRUE(program->ExecuteOnMemory({x.data()}, {z.data()}).ok());
      EXPECT_EQ(z, expected) << engine << " " << size;
    }
  }
}

TEST(ProgramTest, RefusesWrongArguments) {
  const auto program = MakeProgram(kSmall);
  const Literal x = LiteralUtil::CreateR1<float>({1, 2, 3});
  EXPECT_EQ(program->Execute({&x}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(program->Execute({&x, &x}).status().code(), absl::StatusCode::kInvalidArgument);
  const absl::Status status = program->ExecuteOnMemory({nullptr}, {nullptr});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), "3 arrays in its arguments and 3 in its result; got 1 and 1"));
  EXPECT_EQ(MakeProgram("ENTRY e { t = token[] after-all() ROOT r = (token[]) tuple(t) }")
                ->ExecuteOnMemory({}, {nullptr})
                .code(),
            absl::StatusCode::kInvalidArgument);
}

// The loop updates x in place; the caller's memory of x stays as it is.
TEST(ProgramTest, MemoryOfArgumentsIsOnlyRead) {
  const auto program = MakeProgram(R"(
    c { s = (s32[], f32[100]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(3)
      ROOT r = pred[] compare(i, n), direction=LT }
    b { s = (s32[], f32[100]) parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1)
      x = f32[100] get-tuple-element(s), index=1 y = f32[100] add(x, x) j = s32[] add(i, one)
      ROOT r = (s32[], f32[100]) tuple(j, y) }
    ENTRY e { x = f32[100] parameter(0) z = s32[] constant(0) s = (s32[], f32[100]) tuple(z, x)
      w = (s32[], f32[100]) while(s), condition=c, body=b ROOT r = f32[100] get-tuple-element(w), index=1 })");
  const std::vector<float> x(100, 2);
  std::vector<float> result(100);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(program->ExecuteOnMemory({x.data()}, {result.data()}).ok());
    EXPECT_EQ(result, std::vector<float>(100, 16));
    EXPECT_EQ(x, std::vector<float>(100, 2));
  }
}

// A program too large for thunks.
TEST(ProgramTest, LargeArraysOnMemory) {
  const auto program = MakeProgram(R"(
    lt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }
    ENTRY e { x = f32[1000000] parameter(0) s = f32[1000000] sort(x), dimensions={0}, to_apply=lt
      ROOT r = f32[1000000] negate(s) })");
  std::vector<float> x(1000000), result(1000000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1000000);
  ASSERT_TRUE(program->ExecuteOnMemory({x.data()}, {result.data()}).ok());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(result[i], -static_cast<float>(i));
}

TEST(ProgramTest, ManyThreadsAtOnce) {
  const auto program = MakeProgram(kSmall);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<float> x(3, static_cast<float>(t)), y(3, 1);
      const int32_t y1 = t;
      for (int i = 0; i < 1000; ++i) {
        std::vector<float> r0(3);
        int32_t r1 = 0, r2[2] = {};
        ASSERT_TRUE(program->ExecuteOnMemory({x.data(), y.data(), &y1}, {r0.data(), &r1, r2}).ok());
        ASSERT_EQ(r0[0], -1.0f - static_cast<float>(t));
        ASSERT_EQ(r1, t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ProgramTest, Asynchronous) {
  const auto program = MakeProgram("ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] exponential(x) }");
  const Literal x = LiteralUtil::CreateR1<float>({0, 1, 2, 3});
  const Literal expected = program->Execute({&x}).value();
  std::vector<std::future<absl::StatusOr<Value>>> futures;
  for (int i = 0; i < 4; ++i) {
    futures.push_back(program->ExecuteValuesAsync({Value::FromLiteral(x, std::make_shared<MemoryBudget>(0)).value()}));
  }
  for (auto& future : futures) EXPECT_EQ(future.get().value().ToLiteral(expected.shape()).value(), expected);
}

// An argument that nobody else holds is donated: the result is in its memory.
TEST(ProgramTest, DonatedArguments) {
  const auto program =
      MakeProgram("ENTRY e { x = f32[1000] parameter(0) e = f32[1000] exponential(x) ROOT r = f32[1000] negate(e) }");
  const auto budget = std::make_shared<MemoryBudget>(0);
  Value x = Value::MakeArray(MakeDenseShape(F32, {1000}), budget).value();
  for (float& number : x.mutable_data<float>()) number = 0;
  const void* const memory = x.untyped_data();
  std::vector<Value> kept = {x};
  const Value result = program->ExecuteValues(kept).value();
  EXPECT_NE(result.untyped_data(), memory);
  EXPECT_EQ(x.data<float>()[0], 0.0f);
  kept.clear();
  std::vector<Value> donated;
  donated.push_back(std::move(x));
  EXPECT_EQ(program->ExecuteValues(std::move(donated)).value().data<float>()[999], -1.0f);
}

// Results in the memory of the arguments of which the module says it, by kernels and by native functions. Arguments
// that somebody else holds stay as they are.
TEST(ProgramTest, ResultsInAliasedArguments) {
  for (const int64_t n : {1, 4, 1000, 100000}) {
    const auto program = MakeProgram(absl::StrReplaceAll(
        R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }
ENTRY e { x = f32[N] parameter(0)  y = f32[N] parameter(1)  e = f32[N] negate(x)  s = f32[N] subtract(x, y)
  ROOT r = (f32[N], f32[N]) tuple(e, s) })",
        {{"[N]", absl::StrCat("[", n, "]")}}));
    const auto budget = std::make_shared<MemoryBudget>(0);
    for (const bool keeps_x : {false, true}) {
      std::vector<Value> arguments;
      for (const float number : {7.0f, 5.0f}) {
        arguments.push_back(Value::MakeArray(MakeDenseShape(F32, {n}), budget).value());
        for (float& element : arguments.back().mutable_data<float>()) element = number;
      }
      const void *const at_x = arguments[0].untyped_data(), *const at_y = arguments[1].untyped_data();
      const Value kept = keeps_x ? arguments[0] : Value();
      const Value result = program->ExecuteValues(std::move(arguments)).value();
      EXPECT_EQ(result.element(0).untyped_data() == at_x, !keeps_x) << n;
      EXPECT_EQ(result.element(1).untyped_data(), at_y) << n;
      for (const float element : result.element(0).data<float>()) ASSERT_EQ(element, -7.0f);
      for (const float element : result.element(1).data<float>()) ASSERT_EQ(element, 2.0f);
      if (keeps_x) {
        EXPECT_EQ(kept.data<float>()[n - 1], 7.0f);
      }
    }
  }
}

TEST(ProgramTest, ValuesWithOptions) {
  const auto program = MakeProgram(R"(ENTRY e {
  x = f32[3] parameter(0)  n = f32[3] negate(x)
  ROOT c = f32[3] custom-call(n), custom_call_target="mine" })");
  const Literal x = LiteralUtil::CreateR1<float>({1, 2, 3});
  const Value argument = Value::FromLiteral(x, std::make_shared<MemoryBudget>(0)).value();
  EXPECT_EQ(program->ExecuteValues({argument}).status().code(), absl::StatusCode::kUnimplemented);
  EvaluationOptions options;
  options.custom_call_handler = [](const HloInstruction&, absl::Span<const Literal* const> operands) {
    return operands[0]->Clone();
  };
  const Value result = program->ExecuteValues({argument}, options).value();
  EXPECT_EQ(result.ToLiteral(x.shape()).value(), LiteralUtil::CreateR1<float>({-1, -2, -3}));
}

// A flag ends the calls that were given it, and no others, also when it was set during an earlier one.
TEST(ProgramTest, CallsEndWhenTheirFlagIsSet) {
  const auto program = MakeProgram(R"(
body { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1  one = s32[] constant(1)  n = s32[] add(i, one)  c = f32[] cosine(x)
  ROOT r = (s32[], f32[]) tuple(n, c) }
cond { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  zero = s32[] constant(0)
  ROOT p = pred[] compare(i, zero), direction=GE }
ENTRY e { i = s32[] parameter(0)  x = f32[] parameter(1)  s = (s32[], f32[]) tuple(i, x)
  ROOT w = (s32[], f32[]) while(s), condition=cond, body=body })");
  const int32_t endless = 0, at_once = -1;
  const float x = 1;
  int32_t i = 0;
  float y = 0;
  std::atomic<bool> cancelled{false};
  std::thread canceller([&cancelled] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    cancelled = true;
  });
  const absl::Status ended = program->ExecuteOnMemory({&endless, &x}, {&i, &y}, &cancelled);
  canceller.join();
  EXPECT_EQ(ended.code(), absl::StatusCode::kCancelled) << ended;
  EXPECT_TRUE(program->ExecuteOnMemory({&at_once, &x}, {&i, &y}).ok());
  EXPECT_EQ(i, -1);
  const auto budget = std::make_shared<MemoryBudget>(0);
  const std::vector<Value> values = {Value::FromLiteral(LiteralUtil::CreateR0<int32_t>(-1), budget).value(),
                                     Value::FromLiteral(LiteralUtil::CreateR0<float>(1), budget).value()};
  EXPECT_EQ(program->ExecuteValues(values, &cancelled).status().code(), absl::StatusCode::kCancelled);
  cancelled = false;
  EXPECT_TRUE(program->ExecuteValues(values, &cancelled).ok());
}

TEST(ProgramTest, EachCallBeginsWithTheSeed) {
  const auto program = MakeProgram(
      "ENTRY e { a = f32[] constant(0) b = f32[] constant(1) ROOT r = f32[10] rng(a, b), distribution=rng_uniform }");
  EXPECT_EQ(program->Execute({}).value(), program->Execute({}).value());
}

// Two kernels, a native loop, and a loop of thunks.
constexpr char kOfManyParts[] = R"(
  c { s = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(5)
    ROOT r = pred[] compare(i, n), direction=LT }
  b { s = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1)
    v = f32[4] get-tuple-element(s), index=1 w = f32[4] sine(v) j = s32[] add(i, one)
    ROOT r = (s32[], f32[4]) tuple(j, w) }
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
  ENTRY e { x = f32[100,40] parameter(0) v = f32[4] parameter(1) z = s32[] constant(0) zero = f32[] constant(0)
    s = (s32[], f32[4]) tuple(z, v) l = (s32[], f32[4]) while(s), condition=c, body=b
    w = f32[4] get-tuple-element(l), index=1 t = f32[100,40] tanh(x)
    k = f32[100] reduce(t, zero), dimensions={1}, to_apply=add ROOT r = (f32[4], f32[100]) tuple(w, k) })";

TEST(SerializedProgramTest, ObjectCodeIsTakenFromTheBytes) {
  const auto module = ReadVerified(kOfManyParts).value();
  CompileOptions options;
  options.keep_code = true;
  const auto compiled = CompiledProgram::Compile(*module, options).value();
  ASSERT_GE(compiled->objects().size(), 1);
  EXPECT_EQ(compiled->object_use().known, 0);
  const auto again = CompiledProgram::Compile(*module, options, compiled->objects()).value();
  EXPECT_EQ(again->object_use().known, compiled->objects().size());
  // Other numbers are other code.
  options.numbers.flush_denormals = false;
  options.numbers.excess_precision = false;
  const auto other =
      CompiledProgram::Compile(*ReadVerified(absl::StrReplaceAll(kOfManyParts, {{"tanh", "cosine"}})).value(), options,
                               compiled->objects())
          .value();
  EXPECT_EQ(other->object_use().known, 0);
  const std::vector<Literal> arguments = RandomArguments(*module);
  EXPECT_EQ(RunProgram(*again, arguments).value(), RunProgram(*compiled, arguments).value());
}

// A second compilation, as in another process, takes all code from the folder.
TEST(ObjectCacheTest, CodeIsTakenFromTheFolder) {
  const auto module = ReadVerified(kOfManyParts).value();
  CompileOptions options;
  options.engine = "cpu";
  options.cache_folder = absl::StrCat(testing::TempDir(), "/objects.", std::random_device()());
  const auto first = Program::Compile(*module, options).value();
  EXPECT_TRUE(first->object_use().is_cached && first->object_use().kept.ok());
  EXPECT_GE(first->object_use().objects, 1);
  EXPECT_EQ(first->object_use().known, 0);
  const auto second = Program::Compile(*module, options).value();
  EXPECT_EQ(second->object_use().known, first->object_use().objects);
  const std::vector<Literal> arguments = RandomArguments(*module);
  EXPECT_EQ(second->Execute({&arguments[0], &arguments[1]}).value(),
            first->Execute({&arguments[0], &arguments[1]}).value());
  options.target = "x86-64-v2";
  EXPECT_EQ(Program::Compile(*module, options).value()->object_use().known, 0);
  std::filesystem::permissions(options.cache_folder, std::filesystem::perms::all);
  EXPECT_TRUE(absl::IsFailedPrecondition(Program::Compile(*module, options).status()));
  std::filesystem::remove_all(options.cache_folder);
}

class SerializedProgramOnLevelTest : public LevelTest {};

TEST_P(SerializedProgramOnLevelTest, ObjectCodeIsOfOneTarget) {
  const auto module = ReadVerified(kOfManyParts).value();
  options.keep_code = true;
  const auto compiled = CompiledProgram::Compile(*module, options).value();
  ASSERT_GE(compiled->objects().size(), 1);
  const auto again = CompiledProgram::Compile(*module, options, compiled->objects()).value();
  EXPECT_EQ(again->object_use().known, compiled->objects().size());
  for (const std::string& other : Target::Levels()) {
    if (other == GetParam() || !Target::ForLevel(other).ok()) continue;
    options.target = other;
    EXPECT_EQ(CompiledProgram::Compile(*module, options, compiled->objects()).value()->object_use().known, 0);
  }
  options.target = "";
  EXPECT_EQ(CompiledProgram::Compile(*module, options, compiled->objects()).value()->object_use().known, 0);
}

TEST_P(SerializedProgramOnLevelTest, KeepsTheTarget) {
  options.engine = "cpu";
  options.keep_code = true;
  const auto module = ReadVerified(kOfManyParts).value();
  const std::string bytes = Program::Compile(*module, options).value()->Serialize().value();
  options.target = "";
  EXPECT_EQ(Program::Deserialize(bytes, options).value()->Serialize().value(), bytes);
  engine::SerializedProgram changed = engine::ReadProgram(bytes).value();
  EXPECT_EQ(changed.target, GetParam());
  changed.target = "x86-64-v9";
  EXPECT_EQ(Program::Deserialize(engine::WriteProgram(changed), options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Levels, SerializedProgramOnLevelTest, testing::ValuesIn(Target::Levels()),
                         [](const auto& info) { return NameOfTarget(info.param); });

// The evaluator does not take the place of an engine that has no such target: no code would be for it.
TEST(ProgramTest, RefusesAnUnknownTarget) {
  CompileOptions options;
  options.target = "x86-64-v9";
  const absl::Status status = Program::Compile(*ReadVerified(kSmall).value(), options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), "no target has the name `x86-64-v9`")) << status;
}

TEST(SerializedProgramTest, RunsAsBefore) {
  const auto module = ReadVerified(kOfManyParts).value();
  CompileOptions options;
  options.engine = "cpu";
  options.keep_code = true;
  const auto program = Program::Compile(*module, options).value();
  const std::string bytes = program->Serialize().value();
  const auto read = Program::Deserialize(bytes, options).value();
  EXPECT_EQ(read->engine(), "cpu");
  EXPECT_EQ(read->Serialize().value(), bytes);
  const std::vector<Literal> arguments = RandomArguments(*module);
  EXPECT_EQ(read->Execute({&arguments[0], &arguments[1]}).value(),
            program->Execute({&arguments[0], &arguments[1]}).value());
}

TEST(ProgramTest, SeveralDevices) {
  const auto program = MakeProgram(R"(HloModule m, replica_count=2
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    ENTRY e { x = f32[4] parameter(0) s = f32[4] all-reduce(x), replica_groups={}, to_apply=add
      ROOT r = f32[4] negate(s) })");
  std::vector<std::vector<Literal>> arguments(2);
  arguments[0].push_back(LiteralUtil::CreateR1<float>({1, 2, 3, 4}));
  arguments[1].push_back(LiteralUtil::CreateR1<float>({10, 20, 30, 40}));
  const std::vector<Literal> results = program->ExecuteOnDevices(std::move(arguments)).value();
  ASSERT_EQ(results.size(), 2);
  for (const Literal& result : results) {
    EXPECT_EQ(result, LiteralUtil::CreateR1<float>({-11, -22, -33, -44}));
  }
}

}  // namespace
}  // namespace kashi::cpu
