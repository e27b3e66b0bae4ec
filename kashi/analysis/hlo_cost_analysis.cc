#include "kashi/analysis/hlo_cost_analysis.h"

#include <limits>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "kashi/base/status.h"
#include "kashi/hlo/hlo_module.h"

namespace kashi {
namespace {

absl::StatusOr<CostAnalysis> CostsOfModule(const HloComputation* computation) {
  if (computation == nullptr || computation->parent() == nullptr) {
    return InvalidArgument("what is to be analysed is in no module");
  }
  return CostAnalysis::Run(*computation->parent());
}

int64_t Rounded(double count) {
  return count < 0x1p63 ? static_cast<int64_t>(count) : std::numeric_limits<int64_t>::max();
}

}  // namespace

absl::Status HloCostAnalysis::Visit(const HloComputation& computation) {
  KASHI_ASSIGN_OR_RETURN(const CostAnalysis costs, CostsOfModule(&computation));
  for (const HloInstruction* instruction : computation.instructions()) Add(*instruction, costs);
  return absl::OkStatus();
}

absl::Status HloCostAnalysis::Visit(const HloInstruction& root) {
  KASHI_ASSIGN_OR_RETURN(const CostAnalysis costs, CostsOfModule(root.parent()));
  absl::flat_hash_set<const HloInstruction*> seen = {&root};
  std::vector<const HloInstruction*> rest = {&root};
  while (!rest.empty()) {
    const HloInstruction& next = *rest.back();
    rest.pop_back();
    Add(next, costs);
    for (const HloInstruction* operand : next.operands()) {
      if (seen.insert(operand).second) rest.push_back(operand);
    }
  }
  return absl::OkStatus();
}

void HloCostAnalysis::Add(const HloInstruction& instruction, const CostAnalysis& costs) {
  Cost cost = costs.CostOf(&instruction);
  cost.flops -= cost.unknown;
  // A fusion's bytes are its own, not the sum of what is in it.
  if (instruction.opcode() != HloOpcode::kFusion) cost.bytes_accessed -= cost.unknown;
  sum_ += cost;
  costs_[&instruction] = cost;
}

float HloCostAnalysis::property(absl::string_view key) const {
  if (key == kFlopsKey) return flop_count();
  if (key == kTranscendentalsKey) return transcendental_count();
  return key == kBytesAccessedKey ? bytes_accessed() : 0;
}

int64_t HloCostAnalysis::flop_count(const HloInstruction& instruction) const {
  return Rounded(CostOf(instruction).flops);
}
int64_t HloCostAnalysis::transcendental_count(const HloInstruction& instruction) const {
  return Rounded(CostOf(instruction).transcendentals);
}
int64_t HloCostAnalysis::bytes_accessed(const HloInstruction& instruction) const {
  return Rounded(CostOf(instruction).bytes_accessed);
}

Cost HloCostAnalysis::CostOf(const HloInstruction& instruction) const {
  const auto found = costs_.find(&instruction);
  return found == costs_.end() ? Cost() : found->second;
}

}  // namespace kashi
