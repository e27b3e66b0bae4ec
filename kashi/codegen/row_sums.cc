#include "kashi/codegen/row_sums.h"

namespace kashi::codegen {

RowSums::RowSums(KernelBuilder& builder, const HloInstruction& reduce, absl::Span<const int> widths)
    : builder_(builder),
      accumulator_(*reduce.to_apply(), reduce.shape().element_type(), builder.numbers),
      widths_(widths.begin(), widths.end()) {
  for (int width : widths_) memory_.push_back(builder_.Allocate(builder_.Lanes(width).Register(accumulator_.type())));
}

void RowSums::Clear() {
  for (size_t w = 0; w < widths_.size(); ++w) {
    builder_.ir.CreateStore(accumulator_.Neutral(builder_.Lanes(widths_[w])), memory_[w]);
  }
}

void RowSums::Add(size_t width_number, llvm::Value* values) {
  const LaneBuilder lanes = builder_.Lanes(widths_[width_number]);
  llvm::Value* sums = builder_.ir.CreateLoad(lanes.Register(accumulator_.type()), memory_[width_number]);
  sums = accumulator_.Combine(lanes, sums, accumulator_.FromElements(lanes, values));
  builder_.ir.CreateStore(sums, memory_[width_number]);
}

llvm::Value* RowSums::Total(llvm::Value* initial) {
  const LaneBuilder lane = builder_.Lanes(1);
  llvm::Value* total = accumulator_.FromElements(lane, initial);
  for (size_t w = 0; w < widths_.size(); ++w) {
    llvm::Value* sums = builder_.ir.CreateLoad(builder_.Lanes(widths_[w]).Register(accumulator_.type()), memory_[w]);
    for (int half = widths_[w] / 2; half > 0; half /= 2) {
      const LaneBuilder lanes = builder_.Lanes(half);
      llvm::Value* low = lanes.Part(sums, 0, half);
      llvm::Value* high = lanes.Part(sums, half, half);
      if (half == 1) {
        low = builder_.ir.CreateExtractElement(sums, uint64_t{0});
        high = builder_.ir.CreateExtractElement(sums, uint64_t{1});
      }
      sums = accumulator_.Combine(lanes, low, high);
    }
    total = accumulator_.Combine(lane, total, sums);
  }
  return accumulator_.ToElements(lane, total);
}

}  // namespace kashi::codegen
