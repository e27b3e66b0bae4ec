// A `while` as one native function. Its small values live in registers, its large ones stay in memory:
//
//   state = (s32[] i, f32[2] x, f32[1000] table, f32[1000] rows)
//
//            i  x        table               rows
//   loop:    registers   only read           written in place by dynamic-update-slice
//
// Loops and conditionals within the body become loops and branches of the same function. So an iteration of fifty
// operations on scalars takes nanoseconds, where a step of the evaluator takes some 100 ns for each operation.
#ifndef KASHI_CODEGEN_NATIVE_LOOP_H_
#define KASHI_CODEGEN_NATIVE_LOOP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/codegen/code_module.h"
#include "kashi/engine/compile_options.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::codegen {

// Called every kIterationsBetweenCalls iterations of a loop; false: the function returns at once.
using GoOnFunction = bool(void* context);
inline constexpr int64_t kIterationsBetweenCalls = 4096;

// state[i]: element i of the state, dense and row-major: the initial value before the call, the final value after it.
// max_iterations: of each loop; negative: any number. Returns kLoopIsDone, kLoopIsStopped, or kLoopIsTooLong plus the
// number of the loop; in the last two cases the state is unfinished.
using NativeLoopFunction = int32_t(void* const* state, int64_t max_iterations, GoOnFunction* go_on, void* context);
inline constexpr int32_t kLoopIsDone = 0, kLoopIsStopped = 1, kLoopIsTooLong = 2;

struct NativeLoop {
  std::string name;  // of the function
  // For each element of the state (or for the state itself if it is not a tuple): whether the function writes to it.
  std::vector<bool> is_written;
  std::vector<const HloInstruction*> loops;  // by number
  int64_t work_of_iteration = 0;             // instructions of the outer loop's body and condition
};

// Emits the function into the module. Emits and returns nothing if the loop has an operation without a native
// form, works on arrays of more than some elements, or reads memory that it has written since. INTERNAL, and nothing is
// emitted, if LLVM's verifier refuses the code.
absl::StatusOr<std::optional<NativeLoop>> TryEmitNativeLoop(const HloInstruction& loop, const std::string& name,
                                                            const NumberOptions& numbers, CodeModule& module);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_NATIVE_LOOP_H_
