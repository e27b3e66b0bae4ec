// The options that limit the cost of a run: --memory-limit, --max-work, --max-iterations and --timeout. The defaults
// allow every real program and stop hostile ones (docs/limits.md).
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

namespace kashi::cli {

// No machine does this much work within kDefaultTimeoutSeconds.
inline constexpr int64_t kDefaultMaxWork = 10'000'000'000'000'000;
inline constexpr double kDefaultTimeoutSeconds = 1800;

struct LimitOptions {
  uint64_t memory_limit = 0;  // 0: what is available
  int64_t max_work = kDefaultMaxWork;
  int64_t max_iterations = 0;  // 0: any number
  double timeout_seconds = kDefaultTimeoutSeconds;
  // The start of --timeout: the time to make the inputs counts too.
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

void AddLimitOptions(Verb* verb, LimitOptions* limits);
// --timeout alone, for verbs that run no program.
void AddTimeoutOption(Verb* verb, LimitOptions* limits);

// Limits for work before a run, such as making its inputs. `cancelled` must outlive the meter.
WorkLimits WorkLimitsOf(const LimitOptions& limits, const std::atomic<bool>* cancelled);

void ApplyLimits(const LimitOptions& limits, EvaluationOptions* evaluation);

// Adds the name of the option to an error about a limit. Other errors stay as they are.
absl::Status NameLimitOption(const absl::Status& error);

}  // namespace kashi::cli

#endif  // KASHI_CLI_LIMITS_H_
