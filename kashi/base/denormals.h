// Denormal numbers: XLA's compiled code treats them as 0, the evaluator does not. A new thread begins with the setting
// of the thread that starts it, and a caller may have any. So code that computes sets it. Threads that outlive
// their caller begin with KeepDenormals.
#ifndef KASHI_BASE_DENORMALS_H_
#define KASHI_BASE_DENORMALS_H_

#ifdef __SSE__
#include <xmmintrin.h>
#endif

namespace kashi::base {

// Sets how this thread treats denormal numbers while the object lives. Cheap if the setting does not change. On other
// processors than x86, where no caller is known to change it, nothing is set: they keep denormal numbers.
class DenormalMode {
 public:
  explicit DenormalMode(bool flush) {
#ifdef __SSE__
    before_ = _mm_getcsr();
    now_ = flush ? before_ | kFlush : before_ & ~kFlush;
    if (now_ != before_) _mm_setcsr(now_);
#else
    static_cast<void>(flush);
#endif
  }
  ~DenormalMode() {
#ifdef __SSE__
    if (now_ != before_) _mm_setcsr(before_);
#endif
  }
  DenormalMode(const DenormalMode&) = delete;
  DenormalMode& operator=(const DenormalMode&) = delete;

 private:
#ifdef __SSE__
  static constexpr unsigned kFlushResults = 0x8000, kOperandsAreZero = 0x40, kFlush = kFlushResults | kOperandsAreZero;
  unsigned before_, now_;
#endif
};

// Denormal numbers keep their values.
class KeepDenormals : DenormalMode {
 public:
  KeepDenormals() : DenormalMode(/*flush=*/false) {}
};

}  // namespace kashi::base

#endif  // KASHI_BASE_DENORMALS_H_
