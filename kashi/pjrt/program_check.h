// KASHI_CHECK=1: each run of a program also runs step by step beside the evaluator.
#ifndef KASHI_PJRT_PROGRAM_CHECK_H_
#define KASHI_PJRT_PROGRAM_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/engine/buffer.h"
#include "kashi/engine/program.h"

namespace kashi::pjrt {

// Whether the variable of the environment says so, when it is first asked.
bool ChecksPrograms();

// Runs a program of one device on these arguments, for which it waits; each compiled step is compared with what the
// evaluator makes of the same operands. INTERNAL with the first instruction that differs. Costs some times a run.
absl::Status CheckProgram(const Program& program, absl::Span<Buffer* const> arguments);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_PROGRAM_CHECK_H_
