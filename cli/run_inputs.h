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
#include "cli/json.h"
#include "cli/module_file.h"
#include "kashi/array/shape.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi::internal::cli {

// The arguments of ENTRY, in the order of its parameters.
using Arguments = std::vector<Literal>;

// From .npy files, one an array: those of a tuple parameter one behind the other, tokens none. An error names the file, the
// parameter, what it wants and what it gets; or how many files are wanted.
absl::StatusOr<Arguments> ReadArguments(const HloModule& module, const std::vector<std::string>& paths);

// From in0.npy, in1.npy … in the folders dev0, dev1 … of `directory`. `shapes`: what the arguments of each device are, where
// they are not the parameters but shards of them.
absl::StatusOr<std::vector<Arguments>> ReadDeviceArguments(const HloModule& module, const std::string& directory,
                                                           absl::Span<const Shape> shapes = {});

// How arguments are made up where there are none: --random, --seed.
struct RandomOptions {
  std::vector<std::string>
      rules;  // "RULE" for all parameters, "NUMBER=RULE" for one; the last one for a parameter holds
  uint64_t seed = 42;
  uint64_t memory_limit = 0;         // bytes; 0: the machine's memory
  const WorkMeter* meter = nullptr;  // says when to stop; must outlive the making
};
// What is wrong with a rule; "" if nothing is.
std::string CheckRandomRule(const std::string& text);

// Arguments that were made up, or found.
struct ChosenArguments {
  Arguments arguments;
  // One for each array that was made up: parameter, name, leaf, shape, rule, first, last, for. Null if none was.
  Json made_up;
  std::string text;  // the same as lines, of those that are not of the type's default
};

// As the program can use them, or by the rules (kashi/analysis/fake_arguments.h). Equal for equal options.
absl::StatusOr<ChosenArguments> MakeRandomArguments(const HloModule& module, const RandomOptions& options);

// What a snapshot was made with; nullopt for other files, and for a snapshot without arguments.
absl::StatusOr<std::optional<Arguments>> SnapshotArguments(const ModuleFile& file);
// What it gave then; nullopt likewise.
absl::StatusOr<std::optional<Literal>> SnapshotResult(const ModuleFile& file);

// How --input, --random, --seed and the file together decide. Says on standard error if the numbers are made up.
absl::StatusOr<ChosenArguments> ChooseArguments(const ModuleFile& file, const std::vector<std::string>& paths,
                                                const RandomOptions& random);

// "kashi: no --input: random numbers, --seed 42", and how those of `chosen` were made, to standard error.
void SayRandom(uint64_t seed, const ChosenArguments& chosen);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_RUN_INPUTS_H_
