// Takes out operations that give an operand back: JAX's text has many, and a compiler that sees them all pays for each.
//
//   slice of all of x, a concatenation with arrays of no elements or of one array, a pad by nothing,
//   a dynamic slice or an update of all of x, a conversion to the same type, a transpose, reshape or broadcast
//   that moves nothing, a reversal of dimensions of size 1                        x
//   integers: 0 + x, x - 0, 1 * x                                                 x
//   select by a constant                                                          one of both
//
// And operations on no elements: a reduction, a pad or a product of nothing is one value, an update by nothing the
// array, and what has no elements a constant. So small loops, which have no code for such arrays, compute none.
#ifndef KASHI_PASSES_SIMPLIFY_H_
#define KASHI_PASSES_SIMPLIFY_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

// In all computations that are run as a whole.
absl::Status Simplify(HloModule* module, const PassContext& context);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_SIMPLIFY_H_
