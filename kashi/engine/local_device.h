// The devices of a client, and their memory spaces. They are threads and memory of this process, with the names that
// JAX knows of its CPU devices (docs/spec/pjrt.md 11).
#ifndef KASHI_ENGINE_LOCAL_DEVICE_H_
#define KASHI_ENGINE_LOCAL_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kashi {

class Client;
class LocalDevice;

namespace engine {
class DeviceMemory;
class DeviceQueue;
}  // namespace engine

// Owned by its device.
class MemorySpace {
 public:
  // "device", the default; "pinned_host" and "unpinned_host". All are plain memory of this process.
  absl::string_view kind() const { return kind_; }
  int64_t id() const { return id_; }  // unique in the client
  LocalDevice& device() const { return device_; }
  std::string ToString() const;  // "MemorySpace(id=0, kind=device, device=0)"

 private:
  friend class LocalDevice;
  MemorySpace(LocalDevice& device, int64_t id, std::string kind) : device_(device), id_(id), kind_(std::move(kind)) {}

  LocalDevice& device_;
  const int64_t id_;
  const std::string kind_;
};

// Owned by its client.
class LocalDevice {
 public:
  ~LocalDevice();
  LocalDevice(const LocalDevice&) = delete;
  LocalDevice& operator=(const LocalDevice&) = delete;

  int64_t id() const { return id_; }  // 0, 1, …
  absl::string_view kind() const { return "cpu"; }
  Client& client() const { return client_; }
  const std::vector<std::unique_ptr<MemorySpace>>& memory_spaces() const { return memory_spaces_; }
  MemorySpace& default_memory_space() const { return *memory_spaces_.front(); }
  // Where arrays of all its memory spaces are.
  const engine::DeviceMemory& memory() const { return memory_; }
  std::string ToString() const;  // "CpuDevice(id=0)"

 private:
  friend class Client;
  friend class LoadedProgram;
  LocalDevice(Client& client, int64_t id, const engine::DeviceMemory& memory);
  engine::DeviceQueue& queue() const { return *queue_; }

  Client& client_;
  const int64_t id_;
  const engine::DeviceMemory& memory_;
  std::vector<std::unique_ptr<MemorySpace>> memory_spaces_;
  std::unique_ptr<engine::DeviceQueue> queue_;
};

}  // namespace kashi

#endif  // KASHI_ENGINE_LOCAL_DEVICE_H_
