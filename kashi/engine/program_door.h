// ProgramDoor: runs of a program with hooks, for the rooms above that measure, compare or distribute it.
#ifndef KASHI_ENGINE_PROGRAM_DOOR_H_
#define KASHI_ENGINE_PROGRAM_DOOR_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/run_hooks.h"
#include "kashi/literal/literal.h"
#include "kashi/values/value.h"

namespace kashi::internal {

struct BufferAssignment;

class ProgramDoor {
 public:
  // A run of the program, for any number of calls of its entry by one thread. The program must outlive it.
  // RunHooks::compiled is set here.
  static std::unique_ptr<EvaluationRun> NewRun(const Program& program, EvaluationOptions options, RunHooks hooks);

  // EvaluationRun::Call of the entry; the result may outlive the program.
  static absl::StatusOr<Value> Call(const Program& program, EvaluationRun& run, std::vector<Value> arguments);
  // A result of the program, which may be a constant of its module, keeps that alive.
  static Value KeepingAlive(const Program& program, Value result);

  // EngineProgram::buffers.
  static const BufferAssignment* BuffersOf(const Program& program);

  // The options and hooks of each run of the program.
  static void Complete(const Program& program, EvaluationOptions* options, RunHooks* hooks);

  // Program::ExecuteOnDevices with hooks (RunOnDevicesWithHooks).
  static absl::StatusOr<std::vector<Literal>> ExecuteOnDevices(const Program& program,
                                                               std::vector<std::vector<Literal>> arguments_of_devices,
                                                               EvaluationOptions options, RunHooks hooks,
                                                               std::optional<DeviceCounts> counts = std::nullopt);
};

}  // namespace kashi::internal

#endif  // KASHI_ENGINE_PROGRAM_DOOR_H_
