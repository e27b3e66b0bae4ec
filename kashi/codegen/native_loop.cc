#include "kashi/codegen/native_loop.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/buffers/in_place_order.h"
#include "kashi/codegen/lane_builder.h"
#include "kashi/codegen/small_array.h"
#include "kashi/codegen/small_windows.h"
#include "kashi/evaluator/contraction.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/passes/plain_array.h"

namespace kashi::codegen {
namespace {

constexpr int64_t kMostInstructions = 4000;  // of one function
constexpr int kMostNested = 32;              // loops and conditionals within each other

// One array: in registers, or in memory that has had this value since the write with number `version`.
struct Part {
  llvm::Value* registers = nullptr;
  llvm::Value* memory = nullptr;
  int64_t version = 0;
};
// The value of an instruction: one part, or one for each element of its tuple.
using Parts = std::vector<Part>;

// The parts of a shape. Nothing if tuples are nested, or there is a token.
std::optional<std::vector<const Shape*>> PartShapes(const Shape& shape) {
  std::vector<const Shape*> shapes;
  if (shape.IsArray()) return std::vector<const Shape*>{&shape};
  if (!shape.IsTuple()) return std::nullopt;
  for (const Shape& element : shape.tuple_shapes()) {
    if (!element.IsArray()) return std::nullopt;
    shapes.push_back(&element);
  }
  return shapes;
}

// Emits computations into one function. Every Emit… returns false, or nothing, for what has no native form; the
// function is useless then.
class LoopEmitter {
 public:
  LoopEmitter(llvm::Function* function, const CodeTarget& target, const NumberOptions& numbers)
      : ir_(llvm::BasicBlock::Create(function->getContext(), "entry", function)),
        function_(function),
        lanes_(ir_, 1, target, numbers) {
    SetNumberOptions(numbers, ir_);
  }

  // The function's whole body for this loop.
  bool EmitFunction(const HloInstruction& loop, NativeLoop* result);

 private:
  using Values = absl::flat_hash_map<const HloInstruction*, Parts>;

  std::optional<Parts> EmitComputation(const HloComputation& computation, const Parts& arguments);
  std::optional<Parts> Emit(const HloInstruction& instruction, const Parts& arguments, const Values& values);
  std::optional<Parts> EmitLoop(const HloInstruction& loop, const Parts& initial);
  std::optional<Parts> EmitConditional(const HloInstruction& conditional, const Values& values);
  std::optional<Parts> EmitArray(const HloInstruction& instruction, const Values& values);
  std::optional<Parts> EmitOnMemory(const HloInstruction& instruction, const Part& memory, const Values& values);
  std::optional<Parts> ReadSlice(const HloInstruction& slice, const Part& memory, const Values& values);
  std::optional<Parts> ReadStaticSlice(const HloInstruction& slice, const Part& memory, const Values& values);
  std::optional<Parts> WriteSlice(const HloInstruction& update, const Part& memory, const Values& values);
  std::optional<Parts> ReadWindows(const HloInstruction& gather, const Part& memory, const Values& values);
  std::optional<Parts> WriteWindows(const HloInstruction& scatter, const Part& memory, const Values& values);
  std::optional<Parts> KeepMemory(const HloInstruction& instruction, const Part& memory, const Values& values);
  std::vector<llvm::Value*> IndicesOf(const HloInstruction& instruction, int first_start, const Shape& slice,
                                      const Values& values);

  bool IsCurrent(const Part& part) const { return part.memory == nullptr || versions_.at(part.memory) == part.version; }
  Part Written(const Part& part) { return {nullptr, part.memory, versions_[part.memory] = ++writes_}; }
  bool JoinBranch(const Parts& parts, llvm::BasicBlock* end, unsigned count, Parts* result);
  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(function_->getContext(), name, function_);
  }
  void ReturnIf(llvm::Value* condition, int32_t result);
  void EmitChecks(llvm::Value* iteration, int32_t loop);

  llvm::IRBuilder<> ir_;
  llvm::Function* function_;
  LaneBuilder lanes_;
  using Versions = absl::flat_hash_map<llvm::Value*, int64_t>;
  Versions versions_;   // of each memory, now
  int64_t writes_ = 0;  // so far: a number is never used again
  std::vector<const HloInstruction*> loops_;
  int64_t instructions_ = 0;
  int nested_ = 0;
};

std::optional<Parts> LoopEmitter::EmitComputation(const HloComputation& computation, const Parts& arguments) {
  instructions_ += computation.instruction_count();
  if (computation.num_parameters() != 1 || instructions_ > kMostInstructions || nested_ >= kMostNested) {
    return std::nullopt;
  }
  ++nested_;
  Values values;
  const buffers::InPlaceOrder order =
      buffers::OrderUsesBeforeInPlaceUpdates(computation.MakeInstructionPostOrder(), computation.root_instruction());
  for (const HloInstruction* instruction : order.order) {
    if (instruction->HasControlDependencies()) return std::nullopt;
    std::optional<Parts> parts = Emit(*instruction, arguments, values);
    if (!parts.has_value()) return std::nullopt;
    values[instruction] = *std::move(parts);
  }
  --nested_;
  return values.at(computation.root_instruction());
}

std::optional<Parts> LoopEmitter::Emit(const HloInstruction& instruction, const Parts& arguments,
                                       const Values& values) {
  if (instruction.opcode() == HloOpcode::kParameter) return arguments;
  if (instruction.opcode() == HloOpcode::kWhile) return EmitLoop(instruction, values.at(instruction.operand(0)));
  if (instruction.opcode() == HloOpcode::kConditional) return EmitConditional(instruction, values);
  if (instruction.opcode() == HloOpcode::kOptimizationBarrier) return values.at(instruction.operand(0));
  if (instruction.opcode() == HloOpcode::kGetTupleElement) {
    return Parts{values.at(instruction.operand(0))[instruction.tuple_index()]};
  }
  if (instruction.opcode() != HloOpcode::kTuple) return EmitArray(instruction, values);
  if (!PartShapes(instruction.shape()).has_value()) return std::nullopt;
  Parts parts;
  for (const HloInstruction* operand : instruction.operands()) parts.push_back(values.at(operand)[0]);
  return parts;
}

std::optional<Parts> LoopEmitter::EmitArray(const HloInstruction& instruction, const Values& values) {
  if (!instruction.shape().IsArray()) return std::nullopt;
  std::vector<llvm::Value*> operands;
  for (const HloInstruction* operand : instruction.operands()) {
    const Part& part = values.at(operand)[0];
    operands.push_back(part.registers);
    if (part.memory == nullptr) continue;
    if (operands.size() > 1 || !IsCurrent(part)) return std::nullopt;
    return EmitOnMemory(instruction, part, values);
  }
  if (!CanEmitSmallArray(instruction)) return std::nullopt;
  llvm::Value* value = EmitSmallArray(lanes_, instruction, operands);
  return value == nullptr ? std::nullopt : std::make_optional(Parts{{value}});
}

// Emits an operation whose first operand is in memory, and has not been written since. All others are in registers.
std::optional<Parts> LoopEmitter::EmitOnMemory(const HloInstruction& instruction, const Part& memory,
                                               const Values& values) {
  using Emitter = std::optional<Parts> (LoopEmitter::*)(const HloInstruction&, const Part&, const Values&);
  static constexpr std::pair<HloOpcode, Emitter> kEmitters[] = {
      {HloOpcode::kDynamicSlice, &LoopEmitter::ReadSlice}, {HloOpcode::kSlice, &LoopEmitter::ReadStaticSlice},
      {HloOpcode::kGather, &LoopEmitter::ReadWindows},     {HloOpcode::kDynamicUpdateSlice, &LoopEmitter::WriteSlice},
      {HloOpcode::kScatter, &LoopEmitter::WriteWindows},   {HloOpcode::kReshape, &LoopEmitter::KeepMemory},
      {HloOpcode::kCopy, &LoopEmitter::KeepMemory},
  };
  for (int64_t i = 1; i < instruction.operand_count(); ++i) {
    if (values.at(instruction.operand(i))[0].registers == nullptr) return std::nullopt;
  }
  for (const auto& [opcode, emitter] : kEmitters) {
    if (opcode == instruction.opcode()) return (this->*emitter)(instruction, memory, values);
  }
  return std::nullopt;
}

std::vector<llvm::Value*> LoopEmitter::IndicesOf(const HloInstruction& instruction, int first_start, const Shape& slice,
                                                 const Values& values) {
  std::vector<llvm::Value*> starts;
  for (int i = first_start; i < instruction.operand_count(); ++i) {
    starts.push_back(values.at(instruction.operand(i))[0].registers);
  }
  const PrimitiveType type = starts.empty() ? S32 : instruction.operand(first_start)->shape().element_type();
  return SliceIndices(lanes_, instruction.operand(0)->shape().dimensions(), slice.dimensions(), starts, type);
}

std::optional<Parts> LoopEmitter::ReadSlice(const HloInstruction& slice, const Part& memory, const Values& values) {
  if (!IsSmallArray(slice.shape()) || !HasStartsOfOneType(slice, 1) ||
      slice.shape().element_type() != slice.operand(0)->shape().element_type()) {
    return std::nullopt;
  }
  const std::vector<llvm::Value*> indices = IndicesOf(slice, 1, slice.shape(), values);
  return Parts{{LoadSmallElements(lanes_, slice.shape(), memory.memory, indices)}};
}

std::optional<Parts> LoopEmitter::ReadStaticSlice(const HloInstruction& slice, const Part& memory, const Values&) {
  const Shape& array = slice.operand(0)->shape();
  if (!IsSmallArray(slice.shape()) || slice.shape().element_type() != array.element_type()) return std::nullopt;
  const DimensionVector strides = evaluator::RowMajorStrides(array.dimensions());
  std::vector<llvm::Value*> indices;
  for (int64_t i = 0; i < ShapeUtil::ElementsIn(slice.shape()); ++i) {
    const std::vector<int64_t> coordinates = SmallCoordinates(i, slice.shape().dimensions());
    int64_t index = 0;
    for (size_t d = 0; d < coordinates.size(); ++d) {
      index += (slice.slice_starts(d) + coordinates[d] * slice.slice_strides(d)) * strides[d];
    }
    indices.push_back(ir_.getInt64(index));
  }
  return Parts{{LoadSmallElements(lanes_, slice.shape(), memory.memory, indices)}};
}

std::optional<Parts> LoopEmitter::WriteSlice(const HloInstruction& update, const Part& memory, const Values& values) {
  const Shape& slice = update.operand(1)->shape();
  if (!HasStartsOfOneType(update, 2) || slice.element_type() != update.shape().element_type()) return std::nullopt;
  const std::vector<llvm::Value*> indices = IndicesOf(update, 2, slice, values);
  StoreSmallElements(lanes_, slice, values.at(update.operand(1))[0].registers, memory.memory, indices);
  return Parts{Written(memory)};
}

std::optional<Parts> LoopEmitter::ReadWindows(const HloInstruction& gather, const Part& memory, const Values& values) {
  if (!CanEmitSmallGather(gather)) return std::nullopt;
  llvm::Value* indices = values.at(gather.operand(1))[0].registers;
  return Parts{{EmitGatherFromMemory(lanes_, gather, memory.memory, indices)}};
}

std::optional<Parts> LoopEmitter::WriteWindows(const HloInstruction& scatter, const Part& memory,
                                               const Values& values) {
  if (!CanEmitSmallScatter(scatter)) return std::nullopt;
  EmitScatterToMemory(lanes_, scatter, memory.memory, values.at(scatter.operand(1))[0].registers,
                      values.at(scatter.operand(2))[0].registers);
  return Parts{Written(memory)};
}

std::optional<Parts> LoopEmitter::KeepMemory(const HloInstruction& instruction, const Part& memory, const Values&) {
  if (instruction.shape().element_type() != instruction.operand(0)->shape().element_type()) return std::nullopt;
  return Parts{memory};
}

void LoopEmitter::ReturnIf(llvm::Value* condition, int32_t result) {
  llvm::BasicBlock *leave = NewBlock("leave"), *stay = NewBlock("stay");
  ir_.CreateCondBr(condition, leave, stay);
  ir_.SetInsertPoint(leave);
  ir_.CreateRet(ir_.getInt32(result));
  ir_.SetInsertPoint(stay);
}

// Leaves the function if the iteration is one too many, or the caller wants no more.
void LoopEmitter::EmitChecks(llvm::Value* iteration, int32_t loop) {
  llvm::Argument *most = function_->getArg(1), *go_on = function_->getArg(2), *context = function_->getArg(3);
  // As an unsigned number, a negative limit is never reached.
  ReturnIf(ir_.CreateICmpUGE(iteration, most), kLoopIsTooLong + loop);
  llvm::BasicBlock *ask = NewBlock("ask"), *after = NewBlock("after");
  llvm::Value* rest = ir_.CreateAnd(iteration, kIterationsBetweenCalls - 1);
  ir_.CreateCondBr(ir_.CreateICmpEQ(rest, ir_.getInt64(kIterationsBetweenCalls - 1)), ask, after);
  ir_.SetInsertPoint(ask);
  llvm::FunctionType* type = llvm::FunctionType::get(ir_.getInt1Ty(), {ir_.getPtrTy()}, /*isVarArg=*/false);
  llvm::CallInst* goes_on = ir_.CreateCall(type, go_on, {context});
  goes_on->addRetAttr(llvm::Attribute::ZExt);
  ReturnIf(ir_.CreateNot(goes_on), kLoopIsStopped);
  ir_.CreateBr(after);
  ir_.SetInsertPoint(after);
}

//  before:  …
//  head:    state = phi(before: initial, end of the body: next);  iteration = phi(0, iteration + 1)
//           condition(state) ? body : exit
//  body:    checks;  next = body(state);  back to head
//  exit:    …
std::optional<Parts> LoopEmitter::EmitLoop(const HloInstruction& loop, const Parts& initial) {
  const std::optional<std::vector<const Shape*>> shapes = PartShapes(loop.shape());
  if (!shapes.has_value()) return std::nullopt;
  const int32_t number = static_cast<int32_t>(loops_.size());
  loops_.push_back(&loop);
  llvm::BasicBlock *before = ir_.GetInsertBlock(), *head = NewBlock("head"), *body = NewBlock("body");
  llvm::BasicBlock* exit = NewBlock("exit");
  ir_.CreateBr(head);
  ir_.SetInsertPoint(head);
  llvm::PHINode* iteration = ir_.CreatePHI(ir_.getInt64Ty(), 2, "iteration");
  iteration->addIncoming(ir_.getInt64(0), before);
  Parts state = initial;
  std::vector<llvm::PHINode*> phis;
  for (Part& part : state) {
    if (!IsCurrent(part)) return std::nullopt;
    if (part.registers == nullptr) continue;
    phis.push_back(ir_.CreatePHI(part.registers->getType(), 2));
    phis.back()->addIncoming(part.registers, before);
    part.registers = phis.back();
  }
  const auto versions = versions_;
  const std::optional<Parts> goes_on = EmitComputation(*loop.while_condition(), state);
  if (!goes_on.has_value() || (*goes_on)[0].registers == nullptr || versions_ != versions) return std::nullopt;
  ir_.CreateCondBr((*goes_on)[0].registers, body, exit);

  ir_.SetInsertPoint(body);
  EmitChecks(iteration, number);
  const std::optional<Parts> next = EmitComputation(*loop.while_body(), state);
  if (!next.has_value()) return std::nullopt;
  llvm::BasicBlock* end = ir_.GetInsertBlock();
  iteration->addIncoming(ir_.CreateAdd(iteration, ir_.getInt64(1)), end);
  size_t phi = 0;
  for (size_t i = 0; i < state.size(); ++i) {
    if (state[i].memory != (*next)[i].memory || !IsCurrent((*next)[i])) return std::nullopt;
    state[i].version = (*next)[i].version;
    if (state[i].memory != nullptr) continue;
    phis[phi++]->addIncoming((*next)[i].registers, end);
  }
  ir_.CreateBr(head);
  ir_.SetInsertPoint(exit);
  return state;
}

// A switch over the branches, whose results meet in phis.
std::optional<Parts> LoopEmitter::EmitConditional(const HloInstruction& conditional, const Values& values) {
  const std::optional<std::vector<const Shape*>> shapes = PartShapes(conditional.shape());
  if (!shapes.has_value()) return std::nullopt;
  const int count = conditional.branch_count();
  llvm::Value* selector = values.at(conditional.operand(0))[0].registers;
  if (selector == nullptr) return std::nullopt;
  const bool is_pred = selector->getType()->isIntegerTy(1);
  std::vector<llvm::BasicBlock*> begins;
  for (int i = 0; i < count; ++i) begins.push_back(NewBlock("branch"));
  llvm::BasicBlock* after = NewBlock("after");
  // True is branch 0; an index that is out of range means the last branch.
  llvm::SwitchInst* choice = ir_.CreateSwitch(selector, begins.back(), count);
  for (int i = 0; i + 1 < count; ++i) {
    choice->addCase(is_pred ? ir_.getInt1(i == 0) : ir_.getInt32(static_cast<uint32_t>(i)), begins[i]);
  }
  const Versions before = versions_;
  Versions written;  // by any branch
  Parts result;
  for (int i = 0; i < count; ++i) {
    ir_.SetInsertPoint(begins[i]);
    versions_ = before;
    const std::optional<Parts> parts =
        EmitComputation(*conditional.branch_computation(i), values.at(conditional.operand(1 + i)));
    if (!parts.has_value()) return std::nullopt;
    llvm::BasicBlock* end = ir_.GetInsertBlock();
    ir_.CreateBr(after);
    ir_.SetInsertPoint(after);
    if (!JoinBranch(*parts, end, static_cast<unsigned>(count), &result)) return std::nullopt;
    for (const auto& [memory, version] : versions_) {
      if (version != before.at(memory)) written[memory] = version;
    }
  }
  versions_ = before;
  for (auto& [memory, version] : written) versions_[memory] = ++writes_;
  for (Part& part : result) {
    if (part.memory != nullptr) part.version = versions_.at(part.memory);
  }
  return result;
}

// Adds the results of a branch to the phis of the result; the first branch makes them. Memory must be the same for all
// branches, and each must leave its last value there.
bool LoopEmitter::JoinBranch(const Parts& parts, llvm::BasicBlock* end, unsigned count, Parts* result) {
  const bool is_first = result->empty();
  for (size_t k = 0; k < parts.size(); ++k) {
    const Part& part = parts[k];
    if (!IsCurrent(part)) return false;
    if (is_first) {
      const bool is_memory = part.registers == nullptr;
      result->push_back(is_memory ? part : Part{ir_.CreatePHI(part.registers->getType(), count)});
    }
    if ((*result)[k].memory != part.memory) return false;
    if (part.memory == nullptr) llvm::cast<llvm::PHINode>((*result)[k].registers)->addIncoming(part.registers, end);
  }
  return true;
}

bool LoopEmitter::EmitFunction(const HloInstruction& loop, NativeLoop* result) {
  const std::optional<std::vector<const Shape*>> shapes = PartShapes(loop.shape());
  if (!shapes.has_value()) return false;
  std::vector<llvm::Value*> memory;
  Parts initial;
  for (size_t i = 0; i < shapes->size(); ++i) {
    const Shape& shape = *(*shapes)[i];
    llvm::Value* address = ir_.CreateConstInBoundsGEP1_64(ir_.getPtrTy(), function_->getArg(0), i);
    memory.push_back(ir_.CreateLoad(ir_.getPtrTy(), address));
    if (IsSmallArray(shape)) {
      initial.push_back({LoadSmallArray(lanes_, shape, memory[i])});
    } else {
      if (!passes::IsPlainArray(shape)) return false;
      initial.push_back({nullptr, memory[i]});
      versions_[memory[i]] = 0;
    }
  }
  const std::optional<Parts> final = EmitLoop(loop, initial);
  if (!final.has_value()) return false;
  for (size_t i = 0; i < shapes->size(); ++i) {
    const Part& part = (*final)[i];
    if (part.memory == nullptr) StoreSmallArray(lanes_, *(*shapes)[i], part.registers, memory[i]);
    result->is_written.push_back(part.memory == nullptr || part.version > 0);
  }
  ir_.CreateRet(ir_.getInt32(kLoopIsDone));
  result->loops = loops_;
  return true;
}

}  // namespace

absl::StatusOr<std::optional<NativeLoop>> TryEmitNativeLoop(const HloInstruction& loop, const std::string& name,
                                                            const NumberOptions& numbers, CodeModule& module) {
  llvm::LLVMContext& context = module.context();
  llvm::Type *pointer = llvm::PointerType::getUnqual(context), *integer = llvm::Type::getInt64Ty(context);
  llvm::FunctionType* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context),
                                                     {pointer, integer, pointer, pointer}, /*isVarArg=*/false);
  llvm::Function* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module.module());
  NativeLoop result;
  result.name = name;
  result.work_of_iteration = loop.while_body()->instruction_count() + loop.while_condition()->instruction_count();
  if (!LoopEmitter(function, module.target(), numbers).EmitFunction(loop, &result)) {
    EraseFunction(*function);
    return std::nullopt;
  }
  KASHI_RETURN_IF_ERROR(VerifyOrErase(*function));
  return result;
}

}  // namespace kashi::codegen
