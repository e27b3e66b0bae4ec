// Which engine `kashi run` takes.
#ifndef KASHI_CLI_RUN_ENGINE_H_
#define KASHI_CLI_RUN_ENGINE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "cli/engine.h"
#include "cli/run_options.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

// Makes the engine that the options name. --engine auto:
//
//   cpu         with --check, --denormals or --dump-dir, which only it has
//   evaluator   with --trace, --until or --check-nan
//               for a program that the evaluator is estimated to finish before the compiler, in all its runs
//               for one of more than 20,000 instructions, whose compilation nobody wants to wait for
//               where the engine cpu is not built, or cannot run
//   cpu         otherwise
//
// devices: on how many the program will run. UNIMPLEMENTED if the engine that the options ask for cannot run the
// program. The module must outlive the engine. Cost: that of the compiler, which ends with DEADLINE_EXCEEDED or
// CANCELLED by the limits.
absl::StatusOr<std::unique_ptr<Engine>> MakeEngineFor(const HloModule& module, const RunOptions& options,
                                                      int64_t devices, const WorkLimits& limits);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RUN_ENGINE_H_
