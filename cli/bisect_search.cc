#include "cli/bisect_search.h"

#include <vector>

#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

class Search {
 public:
  Search(size_t count, absl::FunctionRef<absl::StatusOr<Verdict>(size_t)> judge) : verdicts_(count), judge_(judge) {
    verdicts_[0] = Verdict::kAgrees;
  }

  absl::StatusOr<BisectResult> Run(absl::FunctionRef<bool()> has_time) {
    KASHI_ASSIGN_OR_RETURN(const size_t last, LastThatRuns());
    if (last == 0 || verdicts_[last] == Verdict::kAgrees) return RunInOrder();
    KASHI_ASSIGN_OR_RETURN(const size_t last_good, SearchBetween(0, last));
    for (size_t i = 1; i < last_good && has_time(); ++i) {
      KASHI_ASSIGN_OR_RETURN(const Verdict verdict, Ask(i));
      if (verdict == Verdict::kDiffers) break;
    }
    return Result();
  }

 private:
  absl::StatusOr<Verdict> Ask(size_t stage) {
    if (!verdicts_[stage].has_value()) {
      KASHI_ASSIGN_OR_RETURN(verdicts_[stage], judge_(stage));
    }
    return *verdicts_[stage];
  }

  absl::StatusOr<size_t> LastThatRuns() {
    for (size_t i = verdicts_.size(); i-- > 1;) {
      KASHI_ASSIGN_OR_RETURN(const Verdict verdict, Ask(i));
      if (verdict != Verdict::kSkipped) return i;
    }
    return 0;
  }

  // Pre: `good` agrees, `bad` differs. Returns the last stage that agrees before one that differs.
  absl::StatusOr<size_t> SearchBetween(size_t good, size_t bad) {
    while (true) {
      // The stage nearest to the middle that runs.
      const size_t middle = good + (bad - good) / 2;
      std::optional<size_t> found;
      for (size_t distance = 0; distance < bad - good && !found.has_value(); ++distance) {
        for (const size_t i : {middle - distance, middle + distance}) {
          if (i <= good || i >= bad) continue;  // also where the difference wrapped
          KASHI_ASSIGN_OR_RETURN(const Verdict verdict, Ask(i));
          if (verdict == Verdict::kSkipped) continue;
          found = i;
          break;
        }
      }
      if (!found.has_value()) return good;
      (verdicts_[*found] == Verdict::kAgrees ? good : bad) = *found;
    }
  }

  absl::StatusOr<BisectResult> RunInOrder() {
    for (size_t i = 1; i < verdicts_.size(); ++i) KASHI_RETURN_IF_ERROR(Ask(i).status());
    return Result();
  }

  // From all that is known.
  BisectResult Result() const {
    BisectResult result;
    int64_t unknown = 0;
    for (size_t i = 0; i < verdicts_.size(); ++i) {
      if (!verdicts_[i].has_value()) {
        ++unknown;
      } else if (verdicts_[i] == Verdict::kDiffers && !result.first_bad.has_value()) {
        result.first_bad = i;
      } else if (verdicts_[i] == Verdict::kAgrees) {
        if (result.first_bad.has_value()) {
          result.is_monotone = false;
        } else {
          result.last_good = i;
          result.not_run = unknown;
        }
      }
    }
    return result;
  }

  std::vector<std::optional<Verdict>> verdicts_;
  absl::FunctionRef<absl::StatusOr<Verdict>(size_t)> judge_;
};

}  // namespace

absl::StatusOr<BisectResult> FindFirstBad(size_t count, absl::FunctionRef<absl::StatusOr<Verdict>(size_t stage)> judge,
                                          absl::FunctionRef<bool()> has_time) {
  if (count == 0) return BisectResult();
  return Search(count, judge).Run(has_time);
}

}  // namespace kashi::cli
