#include "kashi/codegen/lane_builder.h"

#include <utility>

#include <llvm/IR/Module.h>

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"

namespace kashi::codegen {
namespace {

int RegisterBits(PrimitiveType type) { return primitive_util::ByteWidth(type) * 8; }
bool IsComplex(PrimitiveType type) { return primitive_util::IsComplexType(type); }
llvm::Align ComponentAlignment(PrimitiveType type) {
  const uint64_t bytes = primitive_util::ByteWidth(type);
  return llvm::Align(IsComplex(type) ? bytes / 2 : bytes);
}

}  // namespace

void SetNumberOptions(const NumberOptions& numbers, Ir& ir) {
  llvm::FastMathFlags flags;
  flags.setAllowContract(numbers.excess_precision);
  ir.setFastMathFlags(flags);
}

llvm::Type* LaneBuilder::Widen(llvm::Type* scalar) const {
  if (lanes_ == 1) return scalar;
  if (const auto* pair = llvm::dyn_cast<llvm::StructType>(scalar)) {
    return llvm::StructType::get(Widen(pair->getElementType(0)), Widen(pair->getElementType(1)));
  }
  return llvm::FixedVectorType::get(scalar, lanes_);
}

llvm::Type* LaneBuilder::ScalarRegister(PrimitiveType type) const {
  if (type == PRED) return ir_.getInt1Ty();
  if (type == F64) return ir_.getDoubleTy();
  if (IsComplex(type)) {
    llvm::Type* component = ScalarRegister(primitive_util::ComplexComponentType(type));
    return llvm::StructType::get(component, component);
  }
  if (primitive_util::IsFloatingPointType(type)) return ir_.getFloatTy();
  return ir_.getIntNTy(RegisterBits(type));
}

llvm::Type* LaneBuilder::ScalarMemory(PrimitiveType type) const {
  if (type == F16) return ir_.getHalfTy();
  if (type == F32 || type == F64) return ScalarRegister(type);
  if (IsComplex(type)) return llvm::ArrayType::get(ScalarRegister(primitive_util::ComplexComponentType(type)), 2);
  return ir_.getIntNTy(RegisterBits(type));
}

llvm::Value* LaneBuilder::Splat(llvm::Value* scalar) const {
  if (lanes_ == 1) return scalar;
  if (scalar->getType()->isStructTy()) return Complex(Splat(RealPart(scalar)), Splat(ImaginaryPart(scalar)));
  return ir_.CreateVectorSplat(lanes_, scalar);
}

llvm::Value* LaneBuilder::Integer(PrimitiveType type, int64_t value) const {
  return Splat(llvm::ConstantInt::get(ScalarRegister(type), static_cast<uint64_t>(value), /*IsSigned=*/true));
}

llvm::Value* LaneBuilder::Real(PrimitiveType type, double value) const {
  return Splat(llvm::ConstantFP::get(ScalarRegister(type), value));
}

llvm::Value* LaneBuilder::LaneNumbers(llvm::Type* scalar) const {
  if (lanes_ == 1) return llvm::ConstantInt::get(scalar, 0);
  std::vector<llvm::Constant*> numbers;
  for (int lane = 0; lane < lanes_; ++lane) numbers.push_back(llvm::ConstantInt::get(scalar, lane));
  return llvm::ConstantVector::get(numbers);
}

llvm::Value* LaneBuilder::Complex(llvm::Value* real, llvm::Value* imaginary) const {
  llvm::Value* pair = llvm::PoisonValue::get(llvm::StructType::get(real->getType(), imaginary->getType()));
  return ir_.CreateInsertValue(ir_.CreateInsertValue(pair, real, 0), imaginary, 1);
}

llvm::Value* LaneBuilder::Select(llvm::Value* condition, llvm::Value* a, llvm::Value* b) const {
  if (!a->getType()->isStructTy()) return ir_.CreateSelect(condition, a, b);
  return Complex(ir_.CreateSelect(condition, RealPart(a), RealPart(b)),
                 ir_.CreateSelect(condition, ImaginaryPart(a), ImaginaryPart(b)));
}

llvm::Value* LaneBuilder::FromComponents(llvm::Value* components) const {
  if (lanes_ == 1) {
    return Complex(ir_.CreateExtractElement(components, uint64_t{0}),
                   ir_.CreateExtractElement(components, uint64_t{1}));
  }
  std::vector<int> even, odd;
  for (int lane = 0; lane < lanes_; ++lane) {
    even.push_back(2 * lane);
    odd.push_back(2 * lane + 1);
  }
  return Complex(ir_.CreateShuffleVector(components, even), ir_.CreateShuffleVector(components, odd));
}

llvm::Value* LaneBuilder::ToComponents(llvm::Value* complex) const {
  llvm::Value *real = RealPart(complex), *imaginary = ImaginaryPart(complex);
  if (lanes_ == 1) {
    llvm::Value* components = llvm::PoisonValue::get(llvm::FixedVectorType::get(real->getType(), 2));
    components = ir_.CreateInsertElement(components, real, uint64_t{0});
    return ir_.CreateInsertElement(components, imaginary, uint64_t{1});
  }
  std::vector<int> in_turn;
  for (int lane = 0; lane < lanes_; ++lane) {
    in_turn.push_back(lane);
    in_turn.push_back(lanes_ + lane);
  }
  return ir_.CreateShuffleVector(real, imaginary, in_turn);
}

// memory: one or more elements of the type, or components of a complex one.
llvm::Value* LaneBuilder::Load(PrimitiveType type, llvm::Type* memory, llvm::Value* address, bool is_invariant) const {
  llvm::LoadInst* load = ir_.CreateAlignedLoad(memory, address, ComponentAlignment(type));
  if (is_invariant) {
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(ir_.getContext(), {}));
  }
  return load;
}

llvm::Value* LaneBuilder::LoadConsecutive(PrimitiveType type, llvm::Value* pointer, llvm::Value* index,
                                          bool is_invariant) const {
  llvm::Type* memory = ScalarMemory(type);
  llvm::Value* address = ir_.CreateInBoundsGEP(memory, pointer, index);
  if (IsComplex(type)) {
    llvm::Type* components = llvm::FixedVectorType::get(memory->getArrayElementType(), 2 * lanes_);
    return FromComponents(Load(type, components, address, is_invariant));
  }
  return FromMemory(type, Load(type, Widen(memory), address, is_invariant));
}

llvm::Value* LaneBuilder::LoadScalar(PrimitiveType type, llvm::Value* pointer, llvm::Value* index,
                                     bool is_invariant) const {
  return WithLanes(1).LoadConsecutive(type, pointer, index, is_invariant);
}

llvm::Value* LaneBuilder::LoadStrided(PrimitiveType type, llvm::Value* pointer, llvm::Value* index, int64_t step,
                                      bool is_invariant) const {
  if (step == 1 || lanes_ == 1) return LoadConsecutive(type, pointer, index, is_invariant);
  llvm::Value* first = ir_.CreateInBoundsGEP(ScalarMemory(type), pointer, index);
  return LoadLanes(
      type, first, [&](int lane) { return ir_.getInt64(step * lane); }, is_invariant);
}

llvm::Value* LaneBuilder::LoadEach(PrimitiveType type, llvm::Value* pointer, llvm::Value* indices,
                                   bool is_invariant) const {
  if (lanes_ == 1) return LoadConsecutive(type, pointer, indices, is_invariant);
  const auto index_of = [&](int lane) {
    return ir_.CreateZExt(ir_.CreateExtractElement(indices, lane), ir_.getInt64Ty());
  };
  return LoadLanes(type, pointer, index_of, is_invariant);
}

llvm::Value* LaneBuilder::LoadLanes(PrimitiveType type, llvm::Value* pointer,
                                    absl::FunctionRef<llvm::Value*(int lane)> index_of, bool is_invariant) const {
  llvm::Type* memory = ScalarMemory(type);
  if (IsComplex(type)) {
    llvm::Value* part = llvm::PoisonValue::get(Widen(memory->getArrayElementType()));
    llvm::Value *real = part, *imaginary = part;
    for (int lane = 0; lane < lanes_; ++lane) {
      llvm::Value* element = LoadScalar(type, pointer, index_of(lane), is_invariant);
      real = ir_.CreateInsertElement(real, RealPart(element), lane);
      imaginary = ir_.CreateInsertElement(imaginary, ImaginaryPart(element), lane);
    }
    return Complex(real, imaginary);
  }
  llvm::Value* value = llvm::PoisonValue::get(Widen(memory));
  for (int lane = 0; lane < lanes_; ++lane) {
    llvm::Value* address = ir_.CreateInBoundsGEP(memory, pointer, index_of(lane));
    value = ir_.CreateInsertElement(value, Load(type, memory, address, is_invariant), lane);
  }
  return FromMemory(type, value);
}

void LaneBuilder::StoreConsecutive(PrimitiveType type, llvm::Value* value, llvm::Value* pointer,
                                   llvm::Value* index) const {
  llvm::Value* address = ir_.CreateInBoundsGEP(ScalarMemory(type), pointer, index);
  ir_.CreateAlignedStore(IsComplex(type) ? ToComponents(value) : ToMemory(type, value), address,
                         ComponentAlignment(type));
}

llvm::Value* LaneBuilder::FromMemory(PrimitiveType type, llvm::Value* value) const {
  if (type == PRED) return ir_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  if (type == F16) return ir_.CreateFPExt(value, Widen(ir_.getFloatTy()));
  if (type != BF16) return value;
  llvm::Value* bits = ir_.CreateZExt(value, Widen(ir_.getInt32Ty()));
  return ir_.CreateBitCast(ir_.CreateShl(bits, 16), Widen(ir_.getFloatTy()));
}

// To the nearest, ties to even: half of the last place is added, less one unless that place is odd. A NaN stays quiet.
llvm::Value* LaneBuilder::RoundToBf16Bits(llvm::Value* value) const {
  llvm::Type* integer = Widen(ir_.getInt32Ty());
  const auto constant = [&](uint32_t bits) { return llvm::ConstantInt::get(integer, bits); };
  llvm::Value* bits = ir_.CreateBitCast(value, integer);
  llvm::Value* odd = ir_.CreateAnd(ir_.CreateLShr(bits, 16), constant(1));
  llvm::Value* rounded = ir_.CreateAdd(bits, ir_.CreateAdd(odd, constant(0x7fff)));
  llvm::Value* quiet = ir_.CreateOr(bits, constant(0x400000));
  return ir_.CreateLShr(ir_.CreateSelect(ir_.CreateFCmpUNO(value, value), quiet, rounded), 16);
}

llvm::Value* LaneBuilder::ToMemory(PrimitiveType type, llvm::Value* value) const {
  if (type == PRED) return ir_.CreateZExt(value, Widen(ir_.getInt8Ty()));
  if (type == F16) return ir_.CreateFPTrunc(value, Widen(ir_.getHalfTy()));
  if (type != BF16) return value;
  return ir_.CreateTrunc(RoundToBf16Bits(value), Widen(ir_.getInt16Ty()));
}

llvm::Value* LaneBuilder::Round(PrimitiveType type, llvm::Value* value) const {
  const bool is_rounded = type == F16 || (type == BF16 && rounds_bf16_);
  return is_rounded ? FromMemory(type, ToMemory(type, value)) : value;
}

llvm::Value* LaneBuilder::Part(llvm::Value* value, int begin, int count) const {
  std::vector<int> lanes;
  const int all = static_cast<int>(llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements());
  for (int lane = begin; lane < begin + count; ++lane) lanes.push_back(std::min(lane, all - 1));
  return ir_.CreateShuffleVector(value, lanes);
}

llvm::Value* LaneBuilder::Join(std::vector<llvm::Value*> parts) const {
  while (parts.size() > 1) {
    std::vector<llvm::Value*> pairs;
    const int half = static_cast<int>(llvm::cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements());
    std::vector<int> lanes(2 * half);
    for (int lane = 0; lane < 2 * half; ++lane) lanes[lane] = lane;
    for (size_t i = 0; i < parts.size(); i += 2) {
      pairs.push_back(ir_.CreateShuffleVector(parts[i], parts[i + 1], lanes));
    }
    parts = std::move(pairs);
  }
  return parts[0];
}

llvm::Value* LaneBuilder::CallEach(llvm::FunctionCallee callee, llvm::Type* type,
                                   llvm::ArrayRef<llvm::Value*> operands) const {
  llvm::Value* result = llvm::PoisonValue::get(type);
  for (uint64_t lane = 0; lane < static_cast<uint64_t>(lanes_); ++lane) {
    std::vector<llvm::Value*> arguments;
    for (llvm::Value* operand : operands) arguments.push_back(ir_.CreateExtractElement(operand, lane));
    result = ir_.CreateInsertElement(result, ir_.CreateCall(callee, arguments), lane);
  }
  return result;
}

llvm::Value* LaneBuilder::Call(const char* function, int width, llvm::Type* scalar,
                               llvm::ArrayRef<llvm::Value*> operands) const {
  llvm::Type* type = width == 1 ? scalar : llvm::FixedVectorType::get(scalar, width);
  std::vector<llvm::Type*> types(operands.size(), type);
  llvm::Module* module = ir_.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee =
      module->getOrInsertFunction(function, llvm::FunctionType::get(type, types, /*isVarArg=*/false));
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotAccessMemory();
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  if (width == 1 && lanes_ == 1) return ir_.CreateCall(callee, operands);
  if (width == 1) return CallEach(callee, Widen(scalar), operands);
  std::vector<llvm::Value*> results;
  for (int begin = 0; begin < lanes_; begin += width) {
    std::vector<llvm::Value*> arguments;
    for (llvm::Value* operand : operands) {
      llvm::Value* vector = lanes_ == 1 ? ir_.CreateVectorSplat(width, operand) : Part(operand, begin, width);
      arguments.push_back(vector);
    }
    results.push_back(ir_.CreateCall(callee, arguments));
  }
  if (lanes_ == 1) return ir_.CreateExtractElement(results[0], uint64_t{0});
  llvm::Value* joined = Join(std::move(results));
  return lanes_ < width ? Part(joined, 0, lanes_) : joined;
}

}  // namespace kashi::codegen
