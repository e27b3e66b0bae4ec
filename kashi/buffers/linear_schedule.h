// The order in which the instructions of a computation run one after the other, and the last use of each value.
#ifndef KASHI_BUFFERS_LINEAR_SCHEDULE_H_
#define KASHI_BUFFERS_LINEAR_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/buffers/in_place_order.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::buffers {

struct ScheduledInstruction {
  struct Operand {
    int32_t step;      // the number of the step that makes it
    bool is_last_use;  // no later operand reads it; of a value that the step reads twice, the second operand
  };
  const HloInstruction* instruction;
  absl::InlinedVector<Operand, 2> operands;
};

// The order of OrderForOverlap (transfer_order.h), with three differences. Only instructions that the root
// needs are included, and calls that always run. Uses of a value come before its update in place if they can
// (in_place_order.h). And each get-tuple-element comes directly after its operand. So the tuple is freed early: its
// elements are unique when they are used, and loops can update them in place.
struct LinearSchedule {
  std::vector<ScheduledInstruction> steps;
  int32_t root = 0;  // the caller uses it last
};

// INVALID_ARGUMENT for a computation whose instructions have no valid order. Cost: O(n log n), plus that of
// in_place_order.h, which also has the meaning of `replacements`.
absl::StatusOr<LinearSchedule> MakeLinearSchedule(const HloComputation& computation,
                                                  absl::Span<const OperandUse> replacements = {});

// A call that runs although nothing uses its result, because it may end the run: check.expect_* of StableHLO's tests,
// and interpreter.run_parallel, whose processes may have such calls.
bool IsExpectation(const HloInstruction& instruction);

}  // namespace kashi::buffers

#endif  // KASHI_BUFFERS_LINEAR_SCHEDULE_H_
