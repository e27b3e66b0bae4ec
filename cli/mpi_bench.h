// `kashi mpi-bench`: how long collective operations take on the ranks at hand.
#ifndef KASHI_CLI_MPI_BENCH_H_
#define KASHI_CLI_MPI_BENCH_H_

#include <cstdint>
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

inline constexpr const char* kMeasuredCollectives[] = {"all-reduce", "all-gather",         "reduce-scatter",
                                                       "all-to-all", "collective-permute", "collective-broadcast"};

}  // namespace kashi::cli

#endif  // KASHI_CLI_MPI_BENCH_H_
