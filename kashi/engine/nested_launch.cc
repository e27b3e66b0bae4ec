#include "kashi/engine/nested_launch.h"

#include <atomic>

namespace kashi::engine {

uint64_t ThisCaller() {
  static std::atomic<uint64_t> last{0};
  uint64_t& current = NestedCaller::current_;
  if (current == 0) current = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return current;
}

}  // namespace kashi::engine
