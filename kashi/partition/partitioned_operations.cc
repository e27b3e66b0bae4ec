// Operations with a rule: each device computes its part.
#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/neutral_element.h"
#include "kashi/literal/literal_util.h"
#include "kashi/partition/computation_partitioner.h"
#include "kashi/partition/factor_axes.h"
#include "kashi/partition/rotation.h"

namespace kashi::partition {

// Along which axes each factor of a rule is cut.
class AxisChoice {
 public:
  AxisChoice(const DeviceAxes& axes, const PartitionRule& rule)
      : axes_(axes), rule_(rule), chosen_(rule.factors.size()) {}

  // The factor is cut along these axes too, as far as they are free.
  void Take(int factor, const AxisList& list) {
    if (const std::vector<int>& digits = rule_.factors[factor].digits; !digits.empty()) {
      const std::vector<AxisList> of_digits = AxesOfDigits(axes_, rule_, factor, list);
      for (size_t i = 0; i < digits.size(); ++i) Take(digits[i], of_digits[i]);
      return;
    }
    if (IsBlocked(factor)) return;
    const AxisList allowed = Allowed(axes_, rule_, factor, list);
    if (!IsPrefix(chosen_[factor], allowed)) return;
    AxisList chosen = chosen_[factor];
    for (size_t i = chosen.size(); i < allowed.size() && (used_ >> allowed[i] & 1) == 0; ++i) {
      chosen.push_back(allowed[i]);
    }
    if (Allowed(axes_, rule_, factor, chosen) != chosen) return;
    used_ |= SetOf(chosen);
    chosen_[factor] = std::move(chosen);
  }
  // Whether the factor is not cut yet, but may be, and none of the axes is used.
  bool IsFree(int factor, const AxisList& list) const {
    return AxesOf(factor).empty() && !IsBlocked(factor) && (SetOf(list) & used_) == 0;
  }
  // Whether the factor may not be cut, because a digit before it in a dimension is not cut into single elements.
  bool IsBlocked(int factor) const {
    return absl::c_any_of(rule_.factors, [&](const PartitionFactor& dimension) {
      const auto place = absl::c_find(dimension.digits, factor);
      const auto is_single = [this](int digit) { return axes_.SizeOf(chosen_[digit]) == rule_.factors[digit].size; };
      return place != dimension.digits.end() && !std::all_of(dimension.digits.begin(), place, is_single);
    });
  }
  std::vector<AxisList> Result() const {
    std::vector<AxisList> result;
    for (size_t factor = 0; factor < chosen_.size(); ++factor) result.push_back(AxesOf(static_cast<int>(factor)));
    return result;
  }

 private:
  AxisList AxesOf(int factor) const {
    AxisList all = chosen_[factor];
    for (const int digit : rule_.factors[factor].digits) all = Joined(all, chosen_[digit]);
    return all;
  }

  const DeviceAxes& axes_;
  const PartitionRule& rule_;
  std::vector<AxisList> chosen_;
  AxisSet used_ = 0;
};

namespace {

AxisSharding ProjectionOf(const std::vector<int>& dims, const std::vector<AxisList>& axes) {
  AxisSharding sharding;
  for (const int factor : dims) sharding.push_back(factor == PartitionRule::kWhole ? AxisList() : axes[factor]);
  return sharding;
}

// Keeps only the dimensions that are summed up.
AxisSharding SummedPart(const std::vector<int>& dims, const PartitionRule& rule, const AxisSharding& sharding) {
  AxisSharding part(sharding.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != PartitionRule::kWhole && rule.factors[dims[i]].is_sum) part[i] = sharding[i];
  }
  return part;
}

AxisList SumAxes(const PartitionRule& rule, const std::vector<AxisList>& axes) {
  AxisList along;
  for (size_t factor = 0; factor < axes.size(); ++factor) {
    if (rule.factors[factor].is_sum) along = Joined(along, axes[factor]);
  }
  return along;
}

double BytesOf(const Shape& shape) {
  double bytes = primitive_util::ByteWidth(shape.element_type());
  for (const int64_t size : shape.dimensions()) bytes *= static_cast<double>(size);
  return bytes;
}

// The cuts of a factor in each of the operands that have it, and the bytes of these operands.
struct FactorOfOperands {
  std::vector<AxisList> cuts;
  double bytes = 0;      // of all operands with the factor
  double cut_bytes = 0;  // of the operands in which it is cut
};

FactorOfOperands LookAtOperands(const ProgramShardings& shardings, const RuleUse& use, int factor) {
  FactorOfOperands found;
  for (size_t k = 0; k < use.operands.size(); ++k) {
    const Variable& variable = shardings.variable(use.operands[k]);
    const std::vector<int>& dims = use.rule.operands[k];
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] != factor) continue;
      found.cuts.push_back(variable.sharding[i]);
      found.bytes += BytesOf(*variable.shape);
      if (!variable.sharding[i].empty()) found.cut_bytes += BytesOf(*variable.shape);
    }
  }
  return found;
}

}  // namespace

// The result decides, as far as it is cut. Beyond that, operands are used as they lie if the result is not larger
// than the parts to be gathered. A sum that all operands have in parts has priority over a cut of a smaller result, and
// always if the result is wanted as parts of that sum.
std::vector<AxisList> ComputationPartitioner::ChooseAxes(const RuleUse& use) const {
  AxisChoice choice(program_.axes(), use.rule);
  const int factors = static_cast<int>(use.rule.factors.size());
  double result_bytes = 0;
  for (const int i : use.results) result_bytes += BytesOf(*shardings_.variable(i).shape);
  for (int factor = 0; factor < factors; ++factor) {
    if (!use.rule.factors[factor].is_sum) continue;
    const FactorOfOperands operands = LookAtOperands(shardings_, use, factor);
    const bool is_same =
        absl::c_all_of(operands.cuts, [&](const AxisList& axes) { return axes == operands.cuts.front(); });
    const bool is_kept = is_same && use.sums == SumUse::kGives &&
                         Without(operands.cuts.front(), shardings_.variable(use.results[0]).unreduced).empty();
    if (is_kept || (is_same && operands.bytes >= result_bytes)) choice.Take(factor, operands.cuts.front());
  }
  for (size_t k = 0; k < use.results.size(); ++k) {
    const std::vector<int>& dims = use.rule.results[k];
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] != PartitionRule::kWhole) choice.Take(dims[i], shardings_.variable(use.results[k]).sharding[i]);
    }
  }
  for (int factor = 0; factor < factors; ++factor) {
    const FactorOfOperands operands = LookAtOperands(shardings_, use, factor);
    if (operands.cut_bytes < result_bytes) continue;
    for (const AxisList& axes : operands.cuts) choice.Take(factor, axes);
  }
  MoveCuts(use, &choice);
  return choice.Result();
}

// An operand that is cut where it must be whole is cut along another dimension, if both are cut evenly: an all-to-all
// moves less than an all-gather, and each device computes its part only.
void ComputationPartitioner::MoveCuts(const RuleUse& use, AxisChoice* choice) const {
  for (size_t k = 0; k < use.operands.size(); ++k) {
    const Variable& variable = shardings_.variable(use.operands[k]);
    const std::vector<int>& dims = use.rule.operands[k];
    for (size_t from = 0; from < dims.size(); ++from) {
      const AxisList& cut = variable.sharding[from];
      if (cut.empty() || (!use.rule.IsWhole(dims[from]) && !choice->IsBlocked(dims[from]))) continue;
      const int64_t parts = program_.axes().SizeOf(cut);
      if (variable.shape->dimensions(static_cast<int>(from)) % parts != 0) continue;
      for (size_t to = 0; to < dims.size(); ++to) {
        if (use.rule.IsWhole(dims[to]) || !choice->IsFree(dims[to], cut)) continue;
        const PartitionFactor& factor = use.rule.factors[dims[to]];
        const bool is_even = variable.shape->dimensions(static_cast<int>(to)) % parts == 0;
        const bool is_allowed = is_even && Allowed(program_.axes(), use.rule, dims[to], cut) == cut;
        if (factor.is_sum || factor.moving.has_value() || !is_allowed) continue;
        choice->Take(dims[to], cut);
        break;
      }
    }
  }
}

// The part of an operand that a window moves over, with the elements that it needs from the neighbours' parts.
HloInstruction* ComputationPartitioner::GatherNeighbours(const HloInstruction& instruction, const RuleUse& use,
                                                         const std::vector<AxisList>& axes, size_t k,
                                                         HloInstruction* x) {
  const std::vector<int>& dims = use.rule.operands[k];
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == PartitionRule::kWhole || axes[dims[i]].empty()) continue;
    const std::optional<MovingWindow>& window = use.rule.factors[dims[i]].moving;
    if (!window.has_value()) continue;
    const std::optional<HaloPlan> plan = PlanHalo(*window, program_.axes().SizeOf(axes[dims[i]]));
    // The padding value of a pad, and the initial value of a reduce-window, are their second operands.
    const bool has_value = instruction.opcode() == HloOpcode::kPad || instruction.opcode() == HloOpcode::kReduceWindow;
    HloInstruction* outside =
        has_value ? ReducedLeaf(*instruction.operand(1)) : program_.Zero(x->shape().element_type());
    if (outside->shape().element_type() != x->shape().element_type()) {  // operands may be of several precisions
      outside =
          program_.Add(HloInstruction::CreateConvert(ShapeUtil::MakeShape(x->shape().element_type(), {}), outside));
    }
    x = program_.ElementsForWindows(x, static_cast<int64_t>(i), axes[dims[i]], *window, *plan, outside);
  }
  return x;
}

absl::StatusOr<ComputationPartitioner::Leaves> ComputationPartitioner::OperandsFor(const HloInstruction& instruction,
                                                                                   const RuleUse& use,
                                                                                   const std::vector<AxisList>& axes) {
  const bool is_reduce = instruction.opcode() == HloOpcode::kReduce;
  const bool is_sum = !SumAxes(use.rule, axes).empty();
  Leaves operands;
  for (size_t k = 0; k < use.operands.size(); ++k) {
    const Variable& variable = shardings_.variable(use.operands[k]);
    const HloInstruction& operand = *instruction.operand(static_cast<int64_t>(k));
    const PrimitiveType type = variable.shape->element_type();
    const AxisSharding needed = ProjectionOf(use.rule.operands[k], axes);
    HloInstruction* const leaf = use.sums == SumUse::kTakes ? LeavesOf(operand)[0] : ReducedLeaf(operand);
    KASHI_ASSIGN_OR_RETURN(HloInstruction * x, program_.Reshard(leaf, *variable.shape, variable.sharding, needed));
    const AxisSharding summed = SummedPart(use.rule.operands[k], use.rule, needed);
    const auto is_uneven = [&](size_t i) {
      return variable.shape->dimensions(static_cast<int>(i)) % program_.axes().SizeOf(summed[i]) != 0;
    };
    bool has_padding = false;
    for (size_t i = 0; i < summed.size(); ++i) has_padding = has_padding || is_uneven(i);
    if (has_padding) {
      HloInstruction* neutral =
          is_reduce ? program_.Constant(hlo::NeutralOf(use.rule.combiner, type)) : program_.Zero(type);
      x = program_.MaskPadding(x, *variable.shape, summed, neutral);
    }
    // Each part begins with the neutral element; the initial value comes in once, at the end.
    if (is_reduce && is_sum && k == 1 && !IsNeutral(operand, use.rule.combiner)) {
      x = program_.Constant(hlo::NeutralOf(use.rule.combiner, type));
    }
    operands.push_back(GatherNeighbours(instruction, use, axes, k, x));
  }
  return operands;
}

// Small types could not hold the numbers in between, so these are s32 or s64.
HloInstruction* ComputationPartitioner::EmitIota(const HloInstruction& iota, const RuleUse& use,
                                                 const std::vector<AxisList>& axes) {
  const AxisSharding sharding = ProjectionOf(use.rule.results[0], axes);
  const Shape shape = program_.axes().ShardOf(iota.shape(), sharding);
  const int64_t dimension = iota.iota_dimension();
  const AxisList& along = sharding[dimension];
  if (along.empty()) return program_.Add(CopyOf(iota, shape, {}));
  HloInstruction* offset =
      program_.Table(program_.axes().OffsetsAlong(along, shape.dimensions(static_cast<int>(dimension))));
  const PrimitiveType type = offset->shape().element_type();
  const Shape indices = ShapeUtil::MakeShape(type, shape.dimensions());
  HloInstruction* index = program_.Add(HloInstruction::CreateIota(indices, dimension));
  index =
      program_.Add(HloInstruction::CreateBinary(indices, HloOpcode::kAdd, index, program_.Broadcast(offset, indices)));
  return type == shape.element_type() ? index : program_.Add(HloInstruction::CreateConvert(shape, index));
}

absl::StatusOr<HloInstruction*> ComputationPartitioner::EmitRotation(const Rotation& rotation, const RuleUse& use,
                                                                     const std::vector<AxisList>& axes) {
  const Variable& variable = shardings_.variable(use.operands[0]);
  const AxisSharding wanted = ProjectionOf(use.rule.operands[0], axes);
  AxisSharding needed = wanted;
  if (variable.sharding[rotation.dimension].empty()) needed[rotation.dimension] = {};  // each device has all of it
  HloInstruction* x = use.sums == SumUse::kTakes ? LeavesOf(*rotation.array)[0] : ReducedLeaf(*rotation.array);
  KASHI_ASSIGN_OR_RETURN(x, program_.Reshard(x, *variable.shape, variable.sharding, needed));
  x = program_.Rotate(x, rotation.dimension, needed[rotation.dimension], rotation.by);
  return program_.Reshard(x, *variable.shape, needed, wanted);
}

HloInstruction* ComputationPartitioner::EmitPart(const HloInstruction& instruction, const RuleUse& use,
                                                 const std::vector<AxisList>& axes, const Leaves& operands) {
  std::vector<Shape> shapes;
  for (size_t k = 0; k < use.results.size(); ++k) {
    shapes.push_back(
        program_.axes().ShardOf(*shardings_.variable(use.results[k]).shape, ProjectionOf(use.rule.results[k], axes)));
  }
  const Shape shape = instruction.shape().IsTuple() ? ShapeUtil::MakeTupleShape(shapes) : shapes[0];
  std::unique_ptr<HloInstruction> part = CopyOf(instruction, shape, operands);
  std::vector<int64_t> tiles;
  for (const AxisList& along : axes) tiles.push_back(program_.axes().SizeOf(along));
  AdjustAttributes(instruction, use.rule, tiles, part.get());
  CopyCallees(part.get());
  return program_.Add(std::move(part));
}

// The result from the parts that devices have of it along some axes.
HloInstruction* ComputationPartitioner::CombineParts(const HloInstruction& instruction, const RuleUse& use,
                                                     const AxisList& along, HloInstruction* part,
                                                     const Variable& wanted, AxisSharding* sharding) {
  if (along.empty()) return part;
  DeviceModule& module = program_.module();
  const bool is_reduce = instruction.opcode() == HloOpcode::kReduce;
  HloComputation* combiner = is_reduce ? module.CopyOf(*instruction.to_apply())
                                       : module.CombinerOf(use.rule.combiner, part->shape().element_type());
  HloInstruction* all = program_.Combine(part, combiner, along, *wanted.shape, wanted.sharding, sharding);
  if (!is_reduce || IsNeutral(*instruction.operand(1), use.rule.combiner)) return all;
  HloInstruction* initial = program_.Broadcast(ReducedLeaf(*instruction.operand(1)), all->shape());
  return program_.Add(HloInstruction::CreateBinary(all->shape(), use.rule.combiner, initial, all));
}

absl::Status ComputationPartitioner::EmitByRule(const HloInstruction& instruction, const RuleUse& use) {
  const std::vector<AxisList> axes = ChooseAxes(use);
  const AxisList along = SumAxes(use.rule, axes);
  Leaves leaves;
  if (use.rule.is_offset) {
    leaves = {EmitIota(instruction, use, axes)};
  } else if (const std::optional<Rotation> rotation = RotationOf(instruction); rotation.has_value()) {
    KASHI_ASSIGN_OR_RETURN(HloInstruction * rotated, EmitRotation(*rotation, use, axes));
    leaves = {rotated};
  } else {
    KASHI_ASSIGN_OR_RETURN(const Leaves operands, OperandsFor(instruction, use, axes));
    leaves = LeavesIn(EmitPart(instruction, use, axes, operands));
  }
  for (size_t k = 0; k < leaves.size(); ++k) {
    const Variable& variable = shardings_.variable(use.results[k]);
    AxisSharding sharding = ProjectionOf(use.rule.results[k], axes);
    const AxisList combined = use.sums == SumUse::kGives ? Without(along, variable.unreduced) : along;
    leaves[k] = CombineParts(instruction, use, combined, leaves[k], variable, &sharding);
    KASHI_ASSIGN_OR_RETURN(leaves[k], program_.Reshard(leaves[k], *variable.shape, sharding, variable.sharding));
    if (use.sums == SumUse::kTakes) continue;  // the operands had parts of sums along these axes already
    leaves[k] = program_.KeepOnFirst(leaves[k], Without(variable.unreduced, Without(along, combined)));
  }
  Bind(instruction, std::move(leaves));
  return absl::OkStatus();
}

}  // namespace kashi::partition
