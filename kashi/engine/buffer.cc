#include "kashi/engine/buffer.h"

#include <utility>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/engine/buffer_state.h"
#include "kashi/engine/client.h"
#include "kashi/engine/dense_placement.h"
#include "kashi/engine/device_memory.h"

namespace kashi {

using engine::BufferElements;
using engine::BufferState;
namespace {

// The elements of a buffer, when they are there.
absl::StatusOr<Value> AwaitValue(BufferState& state) {
  KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<BufferElements> elements, state.Elements());
  KASHI_RETURN_IF_ERROR(elements->ready.Await());
  return elements->value;
}

}  // namespace

Buffer::Buffer(MemorySpace& memory_space, std::shared_ptr<BufferState> state)
    : memory_space_(memory_space), state_(std::move(state)) {}
Buffer::~Buffer() { Delete(); }

const Shape& Buffer::shape() const { return state_->shape; }
int64_t Buffer::size_bytes() const { return engine::BufferBytes(state_->shape); }
Event Buffer::ready() const { return state_->ready; }
void Buffer::Delete() { state_->Take(); }
bool Buffer::is_deleted() const { return !state_->Elements().ok(); }

absl::StatusOr<Literal> Buffer::ToLiteral() const {
  KASHI_ASSIGN_OR_RETURN(Value value, AwaitValue(*state_));
  KASHI_ASSIGN_OR_RETURN(value, engine::ToHost(device().memory(), std::move(value), device().client().memory()));
  return value.ToLiteral(state_->shape);
}

absl::Status Buffer::CopyToHost(void* target, const Placement& placement) const {
  if (!shape().IsArray()) return InvalidArgument("a %s has no elements", ShapeUtil::HumanString(shape()));
  KASHI_RETURN_IF_ERROR(engine::CheckPlacementFits(placement, shape()));
  KASHI_ASSIGN_OR_RETURN(const Value value, AwaitValue(*state_));
  return device().memory().CopyOut(value, target, placement);
}

absl::Status Buffer::CopyBytesToHost(int64_t offset, int64_t bytes, void* target) const {
  if (offset < 0 || bytes < 0 || offset > size_bytes() - bytes) {
    return InvalidArgument("%d bytes at %d are not within the %d bytes of the buffer", bytes, offset, size_bytes());
  }
  KASHI_ASSIGN_OR_RETURN(const Value value, AwaitValue(*state_));
  return bytes == 0 ? absl::OkStatus() : device().memory().CopyBytesOut(value, offset, bytes, target);
}

absl::StatusOr<Buffer::ExternalReference> Buffer::AcquireExternalReference() const {
  if (!shape().IsArray()) return InvalidArgument("a %s has no elements", ShapeUtil::HumanString(shape()));
  KASHI_ASSIGN_OR_RETURN(const Value value, AwaitValue(*state_));
  ExternalReference reference;
  reference.holder_ = std::make_shared<const Value>(value);
  reference.data_ = value.untyped_data();
  return reference;
}

absl::StatusOr<std::unique_ptr<Buffer>> Buffer::CopyTo(MemorySpace& memory_space) const {
  if (&memory_space.device() != &device() || !shape().IsArray()) return SharedIn(memory_space);
  KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<BufferElements> elements, state_->Elements());
  const auto ready = std::make_shared<EventSource>();
  const auto copied = std::make_shared<BufferElements>(ready->event());
  elements->ready.OnReady([elements, copied, ready, &memory = device().memory(),
                           budget = device().client().memory()](const absl::Status& status) {
    absl::StatusOr<Value> copy = status.ok() ? memory.MakeOwn(elements->value, budget) : absl::StatusOr<Value>(status);
    const absl::Status copied_status = copy.status();
    if (copy.ok()) copied->value = *std::move(copy);
    ready->Complete(copied_status);
  });
  return std::make_unique<Buffer>(memory_space, std::make_shared<BufferState>(shape(), copied));
}

absl::StatusOr<std::unique_ptr<Buffer>> Buffer::SharedIn(MemorySpace& memory_space) const {
  if (&memory_space.device().client() != &device().client()) {
    return InvalidArgument("%s is of another client", memory_space.ToString());
  }
  KASHI_ASSIGN_OR_RETURN(std::shared_ptr<BufferElements> elements, state_->Elements());
  return std::make_unique<Buffer>(memory_space, std::make_shared<BufferState>(shape(), std::move(elements)));
}

}  // namespace kashi
