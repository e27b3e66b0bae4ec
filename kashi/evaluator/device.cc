#include "kashi/evaluator/device.h"

#include "kashi/base/status.h"
#include "kashi/evaluator/collective_task.h"

namespace kashi::internal {

absl::StatusOr<std::vector<Value>> Device::Perform(const CollectiveTask& task, std::vector<Value>) {
  return Unimplemented("%s: this fabric only exchanges arrays", task.instruction.name());
}

}  // namespace kashi::internal
