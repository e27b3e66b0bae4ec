#include "kashi/cpu/thunks/thunk_emitter.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "kashi/base/status.h"
#include "kashi/cpu/thunks/packed_operands.h"
#include "kashi/cpu/thunks/thunks.h"
#include "kashi/values/value_util.h"

namespace kashi::cpu {
namespace {

class ThunkEmitter {
 public:
  ThunkEmitter(const ThunkKinds& kinds, buffers::BufferAssignment buffers, const NumberOptions& numbers)
      : kinds_(kinds) {
    parts_.buffers = std::move(buffers);
    parts_.flush_denormals = numbers.flush_denormals;
  }

  absl::StatusOr<std::unique_ptr<ThunkProgram>> Make() {
    KASHI_RETURN_IF_ERROR(MakeConstants());
    parts_.thunks = Emit(parts_.buffers.steps);
    parts_.packed_count = packed_.count();
    return std::make_unique<ThunkProgram>(std::move(parts_));
  }

 private:
  absl::Status MakeConstants() {
    const auto unlimited = std::make_shared<MemoryBudget>(0);
    for (const HloInstruction* constant : parts_.buffers.constants) {
      KASHI_ASSIGN_OR_RETURN(Value value,
                             Value::FromLiteral(constant->literal(), unlimited, values::LentBy(&constant->literal())));
      parts_.constants.push_back(std::move(value));
    }
    return absl::OkStatus();
  }

  // Adds pointers of these buffers, and returns the position of the first.
  int64_t AddPointers(absl::Span<const int> buffers) {
    const int64_t first = static_cast<int64_t>(parts_.pointers.size());
    parts_.pointers.insert(parts_.pointers.end(), buffers.begin(), buffers.end());
    return first;
  }
  // Adds pointers of all operands, then of the results.
  int64_t AddPointers(const buffers::BufferStep& step) {
    const int64_t first = static_cast<int64_t>(parts_.pointers.size());
    for (const buffers::Leaves& operand : step.operands) AddPointers(operand);
    AddPointers(step.results);
    return first;
  }
  static int64_t OperandLeaves(const buffers::BufferStep& step) {
    int64_t count = 0;
    for (const buffers::Leaves& operand : step.operands) count += static_cast<int64_t>(operand.size());
    return count;
  }

  ThunkSequence Emit(const buffers::BufferSequence& steps) {
    ThunkSequence thunks;
    for (const buffers::BufferStep& step : steps) {
      for (const buffers::BufferStep::Move& move : step.moves) {
        const int64_t bytes = parts_.buffers.buffers[move.to].bytes;
        thunks.Add(std::make_unique<CopyThunk>(AddPointers({move.from, move.to}), bytes), 1);
      }
      switch (step.kind) {
        case buffers::BufferStep::Kind::kMoves:
          break;
        case buffers::BufferStep::Kind::kInstruction:
          EmitInstruction(step, &thunks);
          break;
        case buffers::BufferStep::Kind::kWhile:
          EmitWhile(step, &thunks);
          break;
        case buffers::BufferStep::Kind::kConditional:
          EmitConditional(step, &thunks);
      }
      if (step.instruction != nullptr) EndStep(step, &thunks);
    }
    return thunks;
  }

  // Tells observers of the thunks which instruction they have computed.
  void EndStep(const buffers::BufferStep& step, ThunkSequence* thunks) {
    thunks->EndStep(*step.instruction, static_cast<int64_t>(parts_.leaves.size()));
    for (const buffers::Leaves& operand : step.operands) {
      parts_.leaves.insert(parts_.leaves.end(), operand.begin(), operand.end());
    }
    parts_.leaves.insert(parts_.leaves.end(), step.results.begin(), step.results.end());
  }

  void EmitInstruction(const buffers::BufferStep& step, ThunkSequence* thunks) {
    const HloInstruction& instruction = *step.instruction;
    const std::shared_ptr<const evaluator::ComputationPlanStep>& plan = kinds_.StepOf(instruction);
    const int64_t first = AddPointers(step);
    switch (kinds_.KindOf(instruction)) {
      case ThunkKind::kStep: {
        const evaluator::MemoryStep& compiled = *plan->compiled->AsMemoryStep();
        return thunks->Add(std::make_unique<StepThunk>(compiled, first, OperandLeaves(step)), compiled.work());
      }
      case ThunkKind::kDynamicSlice:
        return thunks->Add(std::make_unique<DynamicSliceThunk>(instruction, first), plan->work);
      case ThunkKind::kUpdateSlice:
        return thunks->Add(std::make_unique<UpdateSliceThunk>(instruction, first), plan->work);
      case ThunkKind::kDot: {
        const DotThunk::Matrices matrices = *DotThunk::MatricesOf(instruction);
        const int rhs = step.operands[1][0];
        const bool is_constant = parts_.buffers.buffers[rhs].home == buffers::Home::kConstant;
        const int packed = packed_.NumberOf(matrices, rhs, is_constant);
        return thunks->Add(std::make_unique<DotThunk>(matrices, first, packed), plan->work);
      }
      case ThunkKind::kElements: {
        const ElementThunk::Sizes sizes = *ElementThunk::SizesOf(instruction, *plan->kernel);
        return thunks->Add(std::make_unique<ElementThunk>(*plan->kernel, first, sizes), plan->work);
      }
      case ThunkKind::kEvaluator: {
        const buffers::MemoryUse use = kinds_.UseOf(instruction);
        const int64_t updated = use.kind == buffers::MemoryUse::Kind::kUpdate ? use.updated : EvaluatorThunk::kNone;
        return thunks->Add(std::make_unique<EvaluatorThunk>(plan, first, updated), 0);
      }
    }
  }

  void EmitWhile(const buffers::BufferStep& step, ThunkSequence* thunks) {
    const int64_t first_pointer = static_cast<int64_t>(parts_.pointers.size());
    const int64_t first_leaf = static_cast<int64_t>(parts_.leaves.size());
    packed_.EnterLoop(step.kept);
    ThunkSequence condition = Emit(step.computations[0]), body = Emit(step.computations[1]);
    const int64_t selector = AddPointers({step.selector});
    std::vector<BufferSwap> swaps;
    for (const buffers::BufferStep::Move& swap : step.swaps) {
      swaps.push_back({Find(parts_.pointers, first_pointer, swap.from), Find(parts_.pointers, first_pointer, swap.to),
                       Find(parts_.leaves, first_leaf, swap.from), Find(parts_.leaves, first_leaf, swap.to),
                       /*own=*/0, parts_.buffers.buffers[swap.to].bytes});
    }
    for (size_t i = 0; i < swaps.size(); ++i) swaps[i].own = AddPointers({step.swaps[i].from, step.swaps[i].to});
    thunks->Add(std::make_unique<WhileThunk>(*step.instruction, std::move(condition), std::move(body), selector,
                                             packed_.LeaveLoop(), std::move(swaps)),
                1);
  }

  // The numbers, from `begin` on, at which a table has the buffer.
  static std::vector<int64_t> Find(const std::vector<int>& table, int64_t begin, int buffer) {
    std::vector<int64_t> numbers;
    for (size_t i = begin; i < table.size(); ++i) {
      if (table[i] == buffer) numbers.push_back(static_cast<int64_t>(i));
    }
    return numbers;
  }

  void EmitConditional(const buffers::BufferStep& step, ThunkSequence* thunks) {
    std::vector<ThunkSequence> branches;
    for (const buffers::BufferSequence& branch : step.computations) branches.push_back(Emit(branch));
    const bool has_predicate = step.instruction->operand(0)->shape().element_type() == PRED;
    const int64_t selector = AddPointers({step.selector});
    thunks->Add(std::make_unique<ConditionalThunk>(has_predicate, std::move(branches), selector), 1);
  }

  const ThunkKinds& kinds_;
  ThunkProgramParts parts_;
  PackedOperands packed_;
};

template <typename Root>
absl::StatusOr<std::unique_ptr<ThunkProgram>> TryMake(const Root& root, FindStep find_step,
                                                      const NumberOptions& numbers, StopFunction check_stopped) {
  const ThunkKinds kinds(find_step);
  KASHI_ASSIGN_OR_RETURN(std::optional<buffers::BufferAssignment> buffers,
                         buffers::AssignBuffers(root, kinds, check_stopped));
  if (!buffers.has_value()) return nullptr;
  return ThunkEmitter(kinds, *std::move(buffers), numbers).Make();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ThunkProgram>> TryMakeThunks(const HloComputation& computation, FindStep find_step,
                                                            const NumberOptions& numbers, StopFunction check_stopped) {
  return TryMake(computation, find_step, numbers, check_stopped);
}

absl::StatusOr<std::unique_ptr<ThunkProgram>> TryMakeThunks(const HloInstruction& loop, FindStep find_step,
                                                            const NumberOptions& numbers, StopFunction check_stopped) {
  return TryMake(loop, find_step, numbers, check_stopped);
}

}  // namespace kashi::cpu
