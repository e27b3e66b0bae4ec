// The objects behind the pointers of the C API.
//
//   PJRT_Client ──> ClientState ──> kashi::Client, PJRT_Device, PJRT_Memory, PJRT_TopologyDescription
//   PJRT_Buffer ──> ClientState, kashi::Buffer           PJRT_LoadedExecutable ──> ClientState, LoadedProgram
//                                                        PJRT_Executable ──> Executable (executable.h), shared by both
//
// The caller owns what has a Destroy function. The state of a client lives as long as one of its objects: a program may
// destroy them in any order.
#ifndef KASHI_PJRT_OBJECTS_H_
#define KASHI_PJRT_OBJECTS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kashi/array/layout.h"
#include "kashi/array/shape.h"
#include "kashi/engine/buffer.h"
#include "kashi/engine/client.h"
#include "kashi/engine/event.h"
#include "kashi/engine/loaded_program.h"
#include "kashi/engine/local_device.h"
#include "kashi/pjrt/errors.h"
#include "kashi/pjrt/executable.h"
#include "kashi/pjrt/ffi_host.h"
#include "kashi/pjrt/pjrt_c_api.h"

struct PJRT_Event : kashi::pjrt::Object {
  explicit PJRT_Event(kashi::Event of) : event(std::move(of)) {}
  PJRT_Event() : source(std::make_unique<kashi::EventSource>()), event(source->event()) {}

  const std::unique_ptr<kashi::EventSource> source;  // of Event_Create; otherwise null
  const kashi::Event event;
};

struct PJRT_DeviceDescription : kashi::pjrt::Object {
  explicit PJRT_DeviceDescription(int64_t number);

  const int id;
  const std::string kind, debug_string, to_string;
};

struct PJRT_Memory : kashi::pjrt::Object {
  PJRT_Memory(kashi::MemorySpace& of, PJRT_Device* its_device);

  kashi::MemorySpace& memory_space;
  PJRT_Device* const device;  // the one that can address it
  const std::string kind, debug_string, to_string;
};

struct PJRT_Device : kashi::pjrt::Object {
  PJRT_Device(kashi::LocalDevice& of, PJRT_DeviceDescription* its_description);

  kashi::LocalDevice& device;
  PJRT_DeviceDescription* const description;
  std::vector<std::unique_ptr<PJRT_Memory>> owned_memories;
  std::vector<PJRT_Memory*> memories;
};

// Devices as compilers see them.
struct PJRT_TopologyDescription : kashi::pjrt::Object {
  explicit PJRT_TopologyDescription(int64_t devices);

  std::vector<std::unique_ptr<PJRT_DeviceDescription>> owned_descriptions;
  std::vector<PJRT_DeviceDescription*> descriptions;
  std::string name;  // "cpu:4": also its serialized form
};

namespace kashi::pjrt {

struct ClientState {
  explicit ClientState(std::unique_ptr<Client> of);
  ~ClientState();
  PJRT_Memory* MemoryOf(const MemorySpace& memory_space) const;

  PJRT_TopologyDescription topology;
  std::unique_ptr<Client> client;  // never null
  std::vector<std::unique_ptr<PJRT_Device>> owned_devices;
  std::vector<PJRT_Device*> devices;
  std::vector<PJRT_Memory*> memories;  // by the id of the memory space
};

// Moves the result into an object of its own, which the caller of the C API destroys.
template <typename T, typename... Arguments>
T* NewObject(Arguments&&... arguments) {
  return std::make_unique<T>(std::forward<Arguments>(arguments)...).release();
}

// A text or a list as the C API gives it out: it belongs to an object, and lives as long.
inline void Give(absl::string_view text, const char** data, size_t* size) {
  *data = text.data();
  *size = text.size();
}
template <typename T>
void Give(const std::vector<T>& list, T const** data, size_t* size) {
  *data = list.data();
  *size = list.size();
}
// Bytes that the caller frees: a holder and its deleter.
template <typename Holder>
void GiveBytes(std::string bytes, const char** data, size_t* size, Holder** holder, void (**deleter)(Holder*)) {
  auto owned = std::make_unique<std::string>(std::move(bytes));
  Give(*owned, data, size);
  *holder = reinterpret_cast<Holder*>(owned.release());
  *deleter = [](Holder* bytes_of) { delete reinterpret_cast<std::string*>(bytes_of); };
}

}  // namespace kashi::pjrt

struct PJRT_Client : kashi::pjrt::Object {
  explicit PJRT_Client(std::shared_ptr<kashi::pjrt::ClientState> of) : state(std::move(of)) {}

  const std::shared_ptr<kashi::pjrt::ClientState> state;
};

// A layout as callers see it (layouts_extension.h).
struct PJRT_Layouts_MemoryLayout : kashi::pjrt::Object {
  explicit PJRT_Layouts_MemoryLayout(kashi::Layout of) : layout(std::move(of)) {}

  const kashi::Layout layout;
};

struct PJRT_Buffer : kashi::pjrt::Object {
  // its_shape: with the layout that callers see; that of the buffer if it is left out.
  PJRT_Buffer(std::shared_ptr<kashi::pjrt::ClientState> its_client, std::unique_ptr<kashi::Buffer> of);
  PJRT_Buffer(std::shared_ptr<kashi::pjrt::ClientState> its_client, std::unique_ptr<kashi::Buffer> of,
              kashi::Shape its_shape);

  const std::shared_ptr<kashi::pjrt::ClientState> client;
  const std::unique_ptr<kashi::Buffer> buffer;
  const kashi::Shape shape;
  PJRT_Memory* const memory;
  absl::Mutex mutex;
  std::vector<kashi::Buffer::ExternalReference> references ABSL_GUARDED_BY(mutex);
  // The elements in the layout that callers see, if that is another one and a caller has asked for their address.
  std::shared_ptr<void> in_layout ABSL_GUARDED_BY(mutex);
};

struct PJRT_Executable : kashi::pjrt::Object {
  explicit PJRT_Executable(std::shared_ptr<const kashi::pjrt::Executable> of);

  // Leaves as the lists that the C API gives out.
  struct Leaves {
    explicit Leaves(const std::vector<kashi::pjrt::Executable::Leaf>& leaves);

    std::vector<const char*> kinds, shardings;
    std::vector<size_t> kind_sizes, sharding_sizes, ranks;
    std::vector<PJRT_Buffer_Type> types;
    std::vector<int64_t> dims;  // of all, one after the other
    std::vector<std::unique_ptr<PJRT_Layouts_MemoryLayout>> owned_layouts;
    std::vector<PJRT_Layouts_MemoryLayout*> layouts;
  };

  const std::shared_ptr<const kashi::pjrt::Executable> executable;
  Leaves arguments, results;
  absl::Mutex mutex;
  // Made when they are first asked for.
  std::vector<kashi::pjrt::Executable::Property> costs ABSL_GUARDED_BY(mutex);
  std::vector<PJRT_NamedValue> cost_values ABSL_GUARDED_BY(mutex);
  std::string optimized ABSL_GUARDED_BY(mutex);
};

struct PJRT_LoadedExecutable : kashi::pjrt::Object {
  PJRT_LoadedExecutable(std::shared_ptr<kashi::pjrt::ClientState> its_client,
                        std::shared_ptr<const kashi::pjrt::Executable> of,
                        std::shared_ptr<const kashi::LoadedProgram> its_program,
                        std::shared_ptr<const kashi::pjrt::FfiCalls> its_calls);

  const std::shared_ptr<kashi::pjrt::ClientState> client;
  const std::shared_ptr<const kashi::pjrt::Executable> executable;
  std::vector<PJRT_Device*> devices;
  std::vector<PJRT_LogicalDeviceIds> logical_ids;
  const std::shared_ptr<const kashi::pjrt::FfiCalls> calls;
  // Null after LoadedExecutable_Delete.
  std::shared_ptr<const kashi::LoadedProgram> program() ABSL_LOCKS_EXCLUDED(mutex);
  absl::Mutex mutex;
  std::shared_ptr<const kashi::LoadedProgram> loaded ABSL_GUARDED_BY(mutex);
};

// Data of the caller for handlers of custom calls, by the identifier of their type (docs/spec/pjrt.md 9.3).
struct PJRT_ExecuteContext : kashi::pjrt::Object {
  absl::flat_hash_map<int64_t, void*> user_data;
};

#endif  // KASHI_PJRT_OBJECTS_H_
