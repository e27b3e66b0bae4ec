// Makes a BufferAssignment: goes through the steps in order, and counts the holders of each buffer.
//
// `wanted` says where an array should be: where the caller expects the result of the computation, or the next state of
// a loop. A step writes its result there if nothing holds that buffer at the time; otherwise the array moves there at
// the end.
//
// A result that may lie in the memory of an argument (an alias) has this argument as its tenant: it counts as held
// until the argument's last use. A step that reads the argument there, element by element, may write it.
#ifndef KASHI_BUFFERS_BUFFER_ASSIGNER_H_
#define KASHI_BUFFERS_BUFFER_ASSIGNER_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/base/work_meter.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/buffers/buffer_pool.h"
#include "kashi/buffers/in_place_order.h"
#include "kashi/buffers/leaves.h"
#include "kashi/buffers/linear_schedule.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::buffers {

// The state of an instruction while its step is made.
struct TurnOf {
  const HloInstruction& instruction;
  std::vector<Leaves> operands;
  std::vector<bool> is_last_use;  // of each operand's value
  Leaves wanted;                  // for each array of the result
  BufferStep step;                // the step itself
};

class BufferAssigner {
 public:
  BufferAssigner(const MemoryRules& rules, StopFunction check_stopped, std::vector<LeafAlias> aliases = {})
      : rules_(rules), check_stopped_(check_stopped), aliases_(std::move(aliases)) {}

  // Nullopt: the sizes are not known, see AssignBuffers, or status() is an error.
  std::optional<BufferAssignment> Assign(const HloComputation& computation);
  std::optional<BufferAssignment> Assign(const HloInstruction& loop);
  // The error that stopped it.
  const absl::Status& status() const { return status_; }
  // After Assign: the aliases of which a result had to be made elsewhere and copied.
  const std::vector<LeafAlias>& costly_aliases() const { return costly_aliases_; }

  // ---- For control flow (buffer_assigner_control_flow.cc).

  BufferPool& pool() { return pool_; }
  // The steps of a computation within another one. The caller holds the arguments; the result is held for the
  // caller.
  std::optional<Leaves> AssignWithin(const HloComputation& computation, absl::Span<const Leaves> arguments,
                                     const Leaves& wanted, BufferSequence* steps);
  // Memory that may be written and has the elements of `from`: `from` itself, or a copy, in `wanted` if that is free.
  int TakeWritable(int from, bool is_last_use, int wanted, TurnOf* turn);
  // to[i] = from[i] for all i at once, after the steps. The holders are those of `from`, and stay the same.
  void MoveAtEnd(const Leaves& from, const Leaves& to, BufferSequence* steps);

 private:
  bool AddArguments(const Shape& shape, std::vector<Leaves>* arguments);
  bool AddResults(const Shape& shape);
  void SetTenants(const HloComputation& computation, absl::Span<const Leaves> arguments);
  std::optional<OperandUse> ReplacerOf(const HloInstruction& parameter, int64_t leaf, const LeafOf& result) const;
  std::optional<Leaves> AssignSteps(const HloComputation& computation, absl::Span<const Leaves> arguments,
                                    const Leaves& wanted, BufferSequence* steps);
  std::optional<Leaves> AssignStep(TurnOf* turn);
  std::optional<Leaves> AssignInstruction(TurnOf* turn);
  std::optional<Leaves> AssignConstant(const HloInstruction& constant);
  Leaves Held(Leaves leaves);
  Leaves TakeResults(const TurnOf& turn);
  Leaves TakeElementwiseResults(const TurnOf& turn);
  bool IsElementwise(const HloInstruction& x) const;
  bool ReplacesTenant(const TurnOf& turn, int64_t leaf) const;
  std::optional<LeafOf> MadeFrom(const LeafOf& at) const;
  int ReplaceableOperand(const TurnOf& turn, int64_t leaf) const;
  Leaves TakeUpdated(const MemoryUse& use, TurnOf* turn);
  Leaves TakeState(const MemoryUse& use, TurnOf* turn);
  bool CanGiveAway(int argument, int result) const;
  void KeepAliases(const Leaves& from);
  std::optional<BufferAssignment> Finish(const Leaves& leaves);

  const MemoryRules& rules_;
  StopFunction check_stopped_;
  const std::vector<LeafAlias> aliases_;
  std::vector<LeafAlias> costly_aliases_;
  std::vector<OperandUse> replacements_;  // operations of the entry that may write over an argument
  absl::Status status_;
  BufferAssignment assignment_;
  BufferPool pool_;
  int depth_ = 0;  // of the loops and branches around
  int64_t step_count_ = 0;
};

// Makes the steps of a while or a conditional, in turn->step. Nullopt as in BufferAssigner::Assign.
std::optional<Leaves> AssignWhile(BufferAssigner& assigner, TurnOf* turn);
std::optional<Leaves> AssignConditional(BufferAssigner& assigner, TurnOf* turn);

}  // namespace kashi::buffers

#endif  // KASHI_BUFFERS_BUFFER_ASSIGNER_H_
