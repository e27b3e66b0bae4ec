// The clients of the process. A caller that is about to end waits for their work: handlers and callbacks in Python
// cannot run when Python ends.
#ifndef KASHI_PJRT_LIVE_CLIENTS_H_
#define KASHI_PJRT_LIVE_CLIENTS_H_

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "kashi/engine/client.h"
#include "kashi/pjrt/pjrt_c_api.h"

namespace kashi::pjrt {

// Thread-safe.
class LiveClients {
 public:
  // Those of this process.
  static LiveClients& Global();

  void Add(const Client* client) ABSL_LOCKS_EXCLUDED(mutex_);
  // Before the client is destroyed, which waits for its work, and afterwards.
  void BeginEnd(const Client* client) ABSL_LOCKS_EXCLUDED(mutex_);
  void End() ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until no client has work: programs, and the functions that wait for their ends. False: it took longer.
  bool AwaitIdle(absl::Duration most) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  bool IsIdle() const ABSL_LOCKS_EXCLUDED(mutex_);

  mutable absl::Mutex mutex_;
  absl::flat_hash_set<const Client*> clients_ ABSL_GUARDED_BY(mutex_);
  int ending_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The extension for callers (kashi_c_api.h). Lives as long as the process. `next`: the extension after it, or null.
PJRT_Extension_Base* KashiExtension(PJRT_Extension_Base* next);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_LIVE_CLIENTS_H_
