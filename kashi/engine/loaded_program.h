// LoadedProgram: a program that is ready to run on devices of a client.
#ifndef KASHI_ENGINE_LOADED_PROGRAM_H_
#define KASHI_ENGINE_LOADED_PROGRAM_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/engine/buffer.h"
#include "kashi/engine/event.h"
#include "kashi/engine/local_device.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/evaluation_options.h"

namespace kashi {

namespace buffers {
struct LeafAlias;
}  // namespace buffers

namespace engine {
struct ProgramLaunch;
class RunPool;
}  // namespace engine

struct ExecuteOptions {
  // Arguments that stay the caller's although the module donates them. INVALID_ARGUMENT for one that does not exist.
  std::vector<int64_t> non_donatable;
  // The program ends with CANCELLED soon after the flag is set. If it has not begun when its arguments are ready, it
  // does not begin. The flag must outlive the program. Null: never.
  const std::atomic<bool>* cancelled = nullptr;
  // As in EvaluationOptions.
  CustomCallHandler custom_call_handler;
  std::function<bool(const HloInstruction& custom_call)> is_handled;
  // Whether a program of one device with handlers may run within the call, too, if all but them is short: as XLA's CPU
  // client does it. A handler must not wait then for what the caller does next.
  bool may_run_handlers_within = false;
  // A program of one device whose arguments are ready runs within the call, however long it takes.
  bool runs_within = false;
};

struct DeviceResults {
  std::vector<std::unique_ptr<Buffer>> buffers;  // the arrays and tokens of the root, tuples taken apart in order
  Event done;                                    // the program has ended on this device; its error
};

// Thread-safe.
class LoadedProgram {
 public:
  // Running programs continue, and keep what they need.
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  const Program& program() const { return *program_; }
  const std::vector<LocalDevice*>& devices() const { return devices_; }
  // The arrays and tokens of the parameters and of the root, with tuples taken apart in order.
  const std::vector<Shape>& argument_shapes() const { return argument_shapes_; }
  const std::vector<Shape>& result_shapes() const { return result_shapes_; }
  // Whether the module says that a result may use the memory of this argument (input_output_alias), or that the program
  // may reuse it (buffer_donor).
  bool IsDonated(int64_t argument) const { return is_donated_[argument]; }

  // Runs the program: one list of arguments for each device. Returns before it has run, unless it is short and nothing
  // is before it: then its error is that of this call. Each device runs the programs of each thread in order, after the
  // arguments are ready. If an argument has an error, this program has the same error. Programs that a handler starts
  // are those of another thread: it may wait for them.
  //
  // The call deletes donated arguments. The program reuses their memory, if nothing else holds it.
  //
  // INVALID_ARGUMENT for a wrong number of arguments, or an argument of a wrong shape, on another device, deleted, or
  // donated and given twice: then no argument is deleted.
  absl::StatusOr<std::vector<DeviceResults>> Execute(absl::Span<const std::vector<Buffer*>> arguments_of_devices,
                                                     const ExecuteOptions& options = {}) const;

 private:
  friend class Client;
  static constexpr int64_t kUnknownNs = std::numeric_limits<int64_t>::max();
  LoadedProgram(Client& client, std::shared_ptr<const Program> program, std::vector<LocalDevice*> devices);
  absl::Status CheckArguments(absl::Span<const std::vector<Buffer*>> arguments_of_devices,
                              const std::vector<bool>& is_donated) const;
  absl::StatusOr<std::vector<bool>> DonatedNow(const ExecuteOptions& options) const;
  absl::Status TakeArguments(absl::Span<const std::vector<Buffer*>> arguments_of_devices,
                             const std::vector<bool>& is_donated, engine::ProgramLaunch* launch) const;
  // The error of the program if it ran at once.
  absl::Status Start(std::shared_ptr<engine::ProgramLaunch> launch) const;

  Client& client_;
  const std::shared_ptr<const Program> program_;
  const std::vector<LocalDevice*> devices_;
  std::vector<Shape> argument_shapes_, result_shapes_;
  std::vector<bool> is_donated_;
  using Aliases = std::vector<buffers::LeafAlias>;
  // Of the module, and those of AliasesToPlace (donated_memory.h).
  std::shared_ptr<const Aliases> aliases_, aliases_to_place_;
  bool is_short_ = false;  // as its instructions tell
  bool is_cheap_ = false;  // all but its loops and calls is short
  // The time of the last run, for programs with loops, whose instructions do not tell. Shared with the runs.
  const std::shared_ptr<std::atomic<int64_t>> last_ns_ = std::make_shared<std::atomic<int64_t>>(kUnknownNs);
  std::shared_ptr<engine::RunPool> runs_;
};

}  // namespace kashi

#endif  // KASHI_ENGINE_LOADED_PROGRAM_H_
