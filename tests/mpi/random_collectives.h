// Random programs of collective operations, for tests: every operation, type, mode and form of groups.
#ifndef TESTS_MPI_RANDOM_COLLECTIVES_H_
#define TESTS_MPI_RANDOM_COLLECTIVES_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi::testing {

struct RandomProgramOptions {
  uint64_t seed;
  int64_t replicas;
  int64_t partitions;
  int operations;
  // Reductions of floating-point numbers are such that no order changes their result.
  bool exact_sums;
};

// The text of a program. Each operation has a parameter of its own; the result is the tuple of all results.
std::string MakeRandomProgram(const RandomProgramOptions& options);

// Arguments of a device: numbers that suit the types, the same for the same seed and device.
std::vector<Literal> MakeArguments(const HloModule& module, uint64_t seed, int64_t device);

}  // namespace kashi::testing

#endif  // TESTS_MPI_RANDOM_COLLECTIVES_H_
