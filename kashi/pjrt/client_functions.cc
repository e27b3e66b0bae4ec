// Clients, devices, memories, topologies.
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kashi/base/status.h"
#include "kashi/engine/build_facts.h"
#include "kashi/engine/nested_launch.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/pjrt/functions.h"
#include "kashi/pjrt/objects.h"

namespace kashi::pjrt {
namespace {

// "cpu": JAX then lowers all that it can for a processor (docs/spec/pjrt.md 8).
constexpr absl::string_view kPlatformName = "cpu";
constexpr char kDevicesVariable[] = "KASHI_DEVICES";

absl::string_view PlatformVersion() {
  static const auto& version = *new std::string(absl::StrCat("Kashi ", engine::Version()));
  return version;
}

absl::StatusOr<int64_t> ParseDeviceCount(absl::string_view text, absl::string_view where) {
  int64_t count = 0;
  if (absl::SimpleAtoi(text, &count) && count >= 1 && count <= kMaxDevices) return count;
  return InvalidArgument("%s is \"%s\": it must be a number of devices, 1 to %d", where, text, kMaxDevices);
}

absl::StatusOr<ClientOptions> OptionsOf(const PJRT_NamedValue* values, size_t count) {
  ClientOptions options;
  const char* const devices = std::getenv(kDevicesVariable);
  if (devices != nullptr && *devices != '\0') {
    KASHI_ASSIGN_OR_RETURN(options.devices, ParseDeviceCount(devices, kDevicesVariable));
  }
  for (size_t i = 0; i < count; ++i) {
    const PJRT_NamedValue& value = values[i];
    const absl::string_view name(value.name, value.name_size);
    const bool is_known = name == "devices" || name == "memory_limit_bytes";
    if (!is_known) return InvalidArgument("a client has no option \"%s\"; it has devices, memory_limit_bytes", name);
    if (value.type != PJRT_NamedValue_kInt64) return InvalidArgument("option %s is no integer", name);
    (name == "devices" ? options.devices : options.memory_limit_bytes) = value.int64_value;
  }
  return options;
}

absl::StatusOr<std::unique_ptr<PJRT_TopologyDescription>> TopologyOf(absl::string_view name) {
  int64_t devices = 1;
  absl::string_view count = name;
  if (absl::ConsumePrefix(&count, absl::StrCat(kPlatformName, ":"))) {
    KASHI_ASSIGN_OR_RETURN(devices, ParseDeviceCount(count, "the topology"));
  } else if (!name.empty() && name != kPlatformName) {
    return InvalidArgument("a topology is named \"cpu:N\", for N devices, not \"%s\"", name);
  }
  return std::make_unique<PJRT_TopologyDescription>(devices);
}

// The last object of a client may be destroyed by a callback of one of its programs: then another thread waits for the
// end of that program.
std::shared_ptr<ClientState> ShareClient(std::unique_ptr<Client> client) {
  return std::shared_ptr<ClientState>(new ClientState(std::move(client)), [](ClientState* state) {
    if (!engine::RunningLaunch::is_set()) {
      delete state;
    } else {
      std::thread([state] { delete state; }).detach();
    }
  });
}

absl::StatusOr<PJRT_Device*> DeviceOf(const PJRT_Client& client, int id) {
  KASHI_ASSIGN_OR_RETURN(const LocalDevice* const device, client.state->client->DeviceOf(id));
  return client.state->devices[device->id()];
}

}  // namespace

// ---- Clients -------------------------------------------------------------------------------------------------------

absl::Status Call(PJRT_Client_Create_Args& args) {
  KASHI_ASSIGN_OR_RETURN(const ClientOptions options, OptionsOf(args.create_options, args.num_options));
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, Client::Create(options));
  args.client = NewObject<PJRT_Client>(ShareClient(std::move(client)));
  return absl::OkStatus();
}
absl::Status Call(PJRT_Client_Destroy_Args& args) {
  delete args.client;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Client_PlatformName_Args& args) {
  Give(kPlatformName, &args.platform_name, &args.platform_name_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Client_ProcessIndex_Args& args) {
  args.process_index = 0;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Client_PlatformVersion_Args& args) {
  Give(PlatformVersion(), &args.platform_version, &args.platform_version_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Client_Devices_Args& args) {
  Give(args.client->state->devices, &args.devices, &args.num_devices);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Client_AddressableDevices_Args& args) {
  Give(args.client->state->devices, &args.addressable_devices, &args.num_addressable_devices);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Client_LookupDevice_Args& args) {
  KASHI_ASSIGN_OR_RETURN(args.device, DeviceOf(*args.client, args.id));
  return absl::OkStatus();
}
absl::Status Call(PJRT_Client_LookupAddressableDevice_Args& args) {
  KASHI_ASSIGN_OR_RETURN(args.addressable_device, DeviceOf(*args.client, args.local_hardware_id));
  return absl::OkStatus();
}
absl::Status Call(PJRT_Client_AddressableMemories_Args& args) {
  Give(args.client->state->memories, &args.addressable_memories, &args.num_addressable_memories);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Client_TopologyDescription_Args& args) {
  args.topology = &args.client->state->topology;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Client_DefaultDeviceAssignment_Args& args) {
  const int64_t count = static_cast<int64_t>(args.num_replicas) * args.num_partitions;
  const auto devices = static_cast<int64_t>(args.client->state->devices.size());
  if (args.num_replicas < 1 || args.num_partitions < 1 || count > devices) {
    return InvalidArgument("%d replicas of %d partitions do not fit on %d devices", args.num_replicas,
                           args.num_partitions, devices);
  }
  if (static_cast<int64_t>(args.default_assignment_size) < count) {
    return InvalidArgument("the assignment has room for %d devices, not for %d", args.default_assignment_size, count);
  }
  for (int i = 0; i < count; ++i) args.default_assignment[i] = i;
  return absl::OkStatus();
}

// ---- Devices and memories ------------------------------------------------------------------------------------------

absl::Status Call(PJRT_DeviceDescription_Id_Args& args) {
  args.id = args.device_description->id;
  return absl::OkStatus();
}
absl::Status Call(PJRT_DeviceDescription_ProcessIndex_Args& args) {
  args.process_index = 0;
  return absl::OkStatus();
}
absl::Status Call(PJRT_DeviceDescription_Attributes_Args& args) {
  args.attributes = nullptr;
  args.num_attributes = 0;
  return absl::OkStatus();
}
absl::Status Call(PJRT_DeviceDescription_Kind_Args& args) {
  Give(args.device_description->kind, &args.device_kind, &args.device_kind_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_DeviceDescription_DebugString_Args& args) {
  Give(args.device_description->debug_string, &args.debug_string, &args.debug_string_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_DeviceDescription_ToString_Args& args) {
  Give(args.device_description->to_string, &args.to_string, &args.to_string_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Device_GetDescription_Args& args) {
  args.device_description = args.device->description;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Device_IsAddressable_Args& args) {
  args.is_addressable = true;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Device_LocalHardwareId_Args& args) {
  args.local_hardware_id = args.device->description->id;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Device_AddressableMemories_Args& args) {
  Give(args.device->memories, &args.memories, &args.num_memories);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Device_DefaultMemory_Args& args) {
  args.memory = args.device->memories.front();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Device_MemoryStats_Args&) {
  return Unimplemented("all devices share the memory of the process: there are no numbers for each");
}
absl::Status Call(PJRT_Memory_Id_Args& args) {
  args.id = static_cast<int>(args.memory->memory_space.id());
  return absl::OkStatus();
}
absl::Status Call(PJRT_Memory_Kind_Args& args) {
  Give(args.memory->kind, &args.kind, &args.kind_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Memory_Kind_Id_Args& args) {
  const PJRT_Device& device = *args.memory->device;
  for (size_t i = 0; i < device.memories.size(); ++i) {
    if (device.memories[i] == args.memory) args.kind_id = static_cast<int>(i);
  }
  return absl::OkStatus();
}
absl::Status Call(PJRT_Memory_DebugString_Args& args) {
  Give(args.memory->debug_string, &args.debug_string, &args.debug_string_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Memory_ToString_Args& args) {
  Give(args.memory->to_string, &args.to_string, &args.to_string_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Memory_AddressableByDevices_Args& args) {
  args.devices = &args.memory->device;
  args.num_devices = 1;
  return absl::OkStatus();
}

// ---- Topologies ----------------------------------------------------------------------------------------------------

absl::Status Call(PJRT_TopologyDescription_Create_Args& args) {
  KASHI_ASSIGN_OR_RETURN(auto topology, TopologyOf(absl::string_view(args.topology_name, args.topology_name_size)));
  args.topology = topology.release();
  return absl::OkStatus();
}
absl::Status Call(PJRT_TopologyDescription_Destroy_Args& args) {
  delete args.topology;
  return absl::OkStatus();
}
absl::Status Call(PJRT_TopologyDescription_PlatformName_Args& args) {
  Give(kPlatformName, &args.platform_name, &args.platform_name_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_TopologyDescription_PlatformVersion_Args& args) {
  Give(PlatformVersion(), &args.platform_version, &args.platform_version_size);
  return absl::OkStatus();
}
absl::Status Call(PJRT_TopologyDescription_GetDeviceDescriptions_Args& args) {
  Give(args.topology->descriptions, &args.descriptions, &args.num_descriptions);
  return absl::OkStatus();
}
absl::Status Call(PJRT_TopologyDescription_Serialize_Args& args) {
  GiveBytes(args.topology->name, &args.serialized_bytes, &args.serialized_bytes_size, &args.serialized_topology,
            &args.serialized_topology_deleter);
  return absl::OkStatus();
}
absl::Status Call(PJRT_TopologyDescription_Deserialize_Args& args) {
  KASHI_ASSIGN_OR_RETURN(auto topology,
                         TopologyOf(absl::string_view(args.serialized_topology, args.serialized_topology_size)));
  args.topology = topology.release();
  return absl::OkStatus();
}
absl::Status Call(PJRT_TopologyDescription_Attributes_Args& args) {
  args.attributes = nullptr;
  args.num_attributes = 0;
  return absl::OkStatus();
}
absl::Status Call(PJRT_TopologyDescription_Fingerprint_Args& args) {
  args.fingerprint = args.topology->descriptions.size();
  return absl::OkStatus();
}

}  // namespace kashi::pjrt
