// What a caller may say about a run of a program: limits, a seed, custom calls, observers.
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
#include "kashi/evaluator/value.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal.h"

namespace kashi {

namespace internal {
class Device;
}

// What a custom call computes: its operands to its result, under the shape (with its layout) of the instruction.
using CustomCallHandler = std::function<absl::StatusOr<Literal>(const HloInstruction& custom_call,
                                                                absl::Span<const Literal* const> operands)>;

struct EvaluationOptions {
  int64_t max_loop_iterations = -1;  // of one while; -1: any number
  // What all arrays together may take, scratch of operations included, arguments not; of several devices together. 0:
  // most of what is available (MemoryBudget).
  int64_t memory_limit_bytes = 0;
  // Of all devices together, as WorkOf counts it (work.h); 0: any. Asked ahead of the run for what the program does
  // at least, and counted while it runs: RESOURCE_EXHAUSTED.
  int64_t max_work = 0;
  // DEADLINE_EXCEEDED soon after it.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  // When the time until the deadline began, if not with the run: the error says how long it was.
  std::optional<std::chrono::steady_clock::time_point> start;
  uint64_t seed = 42;  // of `rng`
  // Asked first, for every target. An UNIMPLEMENTED result leaves the call to those that we know (custom_call.cc).
  CustomCallHandler custom_call_handler;
  // Called behind each instruction, in entry and whatever it calls but for computations on scalars (reduce, map …). An
  // error ends the run with it.
  std::function<absl::Status(const HloInstruction&, const Value&)> observer;
  // Called before a computation runs, but for those on scalars.
  std::function<void(const HloComputation&)> on_call;
  // Looked at before each instruction and now and then within long ones: true ends the run with CANCELLED.
  const std::atomic<bool>* cancelled = nullptr;
  // The device that this run plays; null: the only one. Must outlive the run.
  internal::Device* device = nullptr;
  // More than 1: the module is one program for that many partitions, not yet partitioned
  // (kashi/hlo/spmd/program_scope.h). It runs as such: arguments and result are those of the whole program, and only
  // what is in its manual regions runs on each device (manual_region.h). The observer does not see what happens
  // there.
  int64_t global_devices = 1;
};

}  // namespace kashi

#endif  // KASHI_EVALUATOR_EVALUATION_OPTIONS_H_
