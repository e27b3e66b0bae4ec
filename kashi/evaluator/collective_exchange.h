// Helpers of collective operations: the group of devices, and the exchange of arrays. (docs/spec/hlo-ops.md, 7)
#ifndef KASHI_EVALUATOR_COLLECTIVE_EXCHANGE_H_
#define KASHI_EVALUATOR_COLLECTIVE_EXCHANGE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/evaluator/collective_task.h"
#include "kashi/evaluator/device.h"
#include "kashi/evaluator/operation.h"
#include "kashi/evaluator/value.h"

namespace kashi::internal {

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

// The value as other threads get it: nobody may write it. Copies arrays that are shared.
absl::StatusOr<Value> ShareWithThreads(const Operation& op, Value value);

// Gives these arrays to all members, and returns the arrays of all members, which must not be written. Copies arrays
// that are shared.
absl::StatusOr<std::shared_ptr<const Given>> Exchange(const Operation& op, const CollectiveGroup& group,
                                                      std::vector<Value> values);
// The same for results that are equal for all members: one member computes the result for all, so the work is not done
// n times.
absl::StatusOr<std::vector<Value>> ExchangeAndCombine(const Operation& op, const CollectiveGroup& group,
                                                      std::vector<Value> values, Device::CombineFunction combine);

// Whether the device takes the operation as a task (collective_task.h): the operands are arrays whose sizes all members
// know, and there are other members.
bool IsTask(const Operation& op, const CollectiveGroup& group);
// The task with what all kinds have. The group must outlive it.
CollectiveTask TaskOf(const Operation& op, const CollectiveGroup& group, CollectiveTask::Kind kind);

std::vector<Value> TakeOperands(const Operation& op);

// The result of an operation with one or several operands.
Value OneOrTuple(std::vector<Value> values);

// The value itself if it may be written, otherwise a copy.
absl::StatusOr<Value> Writable(const Operation& op, Value value);
absl::StatusOr<Value> Zeros(const Operation& op, const DenseShape& shape);

// The elements of an array of integers. INVALID_ARGUMENT for other types.
absl::StatusOr<std::vector<int64_t>> Integers(const Operation& op, const Value& value);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_COLLECTIVE_EXCHANGE_H_
