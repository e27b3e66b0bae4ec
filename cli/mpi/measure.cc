#include "cli/mpi/measure.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "kashi/base/status.h"
#include "kashi/devices/device_fabric.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/values/value.h"

namespace kashi::cli {

using devices::Device;
using evaluator::EvaluationRun;
using evaluator::LimitsOf;
using values::RunLimits;
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUps = 3, kFewestRounds = 5, kMostRounds = 2000;

// A program of one operation on f32[n] of each rank. At `together`, all ranks wait for each other.
std::string ProgramOf(const std::string& name, int64_t n, int ranks) {
  std::vector<std::string> pairs;
  for (int r = 0; r < ranks; ++r) pairs.push_back(absl::StrCat("{", r, ",", (r + 1) % ranks, "}"));
  int64_t results = n;
  std::string attributes = "replica_groups={}";
  if (name == "all-gather") results = n * ranks;
  if (name == "reduce-scatter") results = n / ranks;
  if (name == "all-reduce" || name == "reduce-scatter") absl::StrAppend(&attributes, ", to_apply=add");
  if (name == "all-gather" || name == "reduce-scatter" || name == "all-to-all") {
    absl::StrAppend(&attributes, ", dimensions={0}");
  }
  if (name == "collective-permute") {
    attributes = "source_target_pairs={";
    for (size_t i = 0; i < pairs.size(); ++i) absl::StrAppend(&attributes, i > 0 ? "," : "", pairs[i]);
    attributes += "}";
  }
  if (name == "collective-broadcast") {
    attributes = "replica_groups={{0";
    for (int r = 1; r < ranks; ++r) absl::StrAppend(&attributes, ",", r);
    attributes += "}}";
  }
  return absl::Substitute(
      "HloModule bench, replica_count=$0\n"
      "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
      "together { p = f32[] parameter(0)\n ROOT r = f32[] all-reduce(p), replica_groups={}, to_apply=add }\n"
      "ENTRY e { p = f32[$1] parameter(0)\n ROOT r = f32[$2] $3(p), $4 }\n",
      ranks, n, results, name, attributes);
}

double MedianOf(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// The median time of a call in microseconds. All ranks make the same number of calls, which rank 0 decides. All begin
// a call together: otherwise the root of a broadcast would run ahead, and the time would be that of long queues.
class Rounds {
 public:
  explicit Rounds(double seconds) : seconds_(seconds) {}

  template <typename Together, typename Call>
  absl::StatusOr<double> Measure(int rounds, const Together& together, const Call& call) {
    for (int i = 0; i < kWarmUps; ++i) KASHI_RETURN_IF_ERROR(call());
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
      KASHI_RETURN_IF_ERROR(together());
      const Clock::time_point begin = Clock::now();
      KASHI_RETURN_IF_ERROR(call());
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
    return MedianOf(std::move(times));
  }

  // For calls that take about so long.
  int CountFor(double microseconds) const {
    return static_cast<int>(
        std::clamp<double>(seconds_ * 1e6 / std::max(microseconds, 0.1), kFewestRounds, kMostRounds));
  }

 private:
  const double seconds_;
};

// MPI's own call for an operation, on memory that is allocated before.
class BareCall {
 public:
  BareCall(std::string name, int64_t n, int ranks, int rank)
      : name_(std::move(name)),
        n_(static_cast<int>(n)),
        ranks_(ranks),
        rank_(rank),
        from_(static_cast<size_t>(n), 1.0F),
        to_(static_cast<size_t>(n * ranks)) {}

  static absl::Status Together() {
    MPI_Barrier(MPI_COMM_WORLD);
    return absl::OkStatus();
  }

  absl::Status Blocking() {
    const int part = n_ / ranks_;
    if (name_ == "all-reduce") {
      MPI_Allreduce(from_.data(), to_.data(), n_, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    } else if (name_ == "all-gather") {
      MPI_Allgather(from_.data(), n_, MPI_FLOAT, to_.data(), n_, MPI_FLOAT, MPI_COMM_WORLD);
    } else if (name_ == "reduce-scatter") {
      MPI_Reduce_scatter_block(from_.data(), to_.data(), part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    } else if (name_ == "all-to-all") {
      MPI_Alltoall(from_.data(), part, MPI_FLOAT, to_.data(), part, MPI_FLOAT, MPI_COMM_WORLD);
    } else if (name_ == "collective-permute") {
      MPI_Sendrecv(from_.data(), n_, MPI_FLOAT, Next(), 0, to_.data(), n_, MPI_FLOAT, Previous(), 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    } else {
      MPI_Bcast(rank_ == 0 ? from_.data() : to_.data(), n_, MPI_FLOAT, 0, MPI_COMM_WORLD);
    }
    return absl::OkStatus();
  }

  absl::Status Nonblocking() {
    const int part = n_ / ranks_;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (name_ == "all-reduce") {
      MPI_Iallreduce(from_.data(), to_.data(), n_, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    } else if (name_ == "all-gather") {
      MPI_Iallgather(from_.data(), n_, MPI_FLOAT, to_.data(), n_, MPI_FLOAT, MPI_COMM_WORLD, &requests[0]);
    } else if (name_ == "reduce-scatter") {
      MPI_Ireduce_scatter_block(from_.data(), to_.data(), part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    } else if (name_ == "all-to-all") {
      MPI_Ialltoall(from_.data(), part, MPI_FLOAT, to_.data(), part, MPI_FLOAT, MPI_COMM_WORLD, &requests[0]);
    } else if (name_ == "collective-permute") {
      MPI_Irecv(to_.data(), n_, MPI_FLOAT, Previous(), 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(from_.data(), n_, MPI_FLOAT, Next(), 0, MPI_COMM_WORLD, &requests[1]);
    } else {
      MPI_Ibcast(rank_ == 0 ? from_.data() : to_.data(), n_, MPI_FLOAT, 0, MPI_COMM_WORLD, &requests[0]);
    }
    int done = 0;
    while (done == 0) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    return absl::OkStatus();
  }

 private:
  int Next() const { return (rank_ + 1) % ranks_; }
  int Previous() const { return (rank_ + ranks_ - 1) % ranks_; }

  const std::string name_;
  const int n_, ranks_, rank_;
  std::vector<float> from_, to_;
};

// The time of the operation in a program, on this rank.
absl::StatusOr<double> MeasureProgram(const HloModule& module, int64_t n, int rounds, MpiRanks* ranks) {
  EvaluationOptions options;
  const RunLimits limits = LimitsOf(options);
  double median = 0;
  KASHI_RETURN_IF_ERROR(
      ranks->fabric()->OnDevices(module, {ranks->size(), 1}, limits, [&](Device& device) -> absl::Status {
        evaluator::RunHooks hooks;
        hooks.device = &device;
        EvaluationRun run(options, hooks, limits);
        KASHI_ASSIGN_OR_RETURN(Value argument, run.MakeArray(F32, {n}));
        std::memset(argument.mutable_bytes(), 0, static_cast<size_t>(argument.byte_count()));
        KASHI_ASSIGN_OR_RETURN(const Value one, run.MakeArray(F32, {}));
        const HloComputation* const barrier = module.GetComputationWithName("together");
        const auto together = [&] { return run.Call(*barrier, {one}).status(); };
        KASHI_ASSIGN_OR_RETURN(median, Rounds(0).Measure(rounds, together, [&] {
          return run.Call(*module.entry_computation(), {argument}).status();
        }));
        return absl::OkStatus();
      }));
  return median;
}

// An operation has ended when the last rank has its result.
double LatestOf(double microseconds) {
  MPI_Allreduce(MPI_IN_PLACE, &microseconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return microseconds;
}

absl::StatusOr<MeasuredPoint> MeasureSize(const MpiBenchOptions& options, const std::string& name, int64_t bytes,
                                          MpiRanks* ranks) {
  const int size = ranks->size();
  const int64_t n = std::max<int64_t>(1, bytes / static_cast<int64_t>(sizeof(float)) / size) * size;
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<HloModule> module,
                         ParseAndReturnUnverifiedModule(ProgramOf(name, n, size)));
  const Rounds rounds(options.seconds);
  KASHI_ASSIGN_OR_RETURN(const double first, MeasureProgram(*module, n, kFewestRounds, ranks));
  int count = rounds.CountFor(first);
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  KASHI_ASSIGN_OR_RETURN(const double own, MeasureProgram(*module, n, count, ranks));
  MeasuredPoint point;
  point.bytes = n * static_cast<int64_t>(sizeof(float));
  point.us = LatestOf(own);
  if (!options.bare) return point;
  BareCall bare(name, n, size, ranks->rank());
  Rounds measure(options.seconds);
  const auto together = &BareCall::Together;
  KASHI_ASSIGN_OR_RETURN(const double nonblocking,
                         measure.Measure(count, together, [&] { return bare.Nonblocking(); }));
  KASHI_ASSIGN_OR_RETURN(const double blocking, measure.Measure(count, together, [&] { return bare.Blocking(); }));
  point.nonblocking_us = LatestOf(nonblocking);
  point.blocking_us = LatestOf(blocking);
  return point;
}

// The line t = alpha + beta * bytes for which the sum of (1 - line / t)^2 is least; neither is negative.
void FitLine(MeasuredCollective* collective) {
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
  for (const MeasuredPoint& point : collective->points) {
    const double x = static_cast<double>(point.bytes), y = std::max(point.us, 1e-3);
    const double weight = 1 / (y * y);
    w += weight;
    wx += weight * x;
    wxx += weight * x * x;
    wy += weight * y;
    wxy += weight * x * y;
  }
  const double determinant = w * wxx - wx * wx;
  double beta = determinant > 0 ? std::max(0.0, (w * wxy - wx * wy) / determinant) : 0;
  double alpha = (wy - beta * wx) / w;
  if (alpha < 0) {
    alpha = 0;
    beta = wxy / wxx;
  }
  collective->alpha_us = alpha;
  collective->beta_ns_per_byte = beta * 1000;
}

}  // namespace

absl::StatusOr<RankMeasurement> MeasureRanks(const MpiBenchOptions& options, MpiRanks* ranks) {
  RankMeasurement measured;
  measured.ranks = ranks->size();
  measured.ranks_of_machine = ranks->ranks_of_machine();
  std::vector<std::string> names = options.collectives;
  if (names.empty()) names.assign(std::begin(kMeasuredCollectives), std::end(kMeasuredCollectives));
  for (const std::string& name : names) {
    MeasuredCollective collective;
    collective.name = name;
    for (uint64_t bytes = std::max<uint64_t>(4, options.least_bytes); bytes <= options.most_bytes; bytes *= 4) {
      KASHI_ASSIGN_OR_RETURN(const MeasuredPoint point, MeasureSize(options, name, static_cast<int64_t>(bytes), ranks));
      collective.points.push_back(point);
    }
    FitLine(&collective);
    measured.collectives.push_back(std::move(collective));
  }
  return measured;
}

}  // namespace kashi::cli
