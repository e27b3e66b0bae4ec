// The arguments of all devices of a program that `kashi run` runs, and the module that runs on them.
#ifndef KASHI_CLI_PROGRAM_INPUTS_H_
#define KASHI_CLI_PROGRAM_INPUTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/module_file.h"
#include "cli/run_inputs.h"
#include "cli/run_options.h"
#include "kashi/array/shape.h"
#include "kashi/base/work_meter.h"
#include "kashi/devices/device_fabric.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/literal/literal.h"

namespace kashi::cli {

struct ProgramInputs {
  ProgramScope scope;
  std::vector<Arguments> arguments;        // per device; one list for a global program
  std::optional<Shape> whole_result;       // of the global program, where --partition replaced it
  std::optional<Literal> snapshot_result;  // the result in the snapshot, to compare with
};

// Chooses them by --as, --partition, --input, --devices-dir, --random and the file. Random values replace elided
// constants of the module, and --partition replaces the module. Notes go to standard error, and to `json`: "inputs",
// "elided_constants". `fabric`: of several ranks, of which this one reads the arguments of its own devices; null: there
// is one process.
absl::StatusOr<ProgramInputs> ChooseProgramInputs(const RunOptions& options, const Interrupt& interrupt,
                                                  const devices::DeviceFabric* fabric, ModuleFile* file, Json* json);

}  // namespace kashi::cli

#endif  // KASHI_CLI_PROGRAM_INPUTS_H_
