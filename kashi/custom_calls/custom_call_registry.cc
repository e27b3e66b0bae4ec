#include "kashi/custom_calls/custom_call_registry.h"

#include <utility>

namespace kashi {

CustomCallRegistry& CustomCallRegistry::Global() {
  static auto* const registry = new CustomCallRegistry();
  return *registry;
}

void CustomCallRegistry::Register(absl::string_view target, CustomCallHandler handler) {
  absl::MutexLock lock(&mutex_);
  handlers_[target] = std::move(handler);
}

void CustomCallRegistry::Unregister(absl::string_view target) {
  absl::MutexLock lock(&mutex_);
  handlers_.erase(target);
}

CustomCallHandler CustomCallRegistry::Find(absl::string_view target) const {
  absl::MutexLock lock(&mutex_);
  const auto found = handlers_.find(target);
  return found == handlers_.end() ? CustomCallHandler() : found->second;
}

}  // namespace kashi
