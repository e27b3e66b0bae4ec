#include "kashi/pjrt/ffi_handlers.h"

#include "absl/strings/match.h"
#include "kashi/base/status.h"
#include "kashi/pjrt/ffi_api.h"

namespace kashi::pjrt {
namespace {

// A call with this extension asks for the version alone.
absl::Status CheckVersion(absl::string_view target, XLA_FFI_Handler* handler) {
  XLA_FFI_Metadata metadata = {};
  metadata.struct_size = offsetof(XLA_FFI_Metadata, state_type_id);
  metadata.api_version.struct_size = sizeof(metadata.api_version);
  XLA_FFI_Metadata_Extension extension = {{sizeof(XLA_FFI_Metadata_Extension), XLA_FFI_Extension_Metadata, nullptr},
                                          &metadata};
  XLA_FFI_CallFrame frame = {};
  frame.struct_size = offsetof(XLA_FFI_CallFrame, future);
  frame.extension_start = &extension.extension_base;
  frame.api = FfiApi();
  KASHI_RETURN_IF_ERROR(TakeStatus(handler(&frame)));
  if (metadata.api_version.major_version == XLA_FFI_API_MAJOR) return absl::OkStatus();
  return InvalidArgument("the handler of %s is for version %d.%d of XLA's FFI, but Kashi has %d.%d", target,
                         metadata.api_version.major_version, metadata.api_version.minor_version, XLA_FFI_API_MAJOR,
                         XLA_FFI_API_MINOR);
}

}  // namespace

FfiHandlers& FfiHandlers::Global() {
  static auto& handlers = *new FfiHandlers;
  return handlers;
}

absl::Status FfiHandlers::Register(absl::string_view target, absl::string_view platform,
                                   const XLA_FFI_Handler_Bundle& bundle) {
  if (!absl::EqualsIgnoreCase(platform, "host") && !absl::EqualsIgnoreCase(platform, "cpu")) {
    return InvalidArgument("the handler of %s is for platform %s; Kashi's is cpu", target, platform);
  }
  if (bundle.execute == nullptr) return InvalidArgument("the handler of %s has no function that executes", target);
  KASHI_RETURN_IF_ERROR(CheckVersion(target, bundle.execute));
  const absl::MutexLock lock(&mutex_);
  bundles_[target] = bundle;
  return absl::OkStatus();
}

std::optional<XLA_FFI_Handler_Bundle> FfiHandlers::Find(absl::string_view target) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = bundles_.find(target);
  if (found == bundles_.end()) return std::nullopt;
  return found->second;
}

FfiTypes& FfiTypes::Global() {
  static auto& types = *new FfiTypes;
  return types;
}

absl::Status FfiTypes::Register(absl::string_view name, Deleter deleter, int64_t* id) {
  const absl::MutexLock lock(&mutex_);
  const auto known = ids_.find(name);
  if (known != ids_.end() && *id != 0 && *id != known->second) {
    return InvalidArgument("type %s has number %d, not %d", name, known->second, *id);
  }
  if (known != ids_.end()) {
    *id = known->second;
    return absl::OkStatus();
  }
  if (*id == 0) {
    *id = 1;
    while (deleters_.contains(*id)) ++*id;
  }
  if (!deleters_.emplace(*id, deleter).second)
    return InvalidArgument("number %d is of another type than %s", *id, name);
  ids_[name] = *id;
  return absl::OkStatus();
}

FfiTypes::Deleter FfiTypes::DeleterOf(int64_t id) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = deleters_.find(id);
  return found == deleters_.end() ? nullptr : found->second;
}

}  // namespace kashi::pjrt
