// The partitioners of custom calls that callers brought: functions in C, behind which JAX has Python's.
#ifndef KASHI_PJRT_CUSTOM_CALL_PARTITIONERS_H_
#define KASHI_PJRT_CUSTOM_CALL_PARTITIONERS_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kashi/partition/custom_call_partitioner.h"
#include "kashi/pjrt/custom_partitioner_c_api.h"

namespace kashi::pjrt {

// Thread-safe. The functions run on the thread that compiles, and one partitioner may run on several threads.
class RegisteredPartitioners : public CustomCallPartitioners {
 public:
  static RegisteredPartitioners& Global();

  // Replaces an earlier partitioner of this target. Takes the functions: their dtor runs when nothing uses them any
  // more, also if they are refused. INVALID_ARGUMENT if one is missing, or for another version of the interface.
  absl::Status Register(absl::string_view target, JAX_CustomCallPartitioner_Callbacks* callbacks);
  void RegisterBatchPartitionable(absl::string_view target);

  std::shared_ptr<const CustomCallPartitioner> Find(absl::string_view target) const override;
  bool IsBatchPartitionable(absl::string_view target) const override;

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<const CustomCallPartitioner>> partitioners_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string> batch_partitionable_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_CUSTOM_CALL_PARTITIONERS_H_
