// The options that say what running a program may cost, for every verb that runs one: --memory-limit, --max-work,
// --max-iterations and --timeout. The defaults hinder no real program, and let no stranger's program have the machine for
// long (docs/limits.md).
#ifndef KASHI_CLI_LIMITS_H_
#define KASHI_CLI_LIMITS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "cli/options.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/evaluation_run.h"

namespace kashi::internal::cli {

// More than the fastest machine does within kDefaultTimeoutSeconds.
inline constexpr int64_t kDefaultMaxWork = 10'000'000'000'000'000;
inline constexpr double kDefaultTimeoutSeconds = 1800;

struct LimitOptions {
  uint64_t memory_limit = 0;  // 0: what is available
  int64_t max_work = kDefaultMaxWork;
  int64_t max_iterations = 0;  // 0: any number
  double timeout_seconds = kDefaultTimeoutSeconds;
  // When time began to run: making inputs counts too.
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

void AddLimitOptions(Verb* verb, LimitOptions* limits);

// Of work that is done outside of a run, such as making its inputs. `cancelled` must outlive the meter.
WorkLimits WorkLimitsOf(const LimitOptions& limits, const std::atomic<bool>* cancelled);

void ApplyLimits(const LimitOptions& limits, EvaluationOptions* evaluation);

// The same error, naming the option that raises the limit that it is about, if it is about one.
absl::Status NameLimitOption(const absl::Status& error);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_LIMITS_H_
