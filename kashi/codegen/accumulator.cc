#include "kashi/codegen/accumulator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <llvm/IR/Instructions.h>

#include "kashi/codegen/scalar_computation.h"
#include "kashi/hlo/ir/neutral_element.h"
#include "kashi/passes/combiner.h"

namespace kashi::codegen {
namespace {

PrimitiveType AccumulatorType(HloOpcode combiner, PrimitiveType element, const NumberOptions& numbers) {
  const bool is_sum = combiner == HloOpcode::kAdd;
  if (is_sum && (element == F32 || element == F16)) return F64;
  if (is_sum && element == BF16 && numbers.excess_precision) return F64;
  return element == BF16 || element == F16 ? F32 : element;
}

// A conversion that reads its operand from memory needs no shuffle. LLVM only makes it of a load that is as long as the
// result's register allows.
llvm::Value* ExtendFromMemory(const LaneBuilder& lanes, llvm::LoadInst& load) {
  const int part = std::min(lanes.lanes(), lanes.target().vector_bits / 64);
  llvm::Type* element = load.getType()->getScalarType();
  std::vector<llvm::Value*> wide;
  for (int begin = 0; begin < lanes.lanes(); begin += part) {
    llvm::Value* address = lanes.ir().CreateConstInBoundsGEP1_64(element, load.getPointerOperand(), begin);
    llvm::LoadInst* piece =
        lanes.ir().CreateAlignedLoad(lanes.WithLanes(part).Widen(element), address, load.getAlign());
    piece->copyMetadata(load);
    wide.push_back(lanes.ir().CreateFPExt(piece, lanes.WithLanes(part).Register(F64)));
  }
  return lanes.Join(std::move(wide));
}

}  // namespace

Accumulator::Accumulator(const HloComputation& combiner, PrimitiveType element, const NumberOptions& numbers)
    : combiner_(combiner),
      element_(element),
      type_(AccumulatorType(*hlo::ReorderableCombiner(combiner), element, numbers)) {}

llvm::Value* Accumulator::Neutral(const LaneBuilder& lanes) const {
  return EmitLiteralElement(lanes, hlo::NeutralOf(*hlo::ReorderableCombiner(combiner_), type_), {});
}

llvm::Value* Accumulator::FromElements(const LaneBuilder& lanes, llvm::Value* elements) const {
  if (!is_wide()) return elements;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(elements); load != nullptr && lanes.lanes() > 1) {
    return ExtendFromMemory(lanes, *load);
  }
  return lanes.ir().CreateFPExt(elements, lanes.Register(type_));
}

llvm::Value* Accumulator::ToElements(const LaneBuilder& lanes, llvm::Value* accumulators) const {
  return is_wide() ? lanes.ir().CreateFPTrunc(accumulators, lanes.Register(element_)) : accumulators;
}

llvm::Value* Accumulator::Combine(const LaneBuilder& lanes, llvm::Value* a, llvm::Value* b) const {
  if (is_wide()) return lanes.ir().CreateFAdd(a, b);
  return EmitScalarComputation(lanes.WithWideBf16(), combiner_, {a, b})[0];
}

}  // namespace kashi::codegen
