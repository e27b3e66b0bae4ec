// The part of XLA's layout assignment that says which operations may change layouts. There is no such pass here.
#ifndef KASHI_COMPAT_XLA_SERVICE_LAYOUT_ASSIGNMENT_H_
#define KASHI_COMPAT_XLA_SERVICE_LAYOUT_ASSIGNMENT_H_

#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/pass/hlo_pass_interface.h"
#include "xla/layout_util.h"
#include "xla/service/computation_layout.h"
#include "xla/shape_layout.h"
#include "xla/shape_util.h"

namespace xla {

class LayoutAssignment {
 public:
  LayoutAssignment() = delete;

  // False for operations whose result has the layout of their operands: elementwise ones, slices, reduce-windows …
  static bool InstructionCanChangeLayout(const HloInstruction* instruction) {
    return InstructionMayChangeLayout(instruction);
  }
};

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_SERVICE_LAYOUT_ASSIGNMENT_H_
