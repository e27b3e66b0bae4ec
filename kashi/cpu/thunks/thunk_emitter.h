// Makes a ThunkProgram from a computation or a loop, after all passes and after kernels are compiled.
#ifndef KASHI_CPU_THUNKS_THUNK_EMITTER_H_
#define KASHI_CPU_THUNKS_THUNK_EMITTER_H_

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "kashi/cpu/thunks/thunk_program.h"
#include "kashi/engine/compile_options.h"
#include "kashi/evaluator/compiled_step.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {

// The kernel or native loop of an instruction; null: none.
using FindStep = absl::FunctionRef<const CompiledStep*(const HloInstruction& instruction)>;

// Null if a size is only known at run time, if a value is no array, or if the arrays besides arguments and results need
// more memory than kMaxFrameBytes: then a step takes so long that its overhead is small, and memory is better shared
// with other steps. The program refers to instructions and steps: they must outlive it.
// text: where to append the thunks as text, a line each; may be null.
constexpr int64_t kMaxFrameBytes = int64_t{1} << 20;
std::unique_ptr<ThunkProgram> TryMakeThunks(const HloComputation& computation, FindStep find_step,
                                            const NumberOptions& numbers, std::string* text);
// A while instruction: the arguments are those of its operand.
std::unique_ptr<ThunkProgram> TryMakeThunks(const HloInstruction& loop, FindStep find_step,
                                            const NumberOptions& numbers, std::string* text);

}  // namespace kashi::internal

#endif  // KASHI_CPU_THUNKS_THUNK_EMITTER_H_
