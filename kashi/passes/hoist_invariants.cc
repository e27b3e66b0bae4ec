#include "kashi/passes/hoist_invariants.h"

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/work.h"
#include "kashi/passes/inline_calls.h"
#include "kashi/passes/plain_array.h"

namespace kashi::passes {
namespace {

constexpr int64_t kLeastWork = 64;                         // element operations: less is not worth an array
constexpr int64_t kMostBytes = int64_t{64} * 1024 * 1024;  // that one loop holds in memory

// Operations that do more for an element than to read it, always in the same way, and those that copy elements into
// another order where no kernel does it on the way. Elementwise ones: CodeSupport::IsExpensive.
constexpr HloOpcode kCostly[] = {HloOpcode::kDot,      HloOpcode::kConvolution,     HloOpcode::kReduce,
                                 HloOpcode::kSort,     HloOpcode::kReduceWindow,    HloOpcode::kFft,
                                 HloOpcode::kCholesky, HloOpcode::kTriangularSolve, HloOpcode::kConcatenate,
                                 HloOpcode::kPad,      HloOpcode::kTranspose,       HloOpcode::kReverse,
                                 HloOpcode::kGather};
bool IsCostly(HloOpcode opcode) { return absl::c_linear_search(kCostly, opcode); }

bool MayMove(const HloInstruction& x) {
  if (x.HasControlDependencies() || x.HasSideEffect() || !IsElementArray(x.shape())) return false;
  return HloInstruction::IsOpElementwise(x.opcode()) || IsCostly(x.opcode()) || x.IsConstant() ||
         x.opcode() == HloOpcode::kIota || GetHloOpcodeInfo(x.opcode()).Has(HloOpcodeFlags::kMovesElements);
}
bool IsWorthMoving(const HloInstruction& x, const CodeSupport& support) {
  if (x.operand_count() == 0) return false;
  return (IsCostly(x.opcode()) || support.IsExpensive(x)) && evaluator::WorkOf(x) >= kLeastWork;
}

bool IsUsedByElement(const HloInstruction& tuple) {
  return absl::c_all_of(tuple.users(), [](const HloInstruction* user) {
    return user->opcode() == HloOpcode::kGetTupleElement && !user->HasControlDependencies();
  });
}

// A while whose state can get more elements.
bool HasOpenState(const HloInstruction& loop) {
  const HloComputation& body = *loop.while_body();
  const HloInstruction& root = *body.root_instruction();
  const HloInstruction& state = *body.parameter_instruction(0);
  const HloInstruction& tested = *loop.while_condition()->parameter_instruction(0);
  if (loop.HasControlDependencies() || !loop.shape().IsTuple() || root.opcode() != HloOpcode::kTuple ||
      root.user_count() > 0 || root.HasControlDependencies()) {
    return false;
  }
  for (const HloInstruction* x : {&loop, &state, &root, &tested}) {
    if (x->has_sharding() || !ShapeUtil::Compatible(x->shape(), loop.shape())) return false;
  }
  return ShapeUtil::Compatible(loop.operand(0)->shape(), loop.shape()) && IsUsedByElement(state) &&
         IsUsedByElement(tested) && IsUsedByElement(loop) && &loop != loop.parent()->root_instruction();
}

class Hoister {
 public:
  Hoister(HloInstruction* loop, const CodeSupport& support)
      : loop_(loop),
        body_(loop->while_body()),
        state_(body_->parameter_instruction(0)),
        root_(body_->root_instruction()),
        support_(support) {}

  absl::Status Run() {
    FindInvariants();
    const std::vector<HloInstruction*> moved = ChooseMoved();
    if (moved.empty()) return absl::OkStatus();
    CopyBeforeLoop(moved);
    return AddToState(moved);
  }

 private:
  bool IsHandedOn(const HloInstruction& element) const {
    const HloInstruction* next = root_->operand(element.tuple_index());
    return next->opcode() == HloOpcode::kGetTupleElement && next->operand(0) == state_ &&
           next->tuple_index() == element.tuple_index();
  }
  void FindInvariants() {
    order_ = body_->MakeInstructionPostOrder();
    for (const HloInstruction* x : order_) {
      const bool is_element = x->opcode() == HloOpcode::kGetTupleElement && x->operand(0) == state_;
      const bool is_invariant =
          is_element ? x->shape().IsArray() && IsHandedOn(*x)
                     : MayMove(*x) && absl::c_all_of(x->operands(), [this](const HloInstruction* operand) {
                         return invariants_.contains(operand);
                       });
      if (is_invariant) invariants_.insert(x);
    }
  }

  // Those that the rest of the body reads, operands first.
  std::vector<HloInstruction*> ChooseMoved() const {
    absl::flat_hash_set<const HloInstruction*> seen = {root_};
    std::vector<HloInstruction*> to_visit = {root_}, moved;
    int64_t bytes = 0;
    while (!to_visit.empty()) {
      HloInstruction* const next = to_visit.back();
      to_visit.pop_back();
      if (invariants_.contains(next) && IsWorthMoving(*next, support_)) {
        const int64_t more = ShapeUtil::ByteSizeOfElements(next->shape());
        if (bytes + more <= kMostBytes) {
          bytes += more;
          moved.push_back(next);
          continue;
        }
      }
      for (HloInstruction* operand : next->operands()) {
        if (seen.insert(operand).second) to_visit.push_back(operand);
      }
    }
    absl::c_reverse(moved);
    return moved;
  }

  HloInstruction* ElementBeforeLoop(int64_t i) {
    HloInstruction* const init = loop_->mutable_operand(0);
    if (init->opcode() == HloOpcode::kTuple) return init->mutable_operand(i);
    return loop_->parent()->AddInstruction(
        HloInstruction::CreateGetTupleElement(init->shape().tuple_shapes(static_cast<int>(i)), init, i));
  }
  // Copies the moved ones, and all that they depend on.
  void CopyBeforeLoop(const std::vector<HloInstruction*>& moved) {
    absl::flat_hash_set<const HloInstruction*> needed(moved.begin(), moved.end());
    for (size_t i = order_.size(); i-- > 0;) {
      if (needed.contains(order_[i]) && !IsElement(*order_[i])) {
        needed.insert(order_[i]->operands().begin(), order_[i]->operands().end());
      }
    }
    for (HloInstruction* x : order_) {
      if (!needed.contains(x)) continue;
      if (IsElement(*x)) {
        copies_[x] = ElementBeforeLoop(x->tuple_index());
        continue;
      }
      std::vector<HloInstruction*> operands;
      for (const HloInstruction* operand : x->operands()) operands.push_back(copies_.at(operand));
      copies_[x] = loop_->parent()->AddInstruction(x->CloneWithNewOperands(x->shape(), operands), x->name());
    }
  }
  bool IsElement(const HloInstruction& x) const {
    return x.opcode() == HloOpcode::kGetTupleElement && x.operand(0) == state_;
  }

  absl::Status AddToState(const std::vector<HloInstruction*>& moved) {
    const int64_t count = static_cast<int64_t>(loop_->shape().tuple_shapes().size());
    std::vector<HloInstruction*> initial, added;
    for (int64_t i = 0; i < count; ++i) initial.push_back(ElementBeforeLoop(i));
    for (const HloInstruction* x : moved) initial.push_back(copies_.at(x));
    HloInstruction* const tuple = loop_->parent()->AddInstruction(HloInstruction::CreateTuple(initial));
    for (HloInstruction* x : {loop_, state_, loop_->while_condition()->parameter_instruction(0)}) {
      *x->mutable_shape() = tuple->shape();
    }
    KASHI_RETURN_IF_ERROR(loop_->ReplaceOperandWithDifferentShape(0, tuple));
    for (size_t i = 0; i < moved.size(); ++i) {
      HloInstruction* const element = body_->AddInstruction(
          HloInstruction::CreateGetTupleElement(moved[i]->shape(), state_, count + static_cast<int64_t>(i)));
      KASHI_RETURN_IF_ERROR(moved[i]->ReplaceAllUsesWith(element));
      added.push_back(element);
    }
    for (HloInstruction* x : moved) KASHI_RETURN_IF_ERROR(body_->RemoveInstructionAndUnusedOperands(x));
    std::vector<HloInstruction*> next(root_->operands().begin(), root_->operands().end());
    next.insert(next.end(), added.begin(), added.end());
    HloInstruction* const new_root = body_->AddInstruction(HloInstruction::CreateTuple(next));
    body_->set_root_instruction(new_root, /*accept_different_shape=*/true);
    return body_->RemoveInstruction(root_);
  }

  HloInstruction* const loop_;
  HloComputation* const body_;
  HloInstruction* const state_;
  HloInstruction* const root_;
  const CodeSupport& support_;
  std::vector<HloInstruction*> order_;
  absl::flat_hash_set<const HloInstruction*> invariants_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies_;  // before the loop
};

}  // namespace

absl::Status HoistInvariants(HloModule* module, const PassContext& context) {
  if (HasManualRegions(*module)) return absl::OkStatus();
  absl::flat_hash_map<const HloComputation*, int64_t> calls;
  for (const HloComputation* computation : module->computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      for (const HloComputation* callee : x->called_computations()) ++calls[callee];
    }
  }
  for (HloComputation* computation : ComputationsRunAsAWhole(module)) {
    for (HloInstruction* x : computation->MakeInstructionPostOrder()) {
      if (x->opcode() != HloOpcode::kWhile) continue;
      KASHI_RETURN_IF_ERROR(context.check_stopped());
      const bool is_alone = calls[x->while_body()] == 1 && calls[x->while_condition()] == 1;
      if (is_alone && HasOpenState(*x)) KASHI_RETURN_IF_ERROR(Hoister(x, context.support).Run());
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::passes
