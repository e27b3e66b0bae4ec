#include "kashi/analysis/cost_analysis_fusion.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "kashi/analysis/cost_analysis_sizes.h"

namespace kashi::analysis {
namespace {

class FusedReads {
 public:
  FusedReads(const HloComputation& fused, const FusedCosts& nested, const SizeFunction& size)
      : nested_(nested), size_(size) {
    for (const HloInstruction* instruction : fused.instructions()) CountUses(*instruction);
  }

  // The bytes that the users of a parameter or a get-tuple-element read, which see all of it.
  double DirectReads(const HloInstruction& value) {
    const Read& read = Of(value);
    return read.parts + (read.whole ? size_(value.shape()) : 0);
  }

  // Adds the bytes that are read of each array of a parameter; returns the sum.
  double AddParts(const HloInstruction& parameter, int64_t number, std::vector<PartCosts::Part>* parts) {
    double sum = 0;
    std::vector<Place> rest = {{&parameter.shape(), {}, &parameter, DirectReads(parameter)}};
    while (!rest.empty()) {
      const Place place = std::move(rest.back());
      rest.pop_back();
      if (!place.shape->IsTuple()) {
        parts->push_back({number, place.index, place.reads});
        sum = Saturate(sum + place.reads);
        continue;
      }
      const std::vector<const HloInstruction*> taken_out = ElementsTakenOut(place);
      for (int i = place.shape->tuple_shapes_size() - 1; i >= 0; --i) {  // the first is on top of the rest
        Place element = {&place.shape->tuple_shapes(i), place.index, taken_out[i], place.reads};
        element.index.push_back(i);
        if (element.value != nullptr) element.reads = DirectReads(*element.value);
        rest.push_back(std::move(element));
      }
    }
    return sum;
  }

 private:
  struct Read {
    double parts = 0;
    bool whole = false;
  };
  struct Place {
    const Shape* shape;
    ShapeIndex index;
    const HloInstruction* value;  // null if it was not taken out of its tuple
    double reads;                 // of the value, or of the nearest value that contains it
  };

  // The first get-tuple-element of each element; null where there is none.
  static std::vector<const HloInstruction*> ElementsTakenOut(const Place& place) {
    std::vector<const HloInstruction*> taken_out(place.shape->tuple_shapes_size());
    if (place.value == nullptr) return taken_out;
    for (const HloInstruction* user : place.value->users()) {
      if (user->opcode() != HloOpcode::kGetTupleElement) continue;
      const int64_t i = user->tuple_index();
      if (i >= 0 && i < taken_out.size() && taken_out[i] == nullptr) taken_out[i] = user;
    }
    return taken_out;
  }

  Read& Of(const HloInstruction& instruction) {
    if (instruction.local_id() >= by_id_.size()) by_id_.resize(instruction.local_id() + 1);
    return by_id_[instruction.local_id()];
  }

  void CountUses(const HloInstruction& user) {
    if (user.operand_count() == 0) return;
    const HloInstruction& first = *user.operand(0);
    const bool repeats = user.opcode() == HloOpcode::kBroadcast || user.opcode() == HloOpcode::kReshape;
    switch (GetHloOpcodeInfo(user.opcode()).cost) {
      case HloOpcodeFlags::Cost::kSlice:
        Of(first).parts += size_(user.shape());
        return CountWholeBut(&first, user);
      case HloOpcodeFlags::Cost::kUpdate:
        return CountWholeBut(&first, user);
      case HloOpcodeFlags::Cost::kFusion:
        return CountNested(user);
      default:
        if (!repeats) return CountWholeBut(nullptr, user);
        Of(first).parts += size_(first.shape());
    }
  }

  void CountWholeBut(const HloInstruction* but, const HloInstruction& user) {
    for (const HloInstruction* operand : user.operands()) {
      if (operand != but) Of(*operand).whole = true;
    }
  }

  void CountNested(const HloInstruction& fusion) {
    if (fusion.user_count() == 0 || fusion.called_computations().empty()) return;
    const auto found = nested_.find(fusion.called_computations()[0]);
    if (found == nested_.end()) return;
    const std::vector<double>& reads = found->second.direct_reads;
    const int64_t count = std::min<int64_t>(fusion.operand_count(), static_cast<int64_t>(reads.size()));
    for (int64_t i = 0; i < count; ++i) Of(*fusion.operand(i)).parts += reads[i];
  }

  const FusedCosts& nested_;
  const SizeFunction& size_;
  std::vector<Read> by_id_;
};

// Returns the bytes that are written; adds those of the result's parts, if it has any, to `parts`.
double CountWritten(const HloInstruction& root, const SizeFunction& size, std::vector<PartCosts::Part>* parts) {
  const auto written = [&](const HloInstruction& result) {
    const bool is_update = result.opcode() == HloOpcode::kDynamicUpdateSlice && result.operand_count() > 1;
    return SumOverLeaves(is_update ? result.operand(1)->shape() : result.shape(), size);
  };
  if (root.opcode() != HloOpcode::kTuple) {
    AddResultParts(root.shape(), {}, size, parts);
    return written(root);
  }
  double sum = 0;
  for (int64_t i = 0; i < root.operand_count(); ++i) {
    const double bytes = written(*root.operand(i));
    parts->push_back({0, {i}, bytes});
    AddResultParts(root.operand(i)->shape(), {i}, size, parts);
    sum = Saturate(sum + bytes);
  }
  return sum;
}

}  // namespace

void AddResultParts(const Shape& result, const ShapeIndex& at, const SizeFunction& size,
                    std::vector<PartCosts::Part>* parts) {
  std::vector<std::pair<const Shape*, ShapeIndex>> rest = {{&result, at}};
  while (!rest.empty()) {
    const auto [shape, index] = std::move(rest.back());
    rest.pop_back();
    if (!shape->IsTuple()) continue;
    for (int i = 0; i < shape->tuple_shapes_size(); ++i) {
      ShapeIndex below = index;
      below.push_back(i);
      parts->push_back({0, below, SumOverLeaves(shape->tuple_shapes(i), size)});
      rest.emplace_back(&shape->tuple_shapes(i), std::move(below));
    }
  }
}

FusedCost CostOfFused(const HloComputation& fused, const FusedCosts& nested, const SizeFunction& size) {
  FusedCost cost;
  PartCosts parts;
  FusedReads reads(fused, nested, size);
  for (const HloInstruction* parameter : fused.parameter_instructions()) {
    cost.direct_reads.push_back(reads.DirectReads(*parameter));
    const bool has_parts = parameter->shape().IsTuple();
    const auto number = static_cast<int64_t>(cost.reads.size());
    cost.reads.push_back(has_parts ? reads.AddParts(*parameter, number, &parts.operands) : cost.direct_reads.back());
  }
  for (const HloInstruction* instruction : fused.instructions()) {
    const bool is_table = instruction->IsConstant() && !ShapeUtil::IsEffectiveScalar(instruction->shape());
    if (is_table) cost.table_bytes += SumOverLeaves(instruction->shape(), size);
    const bool is_indexed = instruction->opcode() == HloOpcode::kGather || instruction->opcode() == HloOpcode::kScatter;
    if (is_indexed && cost.gather_or_scatter == nullptr) cost.gather_or_scatter = instruction;
  }
  cost.written_bytes = CountWritten(*fused.root_instruction(), size, &parts.results);
  if (!parts.operands.empty() || !parts.results.empty()) cost.parts = std::make_shared<PartCosts>(std::move(parts));
  return cost;
}

}  // namespace kashi::analysis
