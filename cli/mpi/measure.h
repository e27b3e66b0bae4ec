// The times of collective operations on the ranks of MPI. For `kashi mpi-bench`.
#ifndef KASHI_CLI_MPI_MEASURE_H_
#define KASHI_CLI_MPI_MEASURE_H_

#include "absl/status/statusor.h"
#include "cli/mpi_bench.h"
#include "kashi/mpi/mpi_ranks.h"

namespace kashi::cli {

// All ranks call this, and all get the answer.
absl::StatusOr<RankMeasurement> MeasureRanks(const MpiBenchOptions& options, MpiRanks* ranks);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MPI_MEASURE_H_
