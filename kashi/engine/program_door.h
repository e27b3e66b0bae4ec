// ProgramDoor: runs of a program with hooks, for the rooms above, which measure, compare or distribute it.
#ifndef KASHI_ENGINE_PROGRAM_DOOR_H_
#define KASHI_ENGINE_PROGRAM_DOOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/run_hooks.h"
#include "kashi/literal/literal.h"
#include "kashi/values/value.h"

namespace kashi::buffers {
struct BufferAssignment;
}  // namespace kashi::buffers

namespace kashi::engine {

class DeviceMemory;

class ProgramDoor {
 public:
  // A run of the program, for any number of calls of its entry by one thread. The program must outlive it.
  // Sets RunHooks::compiled.
  static std::unique_ptr<evaluator::EvaluationRun> NewRun(const Program& program, EvaluationOptions options,
                                                          evaluator::RunHooks hooks);

  // Engine::memory.
  static const DeviceMemory& MemoryOf(const Program& program);

  // EngineProgram::Execute on values of this process. The result may outlive the program: it may be a constant of the
  // module, which it then keeps alive.
  static absl::StatusOr<Value> Call(const Program& program, evaluator::EvaluationRun& run,
                                    std::vector<Value> arguments);
  // Call with arguments and a result in MemoryOf the program.
  static absl::StatusOr<Value> CallInMemory(const Program& program, evaluator::EvaluationRun& run,
                                            std::vector<Value> arguments);
  // Call whose result must not outlive the program.
  static absl::StatusOr<Value> ExecuteOnHost(const Program& program, std::vector<Value> arguments,
                                             evaluator::EvaluationRun& run);
  // Program::Execute within this run.
  static absl::StatusOr<Literal> CallOnLiterals(const Program& program, evaluator::EvaluationRun& run,
                                                absl::Span<const Literal* const> arguments);

  // The bytes of its object code; 0 without CompileOptions::keep_code.
  static int64_t CodeBytes(const Program& program);

  // EngineProgram::buffers.
  static const buffers::BufferAssignment* BuffersOf(const Program& program);

  // The options and hooks of each run of the program.
  static void Complete(const Program& program, EvaluationOptions* options, evaluator::RunHooks* hooks);

  // Program::ExecuteOnDevices with hooks (RunOnDevicesWithHooks).
  static absl::StatusOr<std::vector<Literal>> ExecuteOnDevices(const Program& program,
                                                               std::vector<std::vector<Literal>> arguments_of_devices,
                                                               EvaluationOptions options, evaluator::RunHooks hooks,
                                                               std::optional<DeviceCounts> counts = std::nullopt);
  // ExecuteOnDevices on values in MemoryOf the program, by threads of this process (RunValuesOnDevices).
  static absl::StatusOr<std::vector<Value>> ExecuteValuesOnDevices(
      const Program& program, std::vector<std::vector<Value>> arguments_of_devices, const EvaluationOptions& options,
      const evaluator::RunHooks& hooks, const values::RunLimits& limits, DeviceCounts counts);
};

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_PROGRAM_DOOR_H_
