#include "kashi/pjrt/inspect_sharding.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstring>

#include "kashi/base/status.h"
#include "kashi/proto/records_proto.h"

namespace kashi::pjrt {
namespace {

// The interface of jaxlib, as measured: the function sets `error` to a text that `free_error` frees.
struct InspectArgs {
  const char* sharding;  // a serialized OpSharding
  size_t sharding_size;
  const char* error;
  void* error_holder;
  void (*free_error)(InspectArgs* args);
};

struct Inspector {
  void (*call)(void* data, InspectArgs* args);
  void* data;
};

}  // namespace

absl::Status TellInspector(const std::string& backend_config, const HloSharding& sharding) {
  Inspector inspector;
  if (backend_config.size() != sizeof(inspector)) {
    return InvalidArgument("InspectSharding has a backend config of %d bytes, which is no function",
                           backend_config.size());
  }
  std::memcpy(&inspector, backend_config.data(), sizeof(inspector));
  // Bytes of another process are a mistake, not a function.
  Dl_info library;
  if (dladdr(reinterpret_cast<void*>(inspector.call), &library) == 0) {
    return InvalidArgument("InspectSharding has a backend config that is no function of this process");
  }
  const std::string bytes = SerializedSharding(sharding);
  InspectArgs args = {bytes.data(), bytes.size(), nullptr, nullptr, nullptr};
  inspector.call(inspector.data, &args);
  if (args.error == nullptr) return absl::OkStatus();
  const absl::Status status = absl::InternalError(args.error);
  if (args.free_error != nullptr) args.free_error(&args);
  return status;
}

std::string SerializedSharding(const HloSharding& sharding) {
  wire::OpSharding proto;
  ToWire(sharding.ToProto(), &proto);
  return proto.SerializeAsString();
}

}  // namespace kashi::pjrt
