#include "kashi/partition/program_shardings.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/devices/sharding_border.h"
#include "kashi/hlo/spmd/collective_groups.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/hlo/spmd/sdy_sharding.h"
#include "kashi/partition/factor_axes.h"
#include "kashi/partition/flat_program.h"
#include "kashi/partition/rotation.h"

namespace kashi::partition {
namespace {

// Enough for any program that people write; a chain of loops could need one pass each.
constexpr int kMostPasses = 200;

bool CanBeCut(const Shape& shape) { return shape.IsArray() && shape.is_static(); }

// Whether the operation adds up, and begins with nothing.
bool IsSumOfParts(const HloInstruction& instruction, const PartitionRule& rule) {
  if (rule.combiner != HloOpcode::kAdd) return false;
  if (absl::c_none_of(rule.factors, [](const PartitionFactor& factor) { return factor.is_sum; })) return false;
  return instruction.opcode() != HloOpcode::kReduce || IsNeutral(*instruction.operand(1), rule.combiner);
}

// Operations that, on sums, give the sum of what they give on the parts.
constexpr HloOpcode kLinear[] = {
    HloOpcode::kAdd,     HloOpcode::kBroadcast, HloOpcode::kConcatenate, HloOpcode::kCopy,     HloOpcode::kNegate,
    HloOpcode::kReshape, HloOpcode::kReverse,   HloOpcode::kSlice,       HloOpcode::kSubtract, HloOpcode::kTranspose,
};

// The axes of the list with these names.
std::vector<AxisRef> Named(absl::Span<const AxisRef> axes, const Mesh& mesh, const std::vector<std::string>& names) {
  std::vector<AxisRef> named;
  for (const AxisRef& axis : axes) {
    if (absl::c_linear_search(names, mesh.axis_name(axis.mesh_axis_index()))) named.push_back(axis);
  }
  return named;
}

}  // namespace

bool DiffersOnDevices(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kPartitionId) return true;
  if (!GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kCollective)) return false;
  const absl::StatusOr<CollectiveGroupMode> mode = GetCollectiveGroupMode(instruction);
  return mode.ok() && *mode != CollectiveGroupMode::kCrossReplica;
}

bool StaysInRegion(const HloInstruction& border) {
  if (!border.has_sharding()) return false;
  return border.sharding().IsManual() || border.sharding().IsManualSubgroup();
}

// ---- Variables -----------------------------------------------------------------------------------------------------

int ProgramShardings::NewVariable(const Shape& leaf) {
  Variable variable;
  variable.shape = &leaf;
  if (leaf.IsArray()) variable.sharding.resize(leaf.rank());
  variable.is_fixed = !CanBeCut(leaf);
  variables_.push_back(std::move(variable));
  return static_cast<int>(variables_.size()) - 1;
}

// The leaves must live as long as the program, so they are looked up in its shapes.
std::vector<int> ProgramShardings::NewVariables(const Shape& shape) {
  std::vector<int> variables;
  ShapeUtil::ForEachLeafShape(shape,
                              [&](const Shape& leaf, const ShapeIndex&) { variables.push_back(NewVariable(leaf)); });
  return variables;
}

// A sharding that the axes cannot express is ignored here: it is only met at the borders of the program.
void ProgramShardings::Fix(int variable, const std::optional<HloSharding>& said) {
  Variable& v = variables_[variable];
  if (!said.has_value() || v.is_fixed || !CanBeCut(*v.shape)) return;
  if (!said->Validate(*v.shape, axes_.devices()).ok()) return;
  std::optional<AxisSharding> sharding = axes_.FromSharding(*said, v.shape->rank());
  if (!sharding.has_value()) return;
  v.sharding = *std::move(sharding);
  v.unreduced = axes_.UnreducedAxesOf(*said).value_or(AxisList());
  v.is_fixed = true;
}

// Dimensions of an array that is cut as its sharding says, and may be cut further there.
void ProgramShardings::Open(int variable, const std::vector<bool>& dimensions) {
  Variable& v = variables_[variable];
  if (dimensions.size() != v.sharding.size() || !CanBeCut(*v.shape)) return;
  if (absl::c_linear_search(dimensions, true)) {
    v.is_fixed = false;
    v.open = dimensions;
  }
}

void ProgramShardings::FixStated(const HloInstruction& instruction) {
  const std::vector<int>& variables = of_.at(&instruction);
  const std::vector<std::optional<HloSharding>> stated = hlo::StatedShardings(instruction);
  const std::vector<std::vector<bool>> open = hlo::OpenDimensions(instruction);
  for (size_t i = 0; i < variables.size() && i < stated.size(); ++i) {
    Fix(variables[i], stated[i]);
    Open(variables[i], open[i]);
  }
}

void ProgramShardings::Connect(int a, int b) {
  const Shape& shape = *variables_[a].shape;
  if (!CanBeCut(shape) || shape.rank() == 0 || !CanBeCut(*variables_[b].shape)) return;
  RuleUse use;
  std::vector<int> factors;
  for (const int64_t size : shape.dimensions()) factors.push_back(use.rule.Add(size));
  use.rule.operands = {factors};
  use.rule.results = {factors};
  use.operands = {a};
  use.results = {b};
  uses_.push_back(std::move(use));
}

std::vector<int> ProgramShardings::OperandVariables(const HloInstruction& instruction) const {
  std::vector<int> variables;
  for (const HloInstruction* operand : instruction.operands()) {
    const std::vector<int>& more = of_.at(operand);
    variables.insert(variables.end(), more.begin(), more.end());
  }
  return variables;
}

// ---- Instructions --------------------------------------------------------------------------------------------------

bool ProgramShardings::PassesOn(const HloInstruction& instruction) const {
  const HloOpcode opcode = instruction.opcode();
  if (opcode == HloOpcode::kCopy) return instruction.shape().IsTuple();
  return opcode == HloOpcode::kTuple || opcode == HloOpcode::kGetTupleElement || opcode == HloOpcode::kDomain ||
         opcode == HloOpcode::kOptimizationBarrier || opcode == HloOpcode::kAddDependency;
}

std::vector<int> ProgramShardings::PassedOn(const HloInstruction& instruction) const {
  if (instruction.opcode() == HloOpcode::kTuple) return OperandVariables(instruction);
  const std::vector<int>& all = of_.at(instruction.operand(0));
  if (instruction.opcode() != HloOpcode::kGetTupleElement) return all;
  const Shape& tuple = instruction.operand(0)->shape();
  int64_t begin = 0;
  for (int64_t i = 0; i < instruction.tuple_index(); ++i) {
    begin += ShapeUtil::GetLeafCount(tuple.tuple_shapes(static_cast<int>(i)));
  }
  return std::vector<int>(all.begin() + begin, all.begin() + begin + ShapeUtil::GetLeafCount(instruction.shape()));
}

absl::Status ProgramShardings::VisitComputation(const HloComputation& computation) {
  for (const HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
    KASHI_RETURN_IF_ERROR(Visit(*instruction));
    order_.push_back(instruction);
  }
  return absl::OkStatus();
}

absl::Status ProgramShardings::Visit(const HloInstruction& instruction) {
  if (of_.contains(&instruction)) return absl::OkStatus();  // a parameter that shares its caller's variables
  if (instruction.opcode() == HloOpcode::kWhile) return VisitLoop(instruction);
  if (instruction.opcode() == HloOpcode::kConditional) return VisitBranches(instruction);
  if (devices::BorderKindOf(instruction) != devices::BorderKind::kNone) return VisitBorder(instruction);
  if (PassesOn(instruction)) {
    of_[&instruction] = PassedOn(instruction);
    return absl::OkStatus();
  }
  of_[&instruction] = NewVariables(instruction.shape());
  if (hlo::IsShardingCall(instruction)) {
    VisitShardingCall(instruction);
    return absl::OkStatus();
  }
  FixStated(instruction);
  if (instruction.opcode() == HloOpcode::kCustomCall) return VisitCustomCall(instruction);
  if (const std::optional<Rotation> rotation = RotationOf(instruction); rotation.has_value()) {
    use_of_[&instruction] = uses_.size();
    uses_.push_back({RuleOfRotation(*rotation), of_.at(rotation->array), of_.at(&instruction)});
    return absl::OkStatus();
  }
  std::optional<PartitionRule> rule = PartitionRuleOf(instruction);
  if (rule.has_value()) AddRule(instruction, *std::move(rule));
  return absl::OkStatus();
}

void ProgramShardings::AddRule(const HloInstruction& instruction, PartitionRule rule) {
  use_of_[&instruction] = uses_.size();
  uses_.push_back({std::move(rule), OperandVariables(instruction), of_.at(&instruction)});
}

// An array that is wanted as parts of a sum, and only so, may be computed as such.
void ProgramShardings::KeepSum(const HloInstruction& producer, const AxisList& unreduced) {
  const auto found = use_of_.find(&producer);
  if (found == use_of_.end() || producer.user_count() != 1) return;
  RuleUse& use = uses_[found->second];
  if (use.results.size() != 1 || variables_[use.results[0]].is_fixed) return;
  const auto has_parts = [&](int i) { return variables_[i].unreduced == unreduced; };
  if (IsSumOfParts(producer, use.rule)) {
    const bool is_reduce = producer.opcode() == HloOpcode::kReduce;  // its initial value is nothing
    use.sums = is_reduce && has_parts(use.operands[0]) ? SumUse::kTakes : SumUse::kGives;
  } else if (absl::c_linear_search(kLinear, producer.opcode()) && absl::c_all_of(use.operands, has_parts)) {
    use.sums = SumUse::kTakes;
  }
  if (use.sums != SumUse::kNone) variables_[use.results[0]].unreduced = unreduced;
}

// The arrays of a group are to have one sharding: that of a variable that stands for them all. Another sharding may be
// said of a member, such as a parameter; if it is the result, too, that has the sharding of the group.
void ProgramShardings::VisitShardingGroup(const HloInstruction& call) {
  const auto& attributes = call.frontend_attributes().map();
  const auto id = attributes.find("xla.sdy.sharding_group_id");
  const std::vector<int> members = OperandVariables(call);
  if (id == attributes.end() || members.size() != 1) return;
  const Shape& shape = *variables_[members[0]].shape;
  const auto [group, is_new] = groups_.try_emplace(id->second, static_cast<int>(variables_.size()));
  if (is_new) NewVariable(shape);
  if (shape.dimensions() != variables_[group->second].shape->dimensions()) return;
  group_of_[members[0]] = group->second;
  Connect(group->second, members[0]);
}

void ProgramShardings::VisitShardingCall(const HloInstruction& call) {
  if (hlo::IsShardingGroup(call)) return VisitShardingGroup(call);
  FixStated(call);
  const std::vector<int> operands = OperandVariables(call);
  const std::vector<int>& results = of_.at(&call);
  for (size_t i = 0; i < operands.size() && i < results.size(); ++i) Connect(operands[i], results[i]);
  if (results.size() == 1 && !variables_[results[0]].unreduced.empty()) {
    KeepSum(*call.operand(0), variables_[results[0]].unreduced);
  }
}

// The state has one sharding, in the loop and behind it.
absl::Status ProgramShardings::VisitLoop(const HloInstruction& loop) {
  of_[&loop] = NewVariables(loop.shape());
  FixStated(loop);
  const std::vector<int> state = of_.at(&loop);
  const std::vector<int> initial = of_.at(loop.operand(0));
  of_[loop.while_body()->parameter_instruction(0)] = state;
  of_[loop.while_condition()->parameter_instruction(0)] = state;
  KASHI_RETURN_IF_ERROR(VisitComputation(*loop.while_condition()));
  KASHI_RETURN_IF_ERROR(VisitComputation(*loop.while_body()));
  const std::vector<int> next = of_.at(loop.while_body()->root_instruction());
  if (initial.size() != state.size() || next.size() != state.size()) {
    return InvalidArgument("%s: the state of the loop has another shape than its body", loop.name());
  }
  for (size_t i = 0; i < state.size(); ++i) {
    Connect(initial[i], state[i]);
    Connect(next[i], state[i]);
  }
  return absl::OkStatus();
}

absl::Status ProgramShardings::VisitBranches(const HloInstruction& conditional) {
  of_[&conditional] = NewVariables(conditional.shape());
  FixStated(conditional);
  for (int i = 0; i < conditional.branch_count(); ++i) {
    const HloComputation& branch = *conditional.branch_computation(i);
    const std::vector<int> argument = of_.at(conditional.operand(i + 1));
    const std::vector<int> parameter = NewVariables(branch.parameter_instruction(0)->shape());
    of_[branch.parameter_instruction(0)] = parameter;
    if (argument.size() != parameter.size()) {
      return InvalidArgument("%s: a branch takes another shape", conditional.name());
    }
    for (size_t k = 0; k < argument.size(); ++k) Connect(argument[k], parameter[k]);
    KASHI_RETURN_IF_ERROR(VisitComputation(branch));
    const std::vector<int> from = of_.at(branch.root_instruction());
    const std::vector<int>& to = of_.at(&conditional);
    if (from.size() != to.size()) return InvalidArgument("%s: a branch has another shape", conditional.name());
    for (size_t k = 0; k < to.size(); ++k) Connect(from[k], to[k]);
  }
  return absl::OkStatus();
}

absl::Status ProgramShardings::VisitBorder(const HloInstruction& border) {
  of_[&border] = NewVariables(border.shape());
  if (devices::BorderKindOf(border) == devices::BorderKind::kIntoRegion || StaysInRegion(border))
    return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const std::vector<devices::ShardingBorder> borders,
                         devices::ShardingBorder::Make(border, axes_.devices()));
  const std::vector<int>& results = of_.at(&border);
  for (size_t i = 0; i < results.size() && i < borders.size(); ++i) {
    Variable& result = variables_[results[i]];
    if (result.is_fixed) continue;
    std::optional<AxisSharding> sharding = axes_.FromGrid(borders[i].to());
    if (sharding.has_value()) result.sharding = *std::move(sharding);
    result.unreduced = UnreducedAtBorder(border, static_cast<int64_t>(i));
    result.is_fixed = true;
  }
  return absl::OkStatus();
}

absl::Status ProgramShardings::VisitParameter(const HloInstruction& parameter, const HloSharding& sharding,
                                              bool is_open) {
  const std::vector<int>& variables = of_[&parameter] = NewVariables(parameter.shape());
  KASHI_ASSIGN_OR_RETURN(const ShapeTree<HloSharding> said, sharding.AsShapeTree(parameter.shape()));
  if (is_open) return absl::OkStatus();
  const std::vector<IndexedShape> leaves = ShapeUtil::GetLeafShapes(parameter.shape());
  for (size_t i = 0; i < leaves.size(); ++i) {
    Fix(variables[i], said.element(leaves[i].index));
    variables_[variables[i]].is_fixed = true;
  }
  return absl::OkStatus();
}

void ProgramShardings::ConnectResults(const HloInstruction& root, const std::vector<std::optional<HloSharding>>& said) {
  results_ = NewVariables(root.shape());
  const std::vector<int>& from = of_.at(&root);
  for (size_t i = 0; i < from.size(); ++i) {
    const auto group = group_of_.find(from[i]);
    // What is said of a member of a group, and not of the result, is said of a parameter.
    const bool is_in_group = group != group_of_.end() && !root.has_sharding();
    if (is_in_group) Connect(group->second, results_[i]);
    if (i < said.size() && !is_in_group) {
      Fix(results_[i], said[i]);
      if (said[i].has_value()) variables_[results_[i]].is_fixed = true;
      Open(results_[i], variables_[from[i]].open);
    }
    Connect(from[i], results_[i]);
  }
}

AxisList ProgramShardings::UnreducedAtBorder(const HloInstruction& border, int64_t operand) const {
  const bool is_into = devices::BorderKindOf(border) == devices::BorderKind::kIntoRegion;
  const auto& attributes = border.frontend_attributes().map();
  const auto text = attributes.find(is_into ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings");
  const auto manual = attributes.find("xla.sdy.manual_axes");
  if (text == attributes.end() || manual == attributes.end()) return {};
  const absl::StatusOr<hlo::SdyMeshes> meshes = hlo::SdyMeshesOf(*border.GetModule());
  if (!meshes.ok()) return {};
  const absl::StatusOr<std::vector<NamedSharding>> shardings = hlo::ParseSdyShardings(text->second, *meshes);
  const absl::StatusOr<std::vector<std::string>> names = hlo::ParseSdyManualAxes(manual->second);
  if (!shardings.ok() || !names.ok() || operand >= static_cast<int64_t>(shardings->size())) return {};
  const NamedSharding& sharding = (*shardings)[operand];
  const Mesh& mesh = sharding.mesh();
  const absl::StatusOr<HloSharding> sums = HloSharding::V3ToV2Sharding(
      NamedSharding(mesh, std::vector<NamedSharding::DimensionSharding>(sharding.dim_shardings().size()), {},
                    Named(sharding.unreduced_axes(), mesh, *names)));
  return sums.ok() ? axes_.UnreducedAxesOf(*sums).value_or(AxisList()) : AxisList();
}

absl::StatusOr<ProgramShardings> ProgramShardings::Make(const HloModule& flat, const DeviceAxes& axes,
                                                        const MeshAxes& mesh_axes, const ProgramBorders& borders,
                                                        const PartitionOptions& options) {
  ProgramShardings made(axes, options);
  const HloComputation& entry = *flat.entry_computation();
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    const int64_t number = parameter->parameter_number();
    KASHI_RETURN_IF_ERROR(made.VisitParameter(*parameter, borders.parameters[number], borders.open_parameters[number]));
  }
  KASHI_RETURN_IF_ERROR(made.VisitComputation(entry));
  made.ConnectResults(*entry.root_instruction(), borders.results);
  made.FindManual();
  KASHI_RETURN_IF_ERROR(made.Propagate());
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    if (!borders.open_parameters[parameter->parameter_number()]) continue;
    for (const int i : made.of_.at(parameter)) {
      Variable& variable = made.variables_[i];
      if (variable.shape->IsArray()) variable.sharding = mesh_axes.WholeAxesOf(variable.sharding, *variable.shape);
    }
  }
  return made;
}

const RuleUse* ProgramShardings::RuleOf(const HloInstruction& instruction) const {
  const auto found = use_of_.find(&instruction);
  return found == use_of_.end() || IsOnDevices(instruction) ? nullptr : &uses_[found->second];
}

// ---- Manual regions ------------------------------------------------------------------------------------------------

bool ProgramShardings::SetManual(const std::vector<int>& variables) {
  bool changed = false;
  for (const int i : variables) {
    changed = changed || !variables_[i].is_manual;
    variables_[i].is_manual = true;
  }
  return changed;
}

// Spreads from operands, and from bodies, to the result.
bool ProgramShardings::SpreadManual(const HloInstruction& instruction) {
  if (PassesOn(instruction)) return false;
  const auto is_manual = [this](int i) { return variables_[i].is_manual; };
  if (RunsBodies(instruction)) return SpreadManualOut(instruction);
  bool on_devices = DiffersOnDevices(instruction) || absl::c_any_of(OperandVariables(instruction), is_manual);
  const devices::BorderKind border = devices::BorderKindOf(instruction);
  if (border == devices::BorderKind::kIntoRegion) on_devices = true;
  if (border == devices::BorderKind::kOutOfRegion && !StaysInRegion(instruction)) return false;
  if (!on_devices) return false;
  on_devices_.insert(&instruction);
  return SetManual(of_.at(&instruction));
}

// Devices take their own ways through the bodies, so nothing in there may wait for all of them.
bool ProgramShardings::SetBodiesManual(const HloInstruction& instruction) {
  bool changed = false;
  for (const HloComputation* body : instruction.called_computations()) {
    for (const HloInstruction* inner : body->MakeInstructionPostOrder()) {
      changed |= on_devices_.insert(inner).second;
      changed |= SetManual(of_.at(inner));
      if (RunsBodies(*inner)) changed |= SetBodiesManual(*inner);
    }
  }
  return changed;
}

bool ProgramShardings::SpreadManualOut(const HloInstruction& instruction) {
  const auto is_manual = [this](int i) { return variables_[i].is_manual; };
  const std::vector<int>& results = of_.at(&instruction);
  const bool is_loop = instruction.opcode() == HloOpcode::kWhile;
  const HloInstruction* decides = is_loop ? instruction.while_condition()->root_instruction() : instruction.operand(0);
  bool changed = false;
  if (absl::c_any_of(of_.at(decides), is_manual)) {
    changed = on_devices_.insert(&instruction).second;
    changed |= SetManual(results);
    changed |= SetBodiesManual(instruction);
  }
  const auto spread_from = [&](const std::vector<int>& from) {
    for (size_t i = 0; i < from.size() && i < results.size(); ++i) {
      if (variables_[from[i]].is_manual) changed |= SetManual({results[i]});
    }
  };
  if (is_loop) {
    spread_from(of_.at(instruction.operand(0)));
    spread_from(of_.at(instruction.while_body()->root_instruction()));
  } else {
    for (int i = 0; i < instruction.branch_count(); ++i) {
      const HloComputation* branch = instruction.branch_computation(i);
      const std::vector<int>& argument = of_.at(instruction.operand(i + 1));
      const std::vector<int>& parameter = of_.at(branch->parameter_instruction(0));
      for (size_t k = 0; k < argument.size(); ++k) {
        if (variables_[argument[k]].is_manual) changed |= SetManual({parameter[k]});
      }
      spread_from(of_.at(branch->root_instruction()));
    }
  }
  return changed;
}

void ProgramShardings::FindManual() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const HloInstruction* instruction : order_) changed |= SpreadManual(*instruction);
  }
}

// ---- Propagation ---------------------------------------------------------------------------------------------------

bool ProgramShardings::Refine(int i, size_t dimension, const AxisList& axes) {
  Variable& variable = variables_[i];
  if (variable.is_fixed || variable.is_manual) return false;
  if (!variable.open.empty() && !variable.open[dimension]) return false;
  AxisList& now = variable.sharding[dimension];
  if (now.size() >= axes.size() || !IsPrefix(now, axes)) return false;
  const AxisSet used = SetOf(variable.sharding) | SetOf(variable.unreduced);
  AxisList better = now;
  for (size_t k = now.size(); k < axes.size() && (used >> axes[k] & 1) == 0; ++k) {
    better.push_back(axes[k]);
    // More parts than elements have no use, and some of them would not nest in the parts of other arrays.
    if (axes_.SizeOf(better) <= variable.shape->dimensions(static_cast<int>(dimension))) continue;
    better.pop_back();
    break;
  }
  if (better.size() == now.size()) return false;
  now = std::move(better);
  return true;
}

AxisList ProgramShardings::BestFor(const RuleUse& use, int factor) const {
  AxisList best;
  const auto look = [&](const std::vector<int>& dims, int i) {
    if (variables_[i].is_manual) return;
    for (size_t d = 0; d < dims.size(); ++d) {
      std::optional<AxisList> axes = AxesIn(axes_, use.rule, factor, dims[d], variables_[i].sharding[d]);
      if (axes.has_value() && axes->size() > best.size()) best = *std::move(axes);
    }
  };
  for (size_t k = 0; k < use.operands.size(); ++k) look(use.rule.operands[k], use.operands[k]);
  for (size_t k = 0; k < use.results.size(); ++k) look(use.rule.results[k], use.results[k]);
  return best;
}

bool ProgramShardings::PropagateAlong(const RuleUse& use) {
  bool changed = false;
  for (int factor = 0; factor < static_cast<int>(use.rule.factors.size()); ++factor) {
    if (!use.rule.factors[factor].digits.empty()) continue;
    const AxisList best = BestFor(use, factor);
    if (best.empty()) continue;
    const auto refine = [&](const std::vector<int>& dims, int i) {
      for (size_t d = 0; d < dims.size(); ++d) {
        if (variables_[i].is_manual) continue;
        const std::optional<AxisList> cut = CutFor(axes_, use.rule, factor, dims[d], variables_[i].sharding[d], best);
        if (cut.has_value()) changed |= Refine(i, d, *cut);
      }
    };
    for (size_t k = 0; k < use.operands.size(); ++k) refine(use.rule.operands[k], use.operands[k]);
    for (size_t k = 0; k < use.results.size(); ++k) refine(use.rule.results[k], use.results[k]);
  }
  return changed;
}

bool ProgramShardings::PropagateByRules() {
  bool changed = false;
  for (const RuleUse& use : uses_) changed |= PropagateAlong(use);
  for (size_t i = uses_.size(); i-- > 0;) changed |= PropagateAlong(uses_[i]);
  return changed;
}

// Partitioners of custom calls are asked when nothing else changes: they see what is known then.
absl::Status ProgramShardings::Propagate() {
  const auto by_rules = [this] {
    for (int pass = 0; pass < kMostPasses && PropagateByRules(); ++pass) continue;
  };
  by_rules();
  bool changed = true;
  for (int pass = 0; changed && pass < kMostPasses; ++pass) {
    changed = false;
    for (PartitionerUse& use : partitioner_uses_) {
      KASHI_ASSIGN_OR_RETURN(const bool has_changed, AskPartitioner(&use));
      if (has_changed) by_rules();
      changed = changed || has_changed;
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::partition
