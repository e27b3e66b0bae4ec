// The options of a run: limits, a seed, custom calls, observers.
//
//   EvaluationOptions options;
//   options.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
//   options.observer = [](const HloInstruction& instruction, const Value& value) { …; return absl::OkStatus(); };
#ifndef KASHI_EVALUATOR_EVALUATION_OPTIONS_H_
#define KASHI_EVALUATOR_EVALUATION_OPTIONS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/custom_calls/custom_call_registry.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal.h"
#include "kashi/values/value.h"

namespace kashi {

struct EvaluationOptions {
  int64_t max_loop_iterations = -1;  // of one while; -1: no limit
  // The limit on the bytes of all arrays and of scratch memory, without arguments, for all devices together. 0: most of
  // the available memory (MemoryBudget).
  int64_t memory_limit_bytes = 0;
  // The limit on the work of all devices together (WorkOf in work.h); 0: no limit. It is checked before the run against
  // the least work of the program, and during the run. RESOURCE_EXHAUSTED if exceeded.
  int64_t max_work = 0;
  // The run ends with DEADLINE_EXCEEDED soon after it.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  // The start of the time until the deadline, if it was before the run. The error names the duration.
  std::optional<std::chrono::steady_clock::time_point> start;
  uint64_t seed = 42;  // for `rng`
  // Whether converts to f32 take results of bf16 operations before they are rounded, as in XLA's compiled code
  // (docs/fidelity.md). Of no effect on compiled programs: their compiler has decided.
  bool excess_precision = true;
  // Called first, for every target. If it returns UNIMPLEMENTED, the registry and Kashi's own targets are tried
  // (custom_call.cc).
  CustomCallHandler custom_call_handler;
  // Not null: the handler is only called where this is true. Compiled programs then keep their own code for small calls
  // of LAPACK, which asks nobody.
  std::function<bool(const HloInstruction& custom_call)> is_handled;
  // Called after each instruction of the entry and of called computations, except those on scalars (reduce, map …). If
  // it returns an error, the run ends with this error.
  std::function<absl::Status(const HloInstruction&, const Value&)> observer;
  // Called before a computation runs, except for computations on scalars.
  std::function<void(const HloComputation&)> on_call;
  // Checked before each instruction, and sometimes within long ones. If true, the run ends with CANCELLED.
  const std::atomic<bool>* cancelled = nullptr;
  // Called at these places too, by any thread, by several at once: if true, the run ends with CANCELLED. Null: no call.
  // After it was true once, the run ends, whatever later calls return.
  std::function<bool()> is_cancelled;
  // If more than 1: the module is a global program for this number of partitions (kashi/hlo/spmd/program_scope.h).
  // Arguments and result are whole arrays, and only manual regions run on each device (manual_region.h). The observer
  // does not see the instructions of manual regions.
  int64_t global_devices = 1;
};

}  // namespace kashi

#endif  // KASHI_EVALUATOR_EVALUATION_OPTIONS_H_
