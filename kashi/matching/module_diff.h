// The structural differences of two modules, instruction by instruction.
//
// New names or another order are no difference. A changed instruction is one difference, and its users are none; nor
// are the users of a new copy, or of a new duplicate. Metadata and control dependencies are ignored.
#ifndef KASHI_MATCHING_MODULE_DIFF_H_
#define KASHI_MATCHING_MODULE_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::matching {

// How a pair of instructions differs.
struct InstructionChange {
  const HloInstruction* a;
  const HloInstruction* b;
  std::string what;  // moved, opcode, shape, operands, attributes, value, calls, root
  std::string from;  // as text; for `moved` the names of computations
  std::string to;
  // Another difference explains it: a layout or type that an operand has too, a move into a new fusion.
  bool is_consequence = false;
};

// The differences in a pair of computations. Instructions of fusions and calls that have no counterpart are told where
// they are called.
struct ComputationDiff {
  const HloComputation* a;
  const HloComputation* b;
  std::vector<InstructionChange> changes;  // operands before users
  std::vector<const HloInstruction*> only_a;
  std::vector<const HloInstruction*> only_b;

  size_t size() const { return changes.size() + only_a.size() + only_b.size(); }
};

struct ModuleDiff {
  std::vector<ComputationDiff> computations;  // of paired computations, ENTRY first
  std::vector<const HloComputation*> only_a;  // without fusions and calls that are told where they are called
  std::vector<const HloComputation*> only_b;
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> counterparts;  // of a's instructions in b
  int64_t renamed = 0;

  int64_t size() const;  // number of differences
};

// `with_layouts`: a different layout is a different shape. The modules must be valid. The result is valid as long as
// they are. Expected time O(n log n) for n instructions and operands.
ModuleDiff DiffModules(const HloModule& a, const HloModule& b, bool with_layouts);

}  // namespace kashi::matching

#endif  // KASHI_MATCHING_MODULE_DIFF_H_
