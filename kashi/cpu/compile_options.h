// How the compiled engine computes.
#ifndef KASHI_CPU_COMPILE_OPTIONS_H_
#define KASHI_CPU_COMPILE_OPTIONS_H_

#include "kashi/base/work_meter.h"

namespace kashi {

// The rules of numbers (docs/fidelity.md). The defaults are those of XLA:CPU.
struct NumberOptions {
  // Denormal results become 0, and denormal operands count as 0, in compiled kernels.
  bool flush_denormals = true;
  // Numbers keep bits that their type has no place for, where XLA:CPU keeps them: the result of a bf16 operation that
  // is converted to f32 is not rounded to bf16, and a product that is added is not rounded (fused multiply-add). Sums
  // of bf16 in a reduce are f32 until they are complete.
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
