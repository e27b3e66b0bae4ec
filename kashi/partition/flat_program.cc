#include "kashi/partition/flat_program.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/devices/sharding_border.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::partition {
namespace {

// A program may call one computation from many places, each of which calls another from many places …
constexpr int64_t kMostCopies = 8, kAlwaysTaken = 200'000;

// Shardy's regions are computations of their own, with these names; the computations they call belong to the region.
absl::flat_hash_set<const HloComputation*> ComputationsInRegions(const HloModule& module) {
  absl::flat_hash_set<const HloComputation*> in_region;
  const std::vector<HloComputation*> callees_first = module.MakeComputationPostOrder();
  for (auto it = callees_first.rbegin(); it != callees_first.rend(); ++it) {
    const absl::string_view name = (*it)->name();
    if (absl::StartsWith(name, "xla.sdy.manual_computation_body") ||
        absl::StartsWith(name, "xla.sdy.inlinable_manual_computation_body")) {
      in_region.insert(*it);
    }
    if (!in_region.contains(*it)) continue;
    for (const HloInstruction* instruction : (*it)->instructions()) {
      for (const HloComputation* called : instruction->called_computations()) in_region.insert(called);
    }
  }
  return in_region;
}

void MarkInnerBorders(HloModule* module) {
  const absl::flat_hash_set<const HloComputation*> in_region = ComputationsInRegions(*module);
  for (HloComputation* computation : module->computations()) {
    if (!in_region.contains(computation)) continue;
    for (HloInstruction* instruction : computation->instructions()) {
      if (devices::BorderKindOf(*instruction) != devices::BorderKind::kOutOfRegion || instruction->has_sharding())
        continue;
      instruction->set_sharding(HloSharding::Single(instruction->shape(), HloSharding::Manual()));
    }
  }
}

absl::Status DropControlDependencies(HloModule* module) {
  for (HloComputation* computation : module->computations()) {
    for (HloInstruction* instruction : computation->instructions()) {
      KASHI_RETURN_IF_ERROR(instruction->DropAllControlDeps());
    }
  }
  return absl::OkStatus();
}

class Flattener {
 public:
  explicit Flattener(HloModule* module)
      : module_(module), limit_(module->instruction_count() * kMostCopies + kAlwaysTaken) {}

  absl::Status Run() {
    KASHI_RETURN_IF_ERROR(InlineCalls());
    std::vector<std::pair<HloComputation*, int64_t>> work = {{module_->entry_computation(), 0}};
    while (!work.empty()) {
      const auto [computation, depth] = work.back();
      work.pop_back();
      if (depth > kMostNesting) {
        return Unimplemented("loops and branches within each other, more than %d levels of them: %s", kMostNesting,
                             computation->name());
      }
      for (HloInstruction* instruction : computation->instructions()) {
        if (!RunsBodies(*instruction)) continue;
        KASHI_RETURN_IF_ERROR(OwnBodies(instruction));
        for (HloComputation* body : instruction->called_computations()) work.emplace_back(body, depth + 1);
      }
    }
    return module_->RemoveUnusedComputations();
  }

 private:
  absl::Status Count(const HloComputation& added) {
    count_ += added.instruction_count();
    if (count_ <= limit_) return absl::OkStatus();
    return ResourceExhausted("the program without calls would have more than %d instructions; it has %d", limit_,
                             module_->instruction_count());
  }

  // Callees come first, so a body has no calls when it is copied.
  absl::Status InlineCalls() {
    for (HloComputation* computation : module_->MakeComputationPostOrder()) {
      const std::vector<HloInstruction*> instructions = computation->instructions();
      for (HloInstruction* instruction : instructions) {
        if (instruction->opcode() != HloOpcode::kCall) continue;
        KASHI_RETURN_IF_ERROR(Inline(instruction));
      }
    }
    return absl::OkStatus();
  }

  // The value of a parameter or of the root is converted to the declared shape at a call.
  static absl::Status CheckCall(const HloInstruction& call) {
    const HloComputation& body = *call.to_apply();
    bool fits = ShapeUtil::Compatible(call.shape(), body.root_instruction()->shape());
    for (int64_t i = 0; i < call.operand_count(); ++i) {
      fits = fits && ShapeUtil::Compatible(call.operand(i)->shape(), body.parameter_instruction(i)->shape());
    }
    if (fits) return absl::OkStatus();
    return Unimplemented("%s calls %s, which has other types", call.name(), body.name());
  }

  absl::Status Inline(HloInstruction* call) {
    const HloComputation& body = *call->to_apply();
    HloComputation* caller = call->parent();
    KASHI_RETURN_IF_ERROR(CheckCall(*call));
    KASHI_RETURN_IF_ERROR(Count(body));
    absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
    for (const HloInstruction* instruction : body.MakeInstructionPostOrder()) {
      if (instruction->opcode() == HloOpcode::kParameter) {
        copies[instruction] = call->mutable_operand(instruction->parameter_number());
        continue;
      }
      std::vector<HloInstruction*> operands;
      for (const HloInstruction* operand : instruction->operands()) operands.push_back(copies.at(operand));
      copies[instruction] = caller->AddInstruction(instruction->CloneWithNewOperands(instruction->shape(), operands),
                                                   instruction->name());
    }
    HloInstruction* result = copies.at(body.root_instruction());
    KASHI_RETURN_IF_ERROR(call->ReplaceAllUsesWithDifferentShape(result));
    if (call == caller->root_instruction()) caller->set_root_instruction(result, /*accept_different_shape=*/true);
    return caller->RemoveInstruction(call);
  }

  // Copies the bodies that have another caller.
  absl::Status OwnBodies(HloInstruction* instruction) {
    const std::vector<HloComputation*> bodies(instruction->called_computations().begin(),
                                              instruction->called_computations().end());
    for (size_t i = 0; i < bodies.size(); ++i) {
      if (owned_.insert(bodies[i]).second) continue;
      KASHI_RETURN_IF_ERROR(Count(*bodies[i]));
      HloComputation* copy = module_->AddEmbeddedComputation(bodies[i]->Clone(""));
      owned_.insert(copy);
      instruction->set_called_computation(static_cast<int64_t>(i), copy);
    }
    return absl::OkStatus();
  }

  HloModule* module_;
  const int64_t limit_;
  int64_t count_ = 0;
  absl::flat_hash_set<const HloComputation*> owned_;
};

}  // namespace

bool RunsBodies(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kWhile || instruction.opcode() == HloOpcode::kConditional;
}

absl::StatusOr<std::unique_ptr<HloModule>> FlatProgramOf(const HloModule& module) {
  std::unique_ptr<HloModule> flat = module.Clone("");
  flat->clear_schedule();
  KASHI_RETURN_IF_ERROR(DropControlDependencies(flat.get()));
  MarkInnerBorders(flat.get());
  KASHI_RETURN_IF_ERROR(Flattener(flat.get()).Run());
  flat->RemoveDeadCode();
  return flat;
}

}  // namespace kashi::partition
