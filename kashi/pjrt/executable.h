// Executable: a program that was compiled for devices, with all that the C API tells of it.
//
//   MLIR or HLO ──> HloModule ──> partitioned, if it is for several devices ──> Program ──> Executable ──> bytes
#ifndef KASHI_PJRT_EXECUTABLE_H_
#define KASHI_PJRT_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape.h"
#include "kashi/engine/program.h"
#include "kashi/pjrt/pjrt_c_api.h"
#include "kashi/proto/compile_options.pb.h"

namespace kashi::pjrt {

class Executable {
 public:
  // `program`: code and its format ("mlir": StableHLO as an artifact or as text; "hlo": an HloModuleProto;
  // "hlo_with_config"). `options`: a serialized CompileOptionsProto. device_count: devices of the client; a device
  // assignment must be of them. INVALID_ARGUMENT for bytes that are none of this; UNIMPLEMENTED for programs that
  // Kashi does not run.
  static absl::StatusOr<std::shared_ptr<const Executable>> Compile(const PJRT_Program& program,
                                                                   absl::string_view options, int64_t device_count);
  // Of the bytes of Serialize, by this version of Kashi. overridden_options: as in Compile; empty: those of the bytes.
  static absl::StatusOr<std::shared_ptr<const Executable>> Deserialize(absl::string_view bytes,
                                                                       absl::string_view overridden_options,
                                                                       int64_t device_count);
  absl::StatusOr<std::string> Serialize() const;

  // Before the passes of the engine: the program of each device.
  const HloModule& module() const { return *module_; }
  const std::shared_ptr<const Program>& program() const { return program_; }
  const std::string& name() const { return name_; }
  const std::string& fingerprint() const { return fingerprint_; }
  int64_t replicas() const { return replicas_; }
  int64_t partitions() const { return partitions_; }
  // The numbers of its devices: [replica * partitions + partition].
  const std::vector<int64_t>& devices() const { return devices_; }
  std::string SerializedDeviceAssignment() const;
  const CompileOptionsProto& options() const { return facts_.options(); }

  // Whether it has custom calls for which a handler must be asked.
  bool calls_handlers() const { return calls_handlers_; }

  // Of each array or token of the result, and of the arguments: its type, sizes, the layout that callers see, the name
  // of its memory space.
  struct Leaf {
    PJRT_Buffer_Type type;
    Shape shape;
    std::string memory_kind;
    std::optional<std::string> sharding;  // a serialized OpSharding: no bytes mean replicated
  };
  const std::vector<Leaf>& arguments() const { return arguments_; }
  const std::vector<Leaf>& results() const { return results_; }

  // The module after all passes, as a serialized HloModuleProtoWithConfig, with the shardings of parameters and
  // results.
  absl::StatusOr<std::string> OptimizedModule() const;
  // The costs that XLA would give: "flops" …
  struct Property {
    std::string name;
    float value;
  };
  absl::StatusOr<std::vector<Property>> Costs() const;
  struct Memory {
    int64_t code_bytes, argument_bytes, output_bytes, alias_bytes, temporary_bytes;
  };
  Memory MemoryUse() const;

 private:
  Executable() = default;
  static absl::StatusOr<std::shared_ptr<const Executable>> Make(std::shared_ptr<const HloModule> module,
                                                                std::unique_ptr<Program> program,
                                                                SerializedExecutableProto facts, int64_t device_count);
  absl::Status SetDevices(int64_t device_count);
  void SetShardings();
  absl::Status CheckLeaves() const;

  std::shared_ptr<const HloModule> module_;  // before the passes of the engine
  std::shared_ptr<const Program> program_;
  SerializedExecutableProto facts_;  // without the module and the program
  std::string name_, fingerprint_;
  int64_t replicas_ = 1, partitions_ = 1;
  std::vector<int64_t> devices_;
  bool calls_handlers_ = false;
  std::vector<Leaf> arguments_, results_;
};

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_EXECUTABLE_H_
