// Memory for packed operands.
#ifndef KASHI_KERNELS_SCRATCH_BLOCK_H_
#define KASHI_KERNELS_SCRATCH_BLOCK_H_

#include <cstdint>

#include "kashi/base/page_buffer.h"

namespace kashi::kernels {

// data() is null if there is no memory. The bytes are not initialised.
class ScratchBlock {
 public:
  explicit ScratchBlock(int64_t bytes) : bytes_(bytes), data_(base::AllocateBlock(bytes)) {}
  ~ScratchBlock() { base::FreeBlock(data_, bytes_); }
  ScratchBlock(const ScratchBlock&) = delete;
  ScratchBlock& operator=(const ScratchBlock&) = delete;
  void* data() const { return data_; }

 private:
  int64_t bytes_;
  void* data_;
};

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_SCRATCH_BLOCK_H_
