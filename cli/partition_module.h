// --partition: a global program becomes the program of each of its devices (kashi/partition/partition_program.h).
#ifndef KASHI_CLI_PARTITION_MODULE_H_
#define KASHI_CLI_PARTITION_MODULE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/module_file.h"
#include "cli/run_inputs.h"
#include "cli/verb.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/literal/literal.h"

namespace kashi::cli {

void AddPartitionFlag(Verb* verb, bool* partitions, const std::string& description);

// The error for a program that --partition cannot take.
absl::Status NeedsGlobalProgram(const ProgramScope& scope);

// Verifies the module and replaces it by the program of each device. After an error, adds it to `answers` and returns
// false. A module that is not global is an error.
bool PartitionModuleFile(ModuleFile* file, Answers* answers);

// The arguments of each device from the files of the whole arrays: of each file, only the part of the device is read.
// `module` is the global program. `is_wanted`: the devices whose arguments are read; others get none.
absl::StatusOr<std::vector<Arguments>> ReadArgumentParts(const HloModule& module, int64_t devices,
                                                         const std::vector<std::string>& paths,
                                                         const DeviceFilter& is_wanted = nullptr);

// The results of all devices of a partitioned program, joined. INVALID_ARGUMENT if devices that should have the same
// part of an output have different ones.
absl::StatusOr<Literal> JoinResults(const HloModule& partitioned, std::vector<Literal> results, const Shape& whole);

}  // namespace kashi::cli

#endif  // KASHI_CLI_PARTITION_MODULE_H_
