// DeviceMemory: where devices of one kind keep arrays. Buffers, queues and programs work on any; only this class and
// the engine of the devices read and write the bytes of an array in it. So the address in its Value may mean nothing on
// the host.
//
//   the host's array ──CopyIn──> Value ──program of the engine──> Value ──CopyOut──> the host's array
//
// The memory of this process is one (HostMemory). An engine for other devices has its own (Engine::memory).
#ifndef KASHI_ENGINE_DEVICE_MEMORY_H_
#define KASHI_ENGINE_DEVICE_MEMORY_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/relayout/placement.h"
#include "kashi/values/memory_budget.h"
#include "kashi/values/value.h"

namespace kashi::engine {

// Arrays are static, dense and row-major in it, one native element each (kashi/array/types.h). Thread-safe.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  // A new, unique array with the elements at `source`, which the host has in this placement. INVALID_ARGUMENT unless
  // the placement has the type and sizes of the shape; RESOURCE_EXHAUSTED beyond the budget.
  virtual absl::StatusOr<Value> CopyIn(const void* source, const Placement& placement, const DenseShape& shape,
                                       const std::shared_ptr<MemoryBudget>& budget) const = 0;
  // The host's array as it is, which `owner` keeps alive. Nothing: the devices need a copy of it.
  virtual std::optional<Value> Borrow(const void* source, const Placement& placement, const DenseShape& shape,
                                      const std::shared_ptr<const void>& owner) const = 0;
  // Writes the elements to the host, in this placement. INVALID_ARGUMENT unless it has the array's type and sizes.
  virtual absl::Status CopyOut(const Value& array, void* target, const Placement& placement) const = 0;
  // Writes `bytes` bytes of the dense elements, from byte `offset` on, to the host. They lie within the array.
  virtual absl::Status CopyBytesOut(const Value& array, int64_t offset, int64_t bytes, void* target) const = 0;
  // Writes the elements of `array` to `target`, another array of the devices, which is unique and has the shape of this
  // one.
  virtual absl::Status MoveWithin(Value array, Value* target) const = 0;
  // The array itself if nothing else refers to its memory, which is aligned as that of CopyIn; otherwise a copy.
  virtual absl::StatusOr<Value> MakeOwn(Value array, const std::shared_ptr<MemoryBudget>& budget) const = 0;
};

// The memory of this process. Its arrays are aligned to 64 bytes, as those of XLA's CPU client.
const DeviceMemory& HostMemory();

// A value of the host in this memory, and back. Both take tuples, too, and leave tokens as they are. They are free
// where `memory` is HostMemory().
absl::StatusOr<Value> ToDevice(const DeviceMemory& memory, Value value, const std::shared_ptr<MemoryBudget>& budget);
absl::StatusOr<Value> ToHost(const DeviceMemory& memory, Value value, const std::shared_ptr<MemoryBudget>& budget);

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_DEVICE_MEMORY_H_
