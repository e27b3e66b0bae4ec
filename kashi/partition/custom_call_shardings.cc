// The shardings of custom calls: by Shardy's rules, by their partitioners, and by their batches.
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_tree.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/tile_assignment.h"
#include "kashi/hlo/spmd/sdy_sharding_rule.h"
#include "kashi/hlo/text/hlo_place.h"
#include "kashi/partition/program_shardings.h"

namespace kashi::partition {
namespace {

// Factors along which shardings do not spread are others in each dimension.
PartitionRule RuleOfSdy(const hlo::SdyShardingRule& sdy) {
  PartitionRule rule;
  for (const int64_t size : sdy.factor_sizes) rule.Add(size);
  const auto factor_for = [&](int factor) {
    return absl::c_linear_search(sdy.blocked_propagation, factor) ? rule.Add(sdy.factor_sizes[factor]) : factor;
  };
  const auto dimension_for = [&](const hlo::SdyShardingRule::Dimension& factors) {
    if (factors.size() == 1) return factor_for(factors[0]);
    std::vector<int> digits;
    std::vector<int64_t> sizes;
    for (const int factor : factors) {
      digits.push_back(factor_for(factor));
      PartitionFactor& digit = rule.factors[digits.back()];
      digit.divisor = digit.size;
      sizes.push_back(digit.size);
    }
    const int dimension = rule.Add(SaturatingProduct(sizes));
    rule.factors[dimension].digits = std::move(digits);
    return dimension;
  };
  for (const bool of_results : {false, true}) {
    for (const hlo::SdyShardingRule::Mapping& mapping : of_results ? sdy.results : sdy.operands) {
      std::vector<int>& dims = (of_results ? rule.results : rule.operands).emplace_back();
      for (const hlo::SdyShardingRule::Dimension& factors : mapping) dims.push_back(dimension_for(factors));
    }
  }
  return rule;
}

// An error of a partitioner keeps its own text.
template <typename T>
absl::StatusOr<T> Checked(const HloInstruction& call, absl::StatusOr<T> value) {
  if (value.ok()) return value;
  return AtInstruction(value.status(), call);
}

}  // namespace

absl::Status ProgramShardings::VisitCustomCall(const HloInstruction& call) {
  const std::vector<int>& results = of_.at(&call);
  KASHI_ASSIGN_OR_RETURN(const std::optional<hlo::SdyShardingRule> rule, hlo::SdyShardingRuleOf(call));
  if (rule.has_value()) uses_.push_back({RuleOfSdy(*rule), OperandVariables(call), results});
  if (options_.custom_calls == nullptr) return absl::OkStatus();
  PartitionerUse use = {&call, options_.custom_calls->Find(call.custom_call_target()), results, {}, {}};
  if (use.partitioner == nullptr) {
    if (!options_.custom_calls->IsBatchPartitionable(call.custom_call_target())) return absl::OkStatus();
    std::optional<PartitionRule> batch = BatchRuleOf(call);
    if (batch.has_value()) AddRule(call, *std::move(batch));
    return absl::OkStatus();
  }
  if (!rule.has_value() && !options_.use_shardy_partitioner) {
    use.results = NewVariables(call.shape());
    for (size_t i = 0; i < results.size(); ++i) variables_[use.results[i]] = variables_[results[i]];
  }
  partitioner_use_of_[&call] = partitioner_uses_.size();
  partitioner_uses_.push_back(std::move(use));
  return absl::OkStatus();
}

const PartitionerUse* ProgramShardings::PartitionerOf(const HloInstruction& instruction) const {
  const auto found = partitioner_use_of_.find(&instruction);
  return found == partitioner_use_of_.end() ? nullptr : &partitioner_uses_[found->second];
}

HloSharding ProgramShardings::ShardingOf(const Shape& shape, const std::vector<int>& variables) const {
  std::vector<HloSharding> leaves;
  for (const int i : variables) {
    const Variable& variable = variables_[i];
    const bool is_cut = variable.shape->IsArray() && !variable.is_manual;
    leaves.push_back(is_cut ? axes_.ToSharding(variable.sharding) : HloSharding::Replicate());
  }
  return shape.IsTuple() ? HloSharding::FlatTuple(std::move(leaves)) : leaves[0];
}

// Leaves whose sharding the axes cannot express stay as they are.
bool ProgramShardings::RefineAll(const std::vector<int>& variables, const Shape& shape, const HloSharding& sharding) {
  const absl::StatusOr<ShapeTree<HloSharding>> tree = sharding.AsShapeTree(shape);
  if (!tree.ok()) return false;
  bool changed = false;
  size_t next = 0;
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(shape)) {
    const int variable = variables[next++];
    const HloSharding& of_leaf = tree->element(leaf.index);
    if (!leaf.shape.IsArray() || !of_leaf.Validate(leaf.shape, axes_.devices()).ok()) continue;
    const std::optional<AxisSharding> cuts = axes_.FromSharding(of_leaf, leaf.shape.rank());
    for (size_t i = 0; cuts.has_value() && i < cuts->size(); ++i) changed |= Refine(variable, i, (*cuts)[i]);
  }
  return changed;
}

bool ProgramShardings::RefineLike(int variable, int other) {
  const AxisSharding cuts = variables_[other].sharding;
  bool changed = false;
  for (size_t i = 0; i < cuts.size(); ++i) changed |= Refine(variable, i, cuts[i]);
  return changed;
}

// Whether a sharding changed.
absl::StatusOr<bool> ProgramShardings::AskPartitioner(PartitionerUse* use) {
  const HloInstruction& call = *use->call;
  const std::vector<int>& users = of_.at(&call);
  if (use->results == users || IsOnDevices(call)) return false;  // by Shardy's rule alone
  bool changed = false;
  std::vector<HloSharding> operands;
  for (const HloInstruction* operand : call.operands()) {
    operands.push_back(ShardingOf(operand->shape(), of_.at(operand)));
  }
  if (use->operands != operands) {
    KASHI_ASSIGN_OR_RETURN(const std::optional<HloSharding> inferred,
                           Checked(call, use->partitioner->InferShardingFromOperands(call, operands)));
    if (inferred.has_value()) changed |= RefineAll(use->results, call.shape(), *inferred);
    use->operands = std::move(operands);
  }
  const HloSharding wanted = ShardingOf(call.shape(), users);
  if (use->users != wanted && !wanted.IsReplicated()) {
    KASHI_ASSIGN_OR_RETURN(const HloSharding propagated,
                           Checked(call, use->partitioner->PropagateUserSharding(call, wanted)));
    changed |= RefineAll(use->results, call.shape(), propagated);
    use->users = wanted;
  }
  for (size_t k = 0; k < users.size(); ++k) changed |= RefineLike(users[k], use->results[k]);
  // As in XLA, an operand that has the sizes of the result may lie as the result does.
  for (const HloInstruction* operand : call.operands()) {
    const bool is_alike = call.shape().IsArray() && operand->shape().IsArray() &&
                          operand->shape().dimensions() == call.shape().dimensions();
    if (is_alike) changed |= RefineLike(of_.at(operand)[0], use->results[0]);
  }
  return changed;
}

}  // namespace kashi::partition
