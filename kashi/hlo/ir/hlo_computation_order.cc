// The orders of instructions and computations (docs/spec/hlo.md 1.4). Both walk depth first with their own stack:
// files may have chains of a million instructions, or of computations that call one another.
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {
namespace {

class InstructionWalk {
 public:
  InstructionWalk(const HloComputation* computation, int64_t slot_count)
      : computation_(computation), states_(slot_count, State::kNew) {
    order_.reserve(slot_count);
  }

  // Enters all dependencies of `root`, then `root`. Of the dependencies of an instruction, the last control predecessor
  // comes first, then the others backwards, then the operands from the first to the last.
  void From(HloInstruction* root) {
    Push(root);
    while (!stack_.empty()) {
      HloInstruction* const current = stack_.back();
      State& state = states_[current->local_id()];
      if (state != State::kNew) {
        stack_.pop_back();
        if (state == State::kOpen) order_.push_back(current);
        state = State::kDone;
        continue;
      }
      state = State::kOpen;
      const auto& operands = current->operands();
      for (auto operand = operands.rbegin(); operand != operands.rend(); ++operand) Push(*operand);
      for (HloInstruction* predecessor : current->control_predecessors()) Push(predecessor);
    }
  }
  std::vector<HloInstruction*> TakeOrder() && { return std::move(order_); }

 private:
  enum class State : uint8_t { kNew, kOpen, kDone };

  // Operands in other computations, in a broken module, are skipped.
  void Push(HloInstruction* instruction) {
    if (instruction == nullptr || instruction->parent() != computation_) return;
    if (states_[instruction->local_id()] != State::kDone) stack_.push_back(instruction);
  }

  const HloComputation* const computation_;
  std::vector<State> states_;  // by local id
  std::vector<HloInstruction*> stack_;
  std::vector<HloInstruction*> order_;
};

class ComputationWalk {
 public:
  // `print_order`: see HloComputation::MakeEmbeddedComputationsList; callees are entered on sight.
  explicit ComputationWalk(bool print_order) : enter_on_sight_(print_order) {}

  // Enters all callees of `root`, but not `root` itself.
  void Below(HloComputation* root) {
    for (const HloInstruction* instruction : root->instructions()) {
      PushCallees(instruction);
      Finish();
    }
  }
  void Add(HloComputation* computation) {
    if (!done_.insert(computation).second) return;
    seen_.insert(computation);
    order_.push_back(computation);
  }
  bool Has(const HloComputation* computation) const { return done_.contains(computation); }
  std::vector<HloComputation*> TakeOrder() && { return std::move(order_); }

 private:
  struct Frame {
    HloComputation* computation;
    HloInstructionRange::Iterator next;
    HloInstructionRange::Iterator end;
    bool is_open;
  };

  // In reverse, so that the first is walked first.
  void PushCallees(const HloInstruction* instruction) {
    const auto callees = instruction->called_computations();
    for (auto callee = callees.rbegin(); callee != callees.rend(); ++callee) {
      if (enter_on_sight_ ? !seen_.insert(*callee).second : seen_.contains(*callee)) continue;
      const HloInstructionRange instructions = (*callee)->instructions();
      stack_.push_back({*callee, instructions.begin(), instructions.end(), enter_on_sight_});
    }
  }
  void Finish() {
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (!top.is_open && !seen_.insert(top.computation).second) {
        stack_.pop_back();  // entered meanwhile, from another caller
        continue;
      }
      top.is_open = true;
      if (top.next == top.end) {
        HloComputation* const finished = top.computation;
        stack_.pop_back();
        Add(finished);
        continue;
      }
      const HloInstruction* const instruction = *top.next;
      ++top.next;
      PushCallees(instruction);  // may move the frames
    }
  }

  const bool enter_on_sight_;
  absl::flat_hash_set<const HloComputation*> seen_;
  absl::flat_hash_set<const HloComputation*> done_;
  std::vector<Frame> stack_;
  std::vector<HloComputation*> order_;
};

}  // namespace

std::vector<HloInstruction*> HloComputation::MakeInstructionPostOrder() const {
  InstructionWalk walk(this, static_cast<int64_t>(instructions_.size()));
  for (HloInstruction* instruction : instructions()) {
    if (instruction->users().empty()) walk.From(instruction);
  }
  // Instructions that only depend on one another, in a broken module, are not found that way.
  for (HloInstruction* instruction : instructions()) walk.From(instruction);
  return std::move(walk).TakeOrder();
}

std::vector<HloComputation*> HloComputation::MakeEmbeddedComputationsList(bool print_order) const {
  ComputationWalk walk(print_order);
  walk.Below(const_cast<HloComputation*>(this));
  return std::move(walk).TakeOrder();
}

std::vector<HloComputation*> HloModule::MakeComputationPostOrder(bool print_order) const {
  absl::flat_hash_set<const HloComputation*> called;
  for (const HloComputation* computation : computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      called.insert(instruction->called_computations().begin(), instruction->called_computations().end());
    }
  }
  ComputationWalk walk(print_order);
  for (HloComputation* computation : computations()) {
    if (called.contains(computation)) continue;
    walk.Below(computation);
    walk.Add(computation);
  }
  // Computations that only call one another, in a broken module.
  for (HloComputation* computation : computations()) {
    if (walk.Has(computation)) continue;
    walk.Below(computation);
    walk.Add(computation);
  }
  return std::move(walk).TakeOrder();
}

}  // namespace kashi
