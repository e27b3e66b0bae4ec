#include "tests/engines/guarded_block.h"

#include <sys/mman.h>

#include "kashi/base/check.h"

namespace kashi::tests {
namespace {
constexpr int64_t kPage = 4096;
}  // namespace

GuardedBlock::GuardedBlock(int64_t bytes) : mapped_((bytes + kPage - 1) / kPage * kPage + kPage), bytes_(bytes) {
  void* pages = mmap(nullptr, static_cast<size_t>(mapped_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  KASHI_CHECK(pages != MAP_FAILED) << "no memory";
  begin_ = static_cast<char*>(pages);
  KASHI_CHECK_EQ(mprotect(begin_ + mapped_ - kPage, kPage, PROT_NONE), 0);
}

GuardedBlock::~GuardedBlock() {
  if (begin_ != nullptr) munmap(begin_, static_cast<size_t>(mapped_));
}

void* GuardedBlock::data() const { return begin_ + mapped_ - kPage - bytes_; }

}  // namespace kashi::tests
