// Loops and conditionals (buffer_assigner.h).
//
// A loop's state is in the same buffers at the beginning of each iteration. The next value of an element is made where
// the element is, if nobody reads the old one by then; otherwise it moves there at the end of the body. Elements that
// the body does not change stay where they are.
//
// An operation that reads its operand again after it has written a result, a stencil, makes the next value elsewhere.
// It need not move back: the two buffers are swapped, and the loop continues with the next value.
//
//   x, t = arena+0, arena+64     iteration 0: x in arena+0, next x in arena+64
//                                iteration 1: x in arena+64, next x in arena+0
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/buffers/buffer_assigner.h"
#include "kashi/buffers/leaves.h"

namespace kashi::buffers {
namespace {

bool FitsItsComputations(const HloInstruction& loop) {
  const HloComputation &body = *loop.while_body(), &condition = *loop.while_condition();
  const auto fits = [&](const HloInstruction* x) { return ShapeUtil::Compatible(x->shape(), loop.shape()); };
  return fits(loop.operand(0)) && fits(body.root_instruction()) && fits(body.parameter_instruction(0)) &&
         fits(condition.parameter_instruction(0));
}

// The arrays of a loop's state.
struct LoopState {
  Leaves buffers;
  Leaves body_wanted;  // where the body's results are expected; kNoBuffer: an element that the body does not change
  Leaves kept;         // those elements
  std::vector<bool> was_pinned;

  bool IsKept(size_t i) const { return body_wanted[i] == kNoBuffer; }
};

class WhileAssigner {
 public:
  WhileAssigner(BufferAssigner& assigner, TurnOf* turn)
      : assigner_(assigner), pool_(assigner.pool()), turn_(*turn), initial_(turn->operands[0]) {}

  std::optional<Leaves> Assign() {
    if (!FitsItsComputations(turn_.instruction)) return std::nullopt;
    TakeState();
    begin_ = pool_.ReserveTimes(static_cast<int64_t>(initial_.size()));
    // The initial value still holds the buffers that have become the state, until the caller releases it. It does not
    // read them.
    if (turn_.is_last_use[0]) HoldReplaced(-1);
    if (!AssignComputations()) return std::nullopt;
    for (size_t i = 0; i < state_.buffers.size(); ++i) {
      if (state_.IsKept(i)) continue;
      pool_.Hold(state_.buffers[i]);
      pool_.SetPinned(state_.buffers[i], state_.was_pinned[i]);
    }
    if (turn_.is_last_use[0]) HoldReplaced(+1);
    turn_.step.kind = BufferStep::Kind::kWhile;
    turn_.step.operands = turn_.operands;
    turn_.step.results = state_.buffers;
    turn_.step.kept = state_.kept;
    return state_.buffers;
  }

 private:
  void TakeState() {
    const HloComputation& body = *turn_.instruction.while_body();
    const RootLeaves root_leaves = FindRootLeaves(*body.root_instruction());
    for (size_t i = 0; i < initial_.size(); ++i) {
      const int64_t leaf = static_cast<int64_t>(i);
      const auto kept = root_leaves.find({body.parameter_instruction(0), leaf});
      if (kept != root_leaves.end() && kept->second == leaf) {
        pool_.Hold(initial_[i]);
        state_.buffers.push_back(initial_[i]);
        state_.body_wanted.push_back(kNoBuffer);
        state_.kept.push_back(initial_[i]);
      } else {
        const int buffer = assigner_.TakeWritable(initial_[i], turn_.is_last_use[0], turn_.wanted[i], &turn_);
        state_.buffers.push_back(buffer);
        state_.body_wanted.push_back(buffer);
      }
    }
    for (size_t i = 0; i < initial_.size(); ++i) {
      const int buffer = state_.buffers[i];
      state_.was_pinned.push_back(state_.IsKept(i) ? pool_.is_pinned(buffer) : pool_.SetPinned(buffer, true));
    }
  }

  bool AssignComputations() {
    const HloInstruction& loop = turn_.instruction;
    turn_.step.computations.resize(2);
    const std::optional<Leaves> goes_on =
        assigner_.AssignWithin(*loop.while_condition(), {state_.buffers}, {kNoBuffer}, &turn_.step.computations[0]);
    if (!goes_on.has_value()) return false;
    turn_.step.selector = (*goes_on)[0];
    // The loop itself holds the buffers that it keeps, and all buffers while the condition reads; the body takes over
    // the others.
    for (size_t i = 0; i < state_.buffers.size(); ++i) {
      if (!state_.IsKept(i)) pool_.set_holders(state_.buffers[i], pool_.holders(state_.buffers[i]) - 1);
    }
    const std::optional<Leaves> next =
        assigner_.AssignWithin(*loop.while_body(), {state_.buffers}, state_.body_wanted, &turn_.step.computations[1]);
    if (!next.has_value()) return false;
    Leaves from = *next;
    for (size_t i = 0; i < from.size(); ++i) {
      if (!CanSwap(*next, i)) continue;
      turn_.step.swaps.push_back({from[i], state_.buffers[i]});
      from[i] = state_.buffers[i];
    }
    assigner_.MoveAtEnd(from, state_.buffers, &turn_.step.computations[1]);
    pool_.Release(*next);
    pool_.Release(*goes_on);
    for (const BufferStep::Move& swap : turn_.step.swaps) pool_.ExtendFrom(begin_++, swap.from);
    return true;
  }

  // Whether the next value has a buffer for itself, which the body took, and nothing else moves to or from the two.
  bool CanSwap(const Leaves& next, size_t i) const {
    const int from = next[i], to = state_.buffers[i];
    return from != to && pool_[from].home == Home::kArena && pool_.holders(from) == 1 && !pool_.is_pinned(from) &&
           absl::c_count(next, from) == 1 && absl::c_count(next, to) == 0 && absl::c_count(state_.buffers, from) == 0 &&
           absl::c_count(state_.buffers, to) == 1;
  }

  void HoldReplaced(int holders) {
    for (size_t i = 0; i < initial_.size(); ++i) {
      if (initial_[i] == state_.buffers[i]) pool_.set_holders(initial_[i], pool_.holders(initial_[i]) + holders);
    }
  }

  BufferAssigner& assigner_;
  BufferPool& pool_;
  TurnOf& turn_;
  const Leaves& initial_;
  LoopState state_;
  int32_t begin_ = 0;  // a time for each element that swaps
};

bool FitsItsBranches(const HloInstruction& conditional) {
  for (int64_t i = 0; i < conditional.branch_count(); ++i) {
    const HloComputation& branch = *conditional.branch_computation(static_cast<int>(i));
    if (!ShapeUtil::Compatible(branch.root_instruction()->shape(), conditional.shape()) ||
        !ShapeUtil::Compatible(branch.parameter_instruction(0)->shape(), conditional.operand(1 + i)->shape())) {
      return false;
    }
  }
  return true;
}

// The buffer of an argument that leaf `leaf` of a branch's result is, or is an update of, if nothing else uses it and
// no other leaf has taken it; kNoBuffer: none.
int ReplaceableArgument(const BufferPool& pool, const TurnOf& turn, int64_t leaf, int64_t bytes, const Leaves& taken) {
  const HloInstruction& conditional = turn.instruction;
  for (int64_t i = 0; i < conditional.branch_count(); ++i) {
    const int64_t argument = UpdatedArgument(*conditional.branch_computation(static_cast<int>(i)), leaf);
    if (argument < 0) continue;
    const int buffer = turn.operands[1 + i][argument];
    int64_t held = 0;  // by operands that nobody uses later
    for (size_t k = 0; k < turn.operands.size(); ++k) {
      if (turn.is_last_use[k]) held += absl::c_count(turn.operands[k], buffer);
    }
    const bool is_free = pool.holders(buffer) == held && pool.MayBeWritten(buffer);
    if (is_free && pool.bytes(buffer) == bytes && !absl::c_linear_search(taken, buffer)) return buffer;
  }
  return kNoBuffer;
}

// Each branch leaves its result there. The buffers have no holder but the arguments of the branch.
bool AssignBranches(BufferAssigner& assigner, const Leaves& result, TurnOf* turn) {
  const HloInstruction& conditional = turn->instruction;
  BufferPool& pool = assigner.pool();
  std::vector<bool> was_pinned;
  for (int buffer : result) was_pinned.push_back(pool.SetPinned(buffer, true));
  turn->step.computations.resize(static_cast<size_t>(conditional.branch_count()));
  for (int64_t i = 0; i < conditional.branch_count(); ++i) {
    BufferSequence* const steps = &turn->step.computations[i];
    const HloComputation& branch = *conditional.branch_computation(static_cast<int>(i));
    const std::optional<Leaves> leaves = assigner.AssignWithin(branch, {turn->operands[1 + i]}, result, steps);
    if (!leaves.has_value()) return false;
    assigner.MoveAtEnd(*leaves, result, steps);
    pool.Release(*leaves);
  }
  for (size_t leaf = 0; leaf < result.size(); ++leaf) pool.SetPinned(result[leaf], was_pinned[leaf]);
  return true;
}

}  // namespace

std::optional<Leaves> AssignWhile(BufferAssigner& assigner, TurnOf* turn) {
  return WhileAssigner(assigner, turn).Assign();
}

// The result is, where possible, in the place of the argument that a branch keeps or updates. All branches may write
// there, since only one runs.
std::optional<Leaves> AssignConditional(BufferAssigner& assigner, TurnOf* turn) {
  if (!FitsItsBranches(turn->instruction)) return std::nullopt;
  BufferPool& pool = assigner.pool();
  const std::vector<int64_t> bytes = *LeafBytes(turn->instruction.shape());
  Leaves result;
  std::vector<int> holders;  // besides the result
  for (size_t leaf = 0; leaf < bytes.size(); ++leaf) {
    const int argument = ReplaceableArgument(pool, *turn, static_cast<int64_t>(leaf), bytes[leaf], result);
    holders.push_back(argument == kNoBuffer ? 0 : pool.holders(argument));
    result.push_back(argument == kNoBuffer ? pool.Take(turn->wanted[leaf], bytes[leaf], &turn->instruction) : argument);
  }
  for (int buffer : result) pool.set_holders(buffer, 0);
  if (!AssignBranches(assigner, result, turn)) return std::nullopt;
  for (size_t leaf = 0; leaf < bytes.size(); ++leaf) pool.set_holders(result[leaf], holders[leaf] + 1);
  turn->step.kind = BufferStep::Kind::kConditional;
  turn->step.operands = turn->operands;
  turn->step.results = result;
  turn->step.selector = turn->operands[0][0];
  return result;
}

}  // namespace kashi::buffers
