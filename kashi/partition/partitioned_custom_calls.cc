// Custom calls that run on shards: those whose partitioner makes the program of a device, and partitioned callbacks.
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_tree.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/hlo/text/hlo_place.h"
#include "kashi/partition/computation_partitioner.h"

namespace kashi::partition {
namespace {

// A sharding for each leaf.
absl::StatusOr<std::vector<HloSharding>> LeavesOfSharding(const HloSharding& sharding, const Shape& shape,
                                                          int64_t devices) {
  KASHI_RETURN_IF_ERROR(sharding.Validate(shape, devices));
  KASHI_ASSIGN_OR_RETURN(const ShapeTree<HloSharding> tree, sharding.AsShapeTree(shape));
  std::vector<HloSharding> leaves;
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(shape)) leaves.push_back(tree.element(leaf.index));
  return leaves;
}

absl::Status CheckShape(absl::string_view what, const Shape& of_program, const Shape& shard) {
  if (ShapeUtil::Compatible(of_program, shard)) return absl::OkStatus();
  return InvalidArgument("the partitioner of a custom call made a program whose %s is %s, but its shard is %s", what,
                         ShapeUtil::HumanString(of_program), ShapeUtil::HumanString(shard));
}

}  // namespace

// A leaf in the sharding that a partitioner wants.
absl::StatusOr<HloInstruction*> ComputationPartitioner::CutAs(HloInstruction* x, int variable, const HloSharding& to) {
  const Variable& v = shardings_.variable(variable);
  if (!v.shape->IsArray()) return x;
  if (v.is_manual) {
    if (to.IsReplicated()) return x;
    return Unimplemented("the partitioner of a custom call in a manual region wants an operand in parts");
  }
  x = Reduced(x, variable);
  const int64_t rank = v.shape->rank();
  const std::optional<AxisSharding> cuts = program_.axes().FromSharding(to, rank);
  if (cuts.has_value()) return program_.Reshard(x, *v.shape, v.sharding, *cuts);
  KASHI_ASSIGN_OR_RETURN(const ShardGrid grid, ShardGrid::Make(to, v.shape->dimensions(), program_.axes().devices()));
  KASHI_ASSIGN_OR_RETURN(x, program_.Reshard(x, *v.shape, v.sharding, AxisSharding(rank)));
  return OwnPiece(x, grid);
}

// A leaf in the sharding of its variable, from the one in which a partitioner gives it.
absl::StatusOr<HloInstruction*> ComputationPartitioner::UncutFrom(HloInstruction* x, int variable,
                                                                  const HloSharding& from) {
  const Variable& v = shardings_.variable(variable);
  if (!v.shape->IsArray()) return x;
  if (v.is_manual) {
    if (from.IsReplicated()) return x;
    return Unimplemented("the partitioner of a custom call in a manual region gives the result in parts");
  }
  std::optional<AxisSharding> cuts = program_.axes().FromSharding(from, v.shape->rank());
  if (!cuts.has_value()) {
    KASHI_ASSIGN_OR_RETURN(const ShardGrid grid,
                           ShardGrid::Make(from, v.shape->dimensions(), program_.axes().devices()));
    KASHI_ASSIGN_OR_RETURN(x, WholeOfPieces(x, grid));
    cuts = AxisSharding(v.shape->rank());
  }
  KASHI_ASSIGN_OR_RETURN(x, program_.Reshard(x, *v.shape, *cuts, v.sharding));
  return program_.KeepOnFirst(x, v.unreduced);
}

absl::StatusOr<ComputationPartitioner::Leaves> ComputationPartitioner::OperandsAs(
    const HloInstruction& call, const CustomCallPartitioner::Partitioned& made) {
  const HloComputation& entry = *made.module->entry_computation();
  if (static_cast<int64_t>(made.operands.size()) != call.operand_count() ||
      entry.num_parameters() != call.operand_count()) {
    return InvalidArgument(
        "the partitioner of a custom call of %d operands made a program of %d parameters with %d shardings",
        call.operand_count(), entry.num_parameters(), made.operands.size());
  }
  Leaves operands;
  for (int64_t k = 0; k < call.operand_count(); ++k) {
    const HloInstruction& operand = *call.operand(k);
    KASHI_ASSIGN_OR_RETURN(const std::vector<HloSharding> wanted,
                           LeavesOfSharding(made.operands[k], operand.shape(), program_.axes().devices()));
    const std::vector<int>& variables = shardings_.VariablesOf(operand);
    Leaves leaves = LeavesOf(operand);
    for (size_t i = 0; i < leaves.size(); ++i) {
      KASHI_ASSIGN_OR_RETURN(leaves[i], CutAs(leaves[i], variables[i], wanted[i]));
    }
    operands.push_back(TreeOf(operand.shape(), leaves));
    const Shape& parameter = entry.parameter_instruction(k)->shape();
    KASHI_RETURN_IF_ERROR(CheckShape("parameter", parameter, operands.back()->shape()));
  }
  return operands;
}

// The root of a copy of the program on these operands.
HloInstruction* ComputationPartitioner::Inline(std::unique_ptr<HloModule> program, const Leaves& operands) {
  program_.module().RenumberChannels(program.get());
  const HloComputation& entry = *program->entry_computation();
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
  for (const HloInstruction* instruction : entry.MakeInstructionPostOrder()) {
    HloInstruction*& copy = copies[instruction];
    if (instruction->opcode() == HloOpcode::kParameter) {
      copy = operands[instruction->parameter_number()];
      continue;
    }
    Leaves own;
    for (const HloInstruction* operand : instruction->operands()) own.push_back(copies.at(operand));
    if (hlo::IsShardingCall(*instruction) && own.size() == 1 && own[0]->shape() == instruction->shape()) {
      copy = own[0];
      continue;
    }
    std::unique_ptr<HloInstruction> clone = CopyOf(*instruction, instruction->shape(), own);
    CopyCallees(clone.get());
    copy = program_.Add(std::move(clone));
    KeepOrder(copy);
  }
  HloInstruction* const root = copies.at(entry.root_instruction());
  program_.module().Keep(std::move(program));
  return root;
}

absl::Status ComputationPartitioner::EmitByPartitioner(const PartitionerUse& use) {
  const HloInstruction& call = *use.call;
  const std::vector<int>& users = shardings_.VariablesOf(call);
  const bool on_devices = shardings_.IsOnDevices(call);
  const std::vector<int>& results = on_devices ? users : use.results;
  std::vector<HloSharding> operands;
  for (const HloInstruction* operand : call.operands()) {
    operands.push_back(shardings_.ShardingOf(operand->shape(), shardings_.VariablesOf(*operand)));
  }
  absl::StatusOr<CustomCallPartitioner::Partitioned> made =
      use.partitioner->Partition(call, operands, shardings_.ShardingOf(call.shape(), results));
  if (!made.ok()) return AtInstruction(made.status(), call);
  KASHI_ASSIGN_OR_RETURN(const std::vector<HloSharding> given,
                         LeavesOfSharding(made->result, call.shape(), program_.axes().devices()));
  KASHI_ASSIGN_OR_RETURN(const Leaves arguments, OperandsAs(call, *made));
  Leaves leaves = LeavesIn(Inline(std::move(made->module), arguments));
  if (leaves.size() != given.size()) {
    return InvalidArgument("the partitioner of a custom call of %d results made a program of %d", given.size(),
                           leaves.size());
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Shape& whole = *shardings_.variable(results[i]).shape;
    if (whole.IsArray()) KASHI_RETURN_IF_ERROR(CheckShape("result", leaves[i]->shape(), given[i].TileShape(whole)));
    KASHI_ASSIGN_OR_RETURN(leaves[i], UncutFrom(leaves[i], results[i], given[i]));
  }
  if (!on_devices) {
    KASHI_ASSIGN_OR_RETURN(leaves, ConvertAll(leaves, results, users));
  }
  Bind(call, std::move(leaves));
  return absl::OkStatus();
}

}  // namespace kashi::partition
