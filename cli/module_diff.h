// The structural differences of two modules, instruction by instruction, for `kashi diff`.
//
// Computations are paired if paired instructions call them, beginning at ENTRY; the rest by name. The instructions of
// paired computations are paired by the first of these rules that finds a partner:
//
//   same parameter number
//   same operation (opcode, shape, attributes, value of a constant), same operands, same name
//   same operation, same operands
//   same name, same opcode
//   same operation
//   the root
//   same name
//
// So new names or another order are no difference. A changed instruction is one difference, and its users are none.
// Metadata and control dependencies are ignored.
#ifndef KASHI_CLI_MODULE_DIFF_H_
#define KASHI_CLI_MODULE_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

// A pair of instructions that differ.
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
  std::vector<ComputationDiff> computations;  // of paired computations, ENTRY first
  std::vector<const HloComputation*> only_a;
  std::vector<const HloComputation*> only_b;
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> counterparts;  // of a's instructions in b
  // For instructions of a without a counterpart: the instruction in any computation of b with the same name, opcode and
  // op_name. Compilers move instructions into fusions and keep their names.
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> namesakes;
  int64_t renamed = 0;

  int64_t size() const;  // number of differences
};

// `with_layouts`: a different layout is a different shape. The result is valid as long as the modules. O(size of both),
// expected.
ModuleDiff DiffModules(const HloModule& a, const HloModule& b, bool with_layouts);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MODULE_DIFF_H_
