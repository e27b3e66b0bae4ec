// Makes a ThunkProgram from a computation or a loop, after all passes and after kernels are emitted: buffers are
// assigned (kashi/buffers), then each step
// becomes a thunk, and runs of steps on small arrays become native functions.
#ifndef KASHI_CPU_THUNKS_THUNK_EMITTER_H_
#define KASHI_CPU_THUNKS_THUNK_EMITTER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kashi/base/work_meter.h"
#include "kashi/cpu/thunks/native_regions.h"
#include "kashi/cpu/thunks/thunk_kinds.h"
#include "kashi/cpu/thunks/thunk_program.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::cpu {

// Null if there is no buffer assignment (see AssignBuffers): then the evaluator runs the instructions one by one.
// The program refers to instructions and steps: they must outlive it.
absl::StatusOr<std::unique_ptr<ThunkProgram>> TryMakeThunks(const HloComputation& computation, FindStep find_step,
                                                            NativeCode& natives, StopFunction check_stopped);
// For a while instruction: the arguments are those of its operand.
absl::StatusOr<std::unique_ptr<ThunkProgram>> TryMakeThunks(const HloInstruction& loop, FindStep find_step,
                                                            NativeCode& natives, StopFunction check_stopped);

}  // namespace kashi::cpu

#endif  // KASHI_CPU_THUNKS_THUNK_EMITTER_H_
