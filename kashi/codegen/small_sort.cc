#include "kashi/codegen/small_sort.h"

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/codegen/kernel_support.h"
#include "kashi/codegen/loop_builder.h"
#include "kashi/codegen/scalar_computation.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/passes/combiner.h"
#include "kashi/passes/plain_array.h"

namespace kashi::codegen {
namespace {

constexpr int64_t kMostLine = 64, kMostElements = 1024;
constexpr int64_t kMostUnstable = 16;  // up to here, std::sort inserts, too

// Whether insertion gives the order of equal elements that XLA and the evaluator have: that of std::sort where the sort
// need not be stable.
bool HasOrderOfInsertion(const HloInstruction& sort, int64_t line) {
  const bool shows =
      sort.operand_count() > 1 || !primitive_util::IsIntegralType(sort.operand(0)->shape().element_type());
  return sort.is_stable() || line <= kMostUnstable || !shows;
}

class SmallSort {
 public:
  SmallSort(const LaneBuilder& lanes, const HloInstruction& sort, absl::Span<llvm::Value* const> arrays)
      : ir_(lanes.ir()), one_(lanes.WithLanes(1)), sort_(sort), arrays_(arrays), shape_(sort.operand(0)->shape()) {
    const int64_t dimension = sort.dimensions(0);
    for (int64_t d = 0; d < shape_.dimensions_size(); ++d) {
      (d < dimension ? outer_ : d == dimension ? line_ : inner_) *= shape_.dimensions(static_cast<int>(d));
    }
  }

  void Emit() {
    const auto number = [&](int64_t n) { return ir_.getInt64(static_cast<uint64_t>(n)); };
    EmitLoop(ir_, number(0), number(outer_), 1, [&](llvm::Value* outer) {
      EmitLoop(ir_, number(0), number(inner_), 1, [&](llvm::Value* inner) {
        begin_ = ir_.CreateAdd(ir_.CreateMul(outer, number(line_ * inner_)), inner);
        EmitLoop(ir_, number(1), number(line_), 1, [&](llvm::Value* j) { EmitInsertion(j); });
      });
    });
  }

 private:
  llvm::Value* Index(llvm::Value* place) const {
    return ir_.CreateAdd(begin_, ir_.CreateMul(place, ir_.getInt64(static_cast<uint64_t>(inner_))));
  }
  std::vector<llvm::Value*> Load(llvm::Value* place) const {
    llvm::Value* const index = Index(place);
    std::vector<llvm::Value*> elements;
    for (size_t k = 0; k < arrays_.size(); ++k) {
      elements.push_back(one_.LoadScalar(TypeOf(k), arrays_[k], index, /*is_invariant=*/false));
    }
    return elements;
  }
  void Store(const std::vector<llvm::Value*>& elements, llvm::Value* place) const {
    llvm::Value* const index = Index(place);
    for (size_t k = 0; k < arrays_.size(); ++k) one_.StoreConsecutive(TypeOf(k), elements[k], arrays_[k], index);
  }
  PrimitiveType TypeOf(size_t k) const { return sort_.operand(static_cast<int64_t>(k))->shape().element_type(); }

  //  test:     p = phi(j, p - 1);  p > 0 ? compare : end
  //  compare:  less(x, line[p - 1]) ? move : end
  //  move:     line[p] = line[p - 1];  back to test
  void EmitInsertion(llvm::Value* j) {
    llvm::Function* const function = ir_.GetInsertBlock()->getParent();
    const auto block = [&](const char* name) { return llvm::BasicBlock::Create(ir_.getContext(), name, function); };
    llvm::BasicBlock *test = block("test"), *compare = block("compare"), *move = block("move"), *end = block("end");
    const std::vector<llvm::Value*> x = Load(j);
    llvm::BasicBlock* const before = ir_.GetInsertBlock();
    ir_.CreateBr(test);
    ir_.SetInsertPoint(test);
    llvm::PHINode* const place = ir_.CreatePHI(ir_.getInt64Ty(), 2);
    place->addIncoming(j, before);
    ir_.CreateCondBr(ir_.CreateICmpSGT(place, ir_.getInt64(0)), compare, end);
    ir_.SetInsertPoint(compare);
    llvm::Value* const next = ir_.CreateSub(place, ir_.getInt64(1));
    const std::vector<llvm::Value*> other = Load(next);
    std::vector<llvm::Value*> parameters;
    for (size_t k = 0; k < x.size(); ++k) {
      parameters.push_back(x[k]);
      parameters.push_back(other[k]);
    }
    ir_.CreateCondBr(EmitScalarComputation(one_, *sort_.to_apply(), parameters)[0], move, end);
    ir_.SetInsertPoint(move);
    Store(other, place);
    place->addIncoming(next, move);
    ir_.CreateBr(test);
    ir_.SetInsertPoint(end);
    Store(x, place);
  }

  Ir& ir_;
  LaneBuilder one_;
  const HloInstruction& sort_;
  absl::Span<llvm::Value* const> arrays_;
  const Shape& shape_;
  int64_t outer_ = 1, line_ = 1, inner_ = 1;
  llvm::Value* begin_ = nullptr;
};

}  // namespace

bool CanEmitSmallSort(const HloInstruction& sort) {
  if (sort.opcode() != HloOpcode::kSort || sort.HasControlDependencies()) return false;
  const HloComputation& less = *sort.to_apply();
  const Shape& shape = sort.operand(0)->shape();
  if (!passes::IsPlainArray(shape) || ShapeUtil::ElementsIn(shape) > kMostElements) return false;
  const int64_t line = shape.dimensions(static_cast<int>(sort.dimensions(0)));
  if (line > kMostLine || !HasOrderOfInsertion(sort, line)) return false;
  if (less.num_parameters() != 2 * sort.operand_count() || !passes::IsScalarComputation(less, KernelSupport())) {
    return false;
  }
  for (int64_t i = 0; i < less.num_parameters(); ++i) {
    const Shape& operand = sort.operand(i / 2)->shape();
    if (!passes::IsPlainArray(operand) || operand.dimensions() != shape.dimensions()) return false;
    if (less.parameter_instruction(i)->shape().element_type() != operand.element_type()) return false;
  }
  return ShapeUtil::IsScalar(less.root_instruction()->shape()) &&
         less.root_instruction()->shape().element_type() == PRED;
}

void EmitSmallSort(const LaneBuilder& lanes, const HloInstruction& sort, absl::Span<llvm::Value* const> arrays) {
  SmallSort(lanes, sort, arrays).Emit();
}

}  // namespace kashi::codegen
