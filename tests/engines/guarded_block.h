// Memory that ends where a page without access begins: who reads or writes beyond the end dies at once.
#ifndef KASHI_TESTS_ENGINES_GUARDED_BLOCK_H_
#define KASHI_TESTS_ENGINES_GUARDED_BLOCK_H_

#include <cstdint>
#include <utility>

namespace kashi::tests {

class GuardedBlock {
 public:
  explicit GuardedBlock(int64_t bytes);
  ~GuardedBlock();
  GuardedBlock(GuardedBlock&& other) noexcept
      : begin_(std::exchange(other.begin_, nullptr)), mapped_(other.mapped_), bytes_(other.bytes_) {}
  GuardedBlock& operator=(GuardedBlock&&) = delete;

  void* data() const;

 private:
  char* begin_;
  int64_t mapped_, bytes_;
};

}  // namespace kashi::tests

#endif  // KASHI_TESTS_ENGINES_GUARDED_BLOCK_H_
