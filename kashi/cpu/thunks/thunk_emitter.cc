#include "kashi/cpu/thunks/thunk_emitter.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/shape_util.h"
#include "kashi/cpu/kernel_step.h"
#include "kashi/cpu/native_loop_step.h"
#include "kashi/cpu/thunks/leaves.h"
#include "kashi/cpu/thunks/packed_operands.h"
#include "kashi/cpu/thunks/slots.h"
#include "kashi/cpu/thunks/thunks.h"
#include "kashi/evaluator/computation_plan.h"
#include "kashi/passes/kernel_premises.h"
#include "kashi/values/value_util.h"

namespace kashi::internal {
namespace {

// Elements of one operation that one thread should compute; bytes whose copy costs less than a step of the evaluator.
constexpr int64_t kMaxElementsHere = 16384;
constexpr int64_t kMaxCopiedBytes = 65536;

class ThunkEmitter {
 public:
  ThunkEmitter(FindStep find_step, const NumberOptions& numbers, std::string* text)
      : find_step_(find_step), text_(text) {
    parts_.flush_denormals = numbers.flush_denormals;
  }

  std::unique_ptr<ThunkProgram> Make(const HloComputation& computation) {
    std::vector<Leaves> arguments;
    for (const HloInstruction* parameter : computation.parameter_instructions()) {
      if (!AddArguments(parameter->shape(), &arguments)) return nullptr;
    }
    const HloInstruction& root = *computation.root_instruction();
    if (!AddResults(root.shape())) return nullptr;
    const std::optional<Leaves> leaves = Emit(computation, arguments, results_, &parts_.thunks);
    return leaves.has_value() ? Finish(*leaves) : nullptr;
  }

  std::unique_ptr<ThunkProgram> Make(const HloInstruction& loop) {
    std::vector<Leaves> arguments;
    if (!AddArguments(loop.operand(0)->shape(), &arguments) || !AddResults(loop.shape())) return nullptr;
    slots_.Hold(arguments[0]);
    const std::optional<Leaves> leaves = EmitLoop(loop, arguments[0], true, results_, &parts_.thunks);
    return leaves.has_value() ? Finish(*leaves) : nullptr;
  }

 private:
  // ---- Slots.

  bool AddArguments(const Shape& shape, std::vector<Leaves>* arguments) {
    const std::optional<std::vector<int64_t>> bytes = LeafBytes(shape);
    if (!bytes.has_value()) return false;
    arguments->emplace_back();
    for (int64_t size : *bytes) arguments->back().push_back(slots_.Add({Home::kArgument, argument_count_++}, size));
    return true;
  }

  bool AddResults(const Shape& shape) {
    const std::optional<std::vector<int64_t>> bytes = LeafBytes(shape);
    if (!bytes.has_value()) return false;
    parts_.result_shape = shape;
    for (int64_t size : *bytes) {
      results_.push_back(slots_.Add({Home::kResult, static_cast<int64_t>(results_.size())}, size));
      slots_[results_.back()].is_pinned = true;
    }
    return true;
  }

  int64_t AddPointers(absl::Span<const int> slots) {
    const int64_t first = static_cast<int64_t>(parts_.pointers.size());
    for (int slot : slots) parts_.pointers.push_back(slots_[slot].place);
    return first;
  }

  void EmitCopy(int from, int to, ThunkSequence* thunks) {
    const int64_t first = AddPointers({from, to});
    Print("copy", first);
    thunks->Add(std::make_unique<CopyThunk>(first, slots_[to].bytes), 1);
  }

  // A line of the stage's text: what is done, and the places that it works on, from number `first` of the table on.
  void Print(absl::string_view what, int64_t first) {
    if (text_ == nullptr) return;
    absl::StrAppend(text_, std::string(2 * depth_, ' '), what);
    for (size_t i = first; i < parts_.pointers.size(); ++i) {
      absl::StrAppend(text_, i == static_cast<size_t>(first) ? "  " : ", ",
                      ThunkProgramParts::TextOf(parts_.pointers[i], slots_.frame_arrays()));
    }
    absl::StrAppend(text_, "\n");
  }
  int64_t AddPointersOf(const HloInstruction& instruction, absl::Span<const int> slots) {
    const int64_t first = AddPointers(slots);
    Print(instruction.name(), first);
    return first;
  }

  // to[i] = from[i] for all i at once. The holders are those of `from` and stay.
  void EmitCopies(const Leaves& from, const Leaves& to, ThunkSequence* thunks) {
    Leaves sources = from, saved;
    for (size_t i = 0; i < from.size(); ++i) {
      if (from[i] == to[i] || !absl::c_linear_search(to, from[i])) continue;
      const int64_t at = absl::c_find(to, from[i]) - to.begin();
      if (from[at] == to[at]) continue;  // it is not overwritten
      sources[i] = slots_.Take(kNoSlot, slots_[from[i]].bytes);
      saved.push_back(sources[i]);
      EmitCopy(from[i], sources[i], thunks);
    }
    for (size_t i = 0; i < from.size(); ++i) {
      if (sources[i] == to[i]) continue;
      slots_[to[i]].is_written = true;
      EmitCopy(sources[i], to[i], thunks);
    }
    slots_.Release(saved);
  }

  // ---- Computations.

  // The computation's arguments, held by the caller; its result, held for the caller. wanted[i]: where array i of the
  // result should be.
  std::optional<Leaves> Emit(const HloComputation& computation, absl::Span<const Leaves> arguments,
                             const Leaves& wanted, ThunkSequence* thunks) {
    const absl::StatusOr<ComputationPlan> plan = MakeComputationPlan(computation);
    if (!plan.ok()) return std::nullopt;
    const RootLeaves root_leaves = FindRootLeaves(*computation.root_instruction());
    std::vector<Leaves> values(plan->steps.size());
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      const ComputationPlanStep& step = plan->steps[i];
      if (!HasFixedLeaves(step)) return std::nullopt;
      Context context = {step, {}, {}, {}, thunks};
      for (const ComputationPlanStep::Operand& operand : step.operands) {
        context.operands.push_back(values[operand.step]);
        context.is_last_use.push_back(operand.is_last_use);
      }
      const int64_t leaf_count = LeafCount(step.instruction->shape());
      for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
        const auto found = root_leaves.find({step.instruction, leaf});
        context.wanted.push_back(found == root_leaves.end() ? kNoSlot : wanted[found->second]);
      }
      if (step.instruction->opcode() == HloOpcode::kParameter) {
        values[i] = arguments[step.instruction->parameter_number()];
        slots_.Hold(values[i]);
      } else {
        std::optional<Leaves> leaves = EmitStep(context);
        if (!leaves.has_value() || slots_.frame_bytes() > kMaxFrameBytes) return std::nullopt;
        values[i] = *std::move(leaves);
        EndStep(context, values[i]);
      }
      for (const ComputationPlanStep::Operand& operand : step.operands) {
        if (operand.is_last_use) slots_.Release(values[operand.step]);
      }
    }
    return values[plan->root];
  }

  struct Context {
    const ComputationPlanStep& step;
    std::vector<Leaves> operands;
    std::vector<bool> is_last_use;  // of each operand's value
    Leaves wanted;                  // for each array of the result
    ThunkSequence* thunks;

    const HloInstruction& instruction() const { return *step.instruction; }
  };

  // Tells those who observe the thunks what they have computed.
  void EndStep(const Context& context, const Leaves& result) {
    if (!context.thunks->is_in_step()) return;
    context.thunks->EndStep(context.instruction(), static_cast<int64_t>(parts_.leaves.size()));
    const auto add = [this](int slot) { parts_.leaves.push_back(slots_[slot].place); };
    for (const Leaves& operand : context.operands) absl::c_for_each(operand, add);
    absl::c_for_each(result, add);
  }

  std::optional<Leaves> EmitStep(const Context& context) {
    const HloInstruction& instruction = context.instruction();
    if (KeepsElements(instruction)) return Held(context.operands[0]);
    if (const CompiledStep* step = find_step_(instruction); step != nullptr) {
      if (const auto* kernel = dynamic_cast<const KernelStep*>(step)) return EmitKernel(context, *kernel);
      if (const auto* loop = dynamic_cast<const NativeLoopStep*>(step)) return EmitNativeLoop(context, *loop);
      return EmitEvaluator(context);
    }
    using Emitter = std::optional<Leaves> (ThunkEmitter::*)(const Context&);
    static constexpr std::pair<HloOpcode, Emitter> kEmitters[] = {
        {HloOpcode::kTuple, &ThunkEmitter::EmitTuple},
        {HloOpcode::kGetTupleElement, &ThunkEmitter::EmitTupleElement},
        {HloOpcode::kConstant, &ThunkEmitter::EmitConstant},
        {HloOpcode::kWhile, &ThunkEmitter::EmitWhile},
        {HloOpcode::kConditional, &ThunkEmitter::EmitConditional},
        {HloOpcode::kDynamicSlice, &ThunkEmitter::EmitDynamicSlice},
        {HloOpcode::kDynamicUpdateSlice, &ThunkEmitter::EmitUpdateSlice},
        {HloOpcode::kDot, &ThunkEmitter::EmitDot},
    };
    for (const auto& [opcode, emitter] : kEmitters) {
      if (opcode == instruction.opcode()) return (this->*emitter)(context);
    }
    return context.step.kernel != nullptr ? EmitElements(context) : EmitEvaluator(context);
  }

  // ---- Steps without thunks.

  Leaves Held(Leaves leaves) {
    slots_.Hold(leaves);
    return leaves;
  }

  std::optional<Leaves> EmitTuple(const Context& context) {
    Leaves leaves;
    for (const Leaves& operand : context.operands) leaves.insert(leaves.end(), operand.begin(), operand.end());
    return Held(std::move(leaves));
  }

  std::optional<Leaves> EmitTupleElement(const Context& context) {
    const HloInstruction& instruction = context.instruction();
    const auto begin =
        context.operands[0].begin() + LeavesBefore(instruction.operand(0)->shape(), instruction.tuple_index());
    return Held(Leaves(begin, begin + LeafCount(instruction.shape())));
  }

  std::optional<Leaves> EmitConstant(const Context& context) {
    const HloInstruction& instruction = context.instruction();
    if (!instruction.shape().IsArray()) return std::nullopt;
    absl::StatusOr<Value> value =
        Value::FromLiteral(instruction.literal(), std::make_shared<MemoryBudget>(0), LentBy(&instruction.literal()));
    if (!value.ok()) return std::nullopt;
    parts_.constants.push_back(*std::move(value));
    const Place place = {Home::kConstant, static_cast<int64_t>(parts_.constants.size()) - 1};
    return Held({slots_.Add(place, parts_.constants.back().byte_count())});
  }

  // ---- Steps with one thunk.

  // New arrays for the result.
  Leaves TakeResults(const Context& context) {
    Leaves leaves;
    const std::vector<int64_t> bytes = *LeafBytes(context.instruction().shape());
    for (size_t i = 0; i < bytes.size(); ++i) leaves.push_back(slots_.Take(context.wanted[i], bytes[i]));
    return leaves;
  }

  // The pointers of all operands, then those of the result.
  int64_t AddPointers(const Context& context, const Leaves& result) {
    const int64_t first = static_cast<int64_t>(parts_.pointers.size());
    for (const Leaves& operand : context.operands) AddPointers(operand);
    AddPointers(result);
    Print(context.instruction().name(), first);
    return first;
  }

  // An operand that is used for the last time, and whose array the result may replace; kNoSlot: none. The wanted one
  // if possible. An operand of other sizes is read elsewhere, even if it has as many bytes.
  int ReplaceableOperand(const Context& context, int64_t bytes) const {
    int found = kNoSlot;
    for (size_t i = 0; i < context.operands.size(); ++i) {
      if (!HasSizesOfResult(context.instruction(), i)) continue;
      const int slot = context.operands[i][0];
      if (!context.is_last_use[i] || !slots_.IsLastHolder(slot) || slots_[slot].bytes != bytes) continue;
      if (found == kNoSlot || slot == context.wanted[0]) found = slot;
    }
    return found;
  }

  // The result of an operation that reads no element of an operand after it has written that element of the result.
  Leaves TakeElementwiseResult(const Context& context) {
    const int64_t bytes = LeafBytes(context.instruction().shape())->front();
    const int wanted = context.wanted[0];
    const bool is_wanted_free = wanted != kNoSlot && slots_[wanted].holders == 0;
    const int replaced = is_wanted_free ? kNoSlot : ReplaceableOperand(context, bytes);
    if (replaced == kNoSlot) return {slots_.Take(wanted, bytes)};
    return Held({replaced});
  }

  // The result of an operation that updates a part of an operand.
  Leaves TakeUpdated(const Context& context, int64_t operand, bool may_replace) {
    const int updated = context.operands[operand][0];
    if (may_replace && context.is_last_use[operand] && slots_.IsLastHolder(updated)) return Held({updated});
    const int result = slots_.Take(context.wanted[0], slots_[updated].bytes);
    EmitCopy(updated, result, context.thunks);
    return {result};
  }

  Leaves EmitKernel(const Context& context, const KernelStep& step) {
    const Kernel& kernel = step.kernel();
    Leaves result;
    if (kernel.updated_operand >= 0) {
      result = TakeUpdated(context, kernel.updated_operand, kernel.is_in_place);
    } else {
      result = kernel.is_in_place ? TakeElementwiseResult(context) : TakeResults(context);
    }
    const int64_t first = AddPointers(context, result);
    context.thunks->Add(std::make_unique<KernelThunk>(step, first, static_cast<int64_t>(context.operands.size())),
                        SaturatingMultiply(SaturatingMultiply(kernel.rows, kernel.columns), kernel.work_per_column));
    return result;
  }

  // The loop works on its state in place.
  Leaves EmitNativeLoop(const Context& context, const NativeLoopStep& step) {
    Leaves state;
    for (size_t i = 0; i < step.loop().is_written.size(); ++i) {
      const int initial = context.operands[0][i];
      if (step.loop().is_written[i]) {
        state.push_back(TakeState(initial, context.is_last_use[0], context.wanted[i], context.thunks));
      } else {
        state.push_back(initial);
        slots_.Hold({initial});
      }
    }
    context.thunks->Add(std::make_unique<NativeLoopThunk>(step, AddPointersOf(context.instruction(), state)), 1);
    return state;
  }

  std::optional<Leaves> EmitElements(const Context& context) {
    if (ShapeUtil::ElementsIn(context.instruction().shape()) > kMaxElementsHere) return std::nullopt;
    const std::optional<ElementThunk::Sizes> sizes = ElementThunk::SizesOf(context.instruction(), *context.step.kernel);
    if (!sizes.has_value()) return EmitEvaluator(context);
    const Leaves result = TakeElementwiseResult(context);
    const int64_t first = AddPointers(context, result);
    context.thunks->Add(std::make_unique<ElementThunk>(*context.step.kernel, first, *sizes), context.step.work);
    return result;
  }

  std::optional<Leaves> EmitDynamicSlice(const Context& context) {
    const HloInstruction& instruction = context.instruction();
    if (!HasScalarStarts(instruction, 1) || ShapeUtil::IsZeroElementArray(instruction.shape())) {
      return EmitEvaluator(context);
    }
    const Leaves result = TakeResults(context);
    context.thunks->Add(std::make_unique<DynamicSliceThunk>(instruction, AddPointers(context, result)),
                        context.step.work);
    return result;
  }

  std::optional<Leaves> EmitUpdateSlice(const Context& context) {
    const HloInstruction& instruction = context.instruction();
    if (!HasScalarStarts(instruction, 2)) return EmitEvaluator(context);
    if (ShapeUtil::IsZeroElementArray(instruction.operand(1)->shape())) return Held(context.operands[0]);
    const Leaves result = TakeUpdated(context, 0, /*may_replace=*/true);
    Leaves pointers;
    for (size_t i = 1; i < context.operands.size(); ++i) pointers.push_back(context.operands[i][0]);
    pointers.push_back(result[0]);
    context.thunks->Add(std::make_unique<UpdateSliceThunk>(instruction, AddPointersOf(instruction, pointers)),
                        context.step.work);
    return result;
  }

  std::optional<Leaves> EmitDot(const Context& context) {
    std::optional<Leaves> result = EmitMatrixProduct(context);
    return result.has_value() ? result : EmitEvaluator(context);
  }

  // Nothing if an operand is no matrix as it is.
  std::optional<Leaves> EmitMatrixProduct(const Context& context) {
    const std::optional<DotThunk::Matrices> matrices = DotThunk::MatricesOf(context.instruction());
    if (!matrices.has_value()) return std::nullopt;
    const Leaves result = TakeResults(context);
    const int rhs = context.operands[1][0];
    const int packed = packed_.NumberOf(*matrices, rhs, slots_[rhs].place.home == Home::kConstant);
    context.thunks->Add(std::make_unique<DotThunk>(*matrices, AddPointers(context, result), packed), context.step.work);
    return result;
  }

  std::optional<Leaves> EmitEvaluator(const Context& context) {
    int64_t copied = 0;
    const std::vector<int64_t> sizes = *LeafBytes(context.instruction().shape());
    for (int64_t bytes : sizes) copied = SaturatingAdd(copied, bytes);
    if (copied > kMaxCopiedBytes) return std::nullopt;
    const Leaves result = TakeResults(context);
    const int64_t first = AddPointers(context, result);
    context.thunks->Add(
        std::make_unique<EvaluatorThunk>(context.instruction(), find_step_(context.instruction()), first), 0);
    return result;
  }

  // ---- Control flow.

  // Memory for an element of a loop's state, with the initial value in it.
  int TakeState(int initial, bool is_last_use, int wanted, ThunkSequence* thunks) {
    if (is_last_use && slots_.IsLastHolder(initial)) {
      ++slots_[initial].holders;
      return initial;
    }
    const bool is_fresh = wanted != kNoSlot && !slots_[wanted].is_written && thunks == &parts_.thunks;
    const int state = slots_.Take(wanted, slots_[initial].bytes);
    const Place from = slots_[initial].place, to = slots_[state].place;
    if (is_fresh && is_last_use && slots_[initial].holders == 1 && from.home == Home::kArgument &&
        to.home == Home::kResult) {
      parts_.updates.push_back({from.number, to.number});
    } else {
      EmitCopy(initial, state, thunks);
    }
    return state;
  }

  std::optional<Leaves> EmitWhile(const Context& context) {
    return EmitLoop(context.instruction(), context.operands[0], context.is_last_use[0], context.wanted, context.thunks);
  }

  std::optional<Leaves> EmitLoop(const HloInstruction& loop, const Leaves& initial, bool is_last_use,
                                 const Leaves& wanted, ThunkSequence* thunks) {
    const HloComputation &body = *loop.while_body(), &condition = *loop.while_condition();
    const auto has_shape_of_loop = [&](const HloInstruction* x) {
      return ShapeUtil::Compatible(x->shape(), loop.shape());
    };
    if (!has_shape_of_loop(loop.operand(0)) || !has_shape_of_loop(body.root_instruction()) ||
        !has_shape_of_loop(body.parameter_instruction(0)) || !has_shape_of_loop(condition.parameter_instruction(0))) {
      return std::nullopt;
    }
    const RootLeaves root_leaves = FindRootLeaves(*body.root_instruction());
    Leaves state, body_wanted, kept_slots;
    std::vector<bool> was_pinned;
    for (size_t i = 0; i < initial.size(); ++i) {
      const auto kept = root_leaves.find({body.parameter_instruction(0), static_cast<int64_t>(i)});
      if (kept != root_leaves.end() && kept->second == static_cast<int64_t>(i)) {
        state.push_back(initial[i]);
        slots_.Hold({initial[i]});
        body_wanted.push_back(kNoSlot);
        kept_slots.push_back(initial[i]);
      } else {
        state.push_back(TakeState(initial[i], is_last_use, wanted[i], thunks));
        body_wanted.push_back(state.back());
      }
    }
    for (size_t i = 0; i < state.size(); ++i) {
      was_pinned.push_back(slots_[state[i]].is_pinned);
      if (body_wanted[i] != kNoSlot) slots_[state[i]].is_pinned = true;
    }
    if (is_last_use) ReleaseReplaced(initial, state);
    ThunkSequence condition_thunks, body_thunks;
    packed_.EnterLoop(std::move(kept_slots));
    Print(absl::StrCat(loop.name(), ": while"), parts_.pointers.size());
    ++depth_;
    const std::optional<Leaves> goes_on = Emit(condition, {state}, {kNoSlot}, &condition_thunks);
    if (!goes_on.has_value()) return std::nullopt;
    const int64_t pointer = AddPointers(*goes_on);
    Print("leave unless", pointer);
    // The loop holds what it keeps by itself, and all of it while the condition reads; the rest changes hands in the
    // body.
    for (size_t i = 0; i < state.size(); ++i) slots_[state[i]].holders -= body_wanted[i] == kNoSlot ? 0 : 1;
    const std::optional<Leaves> next = Emit(body, {state}, body_wanted, &body_thunks);
    if (!next.has_value()) return std::nullopt;
    EmitCopies(*next, state, &body_thunks);
    --depth_;
    slots_.Release(*next);
    slots_.Release(*goes_on);
    for (size_t i = 0; i < state.size(); ++i) {
      if (body_wanted[i] == kNoSlot) continue;
      ++slots_[state[i]].holders;
      slots_[state[i]].is_pinned = was_pinned[i];
    }
    if (is_last_use) HoldReplaced(initial, state);
    thunks->Add(std::make_unique<WhileThunk>(loop, std::move(condition_thunks), std::move(body_thunks), pointer,
                                             packed_.LeaveLoop()),
                1);
    return state;
  }

  // The initial value still holds what has become the state, until the caller releases it: not a reader.
  void ReleaseReplaced(const Leaves& initial, const Leaves& state) {
    for (size_t i = 0; i < state.size(); ++i) slots_[initial[i]].holders -= initial[i] == state[i] ? 1 : 0;
  }
  void HoldReplaced(const Leaves& initial, const Leaves& state) {
    for (size_t i = 0; i < state.size(); ++i) slots_[initial[i]].holders += initial[i] == state[i] ? 1 : 0;
  }

  // The conditional's result: where possible, in the place of the argument that a branch keeps or updates. All branches
  // may write there, since only one runs.
  std::optional<Leaves> EmitConditional(const Context& context) {
    const HloInstruction& conditional = context.instruction();
    for (int64_t i = 0; i < conditional.branch_count(); ++i) {
      const HloComputation& branch = *conditional.branch_computation(static_cast<int>(i));
      if (!ShapeUtil::Compatible(branch.root_instruction()->shape(), conditional.shape()) ||
          !ShapeUtil::Compatible(branch.parameter_instruction(0)->shape(), conditional.operand(1 + i)->shape())) {
        return std::nullopt;
      }
    }
    const std::vector<int64_t> bytes = *LeafBytes(conditional.shape());
    Leaves result;
    std::vector<int> holders;  // besides the result
    for (size_t leaf = 0; leaf < bytes.size(); ++leaf) {
      const int argument = ReplaceableArgument(context, static_cast<int64_t>(leaf), bytes[leaf], result);
      holders.push_back(argument == kNoSlot ? 0 : slots_[argument].holders);
      result.push_back(argument == kNoSlot ? slots_.Take(context.wanted[leaf], bytes[leaf]) : argument);
    }
    for (int slot : result) slots_[slot].holders = 0;
    std::optional<std::vector<ThunkSequence>> branches = EmitBranches(context, result);
    if (!branches.has_value()) return std::nullopt;
    for (size_t leaf = 0; leaf < bytes.size(); ++leaf) slots_[result[leaf]].holders = holders[leaf] + 1;
    const bool has_predicate = conditional.operand(0)->shape().element_type() == PRED;
    const int64_t pointer = AddPointers(context.operands[0]);
    context.thunks->Add(std::make_unique<ConditionalThunk>(has_predicate, *std::move(branches), pointer), 1);
    return result;
  }

  // The slot of an argument that leaf `leaf` of a branch's result is, or is an update of, if nothing else uses it and
  // no other leaf has taken it; kNoSlot: none.
  int ReplaceableArgument(const Context& context, int64_t leaf, int64_t bytes, const Leaves& taken) const {
    const HloInstruction& conditional = context.instruction();
    for (int64_t i = 0; i < conditional.branch_count(); ++i) {
      const int64_t argument = UpdatedArgument(*conditional.branch_computation(static_cast<int>(i)), leaf);
      if (argument < 0) continue;
      const int slot = context.operands[1 + i][argument];
      int64_t held = 0;  // by operands that nobody uses later
      for (size_t k = 0; k < context.operands.size(); ++k) {
        if (context.is_last_use[k]) held += absl::c_count(context.operands[k], slot);
      }
      const bool is_free = slots_[slot].holders == held && slots_[slot].may_be_written();
      if (is_free && slots_[slot].bytes == bytes && !absl::c_linear_search(taken, slot)) return slot;
    }
    return kNoSlot;
  }

  // Each branch leaves its result there. The slots have no holder but the arguments of the branch.
  std::optional<std::vector<ThunkSequence>> EmitBranches(const Context& context, const Leaves& result) {
    const HloInstruction& conditional = context.instruction();
    std::vector<bool> was_pinned;
    for (int slot : result) was_pinned.push_back(std::exchange(slots_[slot].is_pinned, true));
    std::vector<ThunkSequence> branches;
    for (int64_t i = 0; i < conditional.branch_count(); ++i) {
      branches.emplace_back();
      Print(absl::StrCat(conditional.name(), ": branch ", i), parts_.pointers.size());
      ++depth_;
      const std::optional<Leaves> leaves = Emit(*conditional.branch_computation(static_cast<int>(i)),
                                                {context.operands[1 + i]}, result, &branches.back());
      if (!leaves.has_value()) return std::nullopt;
      EmitCopies(*leaves, result, &branches.back());
      --depth_;
      slots_.Release(*leaves);
    }
    for (size_t leaf = 0; leaf < result.size(); ++leaf) slots_[result[leaf]].is_pinned = was_pinned[leaf];
    return branches;
  }

  std::unique_ptr<ThunkProgram> Finish(const Leaves& leaves) {
    Leaves from, to;
    for (size_t i = 0; i < leaves.size(); ++i) {
      const Place& place = slots_[leaves[i]].place;
      if (place.home == Home::kArgument || place.home == Home::kConstant) {
        parts_.results.push_back(place);
        continue;
      }
      parts_.results.push_back(slots_[results_[i]].place);
      from.push_back(leaves[i]);
      to.push_back(results_[i]);
    }
    EmitCopies(from, to, &parts_.thunks);
    // A result that is an argument may still have served as memory.
    for (const Place& place : parts_.pointers) {
      if (place.home == Home::kResult && parts_.results[place.number].home != Home::kResult) return nullptr;
    }
    parts_.frame_bytes = slots_.frame_bytes();
    parts_.frame_arrays = slots_.frame_arrays();
    parts_.packed_count = packed_.count();
    if (parts_.frame_bytes > kMaxFrameBytes) return nullptr;
    return std::make_unique<ThunkProgram>(std::move(parts_));
  }

  FindStep find_step_;
  std::string* text_;  // null: nobody reads it
  int depth_ = 0;      // of the loops and branches around
  ThunkProgramParts parts_;
  Slots slots_;
  PackedOperands packed_;
  Leaves results_;
  int64_t argument_count_ = 0;
};

}  // namespace

std::unique_ptr<ThunkProgram> TryMakeThunks(const HloComputation& computation, FindStep find_step,
                                            const NumberOptions& numbers, std::string* text) {
  return ThunkEmitter(find_step, numbers, text).Make(computation);
}

std::unique_ptr<ThunkProgram> TryMakeThunks(const HloInstruction& loop, FindStep find_step,
                                            const NumberOptions& numbers, std::string* text) {
  return ThunkEmitter(find_step, numbers, text).Make(loop);
}

}  // namespace kashi::internal
