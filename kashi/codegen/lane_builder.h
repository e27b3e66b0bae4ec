// LaneBuilder: LLVM IR on a number of lanes at once. Every value is `<lanes x T>`; for one lane it is a plain T, so the
// same emitters make the vector loop and the loop over the rest.
//
// Registers and memory differ for some types:
//
//   type      memory   register
//   PRED      i8       i1
//   BF16      i16      float    a bf16 is the upper half of a float
//   F16       half     float
//   F32, F64  float, double     the same
//   S8 … U64  i8 … i64          the same
//   C64       [2 x float]       {float, float}; in lanes {<lanes x float>, <lanes x float>}
//   C128      [2 x double]      {double, double}
#ifndef KASHI_CODEGEN_LANE_BUILDER_H_
#define KASHI_CODEGEN_LANE_BUILDER_H_

#include <cstdint>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "absl/functional/function_ref.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/shape.h"
#include "kashi/codegen/code_target.h"
#include "kashi/engine/compile_options.h"

namespace kashi::codegen {

using Ir = llvm::IRBuilder<>;

// Allows LLVM to fuse a product and a sum into one operation, rounded once, if excess precision is allowed.
void SetNumberOptions(const NumberOptions& numbers, Ir& ir);

class LaneBuilder {
 public:
  LaneBuilder(Ir& ir, int lanes, const CodeTarget& target, const NumberOptions& numbers)
      : ir_(ir), lanes_(lanes), target_(target), numbers_(numbers) {}

  Ir& ir() const { return ir_; }
  int lanes() const { return lanes_; }
  const CodeTarget& target() const { return target_; }
  const NumberOptions& numbers() const { return numbers_; }
  LaneBuilder WithLanes(int lanes) const {
    LaneBuilder other = *this;
    other.lanes_ = lanes;
    return other;
  }
  // For sums: if excess precision is allowed, rounds a bf16 only when it is stored.
  LaneBuilder WithWideBf16() const {
    LaneBuilder other = *this;
    other.rounds_bf16_ = !numbers_.excess_precision;
    return other;
  }

  llvm::Type* Widen(llvm::Type* scalar) const;  // <lanes x scalar>; of a structure: of each of its types
  llvm::Type* ScalarRegister(PrimitiveType type) const;
  llvm::Type* ScalarMemory(PrimitiveType type) const;
  llvm::Type* Register(PrimitiveType type) const { return Widen(ScalarRegister(type)); }

  llvm::Value* Splat(llvm::Value* scalar) const;
  llvm::Value* Integer(PrimitiveType type, int64_t value) const;  // in every lane
  llvm::Value* Real(PrimitiveType type, double value) const;
  // 0, 1, 2, … as an integer type.
  llvm::Value* LaneNumbers(llvm::Type* scalar) const;

  // Elements of memory at `index` (i64), counted in elements from `pointer`. Invariant: nothing writes to this memory
  // while the function runs.
  llvm::Value* LoadConsecutive(PrimitiveType type, llvm::Value* pointer, llvm::Value* index, bool is_invariant) const;
  llvm::Value* LoadScalar(PrimitiveType type, llvm::Value* pointer, llvm::Value* index, bool is_invariant) const;
  // lane l from index + step * l.
  llvm::Value* LoadStrided(PrimitiveType type, llvm::Value* pointer, llvm::Value* index, int64_t step,
                           bool is_invariant) const;
  // lane l from indices[l] (an integer vector).
  llvm::Value* LoadEach(PrimitiveType type, llvm::Value* pointer, llvm::Value* indices, bool is_invariant) const;
  void StoreConsecutive(PrimitiveType type, llvm::Value* value, llvm::Value* pointer, llvm::Value* index) const;

  // Complex numbers in registers: of two values of their component type, and back.
  llvm::Value* Complex(llvm::Value* real, llvm::Value* imaginary) const;
  llvm::Value* RealPart(llvm::Value* complex) const { return ir_.CreateExtractValue(complex, 0); }
  llvm::Value* ImaginaryPart(llvm::Value* complex) const { return ir_.CreateExtractValue(complex, 1); }
  // a where the condition (i1) holds, else b; of any register type.
  llvm::Value* Select(llvm::Value* condition, llvm::Value* a, llvm::Value* b) const;

  // Convert between register and memory form. Not for complex numbers.
  llvm::Value* FromMemory(PrimitiveType type, llvm::Value* value) const;
  llvm::Value* ToMemory(PrimitiveType type, llvm::Value* value) const;
  // A register value that an f32 computation made, rounded to the type.
  llvm::Value* Round(PrimitiveType type, llvm::Value* value) const;

  // Calls a function, which takes and returns vectors of `width` lanes (1: scalars). For more lanes, calls it several
  // times; for fewer, adds copies of the last lane.
  llvm::Value* Call(const char* function, int width, llvm::Type* scalar, llvm::ArrayRef<llvm::Value*> operands) const;

  // Lanes [begin, begin + count) of a vector.
  llvm::Value* Part(llvm::Value* value, int begin, int count) const;
  // Joins the lanes of the operands, which all have one type.
  llvm::Value* Join(std::vector<llvm::Value*> parts) const;

 private:
  llvm::Value* Load(PrimitiveType type, llvm::Type* memory, llvm::Value* address, bool is_invariant) const;
  // One load for each lane; for more than one lane.
  llvm::Value* LoadLanes(PrimitiveType type, llvm::Value* pointer, absl::FunctionRef<llvm::Value*(int lane)> index_of,
                         bool is_invariant) const;
  // Calls a function of one lane for each lane. type: of the result.
  llvm::Value* CallEach(llvm::FunctionCallee callee, llvm::Type* type, llvm::ArrayRef<llvm::Value*> operands) const;
  llvm::Value* RoundToBf16Bits(llvm::Value* value) const;
  // Components of complex numbers in memory, real and imaginary in turn: those of a pair of registers, and back.
  llvm::Value* FromComponents(llvm::Value* components) const;
  llvm::Value* ToComponents(llvm::Value* complex) const;

  Ir& ir_;
  int lanes_;
  const CodeTarget& target_;
  const NumberOptions& numbers_;
  bool rounds_bf16_ = true;
};

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_LANE_BUILDER_H_
