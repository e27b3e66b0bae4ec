#include "kashi/codegen/kernel.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/codegen/element_emitters.h"
#include "kashi/codegen/fused_elements.h"
#include "kashi/codegen/kernel_support.h"
#include "kashi/passes/kernel_premises.h"
#include "kashi/passes/row_analysis.h"

namespace kashi::codegen {
namespace {

int64_t ResultCount(const HloComputation& fused) {
  const Shape& shape = fused.root_instruction()->shape();
  return shape.IsTuple() ? static_cast<int64_t>(shape.tuple_shapes().size()) : 1;
}

std::vector<llvm::Value*> LoadPointers(Ir& ir, llvm::Value* array, int64_t count) {
  std::vector<llvm::Value*> pointers;
  for (int64_t i = 0; i < count; ++i) {
    llvm::Value* address = ir.CreateConstInBoundsGEP1_64(ir.getPtrTy(), array, i);
    pointers.push_back(ir.CreateLoad(ir.getPtrTy(), address));
  }
  return pointers;
}

// Vectors of four registers keep four chains of dependent operations going, but large bodies then run out of registers.
int VectorsAtOnce(const HloComputation& fused) {
  const int64_t size = CodeSize(fused);
  return size <= 8 ? 4 : size <= 24 ? 2 : 1;
}

int SmallestWidth(const HloComputation& fused) {
  int bytes = 8;
  for (const HloInstruction* instruction : fused.instructions()) {
    if (!instruction->shape().IsArray()) continue;
    const PrimitiveType type = instruction->shape().element_type();
    const bool is_short_real = type == BF16 || type == F16;
    const int parts = primitive_util::IsComplexType(type) ? 2 : 1;
    if (type != PRED) bytes = std::min(bytes, is_short_real ? 4 : primitive_util::ByteWidth(type) / parts);
  }
  return bytes;
}

}  // namespace

int64_t CodeSize(const HloComputation& fused) {
  constexpr int64_t kOfFunction = 8;  // of an exponential, say, whose code is part of the kernel
  int64_t size = fused.instruction_count();
  for (const HloInstruction* instruction : fused.instructions()) {
    if (KernelSupport().IsExpensive(*instruction)) size += kOfFunction - 1;
  }
  return size;
}

KernelBuilder::KernelBuilder(const HloComputation& fused_computation, const std::string& name,
                             const NumberOptions& number_options, CodeModule& module)
    : fused(fused_computation), target(module.target()), numbers(number_options), ir(module.context()) {
  llvm::Type* pointer = ir.getPtrTy();
  llvm::Type* integer = ir.getInt64Ty();
  llvm::FunctionType* type =
      llvm::FunctionType::get(ir.getVoidTy(), {pointer, pointer, integer, integer, integer, integer}, false);
  function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module.module());
  function->setDoesNotThrow();
  SetNumberOptions(numbers, ir);
  ir.SetInsertPoint(llvm::BasicBlock::Create(module.context(), "entry", function));
  lane_type = LaneTypeFor(fused, ir);
  operands = LoadPointers(ir, function->getArg(0), fused.num_parameters());
  results = LoadPointers(ir, function->getArg(1), ResultCount(fused));
  row_begin = function->getArg(2);
  row_end = function->getArg(3);
  column_begin = function->getArg(4);
  column_end = function->getArg(5);
}

absl::Status KernelBuilder::Finish() {
  ir.CreateRetVoid();
  return VerifyOrErase(*function);
}

llvm::Value* KernelBuilder::Allocate(llvm::Type* type, int64_t count) {
  llvm::BasicBlock& entry = ir.GetInsertBlock()->getParent()->getEntryBlock();
  Ir at_entry(&entry, entry.begin());
  llvm::AllocaInst* memory = at_entry.CreateAlloca(type, count == 1 ? nullptr : at_entry.getInt64(count));
  memory->setAlignment(llvm::Align(64));
  return memory;
}

std::vector<int> KernelBuilder::Widths(int64_t columns, bool columns_are_known) const {
  const int one_vector = std::max(1, target.vector_bits / 8 / SmallestWidth(fused));
  std::vector<int> widths;
  int64_t left = columns;
  for (int width : {one_vector * VectorsAtOnce(fused), one_vector, 1}) {
    if (width > columns || (!widths.empty() && width == widths.back())) continue;
    if (columns_are_known && left == 0) break;
    widths.push_back(width);
    left %= width;
  }
  return widths;
}

absl::StatusOr<Kernel> EmitKernel(const HloComputation& fused, const std::string& name, const NumberOptions& numbers,
                                  CodeModule& module) {
  KASHI_RETURN_IF_ERROR(passes::CheckKernelPremises(fused, KernelSupport()));
  Kernel kernel;
  kernel.name = name;
  KernelBuilder builder(fused, name, numbers, module);
  if (passes::IsForRowKernel(fused, KernelSupport())) {
    EmitRowKernel(builder, &kernel);
  } else if (fused.root_instruction()->opcode() == HloOpcode::kReduce) {
    EmitReduceKernel(builder, &kernel);
  } else if (fused.root_instruction()->opcode() == HloOpcode::kScatter) {
    EmitScatterKernel(builder, &kernel);
  } else {
    EmitLoopKernel(builder, &kernel);
  }
  KASHI_RETURN_IF_ERROR(builder.Finish());
  return kernel;
}

}  // namespace kashi::codegen
