// What a program is run on: .npy files, a snapshot's arguments, or made-up numbers.
#ifndef KASHI_CLI_RUN_INPUTS_H_
#define KASHI_CLI_RUN_INPUTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cli/module_file.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi::cli {

// The arguments of ENTRY, in the order of its parameters.
using Arguments = std::vector<Literal>;

// From .npy files, one an array: those of a tuple parameter one behind the other, tokens none. An error names the file, the
// parameter, what it wants and what it gets; or how many files are wanted.
absl::StatusOr<Arguments> ReadArguments(const HloModule& module, const std::vector<std::string>& paths);

// From in0.npy, in1.npy … in the folders dev0, dev1 … of `directory`. `shapes`: what the arguments of each device are, where
// they are not the parameters but shards of them.
absl::StatusOr<std::vector<Arguments>> ReadDeviceArguments(const HloModule& module, const std::string& directory,
                                                           absl::Span<const Shape> shapes = {});

// Equal for equal seeds: real numbers from [-0.1, 0.2), integers from [0, 127] (they are indices and numbers of iterations
// more often than not). RESOURCE_EXHAUSTED if they are more than `memory_limit` bytes; 0: the machine's memory.
absl::StatusOr<Arguments> MakeRandomArguments(const HloModule& module, uint64_t seed, uint64_t memory_limit = 0);

// What a snapshot was made with; nullopt for other files, and for a snapshot without arguments.
absl::StatusOr<std::optional<Arguments>> SnapshotArguments(const ModuleFile& file);
// What it gave then; nullopt likewise.
absl::StatusOr<std::optional<Literal>> SnapshotResult(const ModuleFile& file);

// How --input, --seed and the file together decide. Says on standard error if the numbers are made up.
absl::StatusOr<Arguments> ChooseArguments(const ModuleFile& file, const std::vector<std::string>& paths, uint64_t seed,
                                          uint64_t memory_limit = 0);

// "kashi: no --input: random numbers, --seed 42", to standard error.
void SayRandom(uint64_t seed);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RUN_INPUTS_H_
