#include "kashi/pjrt/objects.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/layout_util.h"
#include "kashi/pjrt/layouts_extension.h"
#include "kashi/pjrt/live_clients.h"

namespace kashi::pjrt {
namespace {

// As JAX prints the memories of its own CPU devices: PINNED_HOST_4, PinnedHostMemory(id=4, process_index=0,
// client=cpu).
std::string MemoryName(const MemorySpace& memory) {
  const absl::string_view kind = memory.kind() == "device" ? "cpu_device" : memory.kind();
  return absl::StrCat(absl::AsciiStrToUpper(kind), "_", memory.id());
}
std::string MemoryText(const MemorySpace& memory) {
  absl::string_view type = "CpuDeviceMemory";
  if (memory.kind() == "pinned_host") type = "PinnedHostMemory";
  if (memory.kind() == "unpinned_host") type = "UnpinnedHostMemorySpace";
  return absl::StrCat(type, "(id=", memory.id(), ", process_index=0, client=cpu)");
}

}  // namespace
}  // namespace kashi::pjrt

PJRT_Memory::PJRT_Memory(kashi::MemorySpace& of, PJRT_Device* its_device)
    : memory_space(of),
      device(its_device),
      kind(of.kind()),
      debug_string(kashi::pjrt::MemoryText(of)),
      to_string(kashi::pjrt::MemoryName(of)) {}

PJRT_Device::PJRT_Device(kashi::LocalDevice& of, PJRT_DeviceDescription* its_description)
    : device(of), description(its_description) {
  for (const auto& memory_space : of.memory_spaces()) {
    owned_memories.push_back(std::make_unique<PJRT_Memory>(*memory_space, this));
    memories.push_back(owned_memories.back().get());
  }
}

PJRT_DeviceDescription::PJRT_DeviceDescription(int64_t number)
    : id(static_cast<int>(number)),
      kind("cpu"),
      debug_string(absl::StrCat("cpu:", number)),
      to_string(absl::StrCat("CpuDevice(id=", number, ")")) {}

PJRT_TopologyDescription::PJRT_TopologyDescription(int64_t devices) : name(absl::StrCat("cpu:", devices)) {
  for (int64_t id = 0; id < devices; ++id) {
    owned_descriptions.push_back(std::make_unique<PJRT_DeviceDescription>(id));
    descriptions.push_back(owned_descriptions.back().get());
  }
}

PJRT_Buffer::PJRT_Buffer(std::shared_ptr<kashi::pjrt::ClientState> its_client, std::unique_ptr<kashi::Buffer> of)
    : PJRT_Buffer(std::move(its_client), std::move(of), kashi::Shape(of->shape())) {}
PJRT_Buffer::PJRT_Buffer(std::shared_ptr<kashi::pjrt::ClientState> its_client, std::unique_ptr<kashi::Buffer> of,
                         kashi::Shape its_shape)
    : client(std::move(its_client)),
      buffer(std::move(of)),
      shape(std::move(its_shape)),
      memory(client->MemoryOf(buffer->memory_space())) {}

PJRT_LoadedExecutable::PJRT_LoadedExecutable(std::shared_ptr<kashi::pjrt::ClientState> its_client,
                                             std::shared_ptr<const kashi::pjrt::Executable> of,
                                             std::shared_ptr<const kashi::LoadedProgram> its_program,
                                             std::shared_ptr<const kashi::pjrt::FfiCalls> its_calls)
    : client(std::move(its_client)),
      executable(std::move(of)),
      calls(std::move(its_calls)),
      loaded(std::move(its_program)) {
  for (const int64_t id : executable->devices()) {
    const auto number = static_cast<int>(devices.size());
    const auto partitions = static_cast<int>(executable->partitions());
    devices.push_back(client->devices[id]);
    logical_ids.push_back({number / partitions, number % partitions});
  }
}

PJRT_Executable::Leaves::Leaves(const std::vector<kashi::pjrt::Executable::Leaf>& leaves) {
  for (const kashi::pjrt::Executable::Leaf& leaf : leaves) {
    kinds.push_back(leaf.memory_kind.data());
    kind_sizes.push_back(leaf.memory_kind.size());
    if (leaf.sharding.has_value()) {
      shardings.push_back(leaf.sharding->data());
      sharding_sizes.push_back(leaf.sharding->size());
    }
    types.push_back(leaf.type);
    owned_layouts.push_back(std::make_unique<PJRT_Layouts_MemoryLayout>(kashi::pjrt::VisibleLayout(leaf.shape)));
    layouts.push_back(owned_layouts.back().get());
    ranks.push_back(leaf.shape.IsArray() ? leaf.shape.dimensions().size() : 0);
    if (leaf.shape.IsArray()) dims.insert(dims.end(), leaf.shape.dimensions().begin(), leaf.shape.dimensions().end());
  }
}

PJRT_Executable::PJRT_Executable(std::shared_ptr<const kashi::pjrt::Executable> of)
    : executable(std::move(of)), arguments(executable->arguments()), results(executable->results()) {}

std::shared_ptr<const kashi::LoadedProgram> PJRT_LoadedExecutable::program() {
  const absl::MutexLock lock(&mutex);
  return loaded;
}

namespace kashi::pjrt {

ClientState::ClientState(std::unique_ptr<Client> of)
    : topology(static_cast<int64_t>(of->devices().size())), client(std::move(of)) {
  for (const auto& device : client->devices()) {
    owned_devices.push_back(std::make_unique<PJRT_Device>(*device, topology.descriptions[device->id()]));
    devices.push_back(owned_devices.back().get());
  }
  for (const PJRT_Device* device : devices) {
    for (PJRT_Memory* memory : device->memories) {
      const auto id = static_cast<size_t>(memory->memory_space.id());
      if (memories.size() <= id) memories.resize(id + 1);
      memories[id] = memory;
    }
  }
  LiveClients::Global().Add(client.get());
}

ClientState::~ClientState() {
  LiveClients::Global().BeginEnd(client.get());
  client = nullptr;
  LiveClients::Global().End();
}

PJRT_Memory* ClientState::MemoryOf(const MemorySpace& memory_space) const { return memories[memory_space.id()]; }

}  // namespace kashi::pjrt
