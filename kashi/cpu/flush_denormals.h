// Denormal numbers count as 0.
#ifndef KASHI_CPU_FLUSH_DENORMALS_H_
#define KASHI_CPU_FLUSH_DENORMALS_H_

#include <xmmintrin.h>

namespace kashi::internal {

// While it lives, in this thread, if `flush`: denormal operands and results count as 0.
class FlushDenormals {
 public:
  explicit FlushDenormals(bool flush) : before_(_mm_getcsr()) {
    constexpr unsigned kFlushResults = 0x8000, kOperandsAreZero = 0x40;
    if (flush) _mm_setcsr(before_ | kFlushResults | kOperandsAreZero);
  }
  ~FlushDenormals() { _mm_setcsr(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned before_;
};

}  // namespace kashi::internal

#endif  // KASHI_CPU_FLUSH_DENORMALS_H_
