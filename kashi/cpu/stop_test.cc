// Programs that are stopped at every moment: the result is the error, or it is exactly right.
//
// The n-th check for a stop reports one, once: for n = 1, 2, 3, … until there is no further check. So each place that
// may end early does so, in every kind of step, on every thread and device. Because the check reports a stop only once,
// the test finds places that end early without an error.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/cpu/stop_programs_testing.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/instruction_kernel.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/hlo/inference/shape_inference.h"

namespace kashi::cpu {
namespace {

constexpr int64_t kMostEarlyStops = KASHI_SANITIZED ? 6 : 25;  // one by one
constexpr int64_t kMostStops = KASHI_SANITIZED ? 12 : 60;      // of one program

using Run = std::function<absl::StatusOr<std::vector<Literal>>(const EvaluationOptions& options)>;

struct Stopped {
  absl::StatusOr<std::vector<Literal>> results;
  int64_t looks;
};

// Check number n reports a stop; 0: none.
Stopped RunStoppedAt(int64_t n, const Run& run) {
  std::atomic<int64_t> looks{0};
  EvaluationOptions options;
  options.is_cancelled = [&looks, n] { return looks.fetch_add(1) + 1 == n; };
  absl::StatusOr<std::vector<Literal>> results = run(options);
  return {std::move(results), looks.load()};
}

void ExpectErrorOrResult(const std::string& name, const Run& run) {
  SCOPED_TRACE(name);
  const Stopped whole = RunStoppedAt(0, run);
  ASSERT_TRUE(whole.results.ok()) << whole.results.status();
  EXPECT_GE(whole.looks, 1);
  const int64_t step = std::max<int64_t>(1, (whole.looks - kMostEarlyStops) / (kMostStops - kMostEarlyStops));
  for (int64_t n = 1; n <= whole.looks + 2; n += n < kMostEarlyStops || n + step > whole.looks ? 1 : step) {
    const Stopped stopped = RunStoppedAt(n, run);
    const bool was_stopped = stopped.looks >= n;
    ASSERT_EQ(stopped.results.ok(), !was_stopped)
        << "stopped at look " << n << " of " << whole.looks << ": " << stopped.results.status();
    if (was_stopped) {
      ASSERT_TRUE(absl::IsCancelled(stopped.results.status())) << stopped.results.status();
      continue;
    }
    for (size_t i = 0; i < whole.results->size(); ++i) {
      const absl::Status same = literal_comparison::Equal((*whole.results)[i], (*stopped.results)[i]);
      ASSERT_TRUE(same.ok()) << "at look " << n << " of " << whole.looks << ": " << same;
    }
  }
}

// `compiled`: null: by the evaluator.
Run RunOn(const HloModule& module, const CompiledProgram* compiled, const std::vector<Literal>& arguments) {
  return [&module, compiled, &arguments](const EvaluationOptions& limits) -> absl::StatusOr<std::vector<Literal>> {
    KASHI_ASSIGN_OR_RETURN(Literal result, compiled == nullptr ? RunSteps(module, nullptr, arguments, limits)
                                                               : RunProgram(*compiled, arguments, limits));
    std::vector<Literal> results;
    results.push_back(std::move(result));
    return results;
  };
}

// On both engines.
void ExpectErrorOrResult(const std::string& name, const HloModule& module, const std::vector<Literal>& arguments) {
  ExpectErrorOrResult(absl::StrCat(name, ", evaluator"), RunOn(module, nullptr, arguments));
  const auto program = CompiledProgram::Compile(module);
  ASSERT_TRUE(program.ok()) << name << ": " << program.status();
  ExpectErrorOrResult(absl::StrCat(name, ", cpu"), RunOn(module, program->get(), arguments));
}

std::unique_ptr<HloModule> Read(const StopProgram& program) {
  auto module = ReadVerified(program.text);
  EXPECT_TRUE(module.ok()) << program.name << ": " << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

TEST(StopTest, EveryKindOfStep) {
  for (const StopProgram& program : StopPrograms()) {
    const std::unique_ptr<HloModule> module = Read(program);
    if (module == nullptr) continue;
    ExpectErrorOrResult(program.name, *module, RandomArguments(*module));
  }
}

// The kinds of code that the programs are meant for: a program that falls back to another kind tests less.
TEST(StopTest, ProgramsHaveTheirKindOfCode) {
  for (const StopProgram& program : StopPrograms()) {
    const std::unique_ptr<HloModule> module = Read(program);
    if (module == nullptr) continue;
    const auto compiled = CompiledProgram::Compile(*module);
    ASSERT_TRUE(compiled.ok()) << program.name << ": " << compiled.status();
    EXPECT_TRUE(program.code != Code::kKernel || (*compiled)->kernel_count() >= 1) << program.name;
    EXPECT_TRUE(program.code != Code::kNativeLoop || (*compiled)->native_loop_count() >= 1) << program.name;
    EXPECT_TRUE(program.code != Code::kThunks || (*compiled)->thunk_program_count() >= 1) << program.name;
  }
}

// ---- Elementwise operations ----------------------------------------------------------------------------------------

// A module on arrays of the first of these types that the opcode takes; nothing if it needs attributes (see above).
std::unique_ptr<HloModule> ElementwiseModule(HloOpcode opcode, int64_t n) {
  for (PrimitiveType type : {F32, S32, U32, PRED, C64}) {
    const Shape array = ShapeUtil::MakeShape(type, {n});
    const Shape* const first = opcode == HloOpcode::kSelect ? nullptr : &array;
    const Shape pred = ShapeUtil::MakeShape(PRED, {n});
    absl::StatusOr<Shape> result = absl::InvalidArgumentError("");
    int arity = *HloOpcodeArity(opcode);
    if (arity == 1) result = ShapeInference::InferUnaryOpShape(opcode, array);
    if (arity == 2) result = ShapeInference::InferBinaryOpShape(opcode, array, array, {});
    if (arity == 3) result = ShapeInference::InferTernaryOpShape(opcode, first == nullptr ? pred : array, array, array);
    if (!result.ok()) continue;
    std::vector<std::string> parameters, names;
    for (int i = 0; i < arity; ++i) {
      names.push_back(absl::StrCat("p", i));
      parameters.push_back(absl::StrCat(names.back(), " = ",
                                        ShapeUtil::HumanString(i == 0 && first == nullptr ? pred : array),
                                        " parameter(", i, ")"));
    }
    auto module = ReadVerified(absl::StrCat("ENTRY e { ", absl::StrJoin(parameters, " "),
                                            " ROOT r = ", ShapeUtil::HumanString(*result), " ", HloOpcodeString(opcode),
                                            "(", absl::StrJoin(names, ", "), ") }"));
    if (!module.ok() || !evaluator::FindElementKernel(*(*module)->entry_computation()->root_instruction()).ok())
      continue;
    return *std::move(module);
  }
  return nullptr;
}

TEST(StopTest, ElementwiseOperations) {
  for (uint32_t i = 0; i < HloOpcodeCount(); ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    if (!evaluator::HasElementKernel(opcode)) continue;
    const std::unique_ptr<HloModule> module = ElementwiseModule(opcode, 100000);
    if (module != nullptr) {
      ExpectErrorOrResult(std::string(HloOpcodeString(opcode)), *module, RandomArguments(*module));
    }
  }
}

// Every operation that can be evaluated is in a program of these tests.
TEST(StopTest, NoOperationIsLeftOut) {
  std::set<HloOpcode> covered;
  const auto cover = [&covered](const HloModule& module) {
    for (const HloComputation* computation : module.computations()) {
      for (const HloInstruction* instruction : computation->instructions()) covered.insert(instruction->opcode());
    }
  };
  for (const auto* programs : {&StopPrograms(), &StopProgramsOfDevices()}) {
    for (const StopProgram& program : *programs) {
      if (const auto module = Read(program); module != nullptr) cover(*module);
    }
  }
  for (uint32_t i = 0; i < HloOpcodeCount(); ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    if (evaluator::HasElementKernel(opcode) && ElementwiseModule(opcode, 8) != nullptr) continue;
    EXPECT_TRUE(evaluator::FindEvaluation(opcode) == nullptr || covered.count(opcode) > 0) << HloOpcodeString(opcode);
  }
}

// ---- Devices -------------------------------------------------------------------------------------------------------

absl::StatusOr<std::vector<Literal>> RunOnTwoDevices(const CompiledProgram& program,
                                                     std::vector<std::vector<Literal>> arguments_of_devices,
                                                     const EvaluationOptions& options) {
  evaluator::RunHooks hooks;
  hooks.compiled = &program;
  const auto execute = [&program](std::vector<Value> arguments, evaluator::EvaluationRun& run) {
    return program.Execute(std::move(arguments), run);
  };
  return evaluator::RunOnDevicesWithHooks(program.module(), std::move(arguments_of_devices), options, hooks,
                                          std::nullopt, execute);
}

TEST(StopTest, Devices) {
  for (const StopProgram& program : StopProgramsOfDevices()) {
    const std::unique_ptr<HloModule> module = Read(program);
    if (module == nullptr) continue;
    const auto compiled = CompiledProgram::Compile(*module);
    ASSERT_TRUE(compiled.ok()) << program.name << ": " << compiled.status();
    const std::vector<Literal> arguments = RandomArguments(*module);
    for (const bool is_compiled : {false, true}) {
      ExpectErrorOrResult(absl::StrCat(program.name, is_compiled ? ", cpu" : ", evaluator"),
                          [&](const EvaluationOptions& limits) {
                            std::vector<std::vector<Literal>> of_devices(2);
                            for (std::vector<Literal>& list : of_devices) {
                              for (const Literal& argument : arguments) list.push_back(argument.Clone());
                            }
                            if (!is_compiled) return RunOnDevices(*module, std::move(of_devices), limits);
                            return RunOnTwoDevices(**compiled, std::move(of_devices), limits);
                          });
    }
  }
}

// ---- The compiler --------------------------------------------------------------------------------------------------

// Unlike kernels, of more than one module of machine code, a native loop and a loop of thunks on arrays that are too
// large for an entry of thunks.
std::unique_ptr<HloModule> ModuleOfManyKernels(int kernels) {
  std::string body, names, shapes;
  for (int i = 0; i < kernels; ++i) {
    const std::string shape = absl::StrCat("f32[", 100 + i, ",3000]");
    absl::StrAppend(&body, "p", i, " = ", shape, " parameter(", i, ") sin", i, " = ", shape, " sine(p", i, ") sum", i,
                    " = ", shape, " add(sin", i, ", p", i, ") dot", i, " = ", shape, " dot(sum", i, ", w), ",
                    "lhs_contracting_dims={1}, rhs_contracting_dims={0} out", i, " = ", shape, " tanh(dot", i, ")\n");
    absl::StrAppend(&names, i == 0 ? "" : ", ", "out", i);
    absl::StrAppend(&shapes, i == 0 ? "" : ", ", shape);
  }
  return ReadVerified(absl::StrCat("ENTRY e {\nz = f32[] constant(0) w = f32[3000,3000] broadcast(z), dimensions={}\n",
                                   body, "ROOT r = (", shapes, ") tuple(", names, ")\n}\n"))
      .value();
}

TEST(StopTest, TheCompiler) {
  const std::unique_ptr<HloModule> module = ModuleOfManyKernels(KASHI_SANITIZED ? 10 : 40);
  const auto compile = [&module](int64_t n, int64_t* looks) {
    std::atomic<int64_t> count{0};
    CompileOptions options;
    options.limits.is_cancelled = [&count, n] { return count.fetch_add(1) + 1 == n; };
    auto program = CompiledProgram::Compile(*module, options);
    *looks = count;
    return program;
  };
  int64_t all = 0, looks = 0;
  ASSERT_TRUE(compile(0, &all).ok());
  EXPECT_GE(all, 2 * module->entry_computation()->instruction_count());
  for (int64_t n = 1; n <= all + 1; n += 1 + all / 12) {
    const auto program = compile(n, &looks);
    EXPECT_EQ(program.ok(), n > all) << n;
    EXPECT_TRUE(program.ok() || absl::IsCancelled(program.status())) << program.status();
    EXPECT_EQ(looks, std::min(n, all));
  }
  CompileOptions late;
  late.limits.deadline = std::chrono::steady_clock::now();
  late.limits.start = *late.limits.deadline - std::chrono::seconds(2);
  const absl::Status error = CompiledProgram::Compile(*module, late).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(error)) << error;
  EXPECT_EQ(error.message(), "The run took longer than 2 seconds, before it was compiled");
  EXPECT_EQ(LimitKindOf(error), LimitKind::kTime);
}

// Functions of several modules of machine code find each other's names.
TEST(StopTest, CodeOfSeveralModules) {
  const std::unique_ptr<HloModule> module = ModuleOfManyKernels(40);
  CompileOptions options;
  options.keep_stages = true;
  const auto program = CompiledProgram::Compile(*module, options);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ((*program)->kernel_count(), 80);
  for (const auto& [name, text] : (*program)->stages()) {
    if (name != "kernels.ll") continue;
    const std::vector<std::string> modules = absl::StrSplit(text, "; ModuleID");
    EXPECT_GT(modules.size(), 2);
    EXPECT_LT(modules.size(), 40);
  }
}

// ---- The doors of Program ------------------------------------------------------------------------------------------

// The flag is set at random moments by another thread, and reset by the caller afterwards.
TEST(StopTest, ProgramsOnMemory) {
  constexpr int64_t kSize = 1 << 20;
  for (const char* text :
       {"ENTRY e { p = f32[1048576] parameter(0) s = f32[1048576] sine(p) ROOT r = f32[1048576] add(s, p) }",
        "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }"
        "ENTRY e { p = f32[1048576] parameter(0) z = f32[] constant(0) s = f32[1048576] tanh(p)"
        "  ROOT r = f32[] reduce(s, z), dimensions={0}, to_apply=add }"}) {
    const auto module = ReadVerified(text).value();
    const auto program = Program::Compile(*module).value();
    const std::vector<float> argument(kSize, 0.5f);
    const int64_t results = ShapeUtil::ElementsIn(module->entry_computation()->root_instruction()->shape());
    std::vector<float> expected(results), result(results);
    ASSERT_TRUE(program->ExecuteOnMemory({argument.data()}, {expected.data()}).ok());
    for (int i = 0; i < (KASHI_SANITIZED ? 20 : 200); ++i) {
      std::atomic<bool> cancelled{false};
      std::thread canceller([&cancelled, i] {
        std::this_thread::sleep_for(std::chrono::microseconds(20 * i));
        cancelled = true;
      });
      std::fill(result.begin(), result.end(), -1.0f);
      const absl::Status status = program->ExecuteOnMemory({argument.data()}, {result.data()}, &cancelled);
      canceller.join();
      ASSERT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
      ASSERT_TRUE(!status.ok() || result == expected) << i;
    }
  }
}

}  // namespace
}  // namespace kashi::cpu
