#include "kashi/engine/local_device.h"

#include "absl/strings/str_cat.h"
#include "kashi/engine/device_queue.h"

namespace kashi {
namespace {

constexpr const char* kKinds[] = {"device", "pinned_host", "unpinned_host"};

}  // namespace

std::string MemorySpace::ToString() const {
  return absl::StrCat("MemorySpace(id=", id_, ", kind=", kind_, ", device=", device_.id(), ")");
}

LocalDevice::LocalDevice(Client& client, int64_t id, const engine::DeviceMemory& memory)
    : client_(client), id_(id), memory_(memory), queue_(std::make_unique<engine::DeviceQueue>()) {
  int64_t memory_space = id * static_cast<int64_t>(std::size(kKinds));
  for (const char* kind : kKinds) {
    memory_spaces_.push_back(std::unique_ptr<MemorySpace>(new MemorySpace(*this, memory_space++, kind)));
  }
}
LocalDevice::~LocalDevice() = default;

std::string LocalDevice::ToString() const { return absl::StrCat("CpuDevice(id=", id_, ")"); }

}  // namespace kashi
