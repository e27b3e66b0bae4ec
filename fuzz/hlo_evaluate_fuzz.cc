// Any bytes as HLO text: what the reader and the verifier take, the evaluator runs on made-up arguments, or refuses. What it
// gives has the shape of the root. A run that takes too long is cancelled, and must then end soon: libFuzzer's -timeout.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/hlo/hlo_parser.h"
#include "kashi/hlo/hlo_verifier.h"
#include "kashi/literal/fake_literal.h"

namespace kashi {
namespace {

constexpr int64_t kMostInstructions = 500;
constexpr int64_t kMostElements = 1 << 16;  // of a value
constexpr int64_t kMostBytes = 16 << 20;    // of all values at one time
constexpr int64_t kMostIterations = 100;    // of one loop
constexpr std::chrono::seconds kPatience(2);

// Cancels the run that has gone on for too long.
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

Watchdog& TheWatchdog() {
  static auto* const watchdog = new Watchdog();
  return *watchdog;
}

bool IsSmall(const Shape& shape) {
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

bool IsSmall(const HloModule& module) {
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

void Evaluate(const HloModule& module) {
  std::vector<Literal> arguments;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    absl::StatusOr<Literal> argument = MakeFakeLiteral(parameter->shape());
    if (!argument.ok()) return;
    arguments.push_back(*std::move(argument));
  }
  EvaluationOptions options;
  options.max_loop_iterations = kMostIterations;
  options.memory_limit_bytes = kMostBytes;
  options.cancelled = &TheWatchdog().Watch();
  const absl::StatusOr<Literal> result = HloEvaluator(options).Evaluate(module, absl::MakeConstSpan(arguments));
  if (!result.ok()) {
    KASHI_CHECK(!result.status().message().empty());
    return;
  }
  const Shape& root = module.entry_computation()->root_instruction()->shape();
  KASHI_CHECK(ShapeUtil::Compatible(result->shape(), root)) << ShapeUtil::HumanString(result->shape());
}

}  // namespace
}  // namespace kashi

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto module = kashi::ParseAndReturnUnverifiedModule({reinterpret_cast<const char*>(data), size});
  if (!module.ok() || !kashi::IsSmall(**module)) return 0;
  if (!kashi::VerifyHlo(**module, kashi::HloVerifierOpts{}.AllowMixedPrecision()).empty()) return 0;
  kashi::Evaluate(**module);
  return 0;
}
