// ModuleEdit: a copy of a module, and changes to it that keep the module as a whole consistent.
//
//   ModuleEdit edit(module);
//   edit.Replace(edit.CopyOf(*instruction), edit.AddInput(instruction->shape(), instruction->name()));
//   KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> smaller, std::move(edit).Finish());
//
// During an edit nothing is freed: pointers to instructions stay valid. Finish removes what has lost its users, and
// repairs what depends on the graph: the schedule, the layouts of the entry, aliases and donors of its parameters.
// Instructions that had no users before stay unless they are dropped: perhaps it is they that are of interest.
#ifndef KASHI_REDUCTION_MODULE_EDIT_H_
#define KASHI_REDUCTION_MODULE_EDIT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi::reduction {

// Whether there are zeros and ones of the shape: its arrays have static sizes, and no type without a zero.
bool HasNumbers(const Shape& shape);

class ModuleEdit {
 public:
  // `original` must outlive the edit, have an entry, and no gaps in its computations (HloComputation::Cleanup).
  explicit ModuleEdit(const HloModule& original);
  ModuleEdit(ModuleEdit&&) = default;

  HloModule* module() { return module_.get(); }
  HloComputation* entry() { return module_->entry_computation(); }
  HloInstruction* CopyOf(const HloInstruction& original) const;
  HloComputation* CopyOf(const HloComputation& original) const;

  // ---- New instructions. `near` is an instruction of the same computation: in a schedule the new one comes about
  // there.
  HloInstruction* Add(std::unique_ptr<HloInstruction> instruction, HloInstruction* near, absl::string_view name = "");
  // A parameter of the entry, after all others, of the shape of a value. Takes the name of the value.
  HloInstruction* AddInput(const HloInstruction& value);
  // A value of the shape whose elements all are the number (0 or 1): a constant, a broadcast of one, or a tuple of
  // these; tokens become `after-all()`. UNIMPLEMENTED unless HasNumbers(shape).
  absl::StatusOr<HloInstruction*> AddNumbers(const Shape& shape, int number, HloInstruction* near);
  // The element of a tuple: the operand of a `tuple`, otherwise a new get-tuple-element.
  HloInstruction* AddElement(HloInstruction* tuple, int64_t i, HloInstruction* near);
  // The body of a computation with these arguments. Returns the copy of its root, or the argument that is the result.
  HloInstruction* AddBody(const HloComputation& body, absl::Span<HloInstruction* const> arguments,
                          HloInstruction* near);

  // ---- Changes.
  // All users of the instruction use the other one, which becomes the root where the instruction was. The instruction
  // goes, also if it has side effects; so does the beginning of an asynchronous operation that it ends. `by` must not
  // depend on it.
  void Replace(HloInstruction* instruction, HloInstruction* by);
  // What has its place by now: itself, unless it was replaced.
  HloInstruction* InPlaceOf(HloInstruction* instruction) const;
  // The instruction goes, also if it has side effects or is a parameter. It must have no users at the end, and not be
  // the root.
  void Drop(HloInstruction* instruction) { dropped_.insert(instruction); }
  bool IsDropped(const HloInstruction* instruction) const { return dropped_.contains(instruction); }
  void SetShape(HloInstruction* instruction, const Shape& shape);
  // The instruction gets the name of the other one, if that name is free at the end.
  void TakeName(HloInstruction* instruction, const HloInstruction& other) {
    wanted_names_.emplace_back(instruction, std::string(other.name()));
  }
  // The values that the entry returns: the operands of a `tuple` at the root, or else the root.
  std::vector<HloInstruction*> Outputs() const;
  // The root becomes a tuple of them, or, if there is only one, that value itself.
  void SetOutputs(absl::Span<HloInstruction* const> outputs);
  // A call or fusion without some of its operands takes its place; the parameters of its computation go with them.
  // `numbers` is sorted.
  void DropOperands(HloInstruction* call, absl::Span<const int64_t> numbers);
  // Another instruction of the entry becomes its root. The old one goes, unless it has users.
  void SetRoot(HloInstruction* root);
  // Another computation of the module becomes the entry.
  void SetEntry(HloComputation* computation);

  // The last step of Finish.
  void ChangeAtEnd(void (*change)(HloModule* module)) { changes_at_end_.push_back(change); }

  // The module. INTERNAL if a dropped instruction still has users.
  absl::StatusOr<std::unique_ptr<HloModule>> Finish() &&;

 private:
  void DropUnusedFusionOperands();
  // Frees what has lost its users, and computations that nobody calls.
  void RemoveDeadCode();
  absl::Status RemoveDropped();
  void GiveWantedNames();
  void RepairSchedule();
  void RepairEntryLayout();
  void RepairPropagation();
  void RepairAliases();
  // The sharding of a tuple of these outputs, from the shardings of its elements; null if one is not known.
  std::shared_ptr<const HloSharding> ShardingOf(absl::Span<HloInstruction* const> outputs) const;
  // For each output of the entry, its number among the old outputs; -1: it is new.
  std::vector<int64_t> OldNumbersOf(absl::Span<HloInstruction* const> outputs) const;
  // For each parameter of the entry, its old number; -1: it is new.
  std::vector<int64_t> OldNumbersOfParameters() const;

  const HloModule& original_;
  std::unique_ptr<HloModule> module_;
  absl::flat_hash_map<const HloComputation*, size_t> numbers_;  // of the original's computations
  std::vector<std::vector<HloInstruction*>> copies_;            // by that number and local id
  std::vector<HloInstruction*> old_parameters_;                 // of the entry
  std::vector<HloInstruction*> old_outputs_;
  HloInstruction* old_root_ = nullptr;
  bool had_tuple_ = false;       // the old root was a `tuple`
  int64_t parameter_count_ = 0;  // of the entry, new ones included
  absl::flat_hash_set<const HloInstruction*> unused_before_;
  absl::flat_hash_set<const HloInstruction*> dropped_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> replaced_by_;
  absl::flat_hash_set<const HloInstruction*> reshaped_;
  absl::flat_hash_map<const HloInstruction*, int64_t> places_;  // in a schedule; only of a module that has one
  std::vector<std::pair<HloInstruction*, std::string>> wanted_names_;
  std::vector<void (*)(HloModule* module)> changes_at_end_;
};

}  // namespace kashi::reduction

#endif  // KASHI_REDUCTION_MODULE_EDIT_H_
