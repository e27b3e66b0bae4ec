#include "kashi/base/machine.h"

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

}  // namespace kashi
