// How many processors this process may use: those that it may run on, and no more than its container's quota of time.
#ifndef KASHI_BASE_PROCESSORS_H_
#define KASHI_BASE_PROCESSORS_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kashi::base {

// Whole processors, at least 1. Looked up at the first call, then constant. A quota of one and a half counts as one: a
// thread for the half would be stopped for most of the time, and with it a loop that waits for it.
int ProcessorCount();

// Processors' worth of time that the control groups of a process may use: the smallest quota of its group and the
// groups above; nothing without a quota. Knows version 2 (cpu.max) and version 1 (cpu.cfs_quota_us). What is not there
// or is no number counts as no quota.
//   groups  the text of /proc/self/cgroup
//   root    where control groups are mounted: /sys/fs/cgroup
std::optional<double> ProcessorQuota(absl::string_view groups, const std::string& root);

}  // namespace kashi::base

#endif  // KASHI_BASE_PROCESSORS_H_
