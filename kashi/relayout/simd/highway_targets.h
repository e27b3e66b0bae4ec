// The processors that kernels are compiled for. Before the first header of Highway.
#ifndef KASHI_RELAYOUT_SIMD_HIGHWAY_TARGETS_H_
#define KASHI_RELAYOUT_SIMD_HIGHWAY_TARGETS_H_

#include "kashi/base/sanitizers.h"

// SSSE3 has all instructions used here, so SSE4 would be the same code again. Vectors whose length only the machine
// knows cannot be kept in arrays.
#define KASHI_UNUSED_TARGETS (HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

// Without vectors, plain loops of ours run. Highway would emulate vectors of 16 bytes: that is slower, and takes
// longer to compile than any other target.
#define HWY_BROKEN_EMU128 1

// With sanitizers a compiler takes minutes for each target: only the longest vectors that most machines have, and the
// plain code, remain. The CMake option KASHI_SIMD_TARGET chooses another target: it defines KASHI_ONLY_TARGET.
#if defined(KASHI_ONLY_TARGET)
// The plain code that every machine can run must stay.
#define HWY_DISABLED_TARGETS (~(KASHI_ONLY_TARGET | HWY_SCALAR))
#elif KASHI_SANITIZED
#define HWY_DISABLED_TARGETS (KASHI_UNUSED_TARGETS | HWY_AVX3 | HWY_AVX3_DL | HWY_SSSE3)
#else
#define HWY_DISABLED_TARGETS KASHI_UNUSED_TARGETS
#endif

#endif  // KASHI_RELAYOUT_SIMD_HIGHWAY_TARGETS_H_
