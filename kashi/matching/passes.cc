#include "kashi/matching/passes.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/insight/counted_cost.h"
#include "kashi/insight/roofline.h"

namespace kashi::matching {
namespace {

bool OnlyForwards(HloOpcode opcode) { return GetHloOpcodeInfo(opcode).Has(HloOpcodeFlags::kKeepsValues); }

}  // namespace

ModuleFacts FactsOf(const HloModule& module, const insight::Accelerator* accelerator) {
  ModuleFacts facts;
  facts.instructions = module.instruction_count();
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* x : computation->instructions()) ++facts.opcodes[x->opcode()];
  }
  const absl::StatusOr<MemoryAnalysis> memory = AnalyzeMemory(module);
  if (memory.ok()) facts.peak_bytes = memory->default_space().peak_bytes;
  const absl::StatusOr<insight::CountedCost> cost = insight::CountedCost::Compute(module);
  if (!cost.ok()) return facts;
  facts.cost = cost->total();
  if (accelerator == nullptr) return facts;
  const absl::StatusOr<insight::Roofline> roofline = insight::Roofline::Compute(module, *cost, *accelerator);
  if (roofline.ok()) facts.seconds = roofline->seconds();
  return facts;
}

std::vector<OpcodeChange> OpcodeChanges(const ModuleFacts& before, const ModuleFacts& after) {
  std::map<HloOpcode, OpcodeChange> changes;
  for (const auto& [opcode, count] : before.opcodes) changes[opcode] = {opcode, count, 0};
  for (const auto& [opcode, count] : after.opcodes) {
    changes.try_emplace(opcode, OpcodeChange{opcode, 0, 0}).first->second.after = count;
  }
  std::vector<OpcodeChange> differing;
  for (const auto& [opcode, change] : changes) {
    if (change.difference() != 0) differing.push_back(change);
  }
  std::stable_sort(differing.begin(), differing.end(), [](const OpcodeChange& a, const OpcodeChange& b) {
    return std::make_pair(OnlyForwards(a.opcode), -std::abs(a.difference())) <
           std::make_pair(OnlyForwards(b.opcode), -std::abs(b.difference()));
  });
  return differing;
}

PassEffect EffectOf(const HloModule& before, const HloModule& after) {
  return EffectOf(before, after, DiffModules(before, after, /*with_layouts=*/true));
}

PassEffect EffectOf(const HloModule& before, const HloModule& after, const ModuleDiff& diff) {
  PassEffect effect;
  absl::flat_hash_set<const HloInstruction*> changed;
  for (const ComputationDiff& computation : diff.computations) {
    for (const InstructionChange& change : computation.changes) {
      if (change.what == "moved") {
        ++effect.moved;
      } else {
        changed.insert(change.a);
      }
    }
    effect.gone += static_cast<int64_t>(computation.only_a.size());
    effect.added += static_cast<int64_t>(computation.only_b.size());
  }
  for (const HloComputation* computation : diff.only_a) effect.gone += computation->instruction_count();
  for (const HloComputation* computation : diff.only_b) effect.added += computation->instruction_count();
  effect.changed = static_cast<int64_t>(changed.size());
  effect.renamed = diff.renamed;
  effect.sets_schedule = before.has_schedule() != after.has_schedule();
  effect.is_nothing = !effect.is_structural() && effect.renamed == 0 && before.ToString() == after.ToString();
  return effect;
}

}  // namespace kashi::matching
