#include "kashi/cpu/thunks/thunk_emitter.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "kashi/base/status.h"
#include "kashi/codegen/linear_algebra.h"
#include "kashi/cpu/thunks/native_regions.h"
#include "kashi/cpu/thunks/packed_operands.h"
#include "kashi/cpu/thunks/thunks.h"
#include "kashi/values/value_util.h"

namespace kashi::cpu {
namespace {

ThunkProgramParts PartsWith(buffers::BufferAssignment buffers, const NumberOptions& numbers) {
  ThunkProgramParts parts;
  parts.buffers = std::move(buffers);
  parts.flush_denormals = numbers.flush_denormals;
  return parts;
}

class ThunkEmitter {
 public:
  ThunkEmitter(const ThunkKinds& kinds, buffers::BufferAssignment buffers, NativeCode& natives)
      : kinds_(kinds),
        parts_(PartsWith(std::move(buffers), natives.numbers)),
        natives_(kinds, parts_.buffers, natives) {}

  absl::StatusOr<std::unique_ptr<ThunkProgram>> Make() {
    KASHI_RETURN_IF_ERROR(MakeConstants());
    KASHI_ASSIGN_OR_RETURN(parts_.thunks, Emit(parts_.buffers.steps));
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

  using Steps = absl::Span<const buffers::BufferStep>;

  // Null: there is no function for these steps.
  absl::StatusOr<std::unique_ptr<NativeThunk>> MakeNative(Steps steps) {
    KASHI_ASSIGN_OR_RETURN(std::optional<codegen::NativeFunction> function, natives_.TryMake(steps));
    if (!function.has_value()) return nullptr;
    const int64_t first = AddPointers(function->buffers);
    auto thunk = std::make_unique<NativeThunk>(*std::move(function), first);
    natives_.Register(thunk.get());
    return thunk;
  }

  absl::StatusOr<ThunkSequence> Emit(Steps steps) {
    ThunkSequence thunks;
    while (!steps.empty()) {
      const int64_t count = is_in_native_ ? 0 : natives_.CountSteps(steps);
      std::unique_ptr<NativeThunk> native;
      if (count > 0) {
        KASHI_ASSIGN_OR_RETURN(native, MakeNative(steps.first(count)));
      }
      const ThunkSequence::Place begin = thunks.End();
      is_in_native_ = is_in_native_ || native != nullptr;
      const int64_t emitted = std::max<int64_t>(1, count);
      for (const buffers::BufferStep& step : steps.first(emitted)) KASHI_RETURN_IF_ERROR(EmitStep(step, &thunks));
      if (native != nullptr) {
        thunks.AddNative(begin, std::move(native));
        is_in_native_ = false;
      }
      steps.remove_prefix(emitted);
    }
    return thunks;
  }

  absl::Status EmitStep(const buffers::BufferStep& step, ThunkSequence* thunks) {
    for (const buffers::BufferStep::Move& move : step.moves) {
      const int64_t bytes = parts_.buffers.buffers[move.to].bytes;
      thunks->Add(std::make_unique<CopyThunk>(AddPointers({move.from, move.to}), bytes), 1);
    }
    switch (step.kind) {
      case buffers::BufferStep::Kind::kMoves:
        break;
      case buffers::BufferStep::Kind::kInstruction:
        EmitInstruction(step, thunks);
        break;
      case buffers::BufferStep::Kind::kWhile:
        KASHI_RETURN_IF_ERROR(EmitWhile(step, thunks));
        break;
      case buffers::BufferStep::Kind::kConditional:
        KASHI_RETURN_IF_ERROR(EmitConditional(step, thunks));
    }
    if (step.instruction != nullptr) EndStep(step, thunks);
    return absl::OkStatus();
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
        const codegen::DotMatrices matrices = *codegen::DotMatricesOf(instruction);
        const int rhs = step.operands[1][0];
        const bool is_constant = parts_.buffers.buffers[rhs].home == buffers::Home::kConstant;
        const int packed = packed_.NumberOf(matrices, rhs, is_constant);
        return thunks->Add(std::make_unique<DotThunk>(matrices, first, packed), plan->work);
      }
      case ThunkKind::kLinearAlgebra: {
        const kernels::LinearAlgebraCall call = *codegen::LinearAlgebraCallOf(instruction);
        return thunks->Add(std::make_unique<LinearAlgebraThunk>(call, first, OperandLeaves(step)), plan->work);
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

  absl::Status EmitWhile(const buffers::BufferStep& step, ThunkSequence* thunks) {
    const int64_t first_pointer = static_cast<int64_t>(parts_.pointers.size());
    const int64_t first_leaf = static_cast<int64_t>(parts_.leaves.size());
    packed_.EnterLoop(step.kept);
    KASHI_ASSIGN_OR_RETURN(ThunkSequence condition, Emit(step.computations[0]));
    KASHI_ASSIGN_OR_RETURN(ThunkSequence body, Emit(step.computations[1]));
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
    return absl::OkStatus();
  }

  // The numbers, from `begin` on, at which a table has the buffer.
  static std::vector<int64_t> Find(const std::vector<int>& table, int64_t begin, int buffer) {
    std::vector<int64_t> numbers;
    for (size_t i = begin; i < table.size(); ++i) {
      if (table[i] == buffer) numbers.push_back(static_cast<int64_t>(i));
    }
    return numbers;
  }

  absl::Status EmitConditional(const buffers::BufferStep& step, ThunkSequence* thunks) {
    std::vector<ThunkSequence> branches;
    for (const buffers::BufferSequence& branch : step.computations) {
      KASHI_ASSIGN_OR_RETURN(branches.emplace_back(), Emit(branch));
    }
    const bool has_predicate = step.instruction->operand(0)->shape().element_type() == PRED;
    const int64_t selector = AddPointers({step.selector});
    thunks->Add(std::make_unique<ConditionalThunk>(has_predicate, std::move(branches), selector), 1);
    return absl::OkStatus();
  }

  const ThunkKinds& kinds_;
  ThunkProgramParts parts_;
  NativeRegions natives_;
  bool is_in_native_ = false;  // emits the steps of a native function, for runs that compare each
  PackedOperands packed_;
};

template <typename Root>
absl::StatusOr<std::unique_ptr<ThunkProgram>> TryMake(const Root& root, FindStep find_step, NativeCode& natives,
                                                      StopFunction check_stopped) {
  const ThunkKinds kinds(find_step);
  KASHI_ASSIGN_OR_RETURN(std::optional<buffers::BufferAssignment> buffers,
                         buffers::AssignBuffers(root, kinds, check_stopped));
  if (!buffers.has_value()) return nullptr;
  return ThunkEmitter(kinds, *std::move(buffers), natives).Make();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ThunkProgram>> TryMakeThunks(const HloComputation& computation, FindStep find_step,
                                                            NativeCode& natives, StopFunction check_stopped) {
  return TryMake(computation, find_step, natives, check_stopped);
}

absl::StatusOr<std::unique_ptr<ThunkProgram>> TryMakeThunks(const HloInstruction& loop, FindStep find_step,
                                                            NativeCode& natives, StopFunction check_stopped) {
  return TryMake(loop, find_step, natives, check_stopped);
}

}  // namespace kashi::cpu
