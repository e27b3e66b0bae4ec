// The options of runs on several ranks.
#ifndef KASHI_MPI_MPI_OPTIONS_H_
#define KASHI_MPI_MPI_OPTIONS_H_

#include <cstdint>
#include <limits>

namespace kashi {

struct MpiOptions {
  // Adds floating-point numbers in the order of the devices, as threads do: the sums are the same for any number of
  // ranks. Otherwise each rank adds the numbers of its devices, and MPI adds the rest.
  bool deterministic = false;
  // The most elements that one call of MPI moves, because MPI counts them by an int. Tests set a small number.
  int64_t most_count = std::numeric_limits<int>::max();
};

}  // namespace kashi

#endif  // KASHI_MPI_MPI_OPTIONS_H_
