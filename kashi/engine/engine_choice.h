// Which engine pays, and which programs are short.
#ifndef KASHI_ENGINE_ENGINE_CHOICE_H_
#define KASHI_ENGINE_ENGINE_CHOICE_H_

#include <cstdint>
#include <string>

#include "kashi/engine/compile_options.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::internal {

// The engine of CompileOptions::engine "auto":
//
//   evaluator   for a program that it is estimated to finish before the compiler, in all its runs
//               for one of more than 20,000 instructions whose runs are counted: its compilation would take too long
//               for one that is beyond the limit of work, which it refuses at once
//   cpu         otherwise
//
// Cost: one pass over the module.
std::string ChooseEngine(const HloModule& module, const CompileOptions& options);

// Whether each run takes less than this, by the estimate of the evaluator. False for programs with loops, which may
// have many iterations, with branches, of which one may be long, with custom calls, and with what waits for other
// devices. Cost: one pass over the module.
bool IsQuick(const HloModule& module, int64_t nanoseconds);

}  // namespace kashi::internal

#endif  // KASHI_ENGINE_ENGINE_CHOICE_H_
