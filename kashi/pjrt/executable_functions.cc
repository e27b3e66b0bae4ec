// Executables: compiled programs; and their runs.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "kashi/base/status.h"
#include "kashi/pjrt/ffi_host.h"
#include "kashi/pjrt/functions.h"
#include "kashi/pjrt/objects.h"
#include "kashi/pjrt/program_check.h"
#include "kashi/pjrt/report.h"
#include "kashi/pjrt/types.h"

namespace kashi::pjrt {
namespace {

absl::StatusOr<PJRT_LoadedExecutable*> Load(const PJRT_Client& client, std::shared_ptr<const Executable> executable) {
  KASHI_RETURN_IF_ERROR(WriteReport(*executable));
  const ClientState& state = *client.state;
  std::vector<LocalDevice*> devices;
  for (const int64_t id : executable->devices()) {
    KASHI_ASSIGN_OR_RETURN(LocalDevice* const device, state.client->DeviceOf(id));
    devices.push_back(device);
  }
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<LoadedProgram> loaded, state.client->Load(executable->program(), devices));
  KASHI_ASSIGN_OR_RETURN(std::shared_ptr<const FfiCalls> calls, FfiCalls::Instantiate(loaded->program().module()));
  return NewObject<PJRT_LoadedExecutable>(client.state, std::move(executable), std::move(loaded), std::move(calls));
}

int64_t DeviceCountOf(const PJRT_Client& client) { return static_cast<int64_t>(client.state->devices.size()); }

}  // namespace

// ---- Compilation ---------------------------------------------------------------------------------------------------

absl::Status Call(PJRT_Client_Compile_Args& args) {
  const absl::string_view options(args.compile_options, args.compile_options_size);
  KASHI_ASSIGN_OR_RETURN(auto executable, Executable::Compile(*args.program, options, DeviceCountOf(*args.client)));
  KASHI_ASSIGN_OR_RETURN(args.executable, Load(*args.client, std::move(executable)));
  return absl::OkStatus();
}
absl::Status Call(PJRT_Compile_Args& args) {
  const absl::string_view options(args.compile_options, args.compile_options_size);
  KASHI_ASSIGN_OR_RETURN(
      auto executable,
      Executable::Compile(*args.program, options, static_cast<int64_t>(args.topology->descriptions.size())));
  args.executable = NewObject<PJRT_Executable>(std::move(executable));
  return absl::OkStatus();
}
absl::Status Call(PJRT_Client_Load_Args& args) {
  KASHI_ASSIGN_OR_RETURN(args.loaded_executable, Load(*args.client, args.executable->executable));
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_DeserializeAndLoad_Args& args) {
  const absl::string_view bytes(args.serialized_executable, args.serialized_executable_size);
  absl::string_view options;
  if (args.overridden_serialized_compile_options != nullptr) {
    options =
        absl::string_view(args.overridden_serialized_compile_options, args.overridden_serialized_compile_options_size);
  }
  KASHI_ASSIGN_OR_RETURN(auto executable, Executable::Deserialize(bytes, options, DeviceCountOf(*args.client)));
  KASHI_ASSIGN_OR_RETURN(args.loaded_executable, Load(*args.client, std::move(executable)));
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_Serialize_Args& args) {
  KASHI_ASSIGN_OR_RETURN(std::string bytes, args.executable->executable->Serialize());
  GiveBytes(std::move(bytes), &args.serialized_bytes, &args.serialized_bytes_size, &args.serialized_executable,
            &args.serialized_executable_deleter);
  return absl::OkStatus();
}

// ---- What an executable is -----------------------------------------------------------------------------------------

absl::Status Call(PJRT_Executable_Destroy_Args& args) {
  delete args.executable;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_Name_Args& args) {
  Give(args.executable->executable->name(), &args.executable_name, &args.executable_name_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_NumReplicas_Args& args) {
  args.num_replicas = static_cast<size_t>(args.executable->executable->replicas());
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_NumPartitions_Args& args) {
  args.num_partitions = static_cast<size_t>(args.executable->executable->partitions());
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_NumOutputs_Args& args) {
  args.num_outputs = args.executable->executable->results().size();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_Fingerprint_Args& args) {
  Give(args.executable->executable->fingerprint(), &args.executable_fingerprint, &args.executable_fingerprint_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args& args) {
  args.size_in_bytes = args.executable->executable->MemoryUse().code_bytes;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_GetCostAnalysis_Args& args) {
  PJRT_Executable& executable = *args.executable;
  const absl::MutexLock lock(&executable.mutex);
  if (executable.costs.empty()) {
    KASHI_ASSIGN_OR_RETURN(executable.costs, executable.executable->Costs());
    for (const Executable::Property& cost : executable.costs) {
      PJRT_NamedValue value = {PJRT_SIZE(PJRT_NamedValue, value_size),
                               nullptr,
                               cost.name.data(),
                               cost.name.size(),
                               PJRT_NamedValue_kFloat,
                               {},
                               1};
      value.float_value = cost.value;
      executable.cost_values.push_back(value);
    }
  }
  args.properties = executable.cost_values.data();
  args.num_properties = executable.cost_values.size();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_GetCompiledMemoryStats_Args& args) {
  const Executable::Memory memory = args.executable->executable->MemoryUse();
  // The host is the device: the numbers of the host are 0, as those of XLA's devices of this kind.
  args.host_generated_code_size_in_bytes = args.host_argument_size_in_bytes = args.host_output_size_in_bytes = 0;
  args.host_alias_size_in_bytes = args.host_temp_size_in_bytes = 0;
  args.generated_code_size_in_bytes = memory.code_bytes;
  args.argument_size_in_bytes = memory.argument_bytes;
  args.output_size_in_bytes = memory.output_bytes;
  args.alias_size_in_bytes = memory.alias_bytes;
  args.temp_size_in_bytes = memory.temporary_bytes;
  args.peak_memory_in_bytes = memory.argument_bytes + memory.output_bytes + memory.temporary_bytes - memory.alias_bytes;
  args.total_size_in_bytes = args.peak_memory_in_bytes;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_OutputMemoryKinds_Args& args) {
  const PJRT_Executable::Leaves& results = args.executable->results;
  Give(results.kinds, &args.memory_kinds, &args.num_outputs);
  args.memory_kind_sizes = results.kind_sizes.data();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_ParameterMemoryKinds_Args& args) {
  const PJRT_Executable::Leaves& arguments = args.executable->arguments;
  Give(arguments.kinds, &args.memory_kinds, &args.num_parameters);
  args.memory_kind_sizes = arguments.kind_sizes.data();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_OutputElementTypes_Args& args) {
  args.output_types = args.executable->results.types.data();
  args.num_output_types = args.executable->results.types.size();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_OutputDimensions_Args& args) {
  args.num_outputs = args.executable->results.ranks.size();
  args.dims = args.executable->results.dims.data();
  args.dim_sizes = args.executable->results.ranks.data();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_OptimizedProgram_Args& args) {
  PJRT_Executable& executable = *args.executable;
  const absl::MutexLock lock(&executable.mutex);
  if (executable.optimized.empty()) {
    KASHI_ASSIGN_OR_RETURN(executable.optimized, executable.executable->OptimizedModule());
  }
  constexpr absl::string_view kFormat = "hlo_with_config";
  PJRT_Program& program = *args.program;
  Give(kFormat, &program.format, &program.format_size);
  if (program.code == nullptr) {
    program.code_size = executable.optimized.size();
  } else if (program.code_size < executable.optimized.size()) {
    return InvalidArgument("the program takes %d bytes, but there is room for %d", executable.optimized.size(),
                           program.code_size);
  } else {
    executable.optimized.copy(program.code, executable.optimized.size());
  }
  return absl::OkStatus();
}
absl::Status Call(PJRT_Executable_GetCompileOptions_Args& args) {
  GiveBytes(args.executable->executable->options().SerializeAsString(), &args.serialized_bytes,
            &args.serialized_bytes_size, &args.serialized_compile_options, &args.serialized_compile_options_deleter);
  return absl::OkStatus();
}

// ---- Loaded executables --------------------------------------------------------------------------------------------

absl::Status Call(PJRT_LoadedExecutable_Destroy_Args& args) {
  delete args.executable;
  return absl::OkStatus();
}
absl::Status Call(PJRT_LoadedExecutable_GetExecutable_Args& args) {
  args.executable = NewObject<PJRT_Executable>(args.loaded_executable->executable);
  return absl::OkStatus();
}
absl::Status Call(PJRT_LoadedExecutable_AddressableDevices_Args& args) {
  args.addressable_devices = args.executable->devices.data();
  args.num_addressable_devices = args.executable->devices.size();
  return absl::OkStatus();
}
absl::Status Call(PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args& args) {
  args.addressable_device_logical_ids = args.executable->logical_ids.data();
  args.num_addressable_device_logical_ids = args.executable->logical_ids.size();
  return absl::OkStatus();
}
absl::Status Call(PJRT_LoadedExecutable_GetDeviceAssignment_Args& args) {
  GiveBytes(args.executable->executable->SerializedDeviceAssignment(), &args.serialized_bytes,
            &args.serialized_bytes_size, &args.serialized_device_assignment,
            &args.serialized_device_assignment_deleter);
  return absl::OkStatus();
}
absl::Status Call(PJRT_LoadedExecutable_Fingerprint_Args& args) {
  Give(args.executable->executable->fingerprint(), &args.executable_fingerprint, &args.executable_fingerprint_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_LoadedExecutable_Delete_Args& args) {
  std::shared_ptr<const LoadedProgram> last;  // freed after the lock is
  const absl::MutexLock lock(&args.executable->mutex);
  last = std::move(args.executable->loaded);
  return absl::OkStatus();
}
absl::Status Call(PJRT_LoadedExecutable_IsDeleted_Args& args) {
  args.is_deleted = args.executable->program() == nullptr;
  return absl::OkStatus();
}

// ---- Runs ----------------------------------------------------------------------------------------------------------

absl::Status Call(PJRT_ExecuteContext_Create_Args& args) {
  args.context = NewObject<PJRT_ExecuteContext>();
  return absl::OkStatus();
}
absl::Status Call(PJRT_ExecuteContext_Destroy_Args& args) {
  delete args.context;
  return absl::OkStatus();
}

namespace {

// The arguments of a device. JAX gives an array of pred where the program takes a token: `tokens` owns what replaces
// it.
absl::StatusOr<std::vector<Buffer*>> ArgumentsOf(const PJRT_LoadedExecutable& executable, const LoadedProgram& program,
                                                 PJRT_Buffer* const* list, size_t count, size_t device,
                                                 std::vector<std::unique_ptr<Buffer>>* tokens) {
  const std::vector<Shape>& shapes = program.argument_shapes();
  std::vector<Buffer*> arguments(count);
  for (size_t i = 0; i < count; ++i) {
    arguments[i] = list[i]->buffer.get();
    if (i >= shapes.size() || !shapes[i].IsToken() || arguments[i]->shape().IsToken()) continue;
    KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> token,
                           executable.client->client->MakeToken(&program.devices()[device]->default_memory_space()));
    arguments[i] = token.get();
    tokens->push_back(std::move(token));
  }
  return arguments;
}

// Moves a result into the memory of this kind.
absl::Status Place(absl::string_view kind, std::unique_ptr<Buffer>* buffer) {
  if ((*buffer)->memory_space().kind() == kind) return absl::OkStatus();
  for (const auto& memory_space : (*buffer)->device().memory_spaces()) {
    if (memory_space->kind() != kind) continue;
    KASHI_ASSIGN_OR_RETURN(*buffer, (*buffer)->SharedIn(*memory_space));
    return absl::OkStatus();
  }
  return InvalidArgument("%s has no memory \"%s\"", (*buffer)->device().ToString(), kind);
}

ExecuteOptions OptionsOf(const PJRT_LoadedExecutable& executable, const PJRT_ExecuteOptions* given) {
  ExecuteOptions options;
  if (given != nullptr) {
    const absl::Span<const int64_t> kept(given->non_donatable_input_indices, given->num_non_donatable_input_indices);
    options.non_donatable.assign(kept.begin(), kept.end());
  }
  if (executable.calls->empty()) return options;
  FfiRun run;
  run.device_ordinal = static_cast<int32_t>(executable.executable->devices()[0]);
  // A caller of an older version has a shorter structure.
  const bool has_context = given != nullptr && given->struct_size >= PJRT_SIZE(PJRT_ExecuteOptions, context);
  if (has_context && given->context != nullptr) run.user_data = given->context->user_data;
  options.is_handled = [calls = executable.calls](const HloInstruction& call) { return calls->Of(call) != nullptr; };
  options.may_run_handlers_within = true;
  options.runs_within = executable.calls->calls_python();
  options.custom_call_handler = HandlerOf(executable.calls, std::move(run));
  return options;
}

}  // namespace

absl::Status Call(PJRT_LoadedExecutable_Execute_Args& args) {
  PJRT_LoadedExecutable& executable = *args.executable;
  const std::shared_ptr<const LoadedProgram> program = executable.program();
  if (program == nullptr) return InvalidArgument("the executable was deleted");
  std::vector<std::vector<Buffer*>> arguments;
  std::vector<std::unique_ptr<Buffer>> tokens;
  for (size_t d = 0; d < args.num_devices; ++d) {
    KASHI_ASSIGN_OR_RETURN(std::vector<Buffer*> of_device,
                           ArgumentsOf(executable, *program, args.argument_lists[d], args.num_args,
                                       std::min(d, program->devices().size() - 1), &tokens));
    arguments.push_back(std::move(of_device));
  }
  // Calls of the outside world must not happen twice.
  if (ChecksPrograms() && arguments.size() == 1 && !executable.executable->calls_handlers()) {
    KASHI_RETURN_IF_ERROR(CheckProgram(program->program(), arguments[0]));
  }
  KASHI_ASSIGN_OR_RETURN(std::vector<DeviceResults> results,
                         program->Execute(arguments, OptionsOf(executable, args.options)));
  for (size_t d = 0; d < results.size(); ++d) {
    for (size_t i = 0; i < results[d].buffers.size(); ++i) {
      KASHI_RETURN_IF_ERROR(Place(executable.executable->results()[i].memory_kind, &results[d].buffers[i]));
      args.output_lists[d][i] = NewObject<PJRT_Buffer>(executable.client, std::move(results[d].buffers[i]),
                                                       executable.executable->results()[i].shape);
    }
    if (args.device_complete_events != nullptr) {
      args.device_complete_events[d] = NewObject<PJRT_Event>(results[d].done);
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::pjrt
