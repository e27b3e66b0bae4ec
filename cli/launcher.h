// Whether a launcher of MPI (mpirun, srun) started this command, and the change to `kashi-mpi`.
#ifndef KASHI_CLI_LAUNCHER_H_
#define KASHI_CLI_LAUNCHER_H_

#include "absl/status/status.h"

namespace kashi::cli {

// The number of processes that a launcher started together with this one, by the variables that launchers set; 0: no
// launcher did.
int LaunchedRanks();

// Whether this command line runs on all ranks together: `run` on several ranks, and `mpi-bench`. Other verbs do not.
bool IsForRanks(int argc, const char* const* argv);

// Replaces this process by kashi-mpi, which is beside this program. Returns only if that fails.
absl::Status BecomeRank(char* const* argv);

}  // namespace kashi::cli

#endif  // KASHI_CLI_LAUNCHER_H_
