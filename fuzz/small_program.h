// Shared by the fuzzers that run programs: which programs, with which arguments, and for how long.
#ifndef KASHI_FUZZ_SMALL_PROGRAM_H_
#define KASHI_FUZZ_SMALL_PROGRAM_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/literal/fake_literal.h"

namespace kashi::fuzz {

inline constexpr int64_t kMostInstructions = 500;
inline constexpr int64_t kMostElements = 1 << 16;  // of a value
inline constexpr int64_t kMostBytes = 16 << 20;    // of all values at one time
inline constexpr int64_t kMostIterations = 100;    // of one loop
inline constexpr std::chrono::seconds kPatience(2);

// Cancels a run that takes too long.
class Watchdog {
 public:
  Watchdog() {
    std::thread([this] {
      while (true) {
        std::this_thread::sleep_for(kPatience / 8);
        if (waits_ > 0 && --waits_ == 0) cancelled_ = true;
      }
    }).detach();
  }
  const std::atomic<bool>& Watch() {
    cancelled_ = false;
    waits_ = 8;
    return cancelled_;
  }

 private:
  std::atomic<int> waits_{0};
  std::atomic<bool> cancelled_{false};
};

inline Watchdog& TheWatchdog() {
  static auto* const watchdog = new Watchdog();
  return *watchdog;
}

inline bool IsSmall(const Shape& shape) {
  return ShapeUtil::ForEachSubshapeWithStatus(shape,
                                              [](const Shape& part, const ShapeIndex&) {
                                                if (!part.IsArray()) return absl::OkStatus();
                                                int64_t elements = 1;
                                                for (int64_t size : part.dimensions()) {
                                                  if (size == Shape::kUnboundedSize) size = 1;
                                                  if (size > kMostElements || (elements *= size) > kMostElements)
                                                    return absl::OutOfRangeError("");
                                                }
                                                return absl::OkStatus();
                                              })
      .ok();
}

inline bool IsSmall(const HloModule& module) {
  int64_t instructions = 0;
  for (const HloComputation* computation : module.computations()) {
    instructions += computation->instruction_count();
    if (instructions > kMostInstructions) return false;
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!IsSmall(instruction->shape())) return false;
    }
  }
  return true;
}

// Null for a text that is not a module, does not pass the verifier, or is too large.
inline std::unique_ptr<HloModule> ReadSmallProgram(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(text);
  if (!module.ok() || !IsSmall(**module)) return nullptr;
  if (!VerifyHlo(**module, HloVerifierOpts{}.AllowMixedPrecision()).empty()) return nullptr;
  return *std::move(module);
}

// Arguments of the entry; nullopt if a type has no made-up values.
inline std::optional<std::vector<Literal>> MakeAnyArguments(const HloModule& module) {
  std::vector<Literal> arguments;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    absl::StatusOr<Literal> argument = MakeFakeLiteral(parameter->shape());
    if (!argument.ok()) return std::nullopt;
    arguments.push_back(*std::move(argument));
  }
  return arguments;
}

// The time begins now.
inline EvaluationOptions OptionsOfSmallRun() {
  EvaluationOptions options;
  options.max_loop_iterations = kMostIterations;
  options.memory_limit_bytes = kMostBytes;
  options.cancelled = &TheWatchdog().Watch();
  return options;
}

}  // namespace kashi::fuzz

#endif  // KASHI_FUZZ_SMALL_PROGRAM_H_
