#include "kashi/cpu/vector_math.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <llvm/IR/Module.h>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/check.h"
#include "kashi/codegen/inline_math.h"
#include "kashi/kernels/small_linear_algebra.h"

// SLEEF's functions are only named here, and called by compiled code. sleef.h declares only those of the instructions
// that this file is compiled for.
#define KASHI_SLEEF_NAMES(name)                   \
  extern "C" void Sleef_##name##f4_u10sse4();     \
  extern "C" void Sleef_##name##d2_u10sse4();     \
  extern "C" void Sleef_##name##f8_u10avx2();     \
  extern "C" void Sleef_##name##d4_u10avx2();     \
  extern "C" void Sleef_##name##f16_u10avx512f(); \
  extern "C" void Sleef_##name##d8_u10avx512f();
#define KASHI_SLEEF_FUNCTIONS(Apply)                                                                                \
  Apply(kExp, exp) Apply(kExp2, exp2) Apply(kExpm1, expm1) Apply(kLog, log) Apply(kLog2, log2) Apply(kLog1p, log1p) \
      Apply(kTanh, tanh) Apply(kSin, sin) Apply(kCos, cos) Apply(kTan, tan) Apply(kCbrt, cbrt) Apply(kErf, erf)     \
          Apply(kPow, pow) Apply(kAtan, atan) Apply(kAtan2, atan2)
#define KASHI_DECLARE(function, name) KASHI_SLEEF_NAMES(name)
KASHI_SLEEF_FUNCTIONS(KASHI_DECLARE);
#undef KASHI_DECLARE

// Functions of the compiler for f16, which LLVM calls where the processor has no instructions for it. They are only
// named, too: f16 is no type of C++17.
extern "C" void KashiHalfToSingle() __asm__("__extendhfsf2");
extern "C" void KashiSingleToHalf() __asm__("__truncsfhf2");

namespace kashi::cpu {
namespace {

struct Variant {
  codegen::MathFunction function;
  int vector_bits;
  int element_bits;
  const char* name;
  void (*address)();
};

constexpr Variant kVariants[] = {
#define KASHI_VARIANT(function, bits, element_bits, name) \
  {codegen::MathFunction::function, bits, element_bits, #name, &name},
#define KASHI_VARIANTS(function, name)                           \
  KASHI_VARIANT(function, 128, 32, Sleef_##name##f4_u10sse4)     \
  KASHI_VARIANT(function, 128, 64, Sleef_##name##d2_u10sse4)     \
  KASHI_VARIANT(function, 256, 32, Sleef_##name##f8_u10avx2)     \
  KASHI_VARIANT(function, 256, 64, Sleef_##name##d4_u10avx2)     \
  KASHI_VARIANT(function, 512, 32, Sleef_##name##f16_u10avx512f) \
  KASHI_VARIANT(function, 512, 64, Sleef_##name##d8_u10avx512f)
    KASHI_SLEEF_FUNCTIONS(KASHI_VARIANTS)
#undef KASHI_VARIANTS
#undef KASHI_VARIANT
};

struct InlineFunction {
  codegen::MathFunction function;
  llvm::Value* (*emit)(const codegen::LaneBuilder& lanes, llvm::Value* x);
};
constexpr InlineFunction kInlineFunctions[] = {
    {codegen::MathFunction::kExp, &codegen::EmitExpF32}, {codegen::MathFunction::kExpm1, &codegen::EmitExpm1F32},
    {codegen::MathFunction::kLog, &codegen::EmitLogF32}, {codegen::MathFunction::kTanh, &codegen::EmitTanhF32},
    {codegen::MathFunction::kErf, &codegen::EmitErfF32},
};

const Variant& Find(const codegen::CodeTarget& target, codegen::MathFunction function, int element_bits) {
  const int bits = target.vector_bits;
  const Variant* variant = absl::c_find_if(kVariants, [&](const Variant& variant) {
    return variant.function == function && variant.vector_bits == bits && variant.element_bits == element_bits;
  });
  KASHI_CHECK(variant != std::end(kVariants)) << "no function for vectors of " << bits << " bits";
  return *variant;
}

bool HasInlineFunctions(const codegen::CodeTarget& target, const llvm::Type* scalar) {
  return scalar->isFloatTy() && target.has_fma;
}

// Without FMA, SLEEF's functions of f32 keep the rest of a product in a second number. It is lost where denormal
// numbers count as 0: the sine of 2e-38 and the tangent of 2e27 have 4 right digits. In f64 no such rest of a number of
// f32 is denormal.
bool NeedsWideFunctions(const codegen::CodeTarget& target, const llvm::Type* scalar) {
  return scalar->isFloatTy() && !target.has_fma;
}

llvm::Value* EmitCall(const codegen::LaneBuilder& lanes, codegen::MathFunction function,
                      llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::Type* scalar = arguments[0]->getType()->getScalarType();
  const int element_bits = static_cast<int>(scalar->getPrimitiveSizeInBits());
  const Variant& variant = Find(lanes.target(), function, element_bits);
  return lanes.Call(variant.name, variant.vector_bits / element_bits, scalar, arguments);
}

// Floating-point operations on lanes of one type.
class Reals {
 public:
  Reals(const codegen::LaneBuilder& lanes, llvm::Type* scalar) : lanes_(lanes), ir_(lanes.ir()), scalar_(scalar) {}

  llvm::Value* Number(double x) const { return lanes_.Splat(llvm::ConstantFP::get(scalar_, x)); }
  llvm::Value* PowerOfTwo(int exponent) const { return Number(std::ldexp(1.0, exponent)); }
  llvm::Value* IsBelow(llvm::Value* x, int exponent) const {
    return ir_.CreateFCmpOLT(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), PowerOfTwo(exponent));
  }
  llvm::Value* IsAbove(llvm::Value* x, int exponent) const {
    return ir_.CreateFCmpOGT(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), PowerOfTwo(exponent));
  }

 private:
  const codegen::LaneBuilder& lanes_;
  codegen::Ir& ir_;
  llvm::Type* scalar_;
};

// SLEEF's atan2 divides by the reciprocal of an operand, which is denormal for the largest operands, and keeps the
// remainders of products, which are denormal for small ones. Only the ratio counts, so both are scaled if both are
// small or one is large: a number that scaling makes denormal is then negligible beside the other.
void ScaleForAtan2(const codegen::LaneBuilder& lanes, std::vector<llvm::Value*>* operands) {
  llvm::Type* scalar = (*operands)[0]->getType()->getScalarType();
  const Reals reals(lanes, scalar);
  const bool is_single = scalar->isFloatTy();
  const int large = is_single ? 100 : 900, small = is_single ? -60 : -500, shift = is_single ? 64 : 512;
  codegen::Ir& ir = lanes.ir();
  llvm::Value *y = (*operands)[0], *x = (*operands)[1];
  llvm::Value* is_large = ir.CreateOr(reals.IsAbove(y, large), reals.IsAbove(x, large));
  llvm::Value* is_small = ir.CreateAnd(reals.IsBelow(y, small), reals.IsBelow(x, small));
  llvm::Value* scale = ir.CreateSelect(is_large, reals.PowerOfTwo(-shift),
                                       ir.CreateSelect(is_small, reals.PowerOfTwo(shift), reals.Number(1)));
  for (llvm::Value*& operand : *operands) operand = ir.CreateFMul(operand, scale);
}

// Numbers of f64 below 2^kLinear, where sine, tangent and others are linear.
constexpr int kLinear = -500;

// SLEEF's tangent halves its operand, and the half of one below 2^-1021 is denormal.
llvm::Value* WithLinearTangent(const codegen::LaneBuilder& lanes, llvm::Value* x, llvm::Value* result) {
  const Reals reals(lanes, x->getType()->getScalarType());
  return lanes.ir().CreateSelect(reals.IsBelow(x, kLinear), x, result);
}

// Without FMA the rest of a product of a number below 2^-900 is denormal. There the function is linear.
llvm::Value* WithLinearPart(const codegen::LaneBuilder& lanes, codegen::MathFunction function,
                            const std::vector<llvm::Value*>& operands, llvm::Value* result) {
  constexpr double kSlopeOfErf = 1.1283791670955126;  // 2 / sqrt(pi)
  const Reals reals(lanes, operands[0]->getType()->getScalarType());
  codegen::Ir& ir = lanes.ir();
  if (function == codegen::MathFunction::kSin) {
    return ir.CreateSelect(reals.IsBelow(operands[0], kLinear), operands[0], result);
  }
  if (function == codegen::MathFunction::kErf) {
    llvm::Value* line = ir.CreateFMul(operands[0], reals.Number(kSlopeOfErf));
    return ir.CreateSelect(reals.IsBelow(operands[0], kLinear), line, result);
  }
  if (function == codegen::MathFunction::kAtan2) {
    llvm::Value* ratio = ir.CreateFDiv(operands[0], operands[1]);
    llvm::Value* is_positive = ir.CreateFCmpOGT(operands[1], reals.Number(0));
    return ir.CreateSelect(ir.CreateAnd(is_positive, reals.IsBelow(ratio, kLinear)), ratio, result);
  }
  return result;
}

// The function where denormal numbers may count as 0.
llvm::Value* EmitOfAllMagnitudes(const codegen::LaneBuilder& lanes, codegen::MathFunction function,
                                 std::vector<llvm::Value*> operands) {
  if (function == codegen::MathFunction::kAtan2) ScaleForAtan2(lanes, &operands);
  llvm::Value* result = EmitCall(lanes, function, operands);
  if (function == codegen::MathFunction::kTan) return WithLinearTangent(lanes, operands[0], result);
  return lanes.target().has_fma ? result : WithLinearPart(lanes, function, operands, result);
}

// LLVM moves a negation into the last product of a function, and gives it the rights of the negation: to become a fused
// multiply-add with what follows. Then -exp(89) + 1e38 would be a number. A fence keeps what follows out.
llvm::Value* FencedResult(const codegen::LaneBuilder& lanes, llvm::Value* y) {
  return lanes.ir().CreateArithmeticFence(y, y->getType());
}

// A function of the module for this many lanes, which LLVM inlines. It is a function because it has branches: angles
// that the inline code does not support are rare, and left to SLEEF.
//
//   if (all |x| < kLargestAngle) return inline(x);
//   return |x| < kLargestAngle ? inline(x) : sleef(x);
llvm::Function* TrigonometricFunction(const codegen::LaneBuilder& outer, codegen::MathFunction function) {
  const bool is_sine = function == codegen::MathFunction::kSin;
  llvm::Module& module = *outer.ir().GetInsertBlock()->getModule();
  const std::string name = absl::StrCat(is_sine ? "sin" : "cos", ".f32.", outer.lanes());
  if (llvm::Function* const known = module.getFunction(name); known != nullptr) return known;
  llvm::Type* const type = outer.Widen(outer.ir().getFloatTy());
  llvm::Function* const made = llvm::Function::Create(llvm::FunctionType::get(type, {type}, /*isVarArg=*/false),
                                                      llvm::Function::InternalLinkage, name, module);
  made->addFnAttr(llvm::Attribute::AlwaysInline);
  made->setDoesNotThrow();
  made->setDoesNotAccessMemory();
  made->addFnAttr(llvm::Attribute::WillReturn);
  const auto block = [&](const char* label) { return llvm::BasicBlock::Create(module.getContext(), label, made); };
  codegen::Ir ir(block("entry"));
  const codegen::LaneBuilder lanes(ir, outer.lanes(), outer.target(), outer.numbers());
  llvm::Value* const x = made->getArg(0);
  llvm::Value* const y = is_sine ? codegen::EmitSinF32(lanes, x) : codegen::EmitCosF32(lanes, x);
  llvm::Value* const is_moderate = ir.CreateFCmpOLT(ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x),
                                                    llvm::ConstantFP::get(type, codegen::kLargestAngle));
  llvm::BasicBlock *quick = block("quick"), *slow = block("slow");
  ir.CreateCondBr(lanes.lanes() == 1 ? is_moderate : ir.CreateAndReduce(is_moderate), quick, slow);
  ir.SetInsertPoint(quick);
  ir.CreateRet(y);
  ir.SetInsertPoint(slow);
  ir.CreateRet(ir.CreateSelect(is_moderate, y, EmitCall(lanes, function, {x})));
  return made;
}

class SleefAndInlineMath : public codegen::MathLibrary {
 public:
  llvm::Value* Emit(const codegen::LaneBuilder& lanes, codegen::MathFunction function,
                    absl::Span<llvm::Value* const> operands) const override;
  llvm::Value* EmitExpOfNegative(const codegen::LaneBuilder& lanes, llvm::Value* x) const override;
};

llvm::Value* SleefAndInlineMath::Emit(const codegen::LaneBuilder& lanes, codegen::MathFunction function,
                                      absl::Span<llvm::Value* const> operands) const {
  // The functions have their own order of operations, and no other.
  const llvm::IRBuilderBase::FastMathFlagGuard guard(lanes.ir());
  lanes.ir().clearFastMathFlags();
  llvm::Type* scalar = operands[0]->getType()->getScalarType();
  if (HasInlineFunctions(lanes.target(), scalar)) {
    for (const InlineFunction& inlined : kInlineFunctions) {
      if (inlined.function == function) return FencedResult(lanes, inlined.emit(lanes, operands[0]));
    }
    if (function == codegen::MathFunction::kPow) {
      return FencedResult(lanes, codegen::EmitPowF32(lanes, operands[0], operands[1]));
    }
    if (function == codegen::MathFunction::kSin || function == codegen::MathFunction::kCos) {
      return FencedResult(lanes, lanes.ir().CreateCall(TrigonometricFunction(lanes, function), {operands[0]}));
    }
  }
  std::vector<llvm::Value*> arguments(operands.begin(), operands.end());
  if (!NeedsWideFunctions(lanes.target(), scalar)) return EmitOfAllMagnitudes(lanes, function, std::move(arguments));
  if (function == codegen::MathFunction::kPow) codegen::ReplaceDenormalsForPowF32(lanes, &arguments[0], &arguments[1]);
  for (llvm::Value*& argument : arguments) argument = lanes.ir().CreateFPExt(argument, lanes.Register(F64));
  return lanes.ir().CreateFPTrunc(EmitCall(lanes, function, arguments), lanes.Register(F32));
}

llvm::Value* SleefAndInlineMath::EmitExpOfNegative(const codegen::LaneBuilder& lanes, llvm::Value* x) const {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(lanes.ir());
  lanes.ir().clearFastMathFlags();
  const bool is_cheap =
      lanes.numbers().flush_denormals && HasInlineFunctions(lanes.target(), x->getType()->getScalarType());
  return is_cheap ? FencedResult(lanes, codegen::EmitExpOfNegativeF32(lanes, x))
                  : Emit(lanes, codegen::MathFunction::kExp, {x});
}

}  // namespace

const codegen::MathLibrary& VectorMath() {
  static const SleefAndInlineMath math;
  return math;
}

absl::flat_hash_map<std::string, const void*> MathAddresses() {
  absl::flat_hash_map<std::string, const void*> addresses;
  for (const Variant& variant : kVariants) addresses[variant.name] = reinterpret_cast<const void*>(variant.address);
  // LLVM calls these for the remainder of real numbers, and for f16 without F16C.
  addresses["fmodf"] = reinterpret_cast<const void*>(static_cast<float (*)(float, float)>(&std::fmod));
  addresses["fmod"] = reinterpret_cast<const void*>(static_cast<double (*)(double, double)>(&std::fmod));
  for (const auto& [name, function] : kernels::AllLinearAlgebra()) {
    addresses[name] = reinterpret_cast<const void*>(function);
  }
  // And these for copies of memory.
  addresses["memcpy"] = reinterpret_cast<const void*>(&std::memcpy);
  addresses["memmove"] = reinterpret_cast<const void*>(&std::memmove);
  addresses["memset"] = reinterpret_cast<const void*>(&std::memset);
  addresses["__extendhfsf2"] = reinterpret_cast<const void*>(&KashiHalfToSingle);
  addresses["__truncsfhf2"] = reinterpret_cast<const void*>(&KashiSingleToHalf);
  return addresses;
}

}  // namespace kashi::cpu
