// The copy of a global program that is partitioned: one in which each computation that runs as a whole (the body of a
// loop, a branch) has one caller, and nothing is called by `call`. So a value in a body has one sharding, which need
// not suit other callers.
#ifndef KASHI_PARTITION_FLAT_PROGRAM_H_
#define KASHI_PARTITION_FLAT_PROGRAM_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::partition {

// Loops and branches within each other: those that visit them recurse.
inline constexpr int64_t kMostNesting = 100;

// Whether the instruction runs other computations as a whole, on its operands: while and conditional.
bool RunsBodies(const HloInstruction& instruction);

// Control dependencies and dead code are dropped: they do not change a value. Borders out of a manual region into
// another one, which only the name of a computation tells, get the sharding {manual}. RESOURCE_EXHAUSTED if the copy
// would be far larger than the module, UNIMPLEMENTED for more than kMostNesting levels.
absl::StatusOr<std::unique_ptr<HloModule>> FlatProgramOf(const HloModule& module);

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_FLAT_PROGRAM_H_
