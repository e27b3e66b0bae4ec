// Helpers of collective operations: the group of devices, and the exchange of arrays. (docs/spec/hlo-ops.md, 7)
#ifndef KASHI_EVALUATOR_COLLECTIVE_EXCHANGE_H_
#define KASHI_EVALUATOR_COLLECTIVE_EXCHANGE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/devices/collective_task.h"
#include "kashi/devices/device.h"
#include "kashi/evaluator/operation.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// The devices of an operation's group, and the position of this device in it.
struct CollectiveGroup {
  std::vector<int64_t> members;
  int64_t own = 0;

  int64_t size() const { return static_cast<int64_t>(members.size()); }
};

// NOT_FOUND if this device is in no group. INVALID_ARGUMENT also if the run has one device, but the program is for
// several.
absl::StatusOr<CollectiveGroup> GroupOf(const Operation& op);

// Adds the name of the instruction and, if the run has only one device, what to do.
absl::Status NeedsDevices(const Operation& op, const absl::Status& error);

// The value for other threads: no thread may write it. Copies arrays that are shared.
absl::StatusOr<Value> ShareWithThreads(const Operation& op, Value value);

// Gives these arrays to all members, and returns the arrays of all members, which must not be written. Copies arrays
// that are shared.
absl::StatusOr<std::shared_ptr<const devices::Given>> Exchange(const Operation& op, const CollectiveGroup& group,
                                                               std::vector<Value> values);

// A collective operation in two halves: the arrays that the device gives, and the function that makes its result from
// the arrays that it receives. Functions take the operation as an argument, because an operation that another one ends
// outlives its evaluation.
struct CollectiveHalves {
  CollectiveGroup group;
  std::vector<Value> gives;
  std::optional<devices::CollectiveTask>
      task;                          // its members are those of `group`; the members exchange arrays without one
  std::shared_ptr<const void> kept;  // objects to which the task refers
  // Makes results that are equal for all members: one member does it for all, so the work is not done n times. Null:
  // each gets the arrays of all.
  std::function<absl::StatusOr<std::vector<Value>>(const Operation& op, const CollectiveGroup& group,
                                                   const devices::Given& given)>
      combine = nullptr;
  // Makes the value from the arrays that the device receives.
  std::function<absl::StatusOr<Value>(Operation& op, const CollectiveGroup& group,
                                      devices::PendingCollective::Received received)>
      finish = nullptr;
};
// The value of the operation. If another instruction ends it (Operation::start), the device begins it and gets a
// pending value, except where something needs the value at once: an observer, or sizes that only the value has. Also
// where devices live for one operation only (manual_region.h).
absl::StatusOr<Value> RunCollective(Operation& op, CollectiveHalves plan);
// Ends it: gives the value, if it is pending. `done`: the instruction that is evaluated.
absl::StatusOr<Value> EndCollective(const HloInstruction& done, Value value);

// Whether the device takes the operation as a task (kashi/devices/collective_task.h): the operands are arrays whose
// sizes all members know, and there are other members.
bool IsTask(const Operation& op, const CollectiveGroup& group);
// A task with the fields that all kinds have. The group must outlive it.
devices::CollectiveTask TaskOf(const Operation& op, const CollectiveGroup& group, devices::CollectiveTask::Kind kind);

std::vector<Value> TakeOperands(const Operation& op);

// The result of an operation with one or several operands.
Value OneOrTuple(std::vector<Value> values);

// The value itself if it may be written, otherwise a copy.
absl::StatusOr<Value> Writable(const Operation& op, Value value);
absl::StatusOr<Value> Zeros(const Operation& op, const DenseShape& shape);

// The elements of an array of integers. INVALID_ARGUMENT for other types.
absl::StatusOr<std::vector<int64_t>> Integers(const Operation& op, const Value& value);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_COLLECTIVE_EXCHANGE_H_
