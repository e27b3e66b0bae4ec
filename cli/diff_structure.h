// The structural half of `kashi diff` as text and JSON.
#ifndef KASHI_CLI_DIFF_STRUCTURE_H_
#define KASHI_CLI_DIFF_STRUCTURE_H_

#include <string>

#include "cli/json.h"
#include "kashi/matching/module_diff.h"

namespace kashi {
class HloModule;
}  // namespace kashi

namespace kashi::cli {

// "dot.3", or "dot.3 (in B dot.5)".
std::string InstructionTitle(const HloInstruction& a, const HloInstruction& b);

// The number of differences, a table of the operations whose counts differ, and the differences. Unless `all` is set, a
// long list is cut to the most important differences, in their order, and the counts of the other kinds.
std::string StructureText(const HloModule& a, const HloModule& b, const matching::ModuleDiff& diff, bool all);

// All differences.
Json StructureJson(const matching::ModuleDiff& diff);
// The operations whose counts differ: {"opcode", "a", "b"}.
Json OpcodesJson(const HloModule& a, const HloModule& b);

}  // namespace kashi::cli

#endif  // KASHI_CLI_DIFF_STRUCTURE_H_
