// The first of several stages of a program that computes other numbers than the first one.
#ifndef KASHI_CLI_BISECT_SEARCH_H_
#define KASHI_CLI_BISECT_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace kashi::cli {

enum class Verdict {
  kAgrees,
  kDiffers,
  kSkipped,  // it cannot be run, or not compared
};

struct BisectResult {
  std::optional<size_t> first_bad;  // nullopt: all stages that ran agree
  size_t last_good = 0;             // the last stage before it that ran
  bool is_monotone = true;          // false: a stage after the first bad one agrees again
  // Stages before the last good one that were not run, because the search did not need them and there was no time: one
  // of them may differ, if the difference vanishes again before the last good one.
  int64_t not_run = 0;
};

// Stages are numbered from 0 to count - 1. Stage 0 agrees with itself; `judge` is asked about others, about each at
// most once. `has_time` is asked before a stage is run only to make sure that the answer is the first one.
//
// Binary search. If the last stage agrees, or a stage before the one that was found differs, there is more than one
// change, and all stages are run in order.
absl::StatusOr<BisectResult> FindFirstBad(size_t count, absl::FunctionRef<absl::StatusOr<Verdict>(size_t stage)> judge,
                                          absl::FunctionRef<bool()> has_time);

}  // namespace kashi::cli

#endif  // KASHI_CLI_BISECT_SEARCH_H_
