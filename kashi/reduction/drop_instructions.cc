// Transformations of the entry computation that cut parts of it out.
#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/base/status.h"
#include "kashi/reduction/async_ends.h"
#include "kashi/reduction/dead_code.h"
#include "kashi/reduction/transformations.h"

namespace kashi::reduction {
namespace {

bool IsOutputTuple(const HloInstruction* instruction) {
  return instruction->IsRoot() && instruction->opcode() == HloOpcode::kTuple;
}

// One cut through the entry. What is dropped gets stand-ins where others use it, and what only it used becomes an
// output, so that this stays.
class Cut {
 public:
  explicit Cut(ModuleEdit* edit) : edit_(edit) {}

  // With the elements that are taken from it: their users get arrays. With the other end of an asynchronous operation.
  void Drop(HloInstruction* instruction) {
    std::vector<HloInstruction*> unseen = {instruction};
    while (!unseen.empty()) {
      HloInstruction* const next = unseen.back();
      unseen.pop_back();
      if (!dropped_.insert(next).second) continue;
      list_.push_back(next);
      if (HloInstruction* const beginning = BeginningOf(*next)) unseen.push_back(beginning);
      for (HloInstruction* user : next->users()) {
        const bool is_element = next->shape().IsTuple() && user->opcode() == HloOpcode::kGetTupleElement;
        if (is_element || BeginningOf(*user) == next) unseen.push_back(user);
      }
    }
  }

  absl::Status Finish() {
    KeepOldOutputs();
    for (size_t i = 0; i < list_.size(); ++i) KeepOperands(list_[i]);
    for (HloInstruction* instruction : list_) {
      KASHI_RETURN_IF_ERROR(StandIn(instruction));
      edit_->Drop(instruction);
    }
    edit_->SetOutputs(outputs_);
    return absl::OkStatus();
  }

 private:
  // Neither dropped, nor the tuple of outputs, which is made anew.
  bool Stays(const HloInstruction* user) const { return !dropped_.contains(user) && !IsOutputTuple(user); }

  void KeepOldOutputs() {
    for (HloInstruction* output : edit_->Outputs()) {
      if (dropped_.contains(output)) continue;
      outputs_.push_back(output);
      is_output_.insert(output);
    }
  }

  void KeepOperands(const HloInstruction* instruction) {
    for (HloInstruction* operand : instruction->operands()) {
      if (dropped_.contains(operand) || is_output_.contains(operand) || operand->shape().IsToken()) continue;
      if (operand->opcode() == HloOpcode::kParameter || operand->opcode() == HloOpcode::kConstant) continue;
      if (absl::c_any_of(operand->users(), [this](const HloInstruction* user) { return Stays(user); })) continue;
      if (operand->opcode() == HloOpcode::kTuple) {
        Drop(operand);  // its elements are kept in its place
      } else if (is_output_.insert(operand).second) {
        outputs_.push_back(operand);
      }
    }
  }

  absl::Status StandIn(HloInstruction* instruction) {
    const std::vector<HloInstruction*> users(instruction->users().begin(), instruction->users().end());
    HloInstruction* stand_in = nullptr;
    for (HloInstruction* user : users) {
      if (!Stays(user)) continue;
      if (stand_in == nullptr && instruction->shape().IsToken()) {
        KASHI_ASSIGN_OR_RETURN(stand_in, edit_->AddNumbers(instruction->shape(), 0, instruction));
      } else if (stand_in == nullptr) {
        stand_in = edit_->AddInput(*instruction);
      }
      KASHI_RETURN_IF_ERROR(instruction->ReplaceUseWith(user, stand_in));
    }
    return absl::OkStatus();
  }

  ModuleEdit* const edit_;
  absl::flat_hash_set<const HloInstruction*> dropped_;
  std::vector<HloInstruction*> list_;
  std::vector<HloInstruction*> outputs_;
  absl::flat_hash_set<const HloInstruction*> is_output_;
};

}  // namespace

// ---- Dead code
// -------------------------------------------------------------------------------------------------------

Sites FindUnused(const HloModule& module) {
  Sites sites;
  for (const HloInstruction* instruction :
       FindDeadCode(module, [](const HloInstruction* x) { return x->opcode() == HloOpcode::kParameter; })) {
    if (instruction->user_count() == 0) sites.push_back({instruction});  // what only they use goes with them
  }
  return sites;
}

absl::Status DropUnused(absl::Span<const Site> sites, ModuleEdit* edit) {
  for (const Site& site : sites) edit->Drop(edit->CopyOf(*site.instruction));
  return absl::OkStatus();
}

// ---- Instructions ---------------------------------------------------------------------------------------------------

Sites FindInstructions(const HloModule& module) {
  Sites sites;
  for (const HloInstruction* instruction : module.InstructionOrder(*module.entry_computation())) {
    if (instruction->opcode() == HloOpcode::kParameter || IsOutputTuple(instruction)) continue;
    sites.push_back({instruction});
  }
  return sites;
}

absl::Status DropInstructions(absl::Span<const Site> sites, ModuleEdit* edit) {
  Cut cut(edit);
  for (const Site& site : sites) cut.Drop(edit->CopyOf(*site.instruction));
  return cut.Finish();
}

// ---- Outputs and the root -------------------------------------------------------------------------------------------

Sites FindOutputs(const HloModule& module) {
  Sites sites;
  const HloInstruction* const root = module.entry_computation()->root_instruction();
  if (!IsOutputTuple(root)) return sites;
  for (int64_t i = 0; i < root->operand_count(); ++i) sites.push_back({root, i});
  return sites;
}

absl::Status DropOutputs(absl::Span<const Site> sites, ModuleEdit* edit) {
  std::vector<HloInstruction*> outputs = edit->Outputs();
  for (const Site& site : sites) outputs[site.number] = nullptr;
  outputs.erase(std::remove(outputs.begin(), outputs.end(), nullptr), outputs.end());
  edit->SetOutputs(outputs);
  return absl::OkStatus();
}

Sites FindNewRoots(const HloModule& module) {
  Sites sites;
  for (const HloInstruction* operand : module.entry_computation()->root_instruction()->unique_operands()) {
    while (NeedsEnd(*operand) && operand->operand_count() > 0) operand = operand->operand(0);
    sites.push_back({operand});
  }
  return sites;
}

absl::Status MakeRoot(absl::Span<const Site> sites, ModuleEdit* edit) {
  edit->SetRoot(edit->CopyOf(*sites[0].instruction));
  return absl::OkStatus();
}

// ---- Inputs ---------------------------------------------------------------------------------------------------------

Sites FindUnusedInputs(const HloModule& module) {
  Sites sites;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    if (parameter->user_count() == 0 && !parameter->IsRoot()) sites.push_back({parameter});
  }
  return sites;
}

absl::Status DropInputs(absl::Span<const Site> sites, ModuleEdit* edit) {
  for (const Site& site : sites) edit->Drop(edit->CopyOf(*site.instruction));
  return absl::OkStatus();
}

// ---- The entry ------------------------------------------------------------------------------------------------------

// The small ones first: they are what is left of a large module if they suffice.
Sites FindNewEntries(const HloModule& module) {
  std::vector<const HloComputation*> computations(module.computations().begin(), module.computations().end());
  absl::c_stable_sort(computations, [](const HloComputation* a, const HloComputation* b) {
    return a->instruction_count() < b->instruction_count();
  });
  Sites sites;
  for (const HloComputation* computation : computations) {
    if (computation != module.entry_computation()) sites.push_back({nullptr, 0, 0, nullptr, computation});
  }
  return sites;
}

absl::Status MakeEntry(absl::Span<const Site> sites, ModuleEdit* edit) {
  edit->SetEntry(edit->CopyOf(*sites[0].computation));
  return absl::OkStatus();
}

}  // namespace kashi::reduction
