// How the compiled engine computes.
#ifndef KASHI_CPU_COMPILE_OPTIONS_H_
#define KASHI_CPU_COMPILE_OPTIONS_H_

#include "kashi/base/work_meter.h"

namespace kashi {

// The rules of numbers (docs/fidelity.md). The defaults are those of XLA:CPU.
struct NumberOptions {
  // Denormal results become 0, and denormal operands count as 0, in compiled kernels.
  bool flush_denormals = true;
  // A chain of bf16 operations within one kernel computes in f32 and is rounded once.
  bool excess_precision = true;
};

struct CompileOptions {
  NumberOptions numbers;
  // Compiling ends with DEADLINE_EXCEEDED soon after the deadline and with CANCELLED soon after it is cancelled: within
  // the time that a few kernels take. max_work does not count.
  WorkLimits limits;
  // Also keep the stages as text (Executable::stages).
  bool keep_stages = false;
};

}  // namespace kashi

#endif  // KASHI_CPU_COMPILE_OPTIONS_H_
