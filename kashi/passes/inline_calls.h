// Puts the bodies of calls and fusions in the place of the instructions that call them, so that fusion sees one graph.
#ifndef KASHI_PASSES_INLINE_CALLS_H_
#define KASHI_PASSES_INLINE_CALLS_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

// In all computations. A call stays where control dependencies order it, or where the module would become more than
// some times its size. In a module with manual regions all stay: those are known by the names of their computations.
absl::Status InlineCalls(HloModule* module, const PassContext& context);
// In the computations that are run as a whole, under the same conditions.
absl::Status InlineFusions(HloModule* module, const PassContext& context);

// Whether parts of a global program run on each device (kashi/evaluator/manual_region.h).
bool HasManualRegions(const HloModule& module);

// Copies the instructions of a body into its caller, with these arguments in the place of the parameters. Returns the
// copy of the root.
HloInstruction* CopyBody(const HloComputation& body, HloComputation* caller,
                         absl::Span<HloInstruction* const> arguments);
// The same for another place: `add` adds a copy of an instruction with these operands.
using AddCopy =
    absl::FunctionRef<HloInstruction*(const HloInstruction& instruction, absl::Span<HloInstruction* const> operands)>;
HloInstruction* CopyBody(const HloComputation& body, absl::Span<HloInstruction* const> arguments, AddCopy add);
// Removes the call; `result`, of a compatible shape, has its place.
absl::Status ReplaceByBody(HloInstruction* call, HloInstruction* result);

// The computations that are run as a whole, callees first. The others work on scalars, for reduce, sort and so on, or
// are only run by instructions that are compiled with the computations that they call.
using IsCompiled = absl::FunctionRef<bool(const HloInstruction& instruction)>;
inline bool IsNotCompiled(const HloInstruction&) { return false; }
std::vector<HloComputation*> ComputationsRunAsAWhole(HloModule* module, IsCompiled is_compiled = IsNotCompiled);
// Calls `visit` for each of them, callers first. It may compile instructions: then the computations that only they run
// are not visited. Ends with its error.
absl::Status VisitComputationsRunAsAWhole(HloModule* module, IsCompiled is_compiled,
                                          absl::FunctionRef<absl::Status(HloComputation*)> visit);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_INLINE_CALLS_H_
