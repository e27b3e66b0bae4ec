// In what two modules differ, instruction by instruction: `kashi diff`'s structural half.
//
// Computations correspond if corresponding instructions call them, beginning at ENTRY; the rest by name. Instructions of
// corresponding computations correspond, each to at most one, by the first of these that finds a partner:
//
//   parameters of one number
//   same operation (opcode, shape, attributes, value of a constant), same operands, same name
//   same operation, same operands
//   same name, same opcode
//   same operation
//   the root
//   same name
//
// So neither new names nor a new order is a difference, and one changed instruction is one difference, not one for each
// that uses it. Metadata and control dependencies do not count.
#ifndef KASHI_CLI_MODULE_DIFF_H_
#define KASHI_CLI_MODULE_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::internal::cli {

// Corresponding instructions that are not the same.
struct InstructionChange {
  const HloInstruction* a;
  const HloInstruction* b;
  std::string what;  // opcode, shape, operands, attributes, value, calls, root
  std::string from;  // as text
  std::string to;
};

struct ComputationDiff {
  const HloComputation* a;
  const HloComputation* b;
  std::vector<InstructionChange> changes;
  std::vector<const HloInstruction*> only_a;
  std::vector<const HloInstruction*> only_b;

  size_t size() const { return changes.size() + only_a.size() + only_b.size(); }
};

struct ModuleDiff {
  std::vector<ComputationDiff> computations;  // those that correspond, ENTRY first
  std::vector<const HloComputation*> only_a;
  std::vector<const HloComputation*> only_b;
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> counterparts;  // of a's instructions in b
  // Of those without a counterpart: instructions of any computation of b with the same name, opcode and op_name. Compilers
  // move instructions into fusions and leave them their names.
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> namesakes;
  int64_t renamed = 0;

  int64_t size() const;  // number of differences
};

// `with_layouts`: other layouts are other shapes. The result is valid as long as the modules. O(size of both), expected.
ModuleDiff DiffModules(const HloModule& a, const HloModule& b, bool with_layouts);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_MODULE_DIFF_H_
