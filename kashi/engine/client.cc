#include "kashi/engine/client.h"

#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/engine/buffer_state.h"
#include "kashi/engine/device_memory.h"
#include "kashi/engine/device_queue.h"
#include "kashi/engine/engine.h"
#include "kashi/engine/program_door.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/hlo/spmd/program_scope.h"

namespace kashi {

using engine::BufferElements;
using engine::BufferState;
using engine::DeviceMemory;
using engine::ProgramDoor;
namespace {

std::unique_ptr<Buffer> MakeBuffer(const Shape& shape, Value value, MemorySpace& memory_space, bool is_lent = false) {
  return std::make_unique<Buffer>(
      memory_space, std::make_shared<BufferState>(shape, std::make_shared<BufferElements>(std::move(value), is_lent)));
}

// Memory of the caller.
class Lent {
 public:
  explicit Lent(std::function<void()> done) : done_(std::move(done)) {}
  ~Lent() {
    if (done_) done_();
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  const std::function<void()> done_;
};

absl::Status CheckLoadable(const HloModule& module) {
  if (ProgramScopeOf(module).is_global()) {
    return Unimplemented("%s is a global program: partition it first", module.name());
  }
  const HloComputation& entry = *module.entry_computation();
  const auto check = [&](const Shape& shape) {
    return ShapeUtil::ForEachLeafShapeWithStatus(shape, [&](const Shape& leaf, const ShapeIndex&) -> absl::Status {
      if (leaf.IsToken() || (leaf.IsArray() && leaf.is_static())) return absl::OkStatus();
      return Unimplemented("%s has an argument or a result %s, which no buffer holds", entry.name(),
                           ShapeUtil::HumanString(leaf));
    });
  };
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    KASHI_RETURN_IF_ERROR(check(parameter->shape()));
  }
  return check(entry.root_instruction()->shape());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> Client::Create(const ClientOptions& options) {
  if (options.devices < 1 || options.devices > kMaxDevices) {
    return InvalidArgument("a client has 1 to %d devices, not %d", kMaxDevices, options.devices);
  }
  if (options.memory_limit_bytes < 0) {
    return InvalidArgument("the memory limit is %d bytes, which is negative", options.memory_limit_bytes);
  }
  if (options.engine.empty()) return std::unique_ptr<Client>(new Client(options, engine::HostMemory()));
  KASHI_ASSIGN_OR_RETURN(const engine::Engine* const engine, engine::EngineOfName(options.engine));
  return std::unique_ptr<Client>(new Client(options, engine->memory()));
}

Client::Client(const ClientOptions& options, const DeviceMemory& of_devices)
    : memory_(std::make_shared<MemoryBudget>(options.memory_limit_bytes)), engine_(options.engine) {
  for (int64_t id = 0; id < options.devices; ++id) {
    devices_.push_back(std::unique_ptr<LocalDevice>(new LocalDevice(*this, id, of_devices)));
  }
}
// A callback of a program may start another one, on any device.
Client::~Client() {
  bool waited = true;
  while (waited) {
    waited = false;
    for (const std::unique_ptr<LocalDevice>& device : devices_) waited |= device->queue().Drain();
  }
}

bool Client::IsIdle() const {
  return absl::c_all_of(devices_, [](const auto& device) { return !device->queue().HasTasks(); });
}

absl::StatusOr<LocalDevice*> Client::DeviceOf(int64_t id) const {
  if (id >= 0 && id < static_cast<int64_t>(devices_.size())) return devices_[id].get();
  return absl::NotFoundError(absl::StrFormat("there is no device %d; the client has %d", id, devices_.size()));
}

absl::StatusOr<MemorySpace*> Client::PlaceOf(MemorySpace* memory_space) const {
  if (memory_space == nullptr) return &devices_[0]->default_memory_space();
  if (&memory_space->device().client() == this) return memory_space;
  return InvalidArgument("%s is of another client", memory_space->ToString());
}

absl::StatusOr<std::unique_ptr<Buffer>> Client::BufferFromHost(const void* data, const Placement& placement,
                                                               HostBufferSemantics semantics, MemorySpace* memory_space,
                                                               std::function<void()> done) {
  const auto lent = std::make_shared<const Lent>(std::move(done));
  KASHI_ASSIGN_OR_RETURN(MemorySpace* const place, PlaceOf(memory_space));
  if (placement.shape().is_dynamic()) {
    return InvalidArgument("a buffer holds a static array, not %s", ShapeUtil::HumanString(placement.shape()));
  }
  KASHI_ASSIGN_OR_RETURN(const DenseShape dense,
                         MakeCheckedDenseShape(placement.element_type(), placement.dimensions()));
  const DeviceMemory& memory = place->device().memory();
  if (semantics == HostBufferSemantics::kImmutableZeroCopy) {
    std::optional<Value> as_it_is = memory.Borrow(data, placement, dense, lent);
    if (as_it_is.has_value()) return MakeBuffer(*dense, *std::move(as_it_is), *place, /*is_lent=*/true);
  }
  KASHI_ASSIGN_OR_RETURN(Value copy, memory.CopyIn(data, placement, dense, memory_));
  return MakeBuffer(*dense, std::move(copy), *place);
}

absl::StatusOr<std::unique_ptr<Buffer>> Client::BufferFromLiteral(const LiteralSlice& literal,
                                                                  MemorySpace* memory_space) {
  if (!literal.shape().IsArray() || !literal.shape().is_static()) {
    return InvalidArgument("a buffer holds a static array, not %s", ShapeUtil::HumanString(literal.shape()));
  }
  KASHI_ASSIGN_OR_RETURN(MemorySpace* const place, PlaceOf(memory_space));
  KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(literal, memory_));
  const engine::DeviceMemory& memory = place->device().memory();
  KASHI_ASSIGN_OR_RETURN(value, engine::ToDevice(memory, std::move(value), memory_));
  KASHI_ASSIGN_OR_RETURN(value, memory.MakeOwn(std::move(value), memory_));  // small arrays are not aligned yet
  const Shape shape = value.shape();
  return MakeBuffer(shape, std::move(value), *place);
}

absl::StatusOr<std::unique_ptr<Buffer>> Client::MakeToken(MemorySpace* memory_space) {
  KASHI_ASSIGN_OR_RETURN(MemorySpace* const place, PlaceOf(memory_space));
  return MakeBuffer(ShapeUtil::MakeTokenShape(), Value::MakeToken(), *place);
}

absl::StatusOr<std::unique_ptr<LoadedProgram>> Client::Compile(const HloModule& module, const CompileOptions& options,
                                                               absl::Span<LocalDevice* const> devices) {
  KASHI_RETURN_IF_ERROR(CheckLoadable(module));  // before the time to compile
  CompileOptions of_devices = options;
  if (!engine_.empty()) of_devices.engine = engine_;
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, Program::Compile(module, of_devices));
  return Load(std::move(program), devices);
}

absl::StatusOr<std::unique_ptr<LoadedProgram>> Client::Load(std::shared_ptr<const Program> program,
                                                            absl::Span<LocalDevice* const> devices) {
  KASHI_RETURN_IF_ERROR(CheckLoadable(program->module()));
  KASHI_ASSIGN_OR_RETURN(const DeviceCounts counts, DeviceCountsOf(program->module()));
  std::vector<LocalDevice*> chosen(devices.begin(), devices.end());
  for (int64_t i = 0; devices.empty() && i < counts.total(); ++i) {
    KASHI_ASSIGN_OR_RETURN(LocalDevice* const device, DeviceOf(i));
    chosen.push_back(device);
  }
  if (static_cast<int64_t>(chosen.size()) != counts.total()) {
    return InvalidArgument("the program is for %s, not for %d", counts.ToString(), chosen.size());
  }
  std::set<const LocalDevice*> seen;
  for (const LocalDevice* device : chosen) {
    if (&device->client() != this) return InvalidArgument("%s is of another client", device->ToString());
    if (&device->memory() != &ProgramDoor::MemoryOf(*program)) {
      return absl::FailedPreconditionError(
          absl::StrFormat("programs of the engine %s have their arrays in another memory than %s", program->engine(),
                          device->ToString()));
    }
    if (!seen.insert(device).second) return InvalidArgument("%s is in the list twice", device->ToString());
  }
  return std::unique_ptr<LoadedProgram>(new LoadedProgram(*this, std::move(program), std::move(chosen)));
}

}  // namespace kashi
