// RunLimits: the state that the runs of several devices share.
#ifndef KASHI_VALUES_RUN_LIMITS_H_
#define KASHI_VALUES_RUN_LIMITS_H_

#include <memory>

#include "kashi/base/work_meter.h"
#include "kashi/values/memory_budget.h"

namespace kashi::values {

struct RunLimits {
  std::shared_ptr<MemoryBudget> memory;
  std::shared_ptr<WorkMeter> work;
};

}  // namespace kashi::values

#endif  // KASHI_VALUES_RUN_LIMITS_H_
