// Program: a module that is ready to run, any number of times. engine_choice.h chooses the engine.
//
//   auto program = Program::Compile(*module).value();
//   Literal result = program->Execute({&x, &y}).value();
//
// Doors, from the most comfortable to the fastest:
//
//   Execute            copies the result into a literal
//   ExecuteValues      no copies. A value that only the argument holds is donated: the program may reuse its memory
//   ExecuteOnMemory    the caller's memory for arguments and results; for small programs, nothing is allocated
//   ExecuteOnDevices   a program of several devices: each is a thread
//
// All functions may be called by several threads at once. Where the engine cpu and the evaluator give different
// numbers: docs/fidelity.md, "The compiled engine". A program of the engine cpu needs kashi::cpu to be linked.
#ifndef KASHI_ENGINE_PROGRAM_H_
#define KASHI_ENGINE_PROGRAM_H_

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/engine/compile_options.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/collective_groups.h"
#include "kashi/literal/literal.h"
#include "kashi/values/value.h"

namespace kashi {

namespace engine {
struct CompiledObject;
class Engine;
class EngineProgram;
class ProgramDoor;
class RunPool;
}  // namespace engine

class Program {
 public:
  // Compiles a copy of the module, which must have passed the verifier. Cost with the engine cpu: some 5 ms, and 5 ms
  // for each distinct kernel. INVALID_ARGUMENT if there is no engine or target of the name in the options;
  // UNIMPLEMENTED if that engine is not built in, needs another processor (cpu: x86-64 with SSE 4.1), or cannot run the
  // module; FAILED_PRECONDITION if this processor cannot run the target.
  static absl::StatusOr<std::unique_ptr<Program>> Compile(const HloModule& module, const CompileOptions& options = {});
  // The evaluator runs this module, without a copy: it must not change while the program exists.
  static absl::StatusOr<std::unique_ptr<Program>> Compile(std::shared_ptr<const HloModule> module,
                                                          const CompileOptions& options = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // The program as bytes, for Deserialize: in another process, or later. FAILED_PRECONDITION unless
  // CompileOptions::keep_code was set.
  absl::StatusOr<std::string> Serialize() const;
  // A program from such bytes, with its engine, target and rules of numbers. Object code in them is
  // used if this version would make the same for the target, which may be this processor; the rest is compiled again.
  // `options`: limits, keep_stages, keep_code. INVALID_ARGUMENT for bytes that are cut or changed, FAILED_PRECONDITION
  // for those of another version, and for a target that this processor cannot run.
  //
  // Bytes with object code are a program of this processor: accept them only from a source whose libraries you would
  // load. A checksum finds errors, not malice.
  static absl::StatusOr<std::unique_ptr<Program>> Deserialize(absl::string_view bytes,
                                                              const CompileOptions& options = {});

  // "cpu" or "evaluator".
  absl::string_view engine() const;
  // The module that runs: after all passes of the engine.
  const HloModule& module() const;
  // With CompileOptions::keep_stages: the name of each stage (a file name) and its text.
  const std::vector<std::pair<std::string, std::string>>& stages() const;
  // The reasons why parts of a program of the engine cpu have no code, so that the evaluator runs them. Each is an
  // error of that engine; the results are still right.
  absl::Span<const absl::Status> refusals() const;

  // How many objects of machine code it has, and how many of them were known: from the bytes of Deserialize, or from
  // the cache.
  ObjectUse object_use() const;

  // One literal per parameter; the result has the shape of the root. INVALID_ARGUMENT if the number of arguments or a
  // shape is wrong.
  absl::StatusOr<Literal> Execute(absl::Span<const Literal* const> arguments) const;
  // With limits, a seed, custom calls … EvaluationOptions::excess_precision has no effect: CompileOptions has decided.
  absl::StatusOr<Literal> Execute(absl::Span<const Literal* const> arguments, EvaluationOptions options) const;

  // Values are dense and row-major, and results share memory where they can. They may outlive the program.
  absl::StatusOr<Value> ExecuteValues(std::vector<Value> arguments) const;
  // Ends with CANCELLED soon after the flag is set. Null: never. The flag must outlive the program.
  absl::StatusOr<Value> ExecuteValues(std::vector<Value> arguments, const std::atomic<bool>* cancelled) const;
  absl::StatusOr<Value> ExecuteValues(std::vector<Value> arguments, EvaluationOptions options) const;
  // Runs on its own thread. The program must outlive the future.
  std::future<absl::StatusOr<Value>> ExecuteValuesAsync(std::vector<Value> arguments) const;

  // One pointer for each array of the arguments and of the result, with tuples taken apart in order. Elements are dense
  // and row-major; memory of results must not overlap any other. The module must have static shapes without tokens.
  // Does not check sizes: the caller knows the shapes. A call of a tiny compiled program takes some 0.1 µs. `cancelled`
  // is as in ExecuteValues.
  absl::Status ExecuteOnMemory(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                               const std::atomic<bool>* cancelled = nullptr) const;

  // RunOnDevices (kashi/evaluator/device_group.h): arguments_of_devices[replica * partitions + partition].
  absl::StatusOr<std::vector<Literal>> ExecuteOnDevices(std::vector<std::vector<Literal>> arguments_of_devices,
                                                        const EvaluationOptions& options = {},
                                                        std::optional<DeviceCounts> counts = std::nullopt) const;

 private:
  friend class engine::ProgramDoor;
  struct Parts;
  explicit Program(Parts parts);
  static absl::StatusOr<Parts> CompileParts(const HloModule& module, const CompileOptions& options,
                                            absl::Span<const engine::CompiledObject> known);

  const engine::Engine& engine_;
  const std::string target_;  // CompileOptions::target
  const NumberOptions numbers_;
  const std::string text_;  // of the module before it was compiled; only with CompileOptions::keep_code
  // With the module, if it is not the program's own. Results that are constants of it refer to it.
  std::shared_ptr<const engine::EngineProgram> program_;
  std::unique_ptr<engine::RunPool> runs_;
  int64_t argument_arrays_, result_arrays_;  // -1: with tokens or dynamic sizes
};

}  // namespace kashi

#endif  // KASHI_ENGINE_PROGRAM_H_
