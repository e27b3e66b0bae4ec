// The options of runs on several ranks.
#ifndef KASHI_MPI_MPI_OPTIONS_H_
#define KASHI_MPI_MPI_OPTIONS_H_

#include <cstdint>
#include <limits>

namespace kashi {

struct MpiOptions {
  // Sums of floating-point numbers are added up in the order of the devices, as by threads: the same for any number of
  // ranks. Otherwise each rank adds up what its devices have, and MPI the rest.
  bool deterministic = false;
  // The most elements that one call of MPI moves: MPI counts them by an int. Tests take few.
  int64_t most_count = std::numeric_limits<int>::max();
};

}  // namespace kashi

#endif  // KASHI_MPI_MPI_OPTIONS_H_
