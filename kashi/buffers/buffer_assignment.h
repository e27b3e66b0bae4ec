// The place of every array of a computation in memory, which is known before the computation runs.
//
// A buffer is memory that holds arrays one after the other. It is in one of four homes:
//
//   arena      at an offset in one block of memory that belongs to a run; buffers share bytes that they need at
//              different times
//   argument   at the caller's array; only read, but where the caller gives it up (`updates`, `aliases`)
//   result     in memory that becomes a result; before, it may serve buffers of the arena
//   constant   in the program
//
// The steps of the computation are a list. Loops and branches have lists of their own steps, on the same buffers:
//
//   x = f32[64] parameter(0)                        step        operands                results
//   y = f32[64] negate(x)                           y           argument 0              arena+64
//   w = (s32[], f32[64]) while((zero, y))           w           copy constant 0         arena+0
//     condition: i < 10                               c         arena+0, constant 1     arena+320
//     body: (i + 1, tanh(y))                          j         arena+0, constant 2     arena+0        in place
//                                                     t         arena+64                arena+64       in place
//   r = f32[64] get-tuple-element(w), index=1
//   ROOT s = f32[64] add(r, x)                      s           arena+64, argument 0    result 0
//
// The rule of copies is XLA's: a value is updated in place if all other uses of it come before (in_place_order.h),
// and copied if they do not.
#ifndef KASHI_BUFFERS_BUFFER_ASSIGNMENT_H_
#define KASHI_BUFFERS_BUFFER_ASSIGNMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/base/work_meter.h"
#include "kashi/buffers/leaves.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::buffers {

enum class Home : char { kArena, kArgument, kResult, kConstant };

struct Buffer {
  Home home = Home::kArena;
  int64_t number = 0;  // of the argument, the result (all tuples taken apart) or the constant
  int64_t bytes = 0;
  int64_t offset = 0;    // in the arena, a multiple of kArenaAlignment
  int64_t lies_in = -1;  // the number of a result in which it lies instead, before that has its first value; -1: none
  // From the first value to the last use of the last value. Times count events that take or free memory, also in loops
  // and branches, in the order of the list.
  int32_t first = 0, last = 0;
  const HloInstruction* maker = nullptr;  // of its first value; null: an argument or a result
};
constexpr int64_t kArenaAlignment = 64;

// The buffers of a value's arrays by number, in the order of its leaves (leaves.h).
using Leaves = std::vector<int>;
constexpr int kNoBuffer = -1;

// How an instruction uses memory. Each engine knows this for its own steps.
struct MemoryUse {
  enum class Kind {
    kNew,          // reads operands while it writes results: they are different buffers
    kElementwise,  // results are arrays; no element of an operand is read after that element of a result is written
    kUpdate,       // the result is operand `updated` with changes: in its buffer, or in a copy
    kState,        // changes the arrays of operand 0, a tuple, in place, but for those that it only reads
    kOperand,      // the value of operand 0, as it is: nothing runs
    kUnknown,      // the sizes of its arrays are not known before it runs: there is no assignment
  };
  MemoryUse(Kind kind) : kind(kind) {}  // NOLINT(google-explicit-constructor)

  Kind kind;
  int64_t updated = 0;
  // Of kUpdate: whether it works in place, or always needs a copy.
  bool is_in_place = true;
  std::vector<bool> is_written = {};  // of kState, for each array

  static MemoryUse Update(int64_t operand, bool is_in_place) {
    MemoryUse use(Kind::kUpdate);
    use.updated = operand;
    use.is_in_place = is_in_place;
    return use;
  }
  static MemoryUse State(std::vector<bool> is_written) {
    MemoryUse use(Kind::kState);
    use.is_written = std::move(is_written);
    return use;
  }
};

// The memory use of instructions except parameters, constants, tuples, get-tuple-elements, and loops or
// conditionals with steps of their own.
class MemoryRules {
 public:
  virtual ~MemoryRules() = default;
  virtual MemoryUse UseOf(const HloInstruction& instruction) const = 0;
  // Whether a while or conditional is one step: then UseOf gives its memory use.
  virtual bool IsOneStep(const HloInstruction& control_flow) const = 0;
};

struct BufferStep;
using BufferSequence = std::vector<BufferStep>;

// One instruction, or the moves at the end of a loop's body, of a branch or of the whole computation. First the moves
// run, one after the other, then the instruction.
struct BufferStep {
  enum class Kind { kMoves, kInstruction, kWhile, kConditional };
  struct Move {
    int from, to;
  };
  Kind kind = Kind::kMoves;
  const HloInstruction* instruction = nullptr;  // null: moves at the end
  std::vector<Move> moves;
  std::vector<Leaves> operands;
  Leaves results;
  // kWhile: condition and body; the condition's result is `selector`. kConditional: the branches; `selector` has the
  // predicate or the index.
  std::vector<BufferSequence> computations;
  int selector = kNoBuffer;
  Leaves kept;  // kWhile: buffers of the state that the loop only reads
  // kWhile: elements whose next value is made in another buffer, `from`. After each iteration the two are swapped.
  std::vector<Move> swaps;
};

struct BufferAssignment {
  std::vector<Buffer> buffers;
  BufferSequence steps;
  std::vector<const HloInstruction*> constants;
  int64_t arena_bytes = 0;
  int64_t argument_count = 0;
  Shape result_shape;
  // For each array of the result: a buffer of its own, or an argument or a constant that is returned unchanged.
  Leaves results;
  // The result's memory starts with the elements of the argument, which nothing reads later. If nobody else holds
  // the argument, the result takes its memory.
  struct Update {
    int64_t argument, result;
  };
  std::vector<Update> updates;
  // The result may lie in the memory of the argument, if nobody else holds that, as the module says it
  // (input_output_alias): nothing reads the argument after the result's memory is written, except for the operation
  // that writes it, element by element. If it lies elsewhere, all is right, too. No result and no argument is in two
  // aliases, or in an alias and an update.
  std::vector<LeafAlias> aliases;

  // "arena+64", "argument 0".
  std::string NameOf(int buffer) const;
  // The steps, one line each: the moves and the instruction, with the buffers of operands and results.
  std::string StepsToString() const;
  // The buffers, one line each: home, bytes, times, and the instruction that makes the first value.
  std::string BuffersToString() const;
};

// The assignment of a computation, or of a while, whose arguments are those of its operand. Of an entry computation it
// has the aliases of its module (AliasesOf) that cost no more copies than without them. Nullopt if sizes of arrays
// are only known at run time, if a value is not an array, if shapes of control flow do not fit, if there are too many
// buffers to place (best_fit_heap.h), more than 2^20 steps, or more than 500 loops and branches within each other. The
// result refers to the instructions. Each instruction costs O(arrays of its operands and results); placing costs
// O(buffers * buffers alive at once).
absl::StatusOr<std::optional<BufferAssignment>> AssignBuffers(const HloComputation& computation,
                                                              const MemoryRules& rules, StopFunction check_stopped);
absl::StatusOr<std::optional<BufferAssignment>> AssignBuffers(const HloInstruction& loop, const MemoryRules& rules,
                                                              StopFunction check_stopped);

}  // namespace kashi::buffers

#endif  // KASHI_BUFFERS_BUFFER_ASSIGNMENT_H_
