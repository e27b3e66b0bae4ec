#include "kashi/reduction/reducer.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "kashi/base/catch_exceptions.h"
#include "kashi/base/status.h"
#include "kashi/reduction/search.h"

namespace kashi::reduction {
namespace {

constexpr std::chrono::milliseconds kPause{100};  // between two looks at check_stopped

enum class Verdict {
  kImpossible,  // not valid, or not smaller
  kKnown,       // rejected before
  kNo,
  kYes,
  kSame,  // smaller, with the same text: nothing to ask
};

// One candidate: made, judged and asked about on a thread of its own.
struct Attempt {
  Search::Proposal proposal;
  std::shared_ptr<const Candidate> from;
  std::atomic<bool> is_unwanted{false};
  std::thread thread;
  // Written by the thread, read after is_done (under the mutex of the run).
  bool is_done = false;
  absl::StatusOr<Verdict> verdict = Verdict::kImpossible;
  std::shared_ptr<const Candidate> candidate;
};

class Run {
 public:
  Run(const Check& check, const ReducerOptions& options, Rules rules)
      : check_(check), options_(options), rules_(std::move(rules)), rejected_(options.rejected) {}
  ~Run() { DropAttempts(); }

  absl::StatusOr<Reduction> Reduce(const HloModule& module);

 private:
  absl::StatusOr<bool> AskAboutModule();
  void StartAttempts(Search* search);
  absl::StatusOr<Verdict> Judge(Attempt* attempt);
  // Waits for the oldest attempt. An error of check_stopped.
  absl::Status AwaitFirst();
  absl::Status Note(const Attempt& attempt, Verdict verdict);
  // Nobody needs the others any more.
  void DropAttempts();
  absl::Status CheckStopped() const {
    return options_.check_stopped == nullptr ? absl::OkStatus() : options_.check_stopped();
  }

  const Check& check_;
  const ReducerOptions& options_;
  const Rules rules_;
  Reduction reduction_;
  bool is_exhausted_ = false;                      // the search has no further proposal
  std::deque<std::unique_ptr<Attempt>> attempts_;  // in the order of the search
  std::mutex mutex_;
  std::condition_variable done_;
  absl::flat_hash_set<std::string> rejected_;  // under the mutex
};

// The check of the module itself may take long, too: it is an attempt of its own kind.
absl::StatusOr<bool> Run::AskAboutModule() {
  std::atomic<bool> is_unwanted{false};
  absl::StatusOr<bool> answer = false;
  bool is_done = false;
  std::thread thread([&] {
    absl::StatusOr<bool> given = base::CatchExceptions([&] { return check_(*reduction_.best, is_unwanted); });
    const std::lock_guard<std::mutex> lock(mutex_);
    answer = std::move(given);
    is_done = true;
    done_.notify_all();
  });
  {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!done_.wait_for(lock, kPause, [&] { return is_done; })) {
      reduction_.stopped = CheckStopped();
      if (!reduction_.stopped.ok()) is_unwanted.store(true);
    }
  }
  thread.join();
  if (reduction_.stopped.ok()) ++reduction_.progress.checks;
  return answer;
}

absl::StatusOr<Verdict> Run::Judge(Attempt* attempt) {
  const Search::Proposal& proposal = attempt->proposal;
  absl::StatusOr<Candidate> candidate = MakeCandidate(*attempt->from, *proposal.transformation, proposal.sites, rules_);
  if (!candidate.ok() || !(candidate->size < attempt->from->size)) return Verdict::kImpossible;
  const bool is_same = candidate->fingerprint == attempt->from->fingerprint;
  attempt->candidate = std::make_shared<const Candidate>(*std::move(candidate));
  if (is_same) return Verdict::kSame;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (rejected_.contains(attempt->candidate->fingerprint)) return Verdict::kKnown;
  }
  if (attempt->is_unwanted.load()) return Verdict::kNo;
  KASHI_ASSIGN_OR_RETURN(const bool is_yes, check_(*attempt->candidate, attempt->is_unwanted));
  return is_yes ? Verdict::kYes : Verdict::kNo;
}

void Run::StartAttempts(Search* search) {
  while (!is_exhausted_ && attempts_.size() < static_cast<size_t>(std::max(1, options_.jobs))) {
    std::optional<Search::Proposal> proposal = search->Next();
    if (!proposal.has_value()) {
      is_exhausted_ = true;
      return;
    }
    attempts_.push_back(std::make_unique<Attempt>());
    Attempt* const attempt = attempts_.back().get();
    attempt->proposal = *std::move(proposal);
    attempt->from = reduction_.best;
    attempt->thread = std::thread([this, attempt] {
      absl::StatusOr<Verdict> verdict = base::CatchExceptions([&] { return Judge(attempt); });
      const std::lock_guard<std::mutex> lock(mutex_);
      attempt->verdict = std::move(verdict);
      attempt->is_done = true;
      done_.notify_all();
    });
  }
}

absl::Status Run::AwaitFirst() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!done_.wait_for(lock, kPause, [&] { return attempts_.front()->is_done; })) {
    KASHI_RETURN_IF_ERROR(CheckStopped());
  }
  return absl::OkStatus();
}

void Run::DropAttempts() {
  for (const auto& attempt : attempts_) attempt->is_unwanted.store(true);
  for (const auto& attempt : attempts_) {
    if (attempt->thread.joinable()) attempt->thread.join();
  }
  attempts_.clear();
}

absl::Status Run::Note(const Attempt& attempt, Verdict verdict) {
  ReductionProgress& progress = reduction_.progress;
  if (verdict == Verdict::kNo) {
    const std::lock_guard<std::mutex> lock(mutex_);
    // Two of the same text may have been under way at once; with one job, the second would have been known.
    if (!rejected_.insert(attempt.candidate->fingerprint).second) verdict = Verdict::kKnown;
  }
  ++progress.candidates;
  progress.checks += verdict == Verdict::kNo || verdict == Verdict::kYes ? 1 : 0;
  progress.transformation = attempt.proposal.transformation->name;
  if (verdict == Verdict::kYes || verdict == Verdict::kSame) {
    ++progress.steps;
    progress.size = attempt.candidate->size;
    reduction_.best = attempt.candidate;
    if (options_.on_smaller != nullptr) KASHI_RETURN_IF_ERROR(options_.on_smaller(*attempt.candidate));
  }
  if (verdict == Verdict::kNo && options_.on_rejected != nullptr) {
    KASHI_RETURN_IF_ERROR(options_.on_rejected(attempt.candidate->fingerprint));
  }
  if (options_.on_progress != nullptr) options_.on_progress(progress);
  return absl::OkStatus();
}

absl::StatusOr<Reduction> Run::Reduce(const HloModule& module) {
  reduction_.best = std::make_shared<const Candidate>(MakeCandidate(module, rules_));
  reduction_.before = reduction_.progress.size = reduction_.best->size;
  KASHI_ASSIGN_OR_RETURN(reduction_.is_interesting, AskAboutModule());
  if (!reduction_.is_interesting || !reduction_.stopped.ok()) return std::move(reduction_);
  Search search(reduction_.best->module, rules_.are_all_kept());
  while (true) {
    StartAttempts(&search);
    if (attempts_.empty()) return std::move(reduction_);
    reduction_.stopped = AwaitFirst();
    if (!reduction_.stopped.ok()) break;
    const std::unique_ptr<Attempt> attempt = std::move(attempts_.front());
    attempts_.pop_front();
    attempt->thread.join();
    reduction_.stopped = attempt->verdict.status();
    if (!reduction_.stopped.ok()) break;
    const Verdict verdict = *attempt->verdict;
    reduction_.stopped = Note(*attempt, verdict);
    if (!reduction_.stopped.ok()) break;
    if (verdict != Verdict::kYes && verdict != Verdict::kSame) continue;
    DropAttempts();
    search.Accept(attempt->proposal, reduction_.best->module);
    is_exhausted_ = false;
  }
  DropAttempts();
  return std::move(reduction_);
}

}  // namespace

absl::StatusOr<Reduction> Reducer::Run(const HloModule& module) {
  KASHI_ASSIGN_OR_RETURN(Rules rules, Rules::Of(module, options_.rules));
  return reduction::Run(check_, options_, std::move(rules)).Reduce(module);
}

}  // namespace kashi::reduction
