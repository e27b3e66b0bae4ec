// `kashi-mpi`: the `kashi` command on the ranks of MPI. `kashi` becomes it under mpirun or srun (cli/launcher.h).
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/command_line.h"
#include "cli/mpi/measure.h"
#include "cli/ranks.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/mpi/mpi_ranks.h"

namespace kashi::cli {
namespace {

// The first line of a text of an agreement: a rank may be at the end while others agree on something.
constexpr char kAgrees[] = "agrees\n", kIsAtEnd[] = "is at the end\n";

std::string Named(int rank, absl::string_view message) { return absl::StrCat("rank ", rank, ": ", message); }

class MpiCommandRanks : public Ranks {
 public:
  explicit MpiCommandRanks(std::unique_ptr<MpiRanks> ranks) : ranks_(std::move(ranks)) {}

  int rank() const override { return ranks_->rank(); }
  int count() const override { return ranks_->size(); }
  int ranks_of_machine() const override { return ranks_->ranks_of_machine(); }
  devices::DeviceFabric* Fabric(bool deterministic) override {
    MpiOptions options;
    options.deterministic = deterministic;
    ranks_->set_options(options);
    return ranks_->fabric();
  }
  absl::Status GatherResults(const Shape& shape, std::vector<Literal>* results) override {
    return ranks_->GatherToFirst(shape, results);
  }
  absl::StatusOr<std::vector<std::string>> GatherTexts(const std::string& own) override {
    return ranks_->GatherTexts(own);
  }
  absl::StatusOr<RankMeasurement> Measure(const MpiBenchOptions& options) override {
    return MeasureRanks(options, ranks_.get());
  }

  absl::Status Agree(const absl::Status& own) override {
    const std::string text =
        absl::StrCat(kAgrees, own.ok() ? "" : absl::StrCat(static_cast<int>(own.code()), "\n", own.message()));
    KASHI_ASSIGN_OR_RETURN(const std::vector<std::string> texts, ranks_->GatherTexts(text));
    for (int r = 0; r < count(); ++r) {
      absl::string_view rest = texts[r];
      if (!absl::ConsumePrefix(&rest, kAgrees)) return Cancelled("rank %d has ended before the run", r);
      if (rest.empty()) continue;
      if (r == 0 && rank() == 0) return own;  // with all that it carries
      const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(rest, absl::MaxSplits('\n', 1));
      int code = 0;
      if (!absl::SimpleAtoi(parts.first, &code)) code = static_cast<int>(absl::StatusCode::kUnknown);
      return absl::Status(static_cast<absl::StatusCode>(code),
                          r == 0 ? std::string(parts.second) : Named(r, parts.second));
    }
    return absl::OkStatus();
  }

  // Waits for all ranks, prints errors of this rank that rank 0 does not have, and returns the worst status.
  int Finish(int status, const std::string& errors) {
    const std::string text = absl::StrCat(kIsAtEnd, status, "\n", errors);
    int worst = status;
    while (true) {
      const absl::StatusOr<std::vector<std::string>> texts = ranks_->GatherTexts(text);
      if (!texts.ok()) return std::max(status, Fail(texts.status()));
      bool all_are_at_end = true;
      std::string of_first;
      for (int r = 0; r < count(); ++r) {
        absl::string_view rest = (*texts)[r];
        if (!absl::ConsumePrefix(&rest, kIsAtEnd)) {
          all_are_at_end = false;
          continue;
        }
        const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(rest, absl::MaxSplits('\n', 1));
        int other = 0;
        if (absl::SimpleAtoi(parts.first, &other)) worst = std::max(worst, other);
        if (r == 0) of_first = std::string(parts.second);
      }
      if (!all_are_at_end) continue;  // others end when they see that this rank has
      if (rank() != 0 && errors != of_first) PrintErrorsOfRank(errors);
      return worst;
    }
  }

 private:
  void PrintErrorsOfRank(const std::string& errors) const {
    std::string lines;
    for (const absl::string_view line : absl::StrSplit(errors, '\n', absl::SkipEmpty())) {
      absl::StrAppend(&lines, Named(rank(), line), "\n");
    }
    std::fwrite(lines.data(), 1, lines.size(), stderr);
  }

  std::unique_ptr<MpiRanks> ranks_;
};

// All ranks must be asked for the same.
absl::Status CheckSameArguments(MpiRanks* ranks, int argc, char** argv) {
  const std::string own = absl::StrJoin(std::vector<std::string>(argv + 1, argv + argc), " ");
  KASHI_ASSIGN_OR_RETURN(const std::vector<std::string> texts, ranks->GatherTexts(own));
  for (int r = 0; r < ranks->size(); ++r) {
    if (texts[r] != texts[0]) {
      return InvalidArgument("rank %d was started as `kashi %s`, rank 0 as `kashi %s`", r, texts[r], texts[0]);
    }
  }
  return absl::OkStatus();
}

int RunRank(int argc, char** argv, bool* has_abandoned) {
  absl::StatusOr<std::unique_ptr<MpiRanks>> made = MpiRanks::Make(MPI_Comm_c2f(MPI_COMM_WORLD));
  if (!made.ok()) return Fail(made.status());
  MpiRanks* const ranks = made->get();
  MpiCommandRanks of_command(*std::move(made));
  SetTheRanks(&of_command);
  const absl::Status same = CheckSameArguments(ranks, argc, argv);
  const int status = same.ok() ? RunCommandLine(argc, argv) : Fail(same);
  const int worst = of_command.Finish(status, PrintedErrors());
  *has_abandoned = ranks->has_abandoned();
  SetTheRanks(nullptr);
  return worst;
}

volatile sig_atomic_t exit_status = 0;
void EndNow(int) { _exit(exit_status); }

}  // namespace

int RunMain(int argc, char** argv) {
  signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` then fails with an error
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  bool has_abandoned = false;
  const int status = RunRank(argc, argv, &has_abandoned);
  std::fflush(nullptr);
  if (has_abandoned) {
    // Calls that no rank completes any more may keep MPI_Finalize waiting.
    exit_status = status;
    signal(SIGALRM, &EndNow);
    alarm(2);
  }
  MPI_Finalize();
  return status;
}

}  // namespace kashi::cli

int main(int argc, char** argv) { return kashi::cli::RunMain(argc, argv); }
