// Buffer: an array, or a token, on a device. A program may still be computing its elements.
//
//   auto x = client->BufferFromLiteral(LiteralUtil::CreateR1<float>({1, 2})).value();   // or BufferFromHost
//   std::vector<std::unique_ptr<Buffer>> results = …;                      // LoadedProgram::Execute
//   Literal y = results[0]->ToLiteral().value();                           // waits
//
// Elements are dense and row-major on the device (kashi/engine/device_memory.h). Copies from and to the
// host convert other layouts, also tiled ones, and byte strides (kashi/relayout).
#ifndef KASHI_ENGINE_BUFFER_H_
#define KASHI_ENGINE_BUFFER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/engine/event.h"
#include "kashi/engine/local_device.h"
#include "kashi/literal/literal.h"
#include "kashi/relayout/placement.h"

namespace kashi {

namespace engine {
struct BufferState;
}  // namespace engine

// Thread-safe, except for its destructor.
class Buffer {
 public:
  // Holds the memory of a buffer, and keeps programs from writing to it.
  class ExternalReference {
   public:
    const void* data() const { return data_; }  // an address of the device

   private:
    friend class Buffer;
    std::shared_ptr<const void> holder_;
    const void* data_ = nullptr;
  };

  // Made by Client and LoadedProgram.
  Buffer(MemorySpace& memory_space, std::shared_ptr<engine::BufferState> state);
  // Deletes it.
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // The shape with the default layout. It stays known after the buffer is deleted.
  const Shape& shape() const;
  // Bytes of the elements on the device.
  int64_t size_bytes() const;
  LocalDevice& device() const { return memory_space_.device(); }
  MemorySpace& memory_space() const { return memory_space_; }

  // Ready when the elements are there; or the error of the program that should have made them.
  Event ready() const;

  // Ends the use of the buffer. Programs that already have it as an argument go on; the memory is freed after them and
  // after the external references. Programs that take the buffer by donation delete it, too.
  void Delete();
  bool is_deleted() const;

  // The elements. These functions wait. INVALID_ARGUMENT if the buffer was deleted before the call, otherwise the error
  // of `ready`. CopyToHost accepts any placement with the same type and sizes; `target` has the bytes that it needs.
  absl::StatusOr<Literal> ToLiteral() const;
  absl::Status CopyToHost(void* target, const Placement& placement) const;
  // Some bytes of the elements as the device has them. INVALID_ARGUMENT if they are not within size_bytes().
  absl::Status CopyBytesToHost(int64_t offset, int64_t bytes, void* target) const;
  absl::StatusOr<ExternalReference> AcquireExternalReference() const;

  // A buffer in this memory space, of the same client. On the same device it is an array of its own; on another device,
  // both share the memory. This one need not be ready. INVALID_ARGUMENT if it was deleted.
  absl::StatusOr<std::unique_ptr<Buffer>> CopyTo(MemorySpace& memory_space) const;
  // CopyTo that never copies: both share the memory, and nothing writes to it while both live.
  absl::StatusOr<std::unique_ptr<Buffer>> SharedIn(MemorySpace& memory_space) const;

 private:
  friend class LoadedProgram;

  MemorySpace& memory_space_;
  const std::shared_ptr<engine::BufferState> state_;
};

}  // namespace kashi

#endif  // KASHI_ENGINE_BUFFER_H_
