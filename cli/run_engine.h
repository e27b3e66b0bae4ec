// Which engine `kashi run` takes.
#ifndef KASHI_CLI_RUN_ENGINE_H_
#define KASHI_CLI_RUN_ENGINE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "cli/engine.h"
#include "cli/run_options.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

// What the choice depends on, besides the options.
struct EngineTask {
  bool is_global = false;  // a program that is not partitioned yet
  int64_t devices = 1;
};

// Makes the engine that the options name. --engine auto:
//
//   cpu         with --denormals, --excess-precision or --dump-dir, which only it has
//   evaluator   with --trace, --until or --check-nan, and for global programs
//               for a program that the evaluator is estimated to finish before the compiler, in all its runs
//               for one of more than 20,000 instructions, whose compilation nobody wants to wait for
//               where the engine cpu is not built, or cannot run
//   cpu         otherwise
//
// UNIMPLEMENTED if the engine that the options ask for cannot run the program. The module must outlive the engine.
// Cost: that of the compiler.
absl::StatusOr<std::unique_ptr<Engine>> MakeEngineFor(const HloModule& module, const RunOptions& options,
                                                      const EngineTask& task);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RUN_ENGINE_H_
