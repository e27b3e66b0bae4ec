// `kashi relayout --bench`: the speed of a plan, and of a copy of the same number of bytes.
#ifndef KASHI_CLI_RELAYOUT_BENCH_H_
#define KASHI_CLI_RELAYOUT_BENCH_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/json.h"
#include "kashi/relayout/relayout_plan.h"

namespace kashi::cli {

// The bytes that any plan must move: the elements of the source, without padding; the elements of the target and its
// padding if that is filled.
struct RelayoutTraffic {
  int64_t read = 0;
  int64_t written = 0;
  int64_t copied() const { return (read + written) / 2; }  // by a copy with the same traffic
};
RelayoutTraffic TrafficOf(const RelayoutPlan& plan);

// The time of each run in nanoseconds.
class RunTimes {
 public:
  void Add(double ns) { ns_.push_back(ns); }
  double Total() const;
  double Median() const;  // Pre: there are runs
  double Min() const;
  int64_t count() const { return static_cast<int64_t>(ns_.size()); }

 private:
  std::vector<double> ns_;
};

struct RelayoutBench {
  RelayoutTraffic traffic;
  int threads = 1;       // that the plan may use
  int copy_threads = 1;  // all of those or one: what copies faster
  RunTimes execute;
  RunTimes copy;
  RunTimes plan;  // RelayoutPlan::Make

  double gbps() const { return Gbps(execute.Median()); }
  double copy_gbps() const { return Gbps(copy.Median()); }
  double ratio() const { return execute.Median() > 0 ? copy.Median() / execute.Median() : 0; }

 private:
  double Gbps(double ns) const { return ns > 0 ? static_cast<double>(traffic.read + traffic.written) / ns : 0; }
};

// Runs relayouts and copies in turns for `min_seconds`, so that other load on the machine affects both. Both go from
// `source` to `target`, whose sizes are at least those of the plan's buffers and of the copy. The contents of the
// target are not defined afterwards. Ends early if `*cancelled`.
RelayoutBench MeasureRelayout(const RelayoutPlan& plan, const char* source, char* target, double min_seconds,
                              const std::atomic<bool>& cancelled);

std::string ToText(const RelayoutBench& bench);
void AddTo(const RelayoutBench& bench, Json* json);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RELAYOUT_BENCH_H_
