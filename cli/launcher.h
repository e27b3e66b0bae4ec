// Whether a launcher of MPI (mpirun, srun) started this command, and the change to `kashi-mpi`.
#ifndef KASHI_CLI_LAUNCHER_H_
#define KASHI_CLI_LAUNCHER_H_

#include "absl/status/status.h"

namespace kashi::cli {

// The number of processes that a launcher started together with this one, by the variables that launchers set; 0: no
// launcher did.
int LaunchedRanks();

// Whether this command line is for all ranks together: `run` on several, and `mpi-bench`. Other verbs do not care.
bool IsForRanks(int argc, const char* const* argv);

// Runs kashi-mpi, beside this program, in its place. Returns only if that fails.
absl::Status BecomeRank(char* const* argv);

}  // namespace kashi::cli

#endif  // KASHI_CLI_LAUNCHER_H_
