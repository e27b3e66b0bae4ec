#include "kashi/base/machine.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace kashi::base {
namespace {

// The number behind a word in a file of such pairs: `MemTotal:  16384256 kB`, `inactive_file 4096`.
std::optional<int64_t> NumberBehind(const std::string& path, const std::string& word) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    int64_t number = 0;
    if (words >> first >> number && first == word && number >= 0) return number;
  }
  return std::nullopt;
}

std::optional<int64_t> NumberIn(const std::string& path) {
  std::ifstream file(path);
  int64_t number = 0;
  if (file >> number && number >= 0) return number;
  return std::nullopt;  // also for `max`, which is no limit
}

// The names of three files or lines in one version of control groups.
struct GroupFiles {
  const char* limit;
  const char* used;
  const char* cached;  // a line of memory.stat: memory that the group would free before it is out of memory
};
constexpr GroupFiles kVersion1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles kVersion2 = {"/memory.max", "/memory.current", "inactive_file"};

int64_t LeftInGroup(const std::string& folder, const GroupFiles& files) {
  const std::optional<int64_t> limit = NumberIn(folder + files.limit);
  if (!limit.has_value()) return INT64_MAX;
  const int64_t used = NumberIn(folder + files.used).value_or(0);
  const int64_t cached = NumberBehind(folder + "/memory.stat", files.cached).value_or(0);
  return std::max<int64_t>(0, *limit - std::max<int64_t>(0, used - cached));
}

// The least that a group and all above it leave. A container may see its own group as the root of the tree, so the root
// counts too, and names that are not there are none.
int64_t LeftInGroups(const std::string& tree, std::string group, const GroupFiles& files) {
  int64_t left = LeftInGroup(tree, files);
  while (!group.empty() && group != "/") {
    left = std::min(left, LeftInGroup(tree + group, files));
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
  return left;
}

// Lines of /proc/self/cgroup are `4:memory:/the/group`, of version 2 `0::/the/group`.
int64_t LeftInControlGroups(const std::string& root) {
  int64_t left = INT64_MAX;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      left = std::min(left, LeftInGroups(root + "/sys/fs/cgroup", group, kVersion2));
      left = std::min(left, LeftInGroups(root + "/sys/fs/cgroup/unified", group, kVersion2));
    } else if (controllers.find(",memory,") != std::string::npos) {
      left = std::min(left, LeftInGroups(root + "/sys/fs/cgroup/memory", group, kVersion1));
    }
  }
  return left;
}

int64_t Kibibytes(std::optional<int64_t> number) {
  return number.has_value() && *number <= INT64_MAX / 1024 ? *number * 1024 : INT64_MAX;
}

}  // namespace

// Linux says it in a file; the standard library has no question for it.
int64_t MachineMemoryBytes() { return Kibibytes(NumberBehind("/proc/meminfo", "MemTotal:")); }

int64_t AvailableMemoryBytesBelow(const std::string& root) {
  return std::min(Kibibytes(NumberBehind(root + "/proc/meminfo", "MemAvailable:")), LeftInControlGroups(root));
}

int64_t AvailableMemoryBytes() { return AvailableMemoryBytesBelow(""); }

int64_t PeakMemoryBytes() { return NumberBehind("/proc/self/status", "VmHWM:").value_or(0) * 1024; }

int64_t DefaultMemoryLimit() {
  const int64_t available = AvailableMemoryBytes();
  return std::max<int64_t>(1, available - available / 8);
}

namespace {

// Linux has a file for each cache of a processor: `32768K`.
int64_t LookUpCacheBytes() {
  int64_t largest = 0;
  for (int i = 0; i < 8; ++i) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/size");
    int64_t size = 0;
    char unit = 0;
    if (!(file >> size)) break;
    file >> unit;
    largest = std::max(largest, unit == 'M' ? size << 20 : unit == 'K' ? size << 10 : size);
  }
  return largest > 0 ? largest : 32 << 20;
}

}  // namespace

int64_t MachineCacheBytes() {
  static const int64_t bytes = LookUpCacheBytes();
  return bytes;
}

}  // namespace kashi::base
