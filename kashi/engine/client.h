// Client: devices, buffers on them, and programs that run on them, beside their caller. Its classes are what PJRT needs
// (docs/spec/pjrt.md 3, 5, 6 and 11).
//
//   auto client = Client::Create({/*devices=*/2}).value();
//   auto program = client->Compile(*module).value();
//   auto x = client->BufferFromHost(data, placement, HostBufferSemantics::kImmutableOnlyDuringCall).value();
//   auto results = program->Execute({{x.get()}}).value();          // returns before the program has run
//   Literal y = results[0].buffers[0]->ToLiteral().value();        // waits
//
// For programs that need no queue (a single call on the caller's memory), Program (program.h) is faster.
#ifndef KASHI_ENGINE_CLIENT_H_
#define KASHI_ENGINE_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "kashi/engine/buffer.h"
#include "kashi/engine/compile_options.h"
#include "kashi/engine/loaded_program.h"
#include "kashi/engine/local_device.h"
#include "kashi/engine/program.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"
#include "kashi/relayout/placement.h"
#include "kashi/values/value.h"

namespace kashi {

struct ClientOptions {
  int64_t devices = 1;  // 1 to kMaxDevices
  // The limit on the bytes of all buffers and runs together, without memory that the caller lends. 0: most of the
  // available memory (MemoryBudget).
  int64_t memory_limit_bytes = 0;
  // The engine whose devices these are; it compiles all programs, and its memory has all arrays. "": they are threads
  // of this process, for all engines that run there.
  std::string engine = "";
};

// XLA's names.
enum class HostBufferSemantics {
  kImmutableOnlyDuringCall,          // the call copies the elements
  kImmutableUntilTransferCompletes,  // the elements stay until `done` is called; here, the call copies them
  kImmutableZeroCopy,                // the elements stay until `done` is called: the buffer uses them, if they are
                                     // dense and aligned to 64 bytes
};

// Thread-safe. It must outlive its buffers and programs.
class Client {
 public:
  // INVALID_ARGUMENT for numbers that are out of range, and for an engine that is not there.
  static absl::StatusOr<std::unique_ptr<Client>> Create(const ClientOptions& options = {});
  // Waits for running programs, and for those that their callbacks start. Must not be called from such a callback.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const std::vector<std::unique_ptr<LocalDevice>>& devices() const { return devices_; }
  // NOT_FOUND if there is none.
  absl::StatusOr<LocalDevice*> DeviceOf(int64_t id) const;

  // A buffer with the elements at `data`, which have this placement. memory_space: of this client; null:
  // the default one of device 0. `done` is called once, by any thread, when `data` is no longer read; at once if this
  // function fails. RESOURCE_EXHAUSTED beyond the memory limit.
  absl::StatusOr<std::unique_ptr<Buffer>> BufferFromHost(const void* data, const Placement& placement,
                                                         HostBufferSemantics semantics,
                                                         MemorySpace* memory_space = nullptr,
                                                         std::function<void()> done = nullptr);
  // Copies a static array.
  absl::StatusOr<std::unique_ptr<Buffer>> BufferFromLiteral(const LiteralSlice& literal,
                                                            MemorySpace* memory_space = nullptr);
  absl::StatusOr<std::unique_ptr<Buffer>> MakeToken(MemorySpace* memory_space = nullptr);

  // Program::Compile and Load. Devices: null: the first ones.
  absl::StatusOr<std::unique_ptr<LoadedProgram>> Compile(const HloModule& module, const CompileOptions& options = {},
                                                         absl::Span<LocalDevice* const> devices = {});
  // Makes a program ready for devices, one for each replica and partition of its module: [replica * partitions +
  // partition]; none: the first devices of the client. INVALID_ARGUMENT if their number is wrong. UNIMPLEMENTED for
  // arguments and results with dynamic sizes, and for global programs (kashi/partition makes programs of devices).
  // FAILED_PRECONDITION for a program whose engine has its arrays in another memory.
  absl::StatusOr<std::unique_ptr<LoadedProgram>> Load(std::shared_ptr<const Program> program,
                                                      absl::Span<LocalDevice* const> devices = {});

  const std::shared_ptr<MemoryBudget>& memory() const { return memory_; }
  // Whether no program waits or runs, and no function that waits for its end.
  bool IsIdle() const;

 private:
  friend class LoadedProgram;
  absl::StatusOr<MemorySpace*> PlaceOf(MemorySpace* memory_space) const;
  Client(const ClientOptions& options, const engine::DeviceMemory& of_devices);

  const std::shared_ptr<MemoryBudget> memory_;
  const std::string engine_;  // ClientOptions::engine
  // Held while a program takes its arguments, so that no two take one by donation.
  absl::Mutex launch_mutex_;
  std::vector<std::unique_ptr<LocalDevice>> devices_;
};

}  // namespace kashi

#endif  // KASHI_ENGINE_CLIENT_H_
