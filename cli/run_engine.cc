#include "cli/run_engine.h"

#include <string>

#include "absl/status/status.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/work.h"

namespace kashi::cli {

using internal::EstimatedNanosecondsOf;
using internal::LeastWorkOf;
namespace {

// The compiler's time: LLVM's start, and code for each instruction.
constexpr int64_t kNanosecondsToStart = 5'000'000, kNanosecondsOfInstruction = 300'000;
// Of a program that is compiled unasked: some seconds.
constexpr int64_t kMostInstructions = 20'000;

// Whether the evaluator needs longer for `runs` runs than the compiler.
bool IsWorthCompiling(const HloModule& module, int64_t runs) {
  const int64_t instructions = module.instruction_count();
  const int64_t evaluated_ns = SaturatingMultiply(EstimatedNanosecondsOf(*module.entry_computation()), runs);
  return instructions <= kMostInstructions &&
         evaluated_ns > kNanosecondsToStart + instructions * kNanosecondsOfInstruction;
}

// The evaluator refuses it at once.
bool IsBeyondLimit(const HloModule& module, int64_t max_work) {
  return max_work > 0 && LeastWorkOf(*module.entry_computation()) > max_work;
}

std::string ChooseEngine(const HloModule& module, const RunOptions& options, int64_t devices) {
  if (options.engine.name != "auto") return options.engine.name;
  if (NeedsCompiledEngine(options)) return "cpu";
  if (NeedsEvaluator(options) || IsBeyondLimit(module, options.limits.max_work)) return "evaluator";
  return IsWorthCompiling(module, SaturatingMultiply(options.repeat, devices)) ? "cpu" : "evaluator";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> MakeEngineFor(const HloModule& module, const RunOptions& options,
                                                      int64_t devices, const WorkLimits& limits) {
  EngineOptions engine = options.engine;
  engine.limits = limits;
  engine.name = ChooseEngine(module, options, devices);
  engine.flush_denormals = options.denormals != "keep";
  engine.excess_precision = options.excess_precision != "off";
  absl::StatusOr<std::unique_ptr<Engine>> made = MakeEngine(module, engine);
  const bool is_free_choice = options.engine.name == "auto" && !NeedsCompiledEngine(options);
  if (!is_free_choice || !absl::IsUnimplemented(made.status())) return made;
  engine.name = "evaluator";
  return MakeEngine(module, engine);
}

}  // namespace kashi::cli
