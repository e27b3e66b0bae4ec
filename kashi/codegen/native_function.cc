#include "kashi/codegen/native_function.h"

#include <algorithm>
#include <utility>

#include <llvm/IR/Module.h>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/numeric/bits.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/codegen/lane_builder.h"
#include "kashi/codegen/linear_algebra.h"
#include "kashi/codegen/small_array.h"
#include "kashi/codegen/small_computation.h"
#include "kashi/codegen/small_dot.h"
#include "kashi/codegen/small_sort.h"
#include "kashi/evaluator/work.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::codegen {
namespace {

using buffers::BufferStep;

constexpr int64_t kMostInstructions = 6000;            // of one function
constexpr int64_t kMostOwnBytes = 512;                 // of an array that is a variable
constexpr int64_t kMostFrameBytes = int64_t{1} << 16;  // of all variables
constexpr int64_t kMostCopiedBytes = int64_t{1} << 16;
constexpr int64_t kMostKernelWork = 32768;    // element operations: some 10 microseconds
constexpr int64_t kWorkBetweenCalls = 65536;  // of GoOnFunction

// In registers. An array that it updates in memory must be where the kernel would expect it.
bool IsSmallFusion(const HloComputation& fused, const Kernel* kernel) {
  if (!CanEmitSmallComputation(fused)) return false;
  const int64_t updated = UpdatedParameter(fused);
  return updated < 0 || (kernel != nullptr && kernel->updated_operand == updated);
}

bool IsNativeInstruction(const BufferStep& step, FindKernel find_kernel) {
  const HloInstruction& instruction = *step.instruction;
  if (const std::optional<kernels::LinearAlgebraCall> call = LinearAlgebraCallOf(instruction)) {
    return SaturatingMultiply(call->batch, call->WorkOfMatrix()) <= kMostKernelWork;
  }
  if (instruction.opcode() != HloOpcode::kFusion) {
    return CanEmitAlone(instruction) || CanEmitLoopDot(instruction) || CanEmitSmallSort(instruction);
  }
  const Kernel* const kernel = find_kernel(instruction);
  const HloComputation& fused = *instruction.fused_instructions_computation();
  if (IsSmallFusion(fused, kernel)) return true;
  return kernel != nullptr && kernel->Work() <= kMostKernelWork;
}

// The number of bytes of a variable for an array of this many: that of a vector with a power of two of lanes.
int64_t PaddedBytes(int64_t bytes) { return static_cast<int64_t>(absl::bit_ceil(static_cast<uint64_t>(bytes))); }

// Emits steps into one function. Every Emit… returns false for what turns out to be too large; the function is useless
// then.
class FunctionEmitter {
 public:
  FunctionEmitter(llvm::Function* function, const buffers::BufferAssignment& assignment,
                  const std::vector<bool>& is_own, FindKernel find_kernel, CodeModule& module,
                  const NumberOptions& numbers)
      : assignment_(assignment),
        is_own_(is_own),
        find_kernel_(find_kernel),
        module_(module),
        function_(function),
        ir_(NewBlock("entry")),
        lanes_(ir_, 1, module.target(), numbers),
        at_entry_(ir_.GetInsertBlock()) {
    SetNumberOptions(numbers, ir_);
    llvm::BasicBlock* const start = NewBlock("start");
    at_entry_.SetInsertPoint(ir_.CreateBr(start));
    ir_.SetInsertPoint(start);
  }

  bool EmitFunction(absl::Span<const BufferStep> steps, NativeFunction* result);

 private:
  // ---- Buffers
  bool IsVariable(int buffer) const {
    const buffers::Buffer& b = assignment_.buffers[buffer];
    return is_own_[buffer] && b.bytes > 0 && PaddedBytes(b.bytes) <= kMostOwnBytes;
  }
  llvm::Value* Address(int buffer);
  llvm::Value* PointerVariable(int buffer);
  SmallOperand Operand(const Shape& shape, int buffer);
  llvm::Value* Load(const Shape& shape, int buffer);
  void Store(const Shape& shape, llvm::Value* value, int buffer);
  void Copy(int from, int to);
  llvm::Value* LoadBytes(int buffer, int64_t bytes);
  void StoreBytes(llvm::Value* value, int buffer, int64_t bytes);

  // ---- Steps
  bool EmitSequence(absl::Span<const BufferStep> steps);
  bool EmitStep(const BufferStep& step);
  bool EmitInstruction(const BufferStep& step);
  bool EmitFusion(const BufferStep& step);
  void EmitKernelCall(const BufferStep& step, const Kernel& kernel);
  void EmitSort(const BufferStep& step);
  llvm::Value* PointerTable(absl::Span<const int> buffers);
  llvm::Value* OperandTable(const BufferStep& step);
  bool EmitWhile(const BufferStep& step);
  bool EmitConditional(const BufferStep& step);
  std::vector<SmallOperand> Operands(const BufferStep& step, int64_t updated);
  void StoreResults(const BufferStep& step, const Shape& shape, const std::vector<llvm::Value*>& values);

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(function_->getContext(), name, function_);
  }
  llvm::Value* Variable(llvm::Type* type) {
    llvm::AllocaInst* const memory = at_entry_.CreateAlloca(type);
    memory->setAlignment(llvm::Align(64));
    return memory;
  }
  void ReturnIf(llvm::Value* condition, int32_t result);
  void EmitGoOn(int64_t work);

  const buffers::BufferAssignment& assignment_;
  const std::vector<bool>& is_own_;
  FindKernel find_kernel_;
  CodeModule& module_;
  llvm::Function* function_;
  llvm::IRBuilder<> ir_;
  LaneBuilder lanes_;
  llvm::IRBuilder<> at_entry_;  // before the branch from the entry
  absl::flat_hash_map<int, llvm::Value*> addresses_;
  absl::flat_hash_map<int, llvm::Value*> pointers_;  // of buffers that a loop swaps: where their address is
  llvm::Value* spent_ = nullptr;                     // work since the last call of GoOnFunction
  std::vector<int> buffers_;
  std::vector<const HloInstruction*> loops_;
  int64_t instructions_ = 0, frame_bytes_ = 0, work_ = 0, outer_loops_ = 0, loop_depth_ = 0;
};

// ---- Buffers -------------------------------------------------------------------------------------------------------

llvm::Value* FunctionEmitter::Address(int buffer) {
  if (const auto pointer = pointers_.find(buffer); pointer != pointers_.end()) {
    return ir_.CreateLoad(ir_.getPtrTy(), pointer->second);
  }
  llvm::Value*& address = addresses_[buffer];
  if (address != nullptr) return address;
  if (IsVariable(buffer)) {
    const int64_t bytes = PaddedBytes(assignment_.buffers[buffer].bytes);
    frame_bytes_ += bytes;
    llvm::Type* const type = llvm::ArrayType::get(ir_.getInt8Ty(), static_cast<uint64_t>(bytes));
    address = Variable(type);
    // Lanes beyond the last element must be defined.
    at_entry_.CreateMemSet(address, ir_.getInt8(0), static_cast<uint64_t>(bytes), llvm::Align(64));
    return address;
  }
  llvm::Value* const place =
      at_entry_.CreateConstInBoundsGEP1_64(ir_.getPtrTy(), function_->getArg(0), buffers_.size());
  buffers_.push_back(buffer);
  return address = at_entry_.CreateLoad(ir_.getPtrTy(), place);
}

llvm::Value* FunctionEmitter::Load(const Shape& shape, int buffer) {
  const buffers::Buffer& b = assignment_.buffers[buffer];
  if (b.home == buffers::Home::kConstant) {
    const HloInstruction& constant = *assignment_.constants[b.number];
    if (CanEmitSmallArray(constant) && constant.shape().element_type() == shape.element_type()) {
      return EmitSmallArray(lanes_, constant, {});
    }
  }
  const LaneBuilder small = SmallLanes(lanes_, shape);
  llvm::Value* const address = Address(buffer);
  if (!IsVariable(buffer) && small.lanes() != ShapeUtil::ElementsIn(shape)) {
    return LoadSmallArray(lanes_, shape, address);
  }
  return small.lanes() == 1
             ? small.LoadScalar(shape.element_type(), address, ir_.getInt64(0), /*is_invariant=*/false)
             : small.LoadConsecutive(shape.element_type(), address, ir_.getInt64(0), /*is_invariant=*/false);
}

void FunctionEmitter::Store(const Shape& shape, llvm::Value* value, int buffer) {
  const LaneBuilder small = SmallLanes(lanes_, shape);
  if (!IsVariable(buffer) && small.lanes() != ShapeUtil::ElementsIn(shape)) {
    return StoreSmallArray(lanes_, shape, value, Address(buffer));
  }
  small.StoreConsecutive(shape.element_type(), value, Address(buffer), ir_.getInt64(0));
}

SmallOperand FunctionEmitter::Operand(const Shape& shape, int buffer) {
  return IsSmallArray(shape) ? SmallOperand{Load(shape, buffer)} : SmallOperand{nullptr, Address(buffer)};
}

// The bytes of a buffer as a vector of integers that fills a variable. LLVM sees through the change of type.
llvm::Value* FunctionEmitter::LoadBytes(int buffer, int64_t bytes) {
  const int64_t padded = PaddedBytes(bytes);
  const int64_t word = std::min<int64_t>(8, bytes & -bytes);
  llvm::Type* const integer = ir_.getIntNTy(static_cast<unsigned>(8 * word));
  llvm::Type* const vector = llvm::FixedVectorType::get(integer, static_cast<unsigned>(padded / word));
  llvm::Value* const address = Address(buffer);
  if (IsVariable(buffer) && PaddedBytes(assignment_.buffers[buffer].bytes) == padded) {
    return ir_.CreateAlignedLoad(vector, address, llvm::Align(1));
  }
  llvm::Value* value = llvm::Constant::getNullValue(vector);
  for (int64_t i = 0; i * word < bytes; ++i) {
    llvm::Value* const place = ir_.CreateConstInBoundsGEP1_64(integer, address, static_cast<uint64_t>(i));
    value =
        ir_.CreateInsertElement(value, ir_.CreateAlignedLoad(integer, place, llvm::Align(1)), static_cast<uint64_t>(i));
  }
  return value;
}

void FunctionEmitter::StoreBytes(llvm::Value* value, int buffer, int64_t bytes) {
  llvm::Value* const address = Address(buffer);
  if (IsVariable(buffer) && PaddedBytes(assignment_.buffers[buffer].bytes) == PaddedBytes(bytes)) {
    ir_.CreateAlignedStore(value, address, llvm::Align(1));
    return;
  }
  llvm::Type* const integer = value->getType()->getScalarType();
  const int64_t word = integer->getIntegerBitWidth() / 8;
  for (int64_t i = 0; i * word < bytes; ++i) {
    llvm::Value* const place = ir_.CreateConstInBoundsGEP1_64(integer, address, static_cast<uint64_t>(i));
    ir_.CreateAlignedStore(ir_.CreateExtractElement(value, static_cast<uint64_t>(i)), place, llvm::Align(1));
  }
}

void FunctionEmitter::Copy(int from, int to) {
  const int64_t bytes = assignment_.buffers[to].bytes;
  if (bytes == 0) return;
  if (IsVariable(from) || IsVariable(to)) return StoreBytes(LoadBytes(from, bytes), to, bytes);
  ir_.CreateMemCpy(Address(to), llvm::Align(1), Address(from), llvm::Align(1), static_cast<uint64_t>(bytes));
}

// ---- Instructions --------------------------------------------------------------------------------------------------

// updated: the operand whose elements are in the memory of result 0; -1: none.
std::vector<SmallOperand> FunctionEmitter::Operands(const BufferStep& step, int64_t updated) {
  std::vector<SmallOperand> operands;
  for (int64_t i = 0; i < step.instruction->operand_count(); ++i) {
    const int buffer = i == updated ? step.results[0] : step.operands[i][0];
    operands.push_back(Operand(step.instruction->operand(i)->shape(), buffer));
  }
  return operands;
}

void FunctionEmitter::StoreResults(const BufferStep& step, const Shape& shape,
                                   const std::vector<llvm::Value*>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == nullptr) continue;  // in memory already
    Store(shape.IsTuple() ? shape.tuple_shapes(static_cast<int>(i)) : shape, values[i], step.results[i]);
  }
}

bool FunctionEmitter::EmitInstruction(const BufferStep& step) {
  const HloInstruction& instruction = *step.instruction;
  if (instruction.opcode() == HloOpcode::kFusion) return EmitFusion(step);
  work_ = SaturatingAdd(work_, evaluator::WorkOf(instruction));
  if (const std::optional<kernels::LinearAlgebraCall> call = LinearAlgebraCallOf(instruction)) {
    EmitLinearAlgebra(*call, OperandTable(step), PointerTable(step.results), ir_, module_);
    return true;
  }
  if (CanEmitSmallSort(instruction)) {
    EmitSort(step);
    return true;
  }
  if (!CanEmitAlone(instruction)) {
    EmitLoopDot(lanes_, instruction, Address(step.operands[0][0]), Address(step.operands[1][0]),
                Address(step.results[0]));
    return true;
  }
  const bool is_update =
      instruction.opcode() == HloOpcode::kDynamicUpdateSlice || instruction.opcode() == HloOpcode::kScatter;
  llvm::Value* value = nullptr;
  if (!EmitAlone(lanes_, instruction, Operands(step, is_update ? 0 : -1), &value)) return false;
  StoreResults(step, instruction.shape(), {value});
  return true;
}

bool FunctionEmitter::EmitFusion(const BufferStep& step) {
  const HloComputation& fused = *step.instruction->fused_instructions_computation();
  const Kernel* const kernel = find_kernel_(*step.instruction);
  if (!IsSmallFusion(fused, kernel)) {
    EmitKernelCall(step, *kernel);
    return true;
  }
  instructions_ += fused.instruction_count();
  for (const HloInstruction* instruction : fused.instructions()) {
    work_ = SaturatingAdd(work_, ShapeUtil::ElementsInRecursive(instruction->shape()));
  }
  std::vector<llvm::Value*> values;
  const int64_t updated = kernel == nullptr ? -1 : kernel->updated_operand;
  if (!EmitSmallComputation(lanes_, fused, Operands(step, updated), &values)) return false;
  StoreResults(step, step.instruction->shape(), values);
  return true;
}

void FunctionEmitter::EmitSort(const BufferStep& step) {
  std::vector<llvm::Value*> arrays;
  for (size_t i = 0; i < step.results.size(); ++i) {
    if (step.operands[i][0] != step.results[i]) Copy(step.operands[i][0], step.results[i]);
    arrays.push_back(Address(step.results[i]));
  }
  EmitSmallSort(lanes_, *step.instruction, arrays);
}

// Memory of the frame with the addresses of these buffers.
llvm::Value* FunctionEmitter::PointerTable(absl::Span<const int> buffers) {
  llvm::Value* const table = Variable(llvm::ArrayType::get(ir_.getPtrTy(), buffers.size()));
  for (size_t i = 0; i < buffers.size(); ++i) {
    ir_.CreateStore(Address(buffers[i]), ir_.CreateConstInBoundsGEP1_64(ir_.getPtrTy(), table, i));
  }
  return table;
}

llvm::Value* FunctionEmitter::OperandTable(const BufferStep& step) {
  std::vector<int> operands;
  for (const buffers::Leaves& operand : step.operands) operands.insert(operands.end(), operand.begin(), operand.end());
  return PointerTable(operands);
}

// The kernel is not inlined: its loads are marked as invariant, which holds for one call.
void FunctionEmitter::EmitKernelCall(const BufferStep& step, const Kernel& kernel) {
  llvm::Type *pointer = ir_.getPtrTy(), *integer = ir_.getInt64Ty();
  llvm::FunctionType* const type =
      llvm::FunctionType::get(ir_.getVoidTy(), {pointer, pointer, integer, integer, integer, integer}, false);
  const llvm::FunctionCallee callee = module_.module().getOrInsertFunction(kernel.name, type);
  llvm::CallInst* const call =
      ir_.CreateCall(callee, {OperandTable(step), PointerTable(step.results), ir_.getInt64(0),
                              ir_.getInt64(static_cast<uint64_t>(kernel.rows)), ir_.getInt64(0),
                              ir_.getInt64(static_cast<uint64_t>(kernel.columns))});
  call->setIsNoInline();
  work_ = SaturatingAdd(work_, kernel.Work());
}

// ---- Control flow --------------------------------------------------------------------------------------------------

void FunctionEmitter::ReturnIf(llvm::Value* condition, int32_t result) {
  llvm::BasicBlock *leave = NewBlock("leave"), *stay = NewBlock("stay");
  ir_.CreateCondBr(condition, leave, stay);
  ir_.SetInsertPoint(leave);
  ir_.CreateRet(ir_.getInt32(static_cast<uint32_t>(result)));
  ir_.SetInsertPoint(stay);
}

// At the end of an iteration of this much work, without that of the loops in it: leaves the function if the caller
// wants no more. All loops count together, so that nested ones with few iterations each ask often enough.
void FunctionEmitter::EmitGoOn(int64_t work) {
  if (spent_ == nullptr) {
    spent_ = Variable(ir_.getInt64Ty());
    at_entry_.CreateStore(ir_.getInt64(0), spent_);
  }
  llvm::Value* const spent =
      ir_.CreateAdd(ir_.CreateLoad(ir_.getInt64Ty(), spent_), ir_.getInt64(static_cast<uint64_t>(work)));
  ir_.CreateStore(spent, spent_);
  llvm::BasicBlock *ask = NewBlock("ask"), *after = NewBlock("after");
  ir_.CreateCondBr(ir_.CreateICmpUGE(spent, ir_.getInt64(kWorkBetweenCalls)), ask, after);
  ir_.SetInsertPoint(ask);
  llvm::FunctionType* const type =
      llvm::FunctionType::get(ir_.getInt1Ty(), {ir_.getPtrTy(), ir_.getInt64Ty()}, /*isVarArg=*/false);
  llvm::CallInst* const goes_on = ir_.CreateCall(type, function_->getArg(2), {function_->getArg(3), spent});
  goes_on->addRetAttr(llvm::Attribute::ZExt);
  ir_.CreateStore(ir_.getInt64(0), spent_);
  ReturnIf(ir_.CreateNot(goes_on), kFunctionIsStopped);
  ir_.CreateBr(after);
  ir_.SetInsertPoint(after);
}

// Where the address of a buffer is that a loop swaps with another.
llvm::Value* FunctionEmitter::PointerVariable(int buffer) {
  const auto known = pointers_.find(buffer);
  if (known != pointers_.end()) return known->second;
  llvm::Value* const address = Address(buffer);
  llvm::Value* const variable = Variable(ir_.getPtrTy());
  at_entry_.CreateStore(address, variable);
  return pointers_[buffer] = variable;
}

//  head:  the condition's steps;  selector ? body : exit
//  body:  the limit of iterations;  the body's steps;  may it go on?  swaps, or copies of small arrays;  back to head
//  exit:  states that are in the memory of others go back to their own
bool FunctionEmitter::EmitWhile(const BufferStep& step) {
  const int32_t number = static_cast<int32_t>(loops_.size());
  loops_.push_back(step.instruction);
  outer_loops_ += loop_depth_ == 0 ? 1 : 0;
  ++loop_depth_;
  std::vector<BufferStep::Move> swapped;
  for (const BufferStep::Move& swap : step.swaps) {
    if (IsVariable(swap.from) || IsVariable(swap.to) || assignment_.buffers[swap.to].bytes <= kMostOwnBytes) continue;
    PointerVariable(swap.from);
    PointerVariable(swap.to);
    swapped.push_back(swap);
  }
  llvm::Value* const iteration = Variable(ir_.getInt64Ty());
  ir_.CreateStore(ir_.getInt64(0), iteration);
  std::vector<llvm::Value*> own;
  for (const BufferStep::Move& swap : swapped) own.push_back(Address(swap.to));
  llvm::BasicBlock *head = NewBlock("head"), *body = NewBlock("body"), *exit = NewBlock("exit");
  ir_.CreateBr(head);
  ir_.SetInsertPoint(head);
  if (!EmitSequence(step.computations[0])) return false;
  ir_.CreateCondBr(Load(ShapeUtil::MakeShape(PRED, {}), step.selector), body, exit);

  ir_.SetInsertPoint(body);
  llvm::Value* const count = ir_.CreateLoad(ir_.getInt64Ty(), iteration);
  // As an unsigned number, a negative limit is never reached.
  ReturnIf(ir_.CreateICmpUGE(count, function_->getArg(1)), kLoopIsTooLong + number);
  ir_.CreateStore(ir_.CreateAdd(count, ir_.getInt64(1)), iteration);
  const int64_t before = std::exchange(work_, 1);
  if (!EmitSequence(step.computations[1])) return false;
  EmitGoOn(work_);
  work_ = before;
  for (const BufferStep::Move& swap : step.swaps) {
    const auto is_swap = [&](const BufferStep::Move& x) { return x.from == swap.from; };
    if (!absl::c_any_of(swapped, is_swap)) {
      Copy(swap.from, swap.to);
      continue;
    }
    llvm::Value *from = Address(swap.from), *to = Address(swap.to);
    ir_.CreateStore(to, pointers_[swap.from]);
    ir_.CreateStore(from, pointers_[swap.to]);
  }
  ir_.CreateBr(head);
  ir_.SetInsertPoint(exit);
  for (size_t i = 0; i < swapped.size(); ++i) {
    llvm::BasicBlock *move = NewBlock("move"), *after = NewBlock("after");
    llvm::Value *from = Address(swapped[i].from), *to = Address(swapped[i].to);
    ir_.CreateCondBr(ir_.CreateICmpNE(to, own[i]), move, after);
    ir_.SetInsertPoint(move);
    ir_.CreateMemCpy(own[i], llvm::Align(1), to, llvm::Align(1),
                     static_cast<uint64_t>(assignment_.buffers[swapped[i].to].bytes));
    ir_.CreateStore(to, pointers_[swapped[i].from]);
    ir_.CreateStore(from, pointers_[swapped[i].to]);
    ir_.CreateBr(after);
    ir_.SetInsertPoint(after);
  }
  --loop_depth_;
  return true;
}

bool FunctionEmitter::EmitConditional(const BufferStep& step) {
  const int count = static_cast<int>(step.computations.size());
  llvm::Value* const selector = Load(step.instruction->operand(0)->shape(), step.selector);
  const bool is_pred = selector->getType()->isIntegerTy(1);
  std::vector<llvm::BasicBlock*> begins;
  for (int i = 0; i < count; ++i) begins.push_back(NewBlock("branch"));
  llvm::BasicBlock* const after = NewBlock("after");
  // True is branch 0; an index that is out of range means the last branch.
  llvm::SwitchInst* const choice = ir_.CreateSwitch(selector, begins.back(), static_cast<unsigned>(count));
  for (int i = 0; i + 1 < count; ++i) {
    choice->addCase(is_pred ? ir_.getInt1(i == 0) : ir_.getInt32(static_cast<uint32_t>(i)), begins[i]);
  }
  for (int i = 0; i < count; ++i) {
    ir_.SetInsertPoint(begins[i]);
    if (!EmitSequence(step.computations[i])) return false;
    ir_.CreateBr(after);
  }
  ir_.SetInsertPoint(after);
  return true;
}

bool FunctionEmitter::EmitStep(const BufferStep& step) {
  for (const BufferStep::Move& move : step.moves) Copy(move.from, move.to);
  switch (step.kind) {
    case BufferStep::Kind::kMoves:
      return true;
    case BufferStep::Kind::kInstruction:
      return EmitInstruction(step);
    case BufferStep::Kind::kWhile:
      return EmitWhile(step);
    case BufferStep::Kind::kConditional:
      return EmitConditional(step);
  }
  return false;
}

bool FunctionEmitter::EmitSequence(absl::Span<const BufferStep> steps) {
  for (const BufferStep& step : steps) {
    if (++instructions_ > kMostInstructions || frame_bytes_ > kMostFrameBytes || !EmitStep(step)) return false;
  }
  return true;
}

bool FunctionEmitter::EmitFunction(absl::Span<const BufferStep> steps, NativeFunction* result) {
  if (!EmitSequence(steps)) return false;
  ir_.CreateRet(ir_.getInt32(kFunctionIsDone));
  result->buffers = buffers_;
  result->loops = loops_;
  result->outer_loops = outer_loops_;
  return true;
}

}  // namespace

bool IsNativeStep(const BufferStep& step, const buffers::BufferAssignment& assignment, FindKernel find_kernel) {
  for (const BufferStep::Move& move : step.moves) {
    if (assignment.buffers[move.to].bytes > kMostCopiedBytes) return false;
  }
  switch (step.kind) {
    case BufferStep::Kind::kMoves:
      return true;
    case BufferStep::Kind::kInstruction:
      return IsNativeInstruction(step, find_kernel);
    case BufferStep::Kind::kWhile:
    case BufferStep::Kind::kConditional:
      return absl::c_all_of(step.computations, [&](const buffers::BufferSequence& steps) {
        return absl::c_all_of(steps,
                              [&](const BufferStep& inner) { return IsNativeStep(inner, assignment, find_kernel); });
      });
  }
  return false;
}

int64_t NativeStepSize(const BufferStep& step, FindKernel find_kernel) {
  int64_t size = static_cast<int64_t>(step.moves.size());
  for (const buffers::BufferSequence& steps : step.computations) {
    for (const BufferStep& inner : steps) size = SaturatingAdd(size, NativeStepSize(inner, find_kernel));
  }
  if (step.kind != BufferStep::Kind::kInstruction) return size;
  const HloInstruction& instruction = *step.instruction;
  int64_t arrays = static_cast<int64_t>(step.results.size());
  for (const buffers::Leaves& operand : step.operands) arrays += static_cast<int64_t>(operand.size());
  const bool is_fusion = instruction.opcode() == HloOpcode::kFusion;
  if (is_fusion && !IsSmallFusion(*instruction.fused_instructions_computation(), find_kernel(instruction))) {
    return size + 4 * arrays;  // a call: an address and a store for each array
  }
  // Elements are stored one by one where their number is no power of two.
  const int64_t members = is_fusion ? instruction.fused_instructions_computation()->instruction_count() : 1;
  return SaturatingAdd(size + members + arrays, ShapeUtil::ElementsInRecursive(instruction.shape()));
}

absl::StatusOr<std::optional<NativeFunction>> TryEmitNativeFunction(absl::Span<const BufferStep> steps,
                                                                    const buffers::BufferAssignment& assignment,
                                                                    const std::vector<bool>& is_own,
                                                                    FindKernel find_kernel, const std::string& name,
                                                                    const NumberOptions& numbers, CodeModule& module) {
  llvm::LLVMContext& context = module.context();
  llvm::Type *pointer = llvm::PointerType::getUnqual(context), *integer = llvm::Type::getInt64Ty(context);
  llvm::FunctionType* const type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context),
                                                           {pointer, integer, pointer, pointer}, /*isVarArg=*/false);
  llvm::Function* const function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module.module());
  NativeFunction result;
  result.name = name;
  FunctionEmitter emitter(function, assignment, is_own, find_kernel, module, numbers);
  if (!emitter.EmitFunction(steps, &result)) {
    EraseFunction(*function);
    return std::nullopt;
  }
  KASHI_RETURN_IF_ERROR(VerifyOrErase(*function));
  return result;
}

}  // namespace kashi::codegen
