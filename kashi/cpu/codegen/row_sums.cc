#include "kashi/cpu/codegen/row_sums.h"

#include "kashi/array/primitive_util.h"
#include "kashi/cpu/codegen/scalar_computation.h"

namespace kashi::internal {

RowSums::RowSums(KernelBuilder& builder, const HloInstruction& reduce, absl::Span<const int> widths)
    : builder_(builder),
      combiner_(*reduce.to_apply()),
      type_(reduce.shape().element_type()),
      widths_(widths.begin(), widths.end()) {
  for (int width : widths_) memory_.push_back(builder_.Allocate(builder_.Lanes(width).Register(type_)));
}

llvm::Value* RowSums::Combine(const LaneBuilder& lanes, llvm::Value* a, llvm::Value* b) const {
  return EmitScalarComputation(lanes.WithWideBf16(), combiner_, {a, b})[0];
}

llvm::Value* RowSums::Neutral(const LaneBuilder& lanes) const {
  const HloOpcode opcode = *ReorderableCombiner(combiner_);
  llvm::Type* scalar = lanes.ScalarRegister(type_);
  const bool is_real = scalar->isFloatingPointTy();
  const int bits = static_cast<int>(scalar->getScalarSizeInBits());
  const bool is_signed = primitive_util::IsSignedIntegralType(type_);
  if (opcode == HloOpcode::kMultiply && type_ != PRED) {
    return is_real ? lanes.Real(type_, 1) : lanes.Integer(type_, 1);
  }
  const bool is_minimum = opcode == HloOpcode::kMinimum;
  if (is_real && opcode == HloOpcode::kAdd) return lanes.Real(type_, -0.0);
  if (is_real) return lanes.Splat(llvm::ConstantFP::getInfinity(scalar, /*Negative=*/!is_minimum));
  if (is_signed && (is_minimum || opcode == HloOpcode::kMaximum)) {
    const llvm::APInt limit = is_minimum ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getSignedMinValue(bits);
    return lanes.Splat(llvm::ConstantInt::get(scalar, limit));
  }
  const bool is_and = opcode == HloOpcode::kAnd || opcode == HloOpcode::kMultiply;  // of PRED, a product is an and
  return lanes.Integer(type_, is_minimum || is_and ? -1 : 0);
}

void RowSums::Clear() {
  for (size_t w = 0; w < widths_.size(); ++w) {
    builder_.ir.CreateStore(Neutral(builder_.Lanes(widths_[w])), memory_[w]);
  }
}

void RowSums::Add(size_t width_number, llvm::Value* values) {
  const LaneBuilder lanes = builder_.Lanes(widths_[width_number]);
  llvm::Value* sums = builder_.ir.CreateLoad(lanes.Register(type_), memory_[width_number]);
  builder_.ir.CreateStore(Combine(lanes, sums, values), memory_[width_number]);
}

llvm::Value* RowSums::Total(llvm::Value* initial) {
  llvm::Value* total = initial;
  for (size_t w = 0; w < widths_.size(); ++w) {
    llvm::Value* sums = builder_.ir.CreateLoad(builder_.Lanes(widths_[w]).Register(type_), memory_[w]);
    for (int half = widths_[w] / 2; half > 0; half /= 2) {
      const LaneBuilder lanes = builder_.Lanes(half);
      llvm::Value* low = lanes.Part(sums, 0, half);
      llvm::Value* high = lanes.Part(sums, half, half);
      if (half == 1) {
        low = builder_.ir.CreateExtractElement(sums, uint64_t{0});
        high = builder_.ir.CreateExtractElement(sums, uint64_t{1});
      }
      sums = Combine(lanes, low, high);
    }
    total = Combine(builder_.Lanes(1), total, sums);
  }
  return total;
}

}  // namespace kashi::internal
