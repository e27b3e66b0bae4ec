#include "cli/limits.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/work_meter.h"

namespace kashi::cli {
namespace {

// Accepts 1e16 too: nobody writes 16 digits.
std::string SetWork(const std::string& text, int64_t* work) {
  double number = 0;
  if (absl::SimpleAtoi(text, work) && *work >= 0) return "";
  if (!absl::SimpleAtod(text, &number) || !(number >= 0 && number < 9.2e18)) {
    return absl::StrCat("`", text, "` is not a number of operations, such as 1000000 or 1e12; 0 means no limit");
  }
  *work = static_cast<int64_t>(number);
  return "";
}

std::string SetSeconds(const std::string& text, double* seconds) {
  // Larger numbers would overflow the clock.
  if (absl::SimpleAtod(text, seconds) && *seconds >= 0 && *seconds <= 1e9) return "";
  return absl::StrCat("`", text, "` is not a number of seconds up to 1e9; 0 means no limit");
}

const char* OptionOf(LimitKind kind) {
  switch (kind) {
    case LimitKind::kWork:
      return "--max-work";
    case LimitKind::kTime:
      return "--timeout";
    case LimitKind::kIterations:
      return "--max-iterations";
    case LimitKind::kMemory:
      return "--memory-limit";
    case LimitKind::kNone:
      break;
  }
  return nullptr;
}

std::optional<std::chrono::steady_clock::time_point> DeadlineOf(const LimitOptions& limits) {
  if (limits.timeout_seconds <= 0) return std::nullopt;
  return limits.start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                            std::chrono::duration<double>(limits.timeout_seconds));
}

}  // namespace

void AddLimitOptions(Verb* verb, LimitOptions* limits) {
  verb->AddSizeOption("--memory-limit", &limits->memory_limit,
                      "Most memory for values, all devices together, such as 500M (default: 7/8 of what is available "
                      "on the machine and in its container)");
  verb->AddOption(
          "--max-work", [limits](const std::string& text) { return SetWork(text, &limits->max_work); },
          "Most element operations, counted as in docs/limits.md; 0 means no limit (default: 1e16)")
      ->Value("N");
  verb->AddOption("--max-iterations", &limits->max_iterations,
                  "Most iterations of one loop; 0 means no limit (default: 0)")
      ->Within(0, std::numeric_limits<int64_t>::max());
  AddTimeoutOption(verb, limits);
}

void AddTimeoutOption(Verb* verb, LimitOptions* limits) {
  verb->AddOption(
          "--timeout", [limits](const std::string& text) { return SetSeconds(text, &limits->timeout_seconds); },
          "Longest time to run; 0 means no limit (default: 1800)")
      ->Value("SECONDS");
}

WorkLimits WorkLimitsOf(const LimitOptions& limits, const std::atomic<bool>* cancelled) {
  WorkLimits work;
  work.max_work = limits.max_work;
  work.deadline = DeadlineOf(limits);
  work.cancelled = cancelled;
  work.start = limits.start;
  return work;
}

void ApplyLimits(const LimitOptions& limits, EvaluationOptions* evaluation) {
  evaluation->memory_limit_bytes =
      static_cast<int64_t>(std::min<uint64_t>(limits.memory_limit, std::numeric_limits<int64_t>::max()));
  evaluation->max_work = limits.max_work;
  evaluation->max_loop_iterations = limits.max_iterations == 0 ? -1 : limits.max_iterations;
  evaluation->deadline = DeadlineOf(limits);
  evaluation->start = limits.start;
}

absl::Status NameLimitOption(const absl::Status& error) {
  const char* const option = OptionOf(LimitKindOf(error));
  return option == nullptr ? error
                           : WithMessage(error, absl::StrCat(error.message(), " (", option, " sets the limit)"));
}

}  // namespace kashi::cli
