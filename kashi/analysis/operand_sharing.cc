#include "kashi/analysis/operand_sharing.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"

namespace kashi::analysis {
namespace {

// A map over all dimensions in their order calls its function for each element.
bool IsPlainMap(const HloInstruction& map) {
  const auto& dimensions = map.dimensions();
  if (dimensions.empty()) return true;
  if (static_cast<int64_t>(dimensions.size()) != map.shape().dimensions_size()) return false;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool IsElementwiseOn(const HloInstruction& user, int64_t operand_number) {
  switch (user.opcode()) {
    case HloOpcode::kDynamicUpdateSlice:
      return operand_number == 0;
    case HloOpcode::kBitcastConvert:
      return primitive_util::BitWidth(user.shape().element_type()) ==
             primitive_util::BitWidth(user.operand(0)->shape().element_type());
    case HloOpcode::kMap:
      return IsPlainMap(user);
    default:
      return HloInstruction::IsOpElementwise(user.opcode());
  }
}

bool IsOnlyOperand(const HloInstruction& user, const HloInstruction& operand, int64_t number) {
  const std::vector<int64_t> numbers = user.OperandIndices(&operand);
  return numbers.size() == 1 && numbers[0] == number;
}

bool MayShareInSort(const HloInstruction& sort, const HloInstruction& operand, const ShapeIndex& index) {
  if (operand.user_count() != 1) return false;
  return sort.operand_count() == 1 || (!index.empty() && IsOnlyOperand(sort, operand, index.front()));
}

// For a call: only the root of the called computation uses the operand, element by element.
bool MayShareInCall(const HloInstruction& call, const HloInstruction& operand, int64_t operand_number) {
  if (call.called_computations().size() != 1 || operand.user_count() != 1) return false;
  const HloComputation& callee = *call.called_computations()[0];
  if (operand_number >= callee.num_parameters()) return false;
  const HloInstruction& parameter = *callee.parameter_instruction(operand_number);
  const HloInstruction& root = *callee.root_instruction();
  const std::vector<int64_t> numbers = root.OperandIndices(&parameter);
  return parameter.user_count() == 1 && numbers.size() == 1 && IsElementwiseOn(root, numbers[0]);
}

bool IsProduct(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kDot || instruction.opcode() == HloOpcode::kConvolution;
}

bool IsSumWithProduct(const HloInstruction& fusion) {
  return fusion.IsOutputFusion() && fusion.to_apply()->root_instruction()->opcode() == HloOpcode::kAdd;
}

// The fused parameter is used once: by the root, an add of it and of a product.
bool IsAddedToProduct(const HloInstruction& parameter) {
  const HloInstruction& add = *parameter.parent()->root_instruction();
  const std::vector<int64_t> numbers = add.OperandIndices(&parameter);
  return add.operand_count() == 2 && parameter.user_count() == 1 && numbers.size() == 1 &&
         IsProduct(*add.operand(1 - numbers[0]));
}

// Whether all paths from the fused parameter to the root use it element by element.
bool IsUsedByElement(const HloInstruction& parameter, bool may_enter_tuples) {
  std::vector<const HloInstruction*> rest = {&parameter};
  absl::flat_hash_set<const HloInstruction*> seen(rest.begin(), rest.end());
  while (!rest.empty()) {
    const HloInstruction* current = rest.back();
    rest.pop_back();
    for (const HloInstruction* user : current->users()) {
      if (!seen.insert(user).second) continue;
      const bool is_by_element = absl::c_all_of(user->OperandIndices(current), [&](int64_t number) {
        return user->opcode() == HloOpcode::kTuple ? may_enter_tuples : IsElementwiseOn(*user, number);
      });
      if (!is_by_element) return false;
      rest.push_back(user);
    }
  }
  return true;
}

}  // namespace

bool OperandSharing::MayShare(const Part& operand, const Part& result) {
  const HloInstruction& user = *result.instruction;
  const std::vector<int64_t> numbers = user.OperandIndices(operand.instruction);
  if (numbers.empty() || operand.instruction->IsConstant()) return false;
  if (!ShapeUtil::Equal(*operand.shape, *result.shape)) return false;
  using Sharing = HloOpcodeFlags::Sharing;
  switch (GetHloOpcodeInfo(user.opcode()).sharing) {
    case Sharing::kFusion:
      return MayShareInFusion(user, numbers[0]);
    case Sharing::kAlways:
      return true;
    case Sharing::kFirst:
      return IsOnlyOperand(user, *operand.instruction, 0);
    case Sharing::kSecond:
      return IsOnlyOperand(user, *operand.instruction, 1);
    case Sharing::kSort:
      return MayShareInSort(user, *operand.instruction, result.index);
    case Sharing::kCall:
      return MayShareInCall(user, *operand.instruction, numbers[0]);
    case Sharing::kDefault:
      break;
  }
  return IsElementwiseOn(user, numbers[0]);
}

bool OperandSharing::MayShareInFusion(const HloInstruction& fusion, int64_t operand_number) {
  if (!fusion.has_to_apply() || operand_number >= fusion.to_apply()->num_parameters()) return false;
  const HloComputation* fused = fusion.to_apply();
  const auto [found, is_new] = by_element_.try_emplace({fused, operand_number}, false);
  if (is_new) {
    const HloInstruction& parameter = *fused->parameter_instruction(operand_number);
    found->second = IsSumWithProduct(fusion)
                        ? IsAddedToProduct(parameter)
                        : IsUsedByElement(parameter, /*may_enter_tuples=*/!fusion.IsCustomFusion());
  }
  return found->second;
}

}  // namespace kashi::analysis
