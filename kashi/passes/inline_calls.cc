#include "kashi/passes/inline_calls.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/devices/sharding_border.h"
#include "kashi/evaluator/excess_precision.h"
#include "kashi/hlo/attributes/op_name.h"

namespace kashi::passes {
namespace {

// A program may call one computation from many places, each of which calls another from many places …
constexpr int64_t kMostGrowth = 4, kAlwaysAllowed = 20000;

// Calls whose operands are the arguments of one computation, whose root is the result.
bool IsPlainCall(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCall || instruction.opcode() == HloOpcode::kFusion;
}

bool RunsBodiesAsAWhole(const HloInstruction& instruction) {
  return IsPlainCall(instruction) || instruction.opcode() == HloOpcode::kWhile ||
         instruction.opcode() == HloOpcode::kConditional || instruction.opcode() == HloOpcode::kAsyncStart;
}

// The op_names in the body of a call continue that of the call, as XLA's inliner has it: so profiles know the place in
// the user's program.
absl::Status Inline(HloInstruction* call) {
  const std::vector<HloInstruction*> arguments(call->operands().begin(), call->operands().end());
  const std::string of_call = call->opcode() == HloOpcode::kCall ? call->metadata().op_name() : "";
  const auto add = [&](const HloInstruction& x, absl::Span<HloInstruction* const> operands) {
    HloInstruction* copy = call->parent()->AddInstruction(x.CloneWithNewOperands(x.shape(), operands), x.name());
    const std::string& op_name = copy->metadata().op_name();
    if (!of_call.empty() && !op_name.empty()) copy->set_metadata_op_name(hlo::FullOpName(of_call, op_name));
    return copy;
  };
  return ReplaceByBody(call, CopyBody(*call->called_computations()[0], arguments, add));
}

// `computations`: callees first, so that they are inlined in themselves before they are copied.
absl::Status InlineAll(HloModule* module, const std::vector<HloComputation*>& computations, HloOpcode opcode,
                       StopFunction check_stopped) {
  if (HasManualRegions(*module)) return absl::OkStatus();
  const int64_t limit = module->instruction_count() * kMostGrowth + kAlwaysAllowed;
  int64_t count = module->instruction_count();
  for (HloComputation* computation : computations) {
    const std::vector<HloInstruction*> instructions = computation->instructions();
    for (HloInstruction* instruction : instructions) {
      if (instruction->opcode() != opcode || !evaluator::CanInline(*instruction)) continue;
      const int64_t added = instruction->called_computations()[0]->instruction_count();
      if (count + added > limit) continue;
      count += added;
      KASHI_RETURN_IF_ERROR(check_stopped());
      KASHI_RETURN_IF_ERROR(Inline(instruction));
    }
  }
  return module->RemoveUnusedComputations();
}

}  // namespace

bool HasManualRegions(const HloModule& module) {
  return absl::c_any_of(module.computations(), [](const HloComputation* computation) {
    return absl::c_any_of(computation->instructions(), [](const HloInstruction* x) {
      return devices::BorderKindOf(*x) != devices::BorderKind::kNone;
    });
  });
}

HloInstruction* CopyBody(const HloComputation& body, absl::Span<HloInstruction* const> arguments, AddCopy add) {
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
  for (const HloInstruction* instruction : body.MakeInstructionPostOrder()) {
    if (instruction->opcode() == HloOpcode::kParameter) {
      copies[instruction] = arguments[instruction->parameter_number()];
      continue;
    }
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(copies.at(operand));
    copies[instruction] = add(*instruction, operands);
  }
  return copies.at(body.root_instruction());
}

HloInstruction* CopyBody(const HloComputation& body, HloComputation* caller,
                         absl::Span<HloInstruction* const> arguments) {
  return CopyBody(body, arguments, [&](const HloInstruction& x, absl::Span<HloInstruction* const> operands) {
    return caller->AddInstruction(x.CloneWithNewOperands(x.shape(), operands), x.name());
  });
}

absl::Status ReplaceByBody(HloInstruction* call, HloInstruction* result) {
  HloComputation* caller = call->parent();
  KASHI_RETURN_IF_ERROR(call->ReplaceAllUsesWithDifferentShape(result));
  if (call == caller->root_instruction()) caller->set_root_instruction(result, /*accept_different_shape=*/true);
  return caller->RemoveInstruction(call);
}

absl::Status VisitComputationsRunAsAWhole(HloModule* module, IsCompiled is_compiled,
                                          absl::FunctionRef<absl::Status(HloComputation*)> visit) {
  absl::flat_hash_set<const HloComputation*> found = {module->entry_computation()};
  std::vector<HloComputation*> callers_first = module->MakeComputationPostOrder();
  absl::c_reverse(callers_first);
  for (HloComputation* computation : callers_first) {
    if (!found.contains(computation)) continue;
    KASHI_RETURN_IF_ERROR(visit(computation));
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!RunsBodiesAsAWhole(*instruction) || is_compiled(*instruction)) continue;
      for (const HloComputation* callee : instruction->called_computations()) found.insert(callee);
    }
  }
  return absl::OkStatus();
}

std::vector<HloComputation*> ComputationsRunAsAWhole(HloModule* module, IsCompiled is_compiled) {
  std::vector<HloComputation*> result;
  const auto add = [&](HloComputation* computation) {
    result.push_back(computation);
    return absl::OkStatus();
  };
  VisitComputationsRunAsAWhole(module, is_compiled, add).IgnoreError();  // there is none
  absl::c_reverse(result);
  return result;
}

absl::Status InlineCalls(HloModule* module, const PassContext& context) {
  return InlineAll(module, module->MakeComputationPostOrder(), HloOpcode::kCall, context.check_stopped);
}

absl::Status InlineFusions(HloModule* module, const PassContext& context) {
  return InlineAll(module, ComputationsRunAsAWhole(module), HloOpcode::kFusion, context.check_stopped);
}

}  // namespace kashi::passes
