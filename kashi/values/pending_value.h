// PendingValue: what an operation that has begun will give. Another instruction ends it: all-reduce-done.
#ifndef KASHI_VALUES_PENDING_VALUE_H_
#define KASHI_VALUES_PENDING_VALUE_H_

#include "absl/status/statusor.h"
#include "kashi/values/value.h"

namespace kashi {

class HloInstruction;

}  // namespace kashi

namespace kashi::values {

class PendingValue {
 public:
  virtual ~PendingValue() = default;
  // Waits for the value, in the thread of the run that began it. `done`: the instruction that waits. Called once, or
  // never if the run fails.
  virtual absl::StatusOr<Value> Get(const HloInstruction& done) = 0;
};

}  // namespace kashi::values

#endif  // KASHI_VALUES_PENDING_VALUE_H_
