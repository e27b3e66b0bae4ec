// Steps of a buffer assignment as one native function: straight code, loops and branches.
//
//   step                              in the function
//   w = while((i, x, table))          a loop; i and x live in registers, table stays in memory
//     c = compare(i, n)               one instruction
//     y = fusion(x), f32[10]          its instructions, on a vector of 16 lanes
//     d = dot(matrix, y)              multiply and add, unrolled
//     z = fusion(table), f32[1000]    a call of its kernel
//
// A small array that only these steps use is a variable of the function, which LLVM keeps in registers. All others are
// memory of the caller. So an operation on a few numbers takes about a nanosecond, where a thunk takes some twenty.
#ifndef KASHI_CODEGEN_NATIVE_FUNCTION_H_
#define KASHI_CODEGEN_NATIVE_FUNCTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/codegen/code_module.h"
#include "kashi/codegen/kernel.h"
#include "kashi/engine/compile_options.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::codegen {

// Called by loops, some hundred times a second or more; false: the function returns at once. work: element operations
// of the loop since its last call.
using GoOnFunction = bool(void* context, int64_t work);

// buffers[i]: the address of NativeFunction::buffers[i]. max_iterations: of each loop; negative: any number. Returns
// kFunctionIsDone, kFunctionIsStopped, or kLoopIsTooLong plus the number of the loop; in the last two cases the results
// are unfinished.
using NativeFunctionPointer = int32_t(void* const* buffers, int64_t max_iterations, GoOnFunction* go_on, void* context);
inline constexpr int32_t kFunctionIsDone = 0, kFunctionIsStopped = 1, kLoopIsTooLong = 2;

struct NativeFunction {
  std::string name;
  std::vector<int> buffers;                  // that it reads or writes in the caller's memory
  std::vector<const HloInstruction*> loops;  // by number
  int64_t outer_loops = 0;                   // those that are not within others
};

// The kernel of a fusion; null: it has none.
using FindKernel = absl::FunctionRef<const Kernel*(const HloInstruction& fusion)>;

// Whether native functions can have the step: an operation on small arrays, a kernel of little work, or a loop or a
// branch of such steps.
bool IsNativeStep(const buffers::BufferStep& step, const buffers::BufferAssignment& assignment, FindKernel find_kernel);
// About how many instructions of LLVM a native step becomes.
int64_t NativeStepSize(const buffers::BufferStep& step, FindKernel find_kernel);

// Emits the function into the module. is_own[b]: no other step uses buffer b, which is in the arena. Nothing, and
// nothing is emitted, if the function would be too large. INTERNAL, and nothing is emitted, if LLVM's verifier refuses
// the code.
absl::StatusOr<std::optional<NativeFunction>> TryEmitNativeFunction(absl::Span<const buffers::BufferStep> steps,
                                                                    const buffers::BufferAssignment& assignment,
                                                                    const std::vector<bool>& is_own,
                                                                    FindKernel find_kernel, const std::string& name,
                                                                    const NumberOptions& numbers, CodeModule& module);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_NATIVE_FUNCTION_H_
