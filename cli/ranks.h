// The ranks of a command that mpirun or srun started on several processes. `kashi` itself does not use MPI: under a
// launcher it becomes `kashi-mpi`, the same command with MPI (cli/mpi/main.cc), which is beside it.
//
// Output of the ranks: rank 0 prints answers, notes and errors. Another rank only prints errors that rank 0
// does not have, each line with its name: "rank 2: kashi: error: …". All ranks exit with the worst status of any.
#ifndef KASHI_CLI_RANKS_H_
#define KASHI_CLI_RANKS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/devices/device_fabric.h"
#include "kashi/literal/literal.h"

namespace kashi::cli {

struct MpiBenchOptions;
struct RankMeasurement;

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int count() const = 0;
  // The number of ranks that share the memory of this machine.
  virtual int ranks_of_machine() const = 0;

  // The functions below are called by all ranks, or by none.

  // The first error of any rank, with the name of that rank. The result is the same on all ranks.
  virtual absl::Status Agree(const absl::Status& own) = 0;
  // The devices of the run, on all ranks.
  virtual devices::DeviceFabric* Fabric(bool deterministic) = 0;
  // Gives rank 0 the results of all devices.
  virtual absl::Status GatherResults(const Shape& shape, std::vector<Literal>* results) = 0;
  // The texts of all ranks, by rank.
  virtual absl::StatusOr<std::vector<std::string>> GatherTexts(const std::string& own) = 0;
  // The answer of `kashi mpi-bench`.
  virtual absl::StatusOr<RankMeasurement> Measure(const MpiBenchOptions& options) = 0;
};

// The ranks to which this process belongs; null: it is alone.
Ranks* TheRanks();
void SetTheRanks(Ranks* ranks);
// Whether another rank prints.
bool IsSilentRank();

}  // namespace kashi::cli

#endif  // KASHI_CLI_RANKS_H_
