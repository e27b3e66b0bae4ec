// Swaps the operands of dots that are transposed afterwards, where the swapped dot reads its operands as they lie.
//
//   einsum("bhqk,bkhd->bqhd", weights, v), as JAX writes it:
//
//     d = f32[b,h,d,q] dot(v, weights)            rhs lies along k: packing transposes it
//     r = f32[b,q,h,d] transpose(d)
//   becomes
//     d = f32[b,h,q,d] dot(weights, v)            rows of both lie as the tiles need them
//     r = f32[b,q,h,d] transpose(d)               moves whole rows
#ifndef KASHI_PASSES_ORIENT_DOTS_H_
#define KASHI_PASSES_ORIENT_DOTS_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

absl::Status OrientDots(HloModule* module, const PassContext& context);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_ORIENT_DOTS_H_
