// Denormal numbers: XLA's compiled code treats them as 0, the evaluator does not.
#ifndef KASHI_CPU_FLUSH_DENORMALS_H_
#define KASHI_CPU_FLUSH_DENORMALS_H_

#include <xmmintrin.h>

namespace kashi::cpu {

// Sets how this thread treats denormal numbers while the object lives. Cheap if the setting does not change.
class DenormalMode {
 public:
  DenormalMode(const DenormalMode&) = delete;
  DenormalMode& operator=(const DenormalMode&) = delete;

 protected:
  static constexpr unsigned kFlushResults = 0x8000, kOperandsAreZero = 0x40, kFlush = kFlushResults | kOperandsAreZero;

  DenormalMode() : before_(_mm_getcsr()), now_(before_) {}
  ~DenormalMode() {
    if (now_ != before_) _mm_setcsr(before_);
  }
  void Set(bool flush) {
    now_ = flush ? before_ | kFlush : before_ & ~kFlush;
    if (now_ != before_) _mm_setcsr(now_);
  }

 private:
  unsigned before_, now_;
};

// If `flush`, denormal operands and results count as 0.
class FlushDenormals : DenormalMode {
 public:
  explicit FlushDenormals(bool flush) {
    if (flush) Set(true);
  }
};

// Denormal numbers keep their values.
class KeepDenormals : DenormalMode {
 public:
  KeepDenormals() { Set(false); }
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_FLUSH_DENORMALS_H_
