// Chooses the faster engine, and recognizes short programs.
#ifndef KASHI_ENGINE_ENGINE_CHOICE_H_
#define KASHI_ENGINE_ENGINE_CHOICE_H_

#include <cstdint>
#include <string>

#include "kashi/engine/compile_options.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::engine {

// The engine of CompileOptions::engine "auto":
//
//   evaluator   for a program that the evaluator should finish, in all its runs, before the compiler ends
//               for a program of more than 20,000 instructions with a known number of runs: compiling takes too long
//               for a program beyond the limit of work, which the evaluator refuses at once
//   cpu         otherwise
//
// Cost: one pass over the module.
std::string ChooseEngine(const HloModule& module, const CompileOptions& options);

// Whether the instructions of a program take less than this, by the estimate of the evaluator, if each loop has as many
// iterations as its text tells, and custom calls take no time. Cost: one pass over the module.
bool IsCheap(const HloModule& module, int64_t nanoseconds);

// Whether each run takes less than this, by the estimate of the evaluator. False for programs with loops, which may
// have many iterations, with branches, one of which may be long, with custom calls, and with operations that wait for
// other devices. Cost: one pass over the module.
bool IsQuick(const HloModule& module, int64_t nanoseconds);

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_ENGINE_CHOICE_H_
