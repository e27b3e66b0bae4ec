// Orders instructions so that the other uses of a buffer come before the instruction that updates it in place.
//
// An instruction may update a buffer in place if every other use of the buffer's value comes before it. For this, XLA's
// copy insertion orders instructions where dependences allow it, and inserts a copy where they do not:
//
//   order given                                order here
//   x' = scatter(x, i, u)                      a  = dynamic-slice(x, j)
//   a  = dynamic-slice(x, j)                   x' = scatter(x, i, u)        in place
//   x" = scatter(x', j, a)                     x" = scatter(x', j, a)       in place
//
//   x' = scatter(x, i, u)                      unchanged: a must read x after x' is made, so x must be copied
//   k  = dynamic-slice(x', i)
//   a  = dynamic-slice(x, k)
//
// Several instructions may share a buffer: tuple, get-tuple-element, reshape, copy and others that forward an operand
// (Flow in ops.def), and the parts of a loop's state that its body does not change. A buffer of the root must keep its
// value until the end.
//
// This code does not know how instructions run. An engine decides again, from its own references, whether a buffer
// may be written, so an order that misses a use costs a copy but gives no wrong result.
#ifndef KASHI_BUFFERS_IN_PLACE_ORDER_H_
#define KASHI_BUFFERS_IN_PLACE_ORDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::buffers {

// The operand that the instruction can update in place to make its result, an array. Supported: dynamic-update-slice,
// scatter to one array, and fusions of these with this operand. -1: none.
int64_t OperandUpdatedInPlace(const HloInstruction& instruction);

// An operand, or one leaf of it (the arrays of a tuple in order), that an instruction would update in place.
struct InPlaceUpdate {
  const HloInstruction* instruction;
  int64_t operand;
  int64_t leaf;
  // Null: all other uses come before the instruction. Otherwise a use that cannot come before.
  const HloInstruction* later_use;
  // All other uses, if they come before the instruction.
  std::vector<const HloInstruction*> earlier_uses;
};

// An operand of an instruction.
struct OperandUse {
  const HloInstruction* instruction;
  int64_t operand;
};

struct InPlaceOrder {
  std::vector<HloInstruction*> order;
  // The updates in `order`, by kind of instruction and then in that order: dynamic-update-slice, scatter and fusions
  // of them; loops; other calls, which may update each of their arguments.
  std::vector<InPlaceUpdate> updates;

  // One line for each update: "x1: operand 0 in place", "x1: operand 0 leaf 2 copied, for a".
  std::string ToString() const;
};

// `order`: instructions of one computation, operands and control predecessors first. The result has the same
// instructions, operands and control predecessors first; an instruction moves only behind uses of a buffer that it, or
// an operand of it, updates. Instructions with side effects, and collectives, do not move.
// `replacements`: operands that are arrays and that other instructions may replace by their results; the other uses of
// these come before, too. O(n) for n instructions, plus O(m) for each instruction that is moved behind m others; orders
// that take too long stay as they are.
InPlaceOrder OrderUsesBeforeInPlaceUpdates(std::vector<HloInstruction*> order, const HloInstruction* root,
                                           absl::Span<const OperandUse> replacements = {});

}  // namespace kashi::buffers

#endif  // KASHI_BUFFERS_IN_PLACE_ORDER_H_
