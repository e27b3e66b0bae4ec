// `kashi mpi-bench`: the time of collective operations on the present ranks.
#ifndef KASHI_CLI_MPI_BENCH_H_
#define KASHI_CLI_MPI_BENCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kashi::cli {

struct MpiBenchOptions {
  std::vector<std::string> collectives;  // empty: all of kMeasuredCollectives
  uint64_t least_bytes = 1 << 10;
  uint64_t most_bytes = 1 << 22;
  double seconds = 0.2;  // for each size
  bool bare = false;     // measure MPI's own call, too
  std::string output;
  bool json = false;
};

// Times of an operation in microseconds, at one size.
struct MeasuredPoint {
  int64_t bytes = 0;                                  // of a device's operand
  double us = 0;                                      // in a program
  std::optional<double> nonblocking_us, blocking_us;  // of MPI's own calls
};
struct MeasuredCollective {
  std::string name;
  double alpha_us = 0, beta_ns_per_byte = 0;
  std::vector<MeasuredPoint> points;
};
struct RankMeasurement {
  int ranks = 1, ranks_of_machine = 1;
  std::vector<MeasuredCollective> collectives;
};

inline constexpr const char* kMeasuredCollectives[] = {"all-reduce", "all-gather",         "reduce-scatter",
                                                       "all-to-all", "collective-permute", "collective-broadcast"};

}  // namespace kashi::cli

#endif  // KASHI_CLI_MPI_BENCH_H_
