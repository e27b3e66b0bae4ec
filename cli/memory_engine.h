// `kashi memory --engine cpu`: the memory of the program that Kashi itself runs.
#ifndef KASHI_CLI_MEMORY_ENGINE_H_
#define KASHI_CLI_MEMORY_ENGINE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/json.h"
#include "cli/verb.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

// Adds the report of a module, which must be valid, or the object of --json. The largest `top` buffers.
// FAILED_PRECONDITION: the sizes of its arrays are only known at run time.
absl::Status ReportEngineMemory(const HloModule& module, const std::string& file, int64_t top, Answers* answers);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MEMORY_ENGINE_H_
