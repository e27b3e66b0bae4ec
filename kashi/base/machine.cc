#include "kashi/base/machine.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace kashi {

// Linux says it in a file, `MemTotal:  16384256 kB`; the standard library has no question for it.
int64_t MachineMemoryBytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  int64_t kibibytes = 0;
  if (file >> word >> kibibytes && word == "MemTotal:" && kibibytes > 0) return kibibytes * 1024;
  return INT64_MAX;
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

}  // namespace kashi
