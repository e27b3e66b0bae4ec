// XLA's visitors: a function for each operation, called for each instruction, operands and control predecessors first.
//
//   class Counter : public ConstDfsHloVisitorWithDefault {
//     absl::Status DefaultAction(const HloInstruction*) override { return absl::OkStatus(); }
//     absl::Status HandleAdd(const HloInstruction*) override { ++adds; return absl::OkStatus(); }
//    public:
//     int adds = 0;
//   };
//   Counter counter;
//   absl::Status status = computation->Accept(&counter);
//
// Like XLA's, a visitor remembers the instructions it has seen and visits each once; ResetVisitStates forgets them. The
// first error ends the visit. No recursion. A handler that is not overridden returns UNIMPLEMENTED; the handlers of
// elementwise operations with one or two operands call HandleElementwiseUnary or HandleElementwiseBinary.
#ifndef KASHI_COMPAT_XLA_HLO_IR_DFS_HLO_VISITOR_H_
#define KASHI_COMPAT_XLA_HLO_IR_DFS_HLO_VISITOR_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace xla {

// HloInstructionPtr is HloInstruction* or const HloInstruction*.
template <typename HloInstructionPtr>
class DfsHloVisitorBase {
 public:
  enum VisitState { kNotVisited, kVisiting, kVisited };

  DfsHloVisitorBase() = default;
  DfsHloVisitorBase(const DfsHloVisitorBase&) = delete;
  DfsHloVisitorBase& operator=(const DfsHloVisitorBase&) = delete;
  virtual ~DfsHloVisitorBase() = default;

#define KASHI_OP(name, ...) \
  virtual absl::Status Handle##name(HloInstructionPtr hlo) { return HandleUnhandled(hlo); }
#include "kashi/hlo/ir/ops.def"
  // XLA's name for round-nearest-afz.
  virtual absl::Status HandleRound(HloInstructionPtr hlo) { return HandleRoundNearestAfz(hlo); }
  virtual absl::Status HandleElementwiseUnary(HloInstructionPtr hlo) { return HandleOther(hlo); }
  virtual absl::Status HandleElementwiseBinary(HloInstructionPtr hlo) { return HandleOther(hlo); }

  // Around the handler of each instruction; FinishVisit once, with the root, at the end.
  virtual absl::Status Preprocess(HloInstructionPtr) { return absl::OkStatus(); }
  virtual absl::Status Postprocess(HloInstructionPtr) { return absl::OkStatus(); }
  virtual absl::Status FinishVisit(HloInstructionPtr) { return absl::OkStatus(); }

  VisitState GetVisitState(const HloInstruction& instruction) const {
    const auto found = states_.find(&instruction);
    return found == states_.end() ? kNotVisited : found->second;
  }
  bool DidVisit(const HloInstruction& instruction) const { return GetVisitState(instruction) == kVisited; }
  bool IsVisiting(const HloInstruction& instruction) const { return GetVisitState(instruction) == kVisiting; }
  bool NotVisited(const HloInstruction& instruction) const { return GetVisitState(instruction) == kNotVisited; }
  void SetVisited(const HloInstruction& instruction) { states_[&instruction] = kVisited; }
  void SetVisiting(const HloInstruction& instruction) { states_[&instruction] = kVisiting; }
  void ResetVisitStates() { states_.clear(); }

  // ---- For HloInstruction and HloComputation.
  // Visits an instruction and everything that it depends on (Accept).
  absl::Status Visit(const HloInstruction& root, bool call_finish_visit = true,
                     bool ignore_control_predecessors = false, bool = false) {
    KASHI_RETURN_IF_ERROR(VisitWithPredecessors(root, ignore_control_predecessors));
    return call_finish_visit ? FinishVisit(Pointer(root)) : absl::OkStatus();
  }
  // Visits all instructions (Accept): first those that the root does not need.
  absl::Status Visit(const HloComputation& computation) {
    for (const HloInstruction* instruction : computation.instructions()) {
      const bool is_end = instruction->users().empty() && instruction->control_successors().empty();
      if (!is_end || instruction == computation.root_instruction()) continue;
      KASHI_RETURN_IF_ERROR(Visit(*instruction, /*call_finish_visit=*/false));
    }
    return Visit(*computation.root_instruction());
  }
  // The handler alone (HloInstruction::Visit).
  absl::Status Dispatch(const HloInstruction& instruction) {
    if (instruction.opcode() == HloOpcode::kRoundNearestAfz) return HandleRound(Pointer(instruction));
    switch (instruction.opcode()) {
#define KASHI_OP(name, ...) \
  case HloOpcode::k##name:  \
    return Handle##name(Pointer(instruction));
#include "kashi/hlo/ir/ops.def"
    }
    return HandleOther(Pointer(instruction));
  }

 protected:
  // Called for operations without a handler of their own.
  virtual absl::Status HandleOther(HloInstructionPtr hlo) {
    return absl::UnimplementedError(absl::StrCat("this visitor has no handler for ", HloOpcodeString(hlo->opcode())));
  }

 private:
  absl::Status HandleUnhandled(HloInstructionPtr hlo) {
    if (!HloInstruction::IsOpElementwise(hlo->opcode()) || hlo->opcode() == HloOpcode::kMap) return HandleOther(hlo);
    if (hlo->operand_count() == 1) return HandleElementwiseUnary(hlo);
    if (hlo->operand_count() == 2) return HandleElementwiseBinary(hlo);
    return HandleOther(hlo);
  }

  // Accept takes instructions as const; a visitor of those that may change was made by code that holds them as such.
  static HloInstructionPtr Pointer(const HloInstruction& instruction) {
    return const_cast<HloInstructionPtr>(&instruction);
  }

  absl::Status VisitWithPredecessors(const HloInstruction& root, bool ignore_control_predecessors) {
    std::vector<const HloInstruction*> waiting = {&root};
    while (!waiting.empty()) {
      const HloInstruction& instruction = *waiting.back();
      if (DidVisit(instruction)) {
        waiting.pop_back();
        continue;
      }
      if (IsVisiting(instruction)) {
        waiting.pop_back();
        KASHI_RETURN_IF_ERROR(Preprocess(Pointer(instruction)));
        KASHI_RETURN_IF_ERROR(Dispatch(instruction));
        SetVisited(instruction);
        KASHI_RETURN_IF_ERROR(Postprocess(Pointer(instruction)));
        continue;
      }
      SetVisiting(instruction);
      const size_t before = waiting.size();
      const auto want = [&](const HloInstruction* predecessor) {
        if (IsVisiting(*predecessor)) return false;
        if (NotVisited(*predecessor)) waiting.push_back(predecessor);
        return true;
      };
      bool is_acyclic = true;
      for (const HloInstruction* operand : instruction.operands()) is_acyclic = is_acyclic && want(operand);
      if (!ignore_control_predecessors) {
        for (const HloInstruction* before_it : instruction.control_predecessors()) {
          is_acyclic = is_acyclic && want(before_it);
        }
      }
      if (!is_acyclic) {
        return absl::FailedPreconditionError(
            absl::StrCat("A cycle is detected while visiting instruction ", instruction.ToString()));
      }
      // The first operand is visited first.
      std::reverse(waiting.begin() + static_cast<std::ptrdiff_t>(before), waiting.end());
    }
    return absl::OkStatus();
  }

  absl::flat_hash_map<const HloInstruction*, VisitState> states_;
};

using DfsHloVisitor = DfsHloVisitorBase<HloInstruction*>;
using ConstDfsHloVisitor = DfsHloVisitorBase<const HloInstruction*>;

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_HLO_IR_DFS_HLO_VISITOR_H_
