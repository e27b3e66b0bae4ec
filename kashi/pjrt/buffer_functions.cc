// Buffers.
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "kashi/array/device_size.h"
#include "kashi/array/layout.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/engine/dense_placement.h"
#include "kashi/pjrt/functions.h"
#include "kashi/pjrt/layouts_extension.h"
#include "kashi/pjrt/objects.h"
#include "kashi/pjrt/types.h"
#include "kashi/relayout/placement.h"

namespace kashi::pjrt {
namespace {

absl::StatusOr<Layout> TiledLayout(const PJRT_Buffer_MemoryLayout_Tiled& tiled, size_t rank) {
  if (tiled.minor_to_major_size != rank) return InvalidArgument("the layout does not order each dimension");
  Layout layout(absl::MakeConstSpan(tiled.minor_to_major, rank));
  const int64_t* next = tiled.tile_dims;
  for (size_t i = 0; i < tiled.num_tiles; next += tiled.tile_dim_sizes[i++]) {
    *layout.add_tiles() = Tile(absl::MakeConstSpan(next, tiled.tile_dim_sizes[i]));
  }
  return layout;
}

// By default a host has an array in the layout that callers see of it, each element in bytes of its own.
absl::StatusOr<Placement> HostPlacement(const Shape& shape, const PJRT_Buffer_MemoryLayout* layout) {
  if (layout == nullptr) {
    return LayoutUtil::IsMonotonicWithDim0Major(shape.layout()) ? engine::DensePlacement(shape)
                                                                : Placement::OfLayout(shape);
  }
  const size_t rank = shape.dimensions().size();
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
    if (layout->strides.num_byte_strides != rank)
      return InvalidArgument("the layout has not a stride for each dimension");
    return Placement::OfStrides(shape.element_type(), shape.dimensions(),
                                absl::MakeConstSpan(layout->strides.byte_strides, rank));
  }
  Shape with_layout = shape;
  KASHI_ASSIGN_OR_RETURN(*with_layout.mutable_layout(), TiledLayout(layout->tiled, rank));
  return Placement::OfLayout(with_layout);
}

// The shape, which has the default layout, with the one that its caller gives for the device.
absl::StatusOr<Shape> VisibleShape(const Shape& shape, const PJRT_Buffer_MemoryLayout* device_layout) {
  Shape visible = shape;
  if (device_layout == nullptr || device_layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) return visible;
  KASHI_ASSIGN_OR_RETURN(const Layout layout, TiledLayout(device_layout->tiled, shape.dimensions().size()));
  KASHI_RETURN_IF_ERROR(SetVisibleLayout(layout, &visible));
  return visible;
}

// The bytes of the host's memory up to the end of the last element. INVALID_ARGUMENT if some lie before its begin.
absl::StatusOr<size_t> HostBytes(const Placement& placement) {
  if (placement.has_layout()) {
    KASHI_ASSIGN_OR_RETURN(const DeviceSize with_padding, GetDeviceSize(placement.shape(), {/*pad_untiled=*/false}));
    return static_cast<size_t>(with_padding.bytes);
  }
  std::optional<int64_t> last = primitive_util::ByteWidth(placement.element_type());
  for (size_t i = 0; i < placement.dimensions().size(); ++i) {
    const int64_t size = placement.dimensions()[i], stride = placement.byte_strides()[i];
    if (size == 0) return 0;
    if (stride < 0 && size > 1) return InvalidArgument("the stride %d leads to before the begin of the memory", stride);
    const std::optional<int64_t> reach = CheckedMultiply(size - 1, stride);
    last = reach.has_value() && last.has_value() ? CheckedAdd(*last, *reach) : std::nullopt;
  }
  if (!last.has_value()) return InvalidArgument("the strides lead beyond all memory");
  return static_cast<size_t>(*last);
}

PJRT_Event* ReadyEvent() { return NewObject<PJRT_Event>(Event()); }

absl::StatusOr<PJRT_Memory*> MemoryOf(PJRT_Device* device, PJRT_Memory* memory) {
  if (memory != nullptr) return memory;
  if (device != nullptr) return device->memories.front();
  return InvalidArgument("neither a device nor a memory is given");
}

// A token has no dimensions.
void GiveDimensions(const Shape& shape, const int64_t** dims, size_t* count) {
  const absl::Span<const int64_t> given = shape.IsArray() ? shape.dimensions() : absl::Span<const int64_t>();
  *dims = given.data();
  *count = given.size();
}

// Calls `copy` with a second handle of the buffer when its elements are there: now, or later, by another thread.
template <typename Copy>
absl::StatusOr<PJRT_Event*> WhenReady(const Buffer& buffer, Copy copy) {
  if (buffer.ready().is_ready()) {
    KASHI_RETURN_IF_ERROR(copy(buffer));
    return ReadyEvent();
  }
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> kept, buffer.SharedIn(buffer.memory_space()));
  const std::shared_ptr<const Buffer> shared = std::move(kept);
  const auto source = std::make_shared<EventSource>();
  auto event = std::make_unique<PJRT_Event>(source->event());
  buffer.ready().OnReady(
      [shared, source, copy](const absl::Status& status) { source->Complete(status.ok() ? copy(*shared) : status); });
  return event.release();
}

// The elements where a caller may read them: in the layout that it sees. Waits. The memory lives as long as the buffer
// has elements or `buffer` exists.
absl::StatusOr<const void*> AddressOf(PJRT_Buffer& buffer) {
  KASHI_ASSIGN_OR_RETURN(const Buffer::ExternalReference reference, buffer.buffer->AcquireExternalReference());
  if (LayoutUtil::IsMonotonicWithDim0Major(buffer.shape.layout())) return reference.data();
  const absl::MutexLock lock(&buffer.mutex);
  if (buffer.in_layout != nullptr) return buffer.in_layout.get();
  KASHI_ASSIGN_OR_RETURN(const Placement placement, Placement::OfLayout(buffer.shape));
  KASHI_ASSIGN_OR_RETURN(const size_t bytes, HostBytes(placement));
  constexpr size_t kAlignment = 64;
  const std::shared_ptr<void> copy(std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment), std::free);
  if (copy == nullptr) return absl::ResourceExhaustedError(absl::StrFormat("Out of memory allocating %d bytes", bytes));
  KASHI_RETURN_IF_ERROR(buffer.buffer->CopyToHost(copy.get(), placement));
  buffer.in_layout = copy;
  return copy.get();
}

}  // namespace

// ---- From and to the host ------------------------------------------------------------------------------------------

absl::Status Call(PJRT_Client_BufferFromHostBuffer_Args& args) {
  KASHI_ASSIGN_OR_RETURN(PJRT_Memory* const memory, MemoryOf(args.device, args.memory));
  KASHI_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(args.type, args.dims, args.num_dims));
  const std::shared_ptr<ClientState>& state = args.client->state;
  if (shape.IsToken()) {
    KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> token, state->client->MakeToken(&memory->memory_space));
    args.buffer = NewObject<PJRT_Buffer>(state, std::move(token));
    args.done_with_host_buffer = ReadyEvent();
    return absl::OkStatus();
  }
  const bool has_strides = args.byte_strides != nullptr && args.num_byte_strides > 0;
  if (has_strides && args.num_byte_strides != args.num_dims) {
    return InvalidArgument("%d strides for %d dimensions", args.num_byte_strides, args.num_dims);
  }
  KASHI_ASSIGN_OR_RETURN(const Placement placement,
                         has_strides ? Placement::OfStrides(shape.element_type(), shape.dimensions(),
                                                            absl::MakeConstSpan(args.byte_strides, args.num_dims))
                                     : engine::DensePlacement(shape));
  KASHI_ASSIGN_OR_RETURN(Shape visible, VisibleShape(shape, args.device_layout));
  if (args.host_buffer_semantics < 0 || args.host_buffer_semantics > PJRT_HostBufferSemantics_kMutableZeroCopy) {
    return InvalidArgument("there are no host buffer semantics %d", args.host_buffer_semantics);
  }
  const bool may_alias = args.host_buffer_semantics >= PJRT_HostBufferSemantics_kImmutableZeroCopy;
  const auto semantics =
      may_alias ? HostBufferSemantics::kImmutableZeroCopy : HostBufferSemantics::kImmutableOnlyDuringCall;
  const auto done = std::make_shared<EventSource>();
  auto event = std::make_unique<PJRT_Event>(done->event());
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> buffer,
                         state->client->BufferFromHost(args.data, placement, semantics, &memory->memory_space,
                                                       [done] { done->Complete(absl::OkStatus()); }));
  args.buffer = NewObject<PJRT_Buffer>(state, std::move(buffer), std::move(visible));
  args.done_with_host_buffer = event.release();
  return absl::OkStatus();
}

absl::Status Call(PJRT_Client_CreateViewOfDeviceBuffer_Args& args) {
  KASHI_ASSIGN_OR_RETURN(PJRT_Memory* const memory, MemoryOf(args.device, args.memory));
  KASHI_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(args.element_type, args.dims, args.num_dims));
  KASHI_ASSIGN_OR_RETURN(const Placement placement, HostPlacement(shape, args.layout));
  const std::shared_ptr<ClientState>& state = args.client->state;
  // Only called once the buffer exists: after an error the memory stays the caller's. A copy ends with it at once.
  struct Use {
    bool has_begun = false, has_ended = false;
  };
  const auto use = std::make_shared<Use>();
  const auto give_back = [callback = args.on_delete_callback, data = args.device_buffer_ptr,
                          user = args.on_delete_callback_arg] {
    if (callback != nullptr) callback(data, user);
  };
  const std::function<void()> done = [use, give_back] {
    use->has_ended = true;
    if (use->has_begun) give_back();
  };
  KASHI_ASSIGN_OR_RETURN(
      std::unique_ptr<Buffer> buffer,
      state->client->BufferFromHost(args.device_buffer_ptr, placement, HostBufferSemantics::kImmutableZeroCopy,
                                    &memory->memory_space, done));
  args.buffer = NewObject<PJRT_Buffer>(state, std::move(buffer));
  use->has_begun = true;
  if (use->has_ended) give_back();
  return absl::OkStatus();
}

absl::Status Call(PJRT_Buffer_ToHostBuffer_Args& args) {
  const Buffer& buffer = *args.src->buffer;
  if (!buffer.shape().IsArray()) return InvalidArgument("a token has no elements");
  KASHI_ASSIGN_OR_RETURN(const Placement placement, HostPlacement(args.src->shape, args.host_layout));
  KASHI_ASSIGN_OR_RETURN(const size_t size, HostBytes(placement));
  if (args.dst == nullptr) {
    args.dst_size = size;
    return absl::OkStatus();
  }
  if (args.dst_size < size)
    return InvalidArgument("the array takes %d bytes, but there is room for %d", size, args.dst_size);
  KASHI_ASSIGN_OR_RETURN(args.event, WhenReady(buffer, [placement, dst = args.dst](const Buffer& ready) {
                           return ready.CopyToHost(dst, placement);
                         }));
  return absl::OkStatus();
}

absl::Status Call(PJRT_Buffer_CopyRawToHost_Args& args) {
  const auto copy = [dst = args.dst, offset = args.offset, bytes = args.transfer_size](const Buffer& ready) {
    return ready.CopyBytesToHost(offset, bytes, dst);
  };
  KASHI_ASSIGN_OR_RETURN(args.event, WhenReady(*args.buffer->buffer, copy));
  return absl::OkStatus();
}

// ---- What it is ----------------------------------------------------------------------------------------------------

absl::Status Call(PJRT_Buffer_ElementType_Args& args) {
  args.type = BufferTypeOf(args.buffer->buffer->shape().element_type());
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_Dimensions_Args& args) {
  GiveDimensions(args.buffer->buffer->shape(), &args.dims, &args.num_dims);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_UnpaddedDimensions_Args& args) {
  GiveDimensions(args.buffer->buffer->shape(), &args.unpadded_dims, &args.num_dims);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_DynamicDimensionIndices_Args& args) {
  args.dynamic_dim_indices = nullptr;
  args.num_dynamic_dims = 0;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_GetMemoryLayout_Args& args) {
  const Shape& shape = args.buffer->shape;
  args.layout = {PJRT_SIZE(PJRT_Buffer_MemoryLayout, type), nullptr, {}, PJRT_Buffer_MemoryLayout_Type_Tiled};
  args.layout.tiled = {PJRT_SIZE(PJRT_Buffer_MemoryLayout_Tiled, num_tiles), nullptr, nullptr, 0, nullptr, nullptr, 0};
  if (!shape.IsArray()) return absl::OkStatus();
  args.layout.tiled.minor_to_major = shape.layout().minor_to_major().data();
  args.layout.tiled.minor_to_major_size = shape.dimensions().size();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_OnDeviceSizeInBytes_Args& args) {
  args.on_device_size_in_bytes = static_cast<size_t>(args.buffer->buffer->size_bytes());
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_Device_Args& args) {
  args.device = args.buffer->memory->device;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_Memory_Args& args) {
  args.memory = args.buffer->memory;
  return absl::OkStatus();
}
// All memory spaces are memory of this process.
absl::Status Call(PJRT_Buffer_IsOnCpu_Args& args) {
  args.is_on_cpu = true;
  return absl::OkStatus();
}

// ---- Its life ------------------------------------------------------------------------------------------------------

absl::Status Call(PJRT_Buffer_Destroy_Args& args) {
  delete args.buffer;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_Delete_Args& args) {
  args.buffer->buffer->Delete();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_IsDeleted_Args& args) {
  args.is_deleted = args.buffer->buffer->is_deleted();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_ReadyEvent_Args& args) {
  args.event = NewObject<PJRT_Event>(args.buffer->buffer->ready());
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_CopyToMemory_Args& args) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> copy, args.buffer->buffer->CopyTo(args.dst_memory->memory_space));
  args.dst_buffer = NewObject<PJRT_Buffer>(args.buffer->client, std::move(copy), args.buffer->shape);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_CopyToDevice_Args& args) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> copy,
                         args.buffer->buffer->CopyTo(args.dst_device->device.default_memory_space()));
  args.dst_buffer = NewObject<PJRT_Buffer>(args.buffer->client, std::move(copy), args.buffer->shape);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_IncreaseExternalReferenceCount_Args& args) {
  KASHI_ASSIGN_OR_RETURN(Buffer::ExternalReference reference, args.buffer->buffer->AcquireExternalReference());
  const absl::MutexLock lock(&args.buffer->mutex);
  args.buffer->references.push_back(std::move(reference));
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_DecreaseExternalReferenceCount_Args& args) {
  Buffer::ExternalReference last;  // freed after the lock is
  const absl::MutexLock lock(&args.buffer->mutex);
  if (args.buffer->references.empty()) return InvalidArgument("the buffer has no external reference");
  last = std::move(args.buffer->references.back());
  args.buffer->references.pop_back();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_UnsafePointer_Args& args) {
  KASHI_ASSIGN_OR_RETURN(const void* const address, AddressOf(*args.buffer));
  args.buffer_pointer = reinterpret_cast<uintptr_t>(address);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args& args) {
  KASHI_ASSIGN_OR_RETURN(const void* const address, AddressOf(*args.buffer));
  args.device_memory_ptr = const_cast<void*>(address);
  return absl::OkStatus();
}

}  // namespace kashi::pjrt
