// The structural half of `kashi diff` as text and JSON.
#ifndef KASHI_CLI_DIFF_STRUCTURE_H_
#define KASHI_CLI_DIFF_STRUCTURE_H_

#include <string>

#include "cli/json.h"
#include "cli/module_diff.h"

namespace kashi {
class HloModule;
}  // namespace kashi

namespace kashi::internal {
}  // namespace kashi::internal

namespace kashi::internal::cli {

// "dot.3", or "dot.3 (in B dot.5)".
std::string InstructionTitle(const HloInstruction& a, const HloInstruction& b);

// How many differences; if numbers of operations differ, a table of them; the differences. Without `all`, of many those that
// matter most, in their order, and how many others there are of each kind.
std::string StructureText(const HloModule& a, const HloModule& b, const ModuleDiff& diff, bool all);

// All differences.
Json StructureJson(const ModuleDiff& diff);
// Of each operation whose numbers differ: {"opcode", "a", "b"}.
Json OpcodesJson(const HloModule& a, const HloModule& b);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_DIFF_STRUCTURE_H_
