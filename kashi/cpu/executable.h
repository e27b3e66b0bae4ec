// Executable: a module, compiled for this processor, to run any number of times.
//
//   auto executable = Executable::Compile(*module).value();
//   Literal result = executable->Execute({&x, &y}).value();
//
// Three doors, from the most comfortable to the fastest:
//
//   Execute          copies the result into a literal
//   ExecuteValues    no copies. A value that only the argument holds is donated: the program may reuse its memory
//   ExecuteOnMemory  the caller's memory for arguments and results; for small programs, nothing is allocated
//
// All functions may be called by several threads at once. Where the numbers differ from the evaluator's:
// docs/fidelity.md, "The compiled engine".
#ifndef KASHI_CPU_EXECUTABLE_H_
#define KASHI_CPU_EXECUTABLE_H_

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/cpu/compile_options.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"
#include "kashi/values/value.h"

namespace kashi {

namespace internal {
class CompiledProgram;
class RunPool;
}  // namespace internal

class Executable {
 public:
  // Compiles a copy of the module, which must have passed the verifier. Cost: some 5 ms, and 5 ms for each kernel that
  // has no equal. UNIMPLEMENTED if this processor is too old (x86-64 with SSE 4.1).
  static absl::StatusOr<std::unique_ptr<Executable>> Compile(const HloModule& module,
                                                             const CompileOptions& options = {});
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // The program after all passes.
  const HloModule& module() const;
  // With CompileOptions::keep_stages: the name of each stage (a file name) and its text.
  const std::vector<std::pair<std::string, std::string>>& stages() const;

  // One literal per parameter; the result has the shape of the root. INVALID_ARGUMENT if the number of arguments or a
  // shape is wrong.
  absl::StatusOr<Literal> Execute(absl::Span<const Literal* const> arguments) const;
  // With limits, a seed, custom calls … (evaluation_options.h); `compiled` is set here.
  absl::StatusOr<Literal> Execute(absl::Span<const Literal* const> arguments, EvaluationOptions options) const;

  // Values are dense and row-major, and results share memory where they can.
  absl::StatusOr<Value> ExecuteValues(std::vector<Value> arguments) const;
  // The same; ends with CANCELLED soon after the flag is set. Null: never. The flag must outlive the executable.
  absl::StatusOr<Value> ExecuteValues(std::vector<Value> arguments, const std::atomic<bool>* cancelled) const;
  // With limits, a seed, custom calls, a profile …; `compiled` is set here.
  absl::StatusOr<Value> ExecuteValues(std::vector<Value> arguments, EvaluationOptions options) const;
  // The same on a thread of its own. The executable must outlive the future.
  std::future<absl::StatusOr<Value>> ExecuteValuesAsync(std::vector<Value> arguments) const;

  // One pointer for each array of the arguments and of the result, with tuples taken apart in order. Elements are dense
  // and row-major; memory of results must not overlap any other. The module must have static shapes without tokens.
  // No checks of sizes: the caller knows the shapes. A call of a tiny program takes some 0.1 µs. `cancelled` is that of
  // ExecuteValues.
  absl::Status ExecuteOnMemory(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                               const std::atomic<bool>* cancelled = nullptr) const;

  // A program of several devices: arguments_of_devices[replica * partitions + partition]. Each device is a thread
  // (kashi/evaluator/device_group.h).
  absl::StatusOr<std::vector<Literal>> ExecuteOnDevices(std::vector<std::vector<Literal>> arguments_of_devices,
                                                        EvaluationOptions options = {}) const;

 private:
  explicit Executable(std::unique_ptr<internal::CompiledProgram> program);

  std::unique_ptr<internal::CompiledProgram> program_;
  std::unique_ptr<internal::RunPool> runs_;
  int64_t argument_arrays_, result_arrays_;  // -1: with tokens or dynamic sizes
};

}  // namespace kashi

#endif  // KASHI_CPU_EXECUTABLE_H_
