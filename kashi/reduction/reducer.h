// Delta debugging of HLO modules: the smallest module that a check still says yes to.
//
//   Reducer reducer([](const Candidate& candidate, const std::atomic<bool>&) -> absl::StatusOr<bool> {
//     return absl::StrContains(candidate.text, "cholesky(");
//   });
//   KASHI_ASSIGN_OR_RETURN(Reduction reduction, reducer.Run(*module));
//   std::cout << reduction.best->text;
//
// Every candidate keeps the rules of the verifier that the module keeps, and is smaller than the best one so far
// (module_size.h), so the search ends. What it ends with is smallest in the sense that no single step makes it smaller.
#ifndef KASHI_REDUCTION_REDUCER_H_
#define KASHI_REDUCTION_REDUCER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/reduction/candidate.h"
#include "kashi/reduction/module_size.h"

namespace kashi::reduction {

// Whether a candidate is still of interest. Called by up to ReducerOptions::jobs threads at once. When `is_unwanted`
// becomes true nobody needs the answer any more, and any answer will do. An error ends the search.
using Check = std::function<absl::StatusOr<bool>(const Candidate& candidate, const std::atomic<bool>& is_unwanted)>;

struct ReductionProgress {
  ModuleSize size;                   // of the best module so far
  int64_t checks = 0;                // answers of the check that counted
  int64_t candidates = 0;            // made, whether checked or not
  int64_t steps = 0;                 // accepted
  absl::string_view transformation;  // tried last
};

struct ReducerOptions {
  // Checks at a time. The first candidate in the order of the search wins, so the result does not depend on it; some
  // answers are asked for in vain.
  int jobs = 1;
  HloVerifierOpts rules;
  // Fingerprints of candidates that the check has said no to, in an earlier run.
  absl::flat_hash_set<std::string> rejected;
  // Called about ten times a second by the thread of Run: an error ends the search with the best module so far.
  std::function<absl::Status()> check_stopped = nullptr;
  // Called by the thread of Run: after each candidate; for each that the check says no to; for each new best one.
  std::function<void(const ReductionProgress&)> on_progress = nullptr;
  std::function<absl::Status(const std::string& fingerprint)> on_rejected = nullptr;
  std::function<absl::Status(const Candidate&)> on_smaller = nullptr;
};

struct Reduction {
  std::shared_ptr<const Candidate> best;  // the module itself where nothing smaller was found
  ModuleSize before;
  ReductionProgress progress;   // at the end
  bool is_interesting = false;  // false: the check says no to the module itself
  // Why the search ended before its end: an error of check_stopped, on_rejected, on_smaller, or of the check.
  absl::Status stopped;
};

class Reducer {
 public:
  explicit Reducer(Check check, ReducerOptions options = {}) : check_(std::move(check)), options_(std::move(options)) {}

  // FAILED_PRECONDITION for a module whose structure is broken; the error of the check for the module itself.
  absl::StatusOr<Reduction> Run(const HloModule& module);

 private:
  const Check check_;
  const ReducerOptions options_;
};

}  // namespace kashi::reduction

#endif  // KASHI_REDUCTION_REDUCER_H_
