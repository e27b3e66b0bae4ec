// Results of bf16 operations that are converted to f32 are not rounded to bf16 first, as in XLA:CPU:
//
//   c = bf16[100] multiply(a, b)            a32 = f32[100] convert(a)     b32 = f32[100] convert(b)
//   d = f32[100] convert(c)                 d = f32[100] multiply(a32, b32)
//   e = bf16[100] add(c, b)                 c = bf16[100] convert(d)
//                                           e = bf16[100] add(c, b)
//
// The rule is kashi/evaluator/excess_precision.h's.
#ifndef KASHI_PASSES_KEEP_EXCESS_PRECISION_H_
#define KASHI_PASSES_KEEP_EXCESS_PRECISION_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

// Pre: calls are inlined. Fusions are not, nor are loops unrolled: an operation and a convert that such passes bring
// together have a rounded number between them.
absl::Status KeepExcessPrecision(HloModule* module, const PassContext& context);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_KEEP_EXCESS_PRECISION_H_
