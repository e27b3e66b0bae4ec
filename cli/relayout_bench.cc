#include "cli/relayout_bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>

#include "absl/strings/str_format.h"
#include "cli/verb.h"
#include "kashi/base/math.h"
#include "kashi/base/parallel.h"
#include "kashi/base/text.h"

namespace kashi::cli {

using base::HumanBytes;
using base::ParallelFor;
using base::ParallelThreadCount;
namespace {

using Clock = std::chrono::steady_clock;

double NanosecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

// The mean time of `repeats` runs in a row: reading the clock takes longer than a small relayout.
template <typename Work>
double NanosecondsOf(int64_t repeat, Work work) {
  const Clock::time_point begin = Clock::now();
  for (int64_t i = 0; i < repeat; ++i) work();
  return NanosecondsSince(begin) / static_cast<double>(repeat);
}

// The number of repeats for a run of sufficient length. Two runs before the measurement touch all pages and wake the
// threads.
template <typename Work>
int64_t RepeatsOf(Work work) {
  constexpr double kRunNs = 2e5;
  constexpr int64_t kMostRepeats = 100'000;
  NanosecondsOf(2, work);
  return std::clamp<int64_t>(static_cast<int64_t>(kRunNs / std::max(1.0, NanosecondsOf(1, work))), 1, kMostRepeats);
}

template <typename Work>
double FastestOfFew(Work work) {
  const int64_t repeats = RepeatsOf(work);
  double fastest = NanosecondsOf(repeats, work);
  for (int i = 0; i < 4; ++i) fastest = std::min(fastest, NanosecondsOf(repeats, work));
  return fastest;
}

int ThreadsOf(const RelayoutOptions& options) {
  return options.threads > 0 ? std::min(options.threads, ParallelThreadCount()) : ParallelThreadCount();
}

// Each thread copies a contiguous piece.
void Copy(char* to, const char* from, int64_t bytes, int threads) {
  if (bytes == 0) return;
  if (threads == 1) {
    std::memcpy(to, from, bytes);
    return;
  }
  const int64_t piece = RoundUpTo<int64_t>(CeilOfRatio<int64_t>(bytes, threads), 4096);
  ParallelFor(threads, /*grain=*/1, [&](int64_t begin, int64_t end, int) {
    const int64_t first = std::min(bytes, begin * piece), last = std::min(bytes, end * piece);
    std::memcpy(to + first, from + first, last - first);
  });
}

int64_t ElementBytes(const Placement& placement) {
  double elements = 1;
  for (int64_t size : placement.dimensions()) elements *= static_cast<double>(size);
  return static_cast<int64_t>(std::ceil(elements * static_cast<double>(placement.slot_bits()) / 8));
}

void MeasurePlanning(const RelayoutPlan& plan, RunTimes* times) {
  constexpr int kRuns = 101;
  constexpr double kEnoughNs = 1e8;
  for (int run = 0; run < kRuns && times->Total() < kEnoughNs; ++run) {
    times->Add(NanosecondsOf(1, [&] { return RelayoutPlan::Make(plan.from(), plan.to(), plan.options()).ok(); }));
  }
}

}  // namespace

RelayoutTraffic TrafficOf(const RelayoutPlan& plan) {
  RelayoutTraffic traffic;
  traffic.read = ElementBytes(plan.from());
  const bool fills_all = plan.to().is_whole_buffer() && plan.options().padding.has_value();
  traffic.written = fills_all ? plan.target_bytes() - plan.to().map().prefix_bytes() : ElementBytes(plan.to());
  return traffic;
}

double RunTimes::Total() const { return std::accumulate(ns_.begin(), ns_.end(), 0.0); }

double RunTimes::Median() const {
  std::vector<double> sorted = ns_;
  std::sort(sorted.begin(), sorted.end());
  return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

double RunTimes::Min() const { return *std::min_element(ns_.begin(), ns_.end()); }

RelayoutBench MeasureRelayout(const RelayoutPlan& plan, const char* source, char* target, double min_seconds,
                              const std::atomic<bool>& cancelled) {
  constexpr int64_t kFewestRuns = 5;
  constexpr int64_t kMostRuns = 100'000;
  RelayoutBench bench;
  bench.traffic = TrafficOf(plan);
  bench.threads = ThreadsOf(plan.options());
  MeasurePlanning(plan, &bench.plan);
  const auto execute = [&] { plan.Execute(source, target); };
  const auto copy_by = [&](int threads) { Copy(target, source, bench.traffic.copied(), threads); };
  const auto copy_all = [&] { copy_by(bench.threads); };
  const auto copy_alone = [&] { copy_by(1); };
  bench.copy_threads = FastestOfFew(copy_alone) < FastestOfFew(copy_all) ? 1 : bench.threads;
  const auto copy = [&] { copy_by(bench.copy_threads); };
  const int64_t copies = RepeatsOf(copy);
  const int64_t executions = RepeatsOf(execute);
  const Clock::time_point begin = Clock::now();
  const auto goes_on = [&] {
    const int64_t runs = bench.execute.count();
    if (runs == 0) return true;
    if (cancelled.load() || runs >= kMostRuns) return false;
    return runs < kFewestRuns || NanosecondsSince(begin) < 1e9 * min_seconds;
  };
  while (goes_on()) {
    bench.execute.Add(NanosecondsOf(executions, execute));
    bench.copy.Add(NanosecondsOf(copies, copy));
  }
  return bench;
}

std::string ToText(const RelayoutBench& bench) {
  return absl::StrFormat(
      "bench: %.2f GB/s, a copy %.2f GB/s, ratio %.3f; %s read, %s written by %s in %.4g ms (fastest %.4g), "
      "median of %d; planned in %.3g us\n",
      bench.gbps(), bench.copy_gbps(), bench.ratio(), HumanBytes(bench.traffic.read), HumanBytes(bench.traffic.written),
      Count(bench.threads, "thread"), bench.execute.Median() / 1e6, bench.execute.Min() / 1e6, bench.execute.count(),
      bench.plan.Median() / 1e3);
}

void AddTo(const RelayoutBench& bench, Json* json) {
  Json& to = *json;
  to["gbps"] = bench.gbps();
  to["copy_gbps"] = bench.copy_gbps();
  to["ratio"] = bench.ratio();
  to["bytes"] = bench.traffic.read + bench.traffic.written;
  to["bytes_read"] = bench.traffic.read;
  to["bytes_written"] = bench.traffic.written;
  to["threads"] = bench.threads;
  to["copy_threads"] = bench.copy_threads;
  to["runs"] = bench.execute.count();
  to["execute_ns"] = bench.execute.Median();
  to["execute_ns_min"] = bench.execute.Min();
  to["copy_ns"] = bench.copy.Median();
  to["copy_ns_min"] = bench.copy.Min();
  to["plan_ns"] = bench.plan.Median();
}

}  // namespace kashi::cli
