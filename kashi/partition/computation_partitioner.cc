#include "kashi/partition/computation_partitioner.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/partition/flat_program.h"

namespace kashi::partition {
namespace {

HloInstruction* BuildTree(DeviceProgram& program, const Shape& shape, const std::vector<HloInstruction*>& leaves,
                          size_t* next) {
  if (!shape.IsTuple()) return leaves[(*next)++];
  std::vector<HloInstruction*> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(BuildTree(program, element, leaves, next));
  return program.Add(HloInstruction::CreateTuple(elements));
}

// jax.debug.callback(…, partitioned=True): each device calls it, with its shards. Arrays that it returned would need
// shardings, which it has none of.
bool IsPartitionedCallback(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kCustomCall ||
      instruction.custom_call_target() != "xla_ffi_partitioned_python_cpu_callback") {
    return false;
  }
  const auto is_array = [](const IndexedShape& leaf) { return leaf.shape.IsArray(); };
  return absl::c_none_of(ShapeUtil::GetLeafShapes(instruction.shape()), is_array);
}

bool IsStateful(const HloInstruction& instruction) {
  return GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kRandom);
}

// The operands of a copy may be parts of those of the call: they keep the layouts.
void SetOperandLayouts(HloInstruction* copy) {
  std::vector<Shape> shapes = copy->operand_shapes_with_layout();
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!shapes[i].IsArray()) continue;
    const Shape& operand = copy->operand(static_cast<int64_t>(i))->shape();
    for (int k = 0; k < shapes[i].rank(); ++k) shapes[i].set_dimensions(k, operand.dimensions(k));
  }
  copy->mutable_fields()->Set<HloField::operand_shapes_with_layout>(std::move(shapes));
}

}  // namespace

HloInstruction* ComputationPartitioner::AddParameter(const HloInstruction& parameter, const Shape& shape) {
  program_.set_source(&parameter);
  HloInstruction* own =
      program_.Add(HloInstruction::CreateParameter(parameter.parameter_number(), shape, parameter.name()));
  Bind(parameter, LeavesIn(own));
  return own;
}

HloInstruction* ComputationPartitioner::TreeOf(const Shape& shape, const Leaves& leaves) {
  size_t next = 0;
  return BuildTree(program_, shape, leaves, &next);
}

ComputationPartitioner::Leaves ComputationPartitioner::LeavesIn(HloInstruction* value) {
  Leaves leaves;
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(value->shape())) {
    leaves.push_back(program_.Element(value, leaf.index));
  }
  return leaves;
}

Shape ComputationPartitioner::LocalShape(const Shape& whole, const std::vector<int>& variables) const {
  Shape local = whole;
  size_t next = 0;
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(whole)) {
    const Variable& variable = shardings_.variable(variables[next++]);
    if (variable.is_manual || !leaf.shape.IsArray()) continue;
    *ShapeUtil::GetMutableSubshape(&local, leaf.index) = program_.axes().ShardOf(leaf.shape, variable.sharding);
  }
  return local;
}

// ---- Conversions ---------------------------------------------------------------------------------------------------

absl::StatusOr<HloInstruction*> ComputationPartitioner::Whole(HloInstruction* x, int variable) {
  const Variable& v = shardings_.variable(variable);
  if (v.is_manual || !v.shape->IsArray()) return x;
  return program_.Reshard(Reduced(x, variable), *v.shape, v.sharding, AxisSharding(v.sharding.size()));
}

HloInstruction* ComputationPartitioner::Reduced(HloInstruction* x, int variable) {
  const Variable& v = shardings_.variable(variable);
  return v.is_manual ? x : program_.SumAlong(x, v.unreduced);
}

absl::StatusOr<HloInstruction*> ComputationPartitioner::Convert(HloInstruction* x, int from, int to) {
  const Variable& a = shardings_.variable(from);
  const Variable& b = shardings_.variable(to);
  if (b.is_manual) return Whole(x, from);
  if (a.is_manual) return Internal("a value that differs on each device is used as one that does not");
  if (!a.shape->IsArray()) return x;
  AxisSharding now = a.sharding;
  if (const AxisList along = Without(a.unreduced, b.unreduced); !along.empty()) {
    HloComputation* const add = program_.module().CombinerOf(HloOpcode::kAdd, a.shape->element_type());
    x = program_.Combine(x, add, along, *a.shape, b.sharding, &now);
  }
  KASHI_ASSIGN_OR_RETURN(x, program_.Reshard(x, *a.shape, now, b.sharding));
  return program_.KeepOnFirst(x, Without(b.unreduced, a.unreduced));
}

absl::StatusOr<ComputationPartitioner::Leaves> ComputationPartitioner::ConvertAll(const Leaves& leaves,
                                                                                  const std::vector<int>& from,
                                                                                  const std::vector<int>& to) {
  Leaves converted;
  for (size_t i = 0; i < leaves.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(HloInstruction * leaf, Convert(leaves[i], from[i], to[i]));
    converted.push_back(leaf);
  }
  return converted;
}

// ---- Instructions --------------------------------------------------------------------------------------------------

absl::Status ComputationPartitioner::Emit(const HloComputation& computation) {
  for (const HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
    if (instruction->opcode() == HloOpcode::kParameter) continue;
    program_.set_source(instruction);
    KASHI_RETURN_IF_ERROR(EmitInstruction(*instruction));
  }
  program_.set_source(nullptr);
  return absl::OkStatus();
}

absl::Status ComputationPartitioner::EmitInstruction(const HloInstruction& instruction) {
  if (shardings_.PassesOn(instruction)) return EmitPassedOn(instruction);
  if (instruction.opcode() == HloOpcode::kWhile) return EmitLoop(instruction);
  if (instruction.opcode() == HloOpcode::kConditional) return EmitBranches(instruction);
  if (devices::BorderKindOf(instruction) != devices::BorderKind::kNone) return EmitBorder(instruction);
  if (hlo::IsShardingCall(instruction)) return EmitShardingCall(instruction);
  if (IsPartitionedCallback(instruction)) return EmitOnShards(instruction);
  if (const PartitionerUse* use = shardings_.PartitionerOf(instruction); use != nullptr) return EmitByPartitioner(*use);
  const RuleUse* use = shardings_.RuleOf(instruction);
  return use == nullptr ? EmitCopy(instruction) : EmitByRule(instruction, *use);
}

absl::Status ComputationPartitioner::EmitPassedOn(const HloInstruction& instruction) {
  Leaves leaves;
  if (instruction.opcode() == HloOpcode::kTuple) {
    for (const HloInstruction* operand : instruction.operands()) {
      const Leaves& more = LeavesOf(*operand);
      leaves.insert(leaves.end(), more.begin(), more.end());
    }
  } else if (instruction.opcode() == HloOpcode::kGetTupleElement) {
    // The elements of the tuple correspond to the same part of the variables.
    const HloInstruction& tuple = *instruction.operand(0);
    size_t begin = 0;
    for (int64_t i = 0; i < instruction.tuple_index(); ++i) {
      begin += ShapeUtil::GetLeafShapes(tuple.shape().tuple_shapes(static_cast<int>(i))).size();
    }
    const size_t count = ShapeUtil::GetLeafShapes(instruction.shape()).size();
    const Leaves& all = LeavesOf(tuple);
    leaves.assign(all.begin() + begin, all.begin() + begin + count);
  } else {
    leaves = LeavesOf(*instruction.operand(0));
  }
  Bind(instruction, std::move(leaves));
  return absl::OkStatus();
}

absl::Status ComputationPartitioner::EmitShardingCall(const HloInstruction& call) {
  Leaves leaves;
  std::vector<int> from;
  if (hlo::IsShardingGroup(call)) {
    Bind(call, {});
    return absl::OkStatus();
  }
  for (const HloInstruction* operand : call.operands()) {
    const Leaves& more = LeavesOf(*operand);
    leaves.insert(leaves.end(), more.begin(), more.end());
    const std::vector<int>& variables = shardings_.VariablesOf(*operand);
    from.insert(from.end(), variables.begin(), variables.end());
  }
  const std::vector<int>& to = shardings_.VariablesOf(call);
  if (leaves.size() != to.size()) {
    return InvalidArgument("%s: %d arrays go into the custom-call to %s, but %d come out", call.name(), leaves.size(),
                           call.custom_call_target(), to.size());
  }
  KASHI_ASSIGN_OR_RETURN(Leaves converted, ConvertAll(leaves, from, to));
  Bind(call, std::move(converted));
  return absl::OkStatus();
}

// ---- Copies: each device computes the whole result -----------------------------------------------------------------

void ComputationPartitioner::CopyCallees(HloInstruction* copy) {
  for (size_t i = 0; i < copy->called_computations().size(); ++i) {
    copy->set_called_computation(static_cast<int64_t>(i), program_.module().CopyOf(*copy->called_computations()[i]));
  }
}

std::unique_ptr<HloInstruction> ComputationPartitioner::CopyOf(const HloInstruction& instruction, const Shape& shape,
                                                               absl::Span<HloInstruction* const> operands) {
  std::unique_ptr<HloInstruction> copy = instruction.CloneWithNewOperands(shape, operands, "");
  copy->clear_sharding();
  if (copy->opcode() == HloOpcode::kCustomCall && copy->layout_constrained()) SetOperandLayouts(copy.get());
  if (copy->has_frontend_attributes()) {
    FrontendAttributes kept;
    for (const auto& [key, value] : copy->frontend_attributes().map()) {
      if (!absl::StartsWith(key, "xla.sdy.")) (*kept.mutable_map())[key] = value;
    }
    copy->set_frontend_attributes(std::move(kept));
  }
  return copy;
}

void ComputationPartitioner::KeepOrder(HloInstruction* copy) {
  if (!IsStateful(*copy)) return;
  if (last_stateful_ != nullptr) last_stateful_->AddControlDependencyTo(copy).IgnoreError();  // both are new
  last_stateful_ = copy;
}

absl::StatusOr<HloInstruction*> ComputationPartitioner::WholeOperand(const HloInstruction& operand) {
  const auto found = copies_.find(&operand);
  if (found != copies_.end()) return found->second;
  const std::vector<int>& variables = shardings_.VariablesOf(operand);
  Leaves leaves;
  for (size_t i = 0; i < variables.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(HloInstruction * leaf, Whole(LeavesOf(operand)[i], variables[i]));
    leaves.push_back(leaf);
  }
  HloInstruction* whole = TreeOf(operand.shape(), leaves);
  // A bitcast depends on the layout that the global program has.
  const bool same_layout = ShapeUtil::Equal(whole->shape(), operand.shape()) || !operand.shape().IsArray();
  if (same_layout || absl::c_none_of(operand.users(), [](const HloInstruction* user) {
        return user->opcode() == HloOpcode::kBitcast;
      })) {
    return whole;
  }
  return program_.Add(HloInstruction::CreateUnary(operand.shape(), HloOpcode::kCopy, whole));
}

// A call of the outside world happens once: on the device of its sharding, or on the first one.
static std::optional<int64_t> OnlyDeviceOf(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kCustomCall) return std::nullopt;
  for (const std::optional<HloSharding>& sharding : hlo::StatedShardings(instruction)) {
    if (sharding.has_value() && sharding->HasUniqueDevice()) return sharding->UniqueDevice();
  }
  return instruction.custom_call_has_side_effect() ? std::optional<int64_t>(0) : std::nullopt;
}

// The value of an array is zeros, and then that of the device: all others get it.
HloInstruction* ComputationPartitioner::EmitOnOneDevice(const HloInstruction& call,
                                                        absl::Span<HloInstruction* const> operands, int64_t holder) {
  HloModule& module = *program_.module().module();
  HloInstruction* const all = program_.Add(HloInstruction::CreateTuple(operands));
  DeviceProgram here(absl::StrCat(call.name(), "_here"), &program_.module());
  HloInstruction* const parameter = here.Add(HloInstruction::CreateParameter(0, all->shape(), "operands"));
  std::vector<HloInstruction*> parts;
  for (int64_t i = 0; i < static_cast<int64_t>(operands.size()); ++i) parts.push_back(here.Element(parameter, {i}));
  std::unique_ptr<HloInstruction> copy = CopyOf(call, call.shape(), parts);
  CopyCallees(copy.get());
  HloComputation* const on_holder = module.AddEmbeddedComputation(here.Build(here.Add(std::move(copy))));
  DeviceProgram elsewhere(absl::StrCat(call.name(), "_elsewhere"), &program_.module());
  elsewhere.Add(HloInstruction::CreateParameter(0, all->shape(), "operands"));
  HloComputation* const on_others = module.AddEmbeddedComputation(elsewhere.Build(elsewhere.Zeros(call.shape())));
  std::vector<int64_t> is_other(program_.axes().devices(), 1);
  is_other[holder] = 0;
  HloInstruction* value = program_.Add(
      HloInstruction::CreateConditional(call.shape(), program_.Table(is_other), {on_holder, on_others}, {all, all}));
  Leaves leaves = LeavesIn(value);
  if (leaves.empty()) return value;
  for (HloInstruction*& leaf : leaves) {
    if (leaf->shape().IsArray()) leaf = program_.BroadcastFrom(leaf, holder);
  }
  return TreeOf(call.shape(), leaves);
}

absl::Status ComputationPartitioner::EmitCopy(const HloInstruction& instruction) {
  const bool on_devices = shardings_.IsOnDevices(instruction);
  if (!on_devices && GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kSideEffect)) {
    return Unimplemented("%s: a %s outside of manual regions cannot be partitioned", instruction.name(),
                         HloOpcodeString(instruction.opcode()));
  }
  std::vector<HloInstruction*> operands;
  for (const HloInstruction* operand : instruction.operands()) {
    KASHI_ASSIGN_OR_RETURN(HloInstruction * whole, WholeOperand(*operand));
    operands.push_back(whole);
  }
  const std::optional<int64_t> holder = on_devices ? std::nullopt : OnlyDeviceOf(instruction);
  if (holder.has_value() && (*holder < 0 || *holder >= program_.axes().devices())) {
    return InvalidArgument("%s: its sharding names device %d, but there are %d", instruction.name(), *holder,
                           program_.axes().devices());
  }
  HloInstruction* added = nullptr;
  if (holder.has_value()) {
    added = EmitOnOneDevice(instruction, operands, *holder);
  } else {
    std::unique_ptr<HloInstruction> copy = CopyOf(instruction, instruction.shape(), operands);
    CopyCallees(copy.get());
    added = program_.Add(std::move(copy));
  }
  KeepOrder(added);
  copies_[&instruction] = added;
  const std::vector<int>& variables = shardings_.VariablesOf(instruction);
  Leaves leaves = LeavesIn(added);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Variable& variable = shardings_.variable(variables[i]);
    if (variable.is_manual || !variable.shape->IsArray()) continue;
    KASHI_ASSIGN_OR_RETURN(leaves[i], program_.Reshard(leaves[i], *variable.shape,
                                                       AxisSharding(variable.sharding.size()), variable.sharding));
    leaves[i] = program_.KeepOnFirst(leaves[i], variable.unreduced);
  }
  Bind(instruction, std::move(leaves));
  return absl::OkStatus();
}

absl::Status ComputationPartitioner::EmitOnShards(const HloInstruction& call) {
  std::vector<HloInstruction*> operands;
  for (const HloInstruction* operand : call.operands()) {
    Leaves leaves = LeavesOf(*operand);
    const std::vector<int>& variables = shardings_.VariablesOf(*operand);
    for (size_t i = 0; i < leaves.size(); ++i) leaves[i] = Reduced(leaves[i], variables[i]);
    operands.push_back(TreeOf(operand->shape(), leaves));
  }
  std::unique_ptr<HloInstruction> copy = CopyOf(call, call.shape(), operands);
  HloInstruction* added = program_.Add(std::move(copy));
  KeepOrder(added);
  Bind(call, LeavesIn(added));
  return absl::OkStatus();
}

// ---- Loops and branches --------------------------------------------------------------------------------------------

absl::StatusOr<HloComputation*> ComputationPartitioner::EmitBody(const HloComputation& body,
                                                                 const std::vector<int>& results,
                                                                 const Shape& result_shape) {
  ComputationPartitioner inner(absl::StrCat(body.name(), "_spmd"), shardings_, &program_.module());
  const HloInstruction& parameter = *body.parameter_instruction(0);
  inner.AddParameter(parameter, LocalShape(parameter.shape(), shardings_.VariablesOf(parameter)));
  KASHI_RETURN_IF_ERROR(inner.Emit(body));
  const HloInstruction& root = *body.root_instruction();
  KASHI_ASSIGN_OR_RETURN(const Leaves leaves,
                         inner.ConvertAll(inner.LeavesOf(root), shardings_.VariablesOf(root), results));
  HloInstruction* result = inner.TreeOf(result_shape, leaves);
  return program_.module().module()->AddEmbeddedComputation(inner.program().Build(result));
}

absl::Status ComputationPartitioner::EmitLoop(const HloInstruction& loop) {
  const std::vector<int>& state = shardings_.VariablesOf(loop);
  const HloInstruction& initial = *loop.operand(0);
  const HloInstruction& condition_root = *loop.while_condition()->root_instruction();
  KASHI_ASSIGN_OR_RETURN(const Leaves leaves, ConvertAll(LeavesOf(initial), shardings_.VariablesOf(initial), state));
  KASHI_ASSIGN_OR_RETURN(
      HloComputation * condition,
      EmitBody(*loop.while_condition(), shardings_.VariablesOf(condition_root), condition_root.shape()));
  KASHI_ASSIGN_OR_RETURN(HloComputation * body, EmitBody(*loop.while_body(), state, loop.shape()));
  std::unique_ptr<HloInstruction> copy = CopyOf(loop, LocalShape(loop.shape(), state), {TreeOf(loop.shape(), leaves)});
  copy->set_called_computation(0, body);
  copy->set_called_computation(1, condition);
  Bind(loop, LeavesIn(program_.Add(std::move(copy))));
  return absl::OkStatus();
}

absl::Status ComputationPartitioner::EmitBranches(const HloInstruction& conditional) {
  const std::vector<int>& results = shardings_.VariablesOf(conditional);
  KASHI_ASSIGN_OR_RETURN(HloInstruction * chooses, WholeOperand(*conditional.operand(0)));
  std::vector<HloInstruction*> operands = {chooses};
  std::vector<HloComputation*> branches;
  for (int i = 0; i < conditional.branch_count(); ++i) {
    const HloInstruction& argument = *conditional.operand(i + 1);
    const HloInstruction& parameter = *conditional.branch_computation(i)->parameter_instruction(0);
    KASHI_ASSIGN_OR_RETURN(const Leaves leaves, ConvertAll(LeavesOf(argument), shardings_.VariablesOf(argument),
                                                           shardings_.VariablesOf(parameter)));
    operands.push_back(TreeOf(parameter.shape(), leaves));
    KASHI_ASSIGN_OR_RETURN(HloComputation * branch,
                           EmitBody(*conditional.branch_computation(i), results, conditional.shape()));
    branches.push_back(branch);
  }
  std::unique_ptr<HloInstruction> copy = CopyOf(conditional, LocalShape(conditional.shape(), results), operands);
  for (size_t i = 0; i < branches.size(); ++i) copy->set_called_computation(static_cast<int64_t>(i), branches[i]);
  Bind(conditional, LeavesIn(program_.Add(std::move(copy))));
  return absl::OkStatus();
}

}  // namespace kashi::partition
