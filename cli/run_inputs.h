// The arguments of a run: .npy files, the arguments of a snapshot, or random numbers.
#ifndef KASHI_CLI_RUN_INPUTS_H_
#define KASHI_CLI_RUN_INPUTS_H_

#include <cstdint>
#include <functional>
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

namespace kashi::cli {

// The arguments of ENTRY, in the order of its parameters.
using Arguments = std::vector<Literal>;

// Reads .npy files, one per array: the arrays of a tuple parameter follow one another, and a token has none. An error
// names the file, the parameter, the expected and the actual type; or the expected number of files.
absl::StatusOr<Arguments> ReadArguments(const HloModule& module, const std::vector<std::string>& paths);

// INVALID_ARGUMENT, with the names of the arrays, unless there is one file for each input array of the program.
absl::Status CheckArgumentCount(const HloModule& module, const std::vector<std::string>& paths);

// Reads in0.npy, in1.npy … from dev0, dev1 … of `directory`. `shapes`: the shapes of the arguments of a device, if they
// are shards of the parameters. `is_wanted`: the devices, out of `devices`, whose arguments are read; others get none.
using DeviceFilter = std::function<bool(int64_t device, int64_t devices)>;
absl::StatusOr<std::vector<Arguments>> ReadDeviceArguments(const HloModule& module, const std::string& directory,
                                                           absl::Span<const Shape> shapes = {},
                                                           const DeviceFilter& is_wanted = nullptr);

// How random arguments are made: --random, --seed.
struct RandomOptions {
  std::vector<std::string>
      rules;  // "RULE" for all parameters, "NUMBER=RULE" for one; the last one for a parameter holds
  uint64_t seed = 42;
  uint64_t memory_limit = 0;         // bytes; 0: the machine's memory
  const WorkMeter* meter = nullptr;  // says when to stop; must outlive the making
  bool prints_note = true;           // about the choice, to standard error
};
// An error message about a rule; "" if it is valid.
std::string CheckRandomRule(const std::string& text);

// Arguments, and how the random ones were made.
struct ChosenArguments {
  Arguments arguments;
  // One object per random array: parameter, name, leaf, shape, rule, first, last, for. Null if there is none.
  Json made_up;
  std::string text;  // as lines, only for arrays that do not have the type's default
};

// Random arguments that suit the program, or follow the rules (kashi/analysis/fake_arguments.h). The same options give
// the same arguments.
absl::StatusOr<ChosenArguments> MakeRandomArguments(const HloModule& module, const RandomOptions& options);

// The arguments of a snapshot; nullopt for other files, and for a snapshot without arguments.
absl::StatusOr<std::optional<Arguments>> SnapshotArguments(const ModuleFile& file);
// The result of a snapshot; nullopt for other files, and for a snapshot without a result.
absl::StatusOr<std::optional<Literal>> SnapshotResult(const ModuleFile& file);

// Chooses arguments by --input, --random, --seed and the file. Prints a note about those that were not given.
absl::StatusOr<ChosenArguments> ChooseArguments(const ModuleFile& file, const std::vector<std::string>& paths,
                                                const RandomOptions& random);

// Prints "kashi: no --input: using random arguments, --seed 42" and how they were made to standard error.
void PrintRandomNote(uint64_t seed, const ChosenArguments& chosen);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RUN_INPUTS_H_
