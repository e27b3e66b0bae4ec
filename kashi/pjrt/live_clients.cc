#include "kashi/pjrt/live_clients.h"

#include "absl/algorithm/container.h"
#include "absl/time/clock.h"
#include "kashi/pjrt/kashi_c_api.h"

namespace kashi::pjrt {

LiveClients& LiveClients::Global() {
  static auto& clients = *new LiveClients;
  return clients;
}

void LiveClients::Add(const Client* client) {
  const absl::MutexLock lock(&mutex_);
  clients_.insert(client);
}

void LiveClients::BeginEnd(const Client* client) {
  const absl::MutexLock lock(&mutex_);
  clients_.erase(client);
  ++ending_;
}

void LiveClients::End() {
  const absl::MutexLock lock(&mutex_);
  --ending_;
}

bool LiveClients::IsIdle() const {
  const absl::MutexLock lock(&mutex_);
  return ending_ == 0 && absl::c_all_of(clients_, [](const Client* client) { return client->IsIdle(); });
}

// It looks again and again: programs pay nothing for it.
bool LiveClients::AwaitIdle(absl::Duration most) {
  const absl::Time end = absl::Now() + most;
  while (!IsIdle()) {
    if (absl::Now() > end) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

PJRT_Extension_Base* KashiExtension(PJRT_Extension_Base* next) {
  static PJRT_Kashi_Extension extension = {
      {sizeof(PJRT_Kashi_Extension), PJRT_Extension_Type_Kashi, next},
      [](int64_t milliseconds) { return LiveClients::Global().AwaitIdle(absl::Milliseconds(milliseconds)); }};
  return &extension.base;
}

}  // namespace kashi::pjrt
