// What a pass of a compiler did to a module.
//
//   ModuleFacts before = FactsOf(*a), after = FactsOf(*b);
//   PassEffect effect = EffectOf(*a, *b);
//   effect.opcodes          -6 broadcast, +2 dot …: what the pass did
//   before.peak_bytes …     what follows from that
#ifndef KASHI_MATCHING_PASSES_H_
#define KASHI_MATCHING_PASSES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "kashi/analysis/cost_analysis.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/insight/accelerators.h"
#include "kashi/matching/module_diff.h"

namespace kashi::matching {

struct ModuleFacts {
  int64_t instructions = 0;  // of all computations
  std::map<HloOpcode, int64_t> opcodes;
  // nullopt where an analysis has no answer for the module.
  std::optional<int64_t> peak_bytes;  // of the default memory space; without a schedule an estimate
  std::optional<Cost> cost;           // with loops multiplied (kashi/insight/counted_cost.h)
  std::optional<double> seconds;      // by the roofline of the accelerator
};

// `accelerator` null: no seconds. The module must be valid.
ModuleFacts FactsOf(const HloModule& module, const insight::Accelerator* accelerator = nullptr);

struct OpcodeChange {
  HloOpcode opcode;
  int64_t before;
  int64_t after;
  int64_t difference() const { return after - before; }
};

// The opcodes whose numbers differ, the largest difference first; those that only forward values come after the others.
std::vector<OpcodeChange> OpcodeChanges(const ModuleFacts& before, const ModuleFacts& after);

struct PassEffect {
  int64_t moved = 0;    // instructions that are in another computation
  int64_t changed = 0;  // instructions with another operation, shape, attributes, operands or value
  int64_t gone = 0;
  int64_t added = 0;
  int64_t renamed = 0;
  bool sets_schedule = false;  // or drops it
  // Nothing differs, not even metadata.
  bool is_nothing = false;

  // Nothing that computes differs: names, order, metadata, configuration.
  bool is_structural() const { return moved + changed + gone + added > 0; }
};

// The modules must be valid. Expected time O(n log n) for n instructions and operands.
PassEffect EffectOf(const HloModule& before, const HloModule& after);
// Of a difference that is known.
PassEffect EffectOf(const HloModule& before, const HloModule& after, const ModuleDiff& diff);

}  // namespace kashi::matching

#endif  // KASHI_MATCHING_PASSES_H_
