#include "kashi/codegen/small_array.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/numeric/bits.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/codegen/accumulator.h"
#include "kashi/codegen/element_emitters.h"
#include "kashi/codegen/fused_elements.h"
#include "kashi/codegen/kernel_support.h"
#include "kashi/codegen/scalar_computation.h"
#include "kashi/codegen/small_windows.h"
#include "kashi/evaluator/contraction.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/literal/literal_util.h"
#include "kashi/passes/combiner.h"
#include "kashi/passes/kernel_premises.h"
#include "kashi/passes/plain_array.h"

namespace kashi::codegen {
namespace {

int LaneCount(const Shape& shape) {
  return static_cast<int>(absl::bit_ceil(static_cast<uint64_t>(ShapeUtil::ElementsIn(shape))));
}

llvm::Value* Element(const LaneBuilder& lanes, llvm::Value* array, llvm::Value* i) {
  return SmallElement(lanes.ir(), array, i);
}
llvm::Value* Element(const LaneBuilder& lanes, llvm::Value* array, int64_t i) {
  return Element(lanes, array, lanes.ir().getInt64(static_cast<uint64_t>(i)));
}

llvm::Value* EmitConstant(const LaneBuilder& lanes, const Shape& shape, const Literal& literal) {
  const LaneBuilder one = lanes.WithLanes(1);
  std::vector<llvm::Value*> elements;
  for (int64_t i = 0; i < ShapeUtil::ElementsIn(shape); ++i) {
    elements.push_back(EmitLiteralElement(one, literal, SmallCoordinates(i, shape.dimensions())));
  }
  return SmallFromElements(lanes, shape, elements);
}

llvm::Value* EmitElementwise(const LaneBuilder& lanes, const HloInstruction& instruction,
                             absl::Span<llvm::Value* const> operands) {
  const LaneBuilder small = SmallLanes(lanes, instruction.shape());
  std::vector<llvm::Value*> widened;
  for (llvm::Value* operand : operands) {
    const bool is_scalar = small.lanes() > 1 && !operand->getType()->isVectorTy();
    widened.push_back(is_scalar ? small.Splat(operand) : operand);
  }
  return FindElementEmitter(instruction)->emit({small, instruction, widened});
}

// The evaluator moves numbers instead of the elements: they show where each element moves. Element i of operand k has
// the number of all elements before operand k plus i.
absl::StatusOr<Literal> MovedNumbers(const HloInstruction& movement) {
  std::vector<std::unique_ptr<HloInstruction>> constants;
  std::vector<HloInstruction*> operands;
  int32_t next = 0;
  for (const HloInstruction* operand : movement.operands()) {
    std::vector<int32_t> numbers(ShapeUtil::ElementsIn(operand->shape()));
    std::iota(numbers.begin(), numbers.end(), next);
    next += static_cast<int32_t>(numbers.size());
    absl::StatusOr<Literal> literal = LiteralUtil::CreateR1<int32_t>(numbers).Reshape(operand->shape().dimensions());
    if (!literal.ok()) return literal.status();
    constants.push_back(HloInstruction::CreateConstant(*std::move(literal)));
    operands.push_back(constants.back().get());
  }
  const Shape shape = ShapeUtil::MakeShape(movement.operands().empty() ? movement.shape().element_type() : S32,
                                           movement.shape().dimensions());
  return HloEvaluator().Evaluate(movement.CloneWithNewOperands(shape, operands).get());
}

llvm::Value* EmitMovement(const LaneBuilder& lanes, const HloInstruction& movement,
                          absl::Span<llvm::Value* const> operands) {
  const absl::StatusOr<Literal> numbers = MovedNumbers(movement);
  if (!numbers.ok()) return nullptr;
  if (operands.empty()) return EmitConstant(lanes, movement.shape(), *numbers);
  std::vector<llvm::Value*> sources;
  for (size_t k = 0; k < operands.size(); ++k) {
    const int64_t count = ShapeUtil::ElementsIn(movement.operand(static_cast<int64_t>(k))->shape());
    for (int64_t i = 0; i < count; ++i) sources.push_back(Element(lanes, operands[k], i));
  }
  std::vector<llvm::Value*> elements;
  for (int32_t number : numbers->data<int32_t>()) elements.push_back(sources[number]);
  return SmallFromElements(lanes, movement.shape(), elements);
}

// For each element of the operand in row-major order: the number of the element of the result that it belongs to.
std::vector<int64_t> ResultsOfElements(const HloInstruction& reduce) {
  const Shape& array = reduce.operand(0)->shape();
  const DimensionVector strides = evaluator::RowMajorStrides(reduce.shape().dimensions());
  std::vector<int64_t> results;
  for (int64_t i = 0; i < ShapeUtil::ElementsIn(array); ++i) {
    const std::vector<int64_t> coordinates = SmallCoordinates(i, array.dimensions());
    int64_t result = 0, kept = 0;
    for (int64_t d = 0; d < static_cast<int64_t>(coordinates.size()); ++d) {
      if (!absl::c_linear_search(reduce.dimensions(), d)) result += coordinates[d] * strides[kept++];
    }
    results.push_back(result);
  }
  return results;
}

// Elements are combined in row-major order.
llvm::Value* EmitReduce(const LaneBuilder& lanes, const HloInstruction& reduce,
                        absl::Span<llvm::Value* const> operands) {
  const LaneBuilder one = lanes.WithLanes(1);
  const PrimitiveType type = reduce.shape().element_type();
  std::optional<Accumulator> accumulator;
  if (hlo::ReorderableCombiner(*reduce.to_apply())) accumulator.emplace(*reduce.to_apply(), type, lanes.numbers());
  llvm::Value* initial = accumulator ? accumulator->FromElements(one, operands[1]) : operands[1];
  std::vector<llvm::Value*> sums(ShapeUtil::ElementsIn(reduce.shape()), initial);
  const std::vector<int64_t> results = ResultsOfElements(reduce);
  for (size_t i = 0; i < results.size(); ++i) {
    llvm::Value*& sum = sums[results[i]];
    llvm::Value* element = Element(lanes, operands[0], static_cast<int64_t>(i));
    sum = accumulator ? accumulator->Combine(one, sum, accumulator->FromElements(one, element))
                      : EmitScalarComputation(one, *reduce.to_apply(), {sum, element})[0];
  }
  for (llvm::Value*& sum : sums) sum = one.Round(type, accumulator ? accumulator->ToElements(one, sum) : sum);
  return SmallFromElements(lanes, reduce.shape(), sums);
}

llvm::Value* EmitDynamicSlice(const LaneBuilder& lanes, const HloInstruction& slice,
                              absl::Span<llvm::Value* const> operands) {
  const PrimitiveType type = operands.size() > 1 ? slice.operand(1)->shape().element_type() : S32;
  const Shape& array = slice.operand(0)->shape();
  const std::vector<llvm::Value*> indices =
      SliceIndices(lanes, array.dimensions(), slice.shape().dimensions(), operands.subspan(1), type);
  return LoadSmallElements(lanes, slice.shape(), SpillSmallArray(lanes, array, operands[0]), indices);
}

llvm::Value* EmitDynamicUpdateSlice(const LaneBuilder& lanes, const HloInstruction& update,
                                    absl::Span<llvm::Value* const> operands) {
  if (!operands[0]->getType()->isVectorTy()) return operands[1];
  const PrimitiveType type = operands.size() > 2 ? update.operand(2)->shape().element_type() : S32;
  llvm::Value* array = operands[0];
  int64_t i = 0;
  for (llvm::Value* index : SliceIndices(lanes, update.shape().dimensions(), update.operand(1)->shape().dimensions(),
                                         operands.subspan(2), type)) {
    array = lanes.ir().CreateInsertElement(array, Element(lanes, operands[1], i++), index);
  }
  return array;
}

bool IsElementwise(const HloInstruction& instruction) {
  return FindElementEmitter(instruction) != nullptr && CanFuse(instruction);
}
bool HasOneElementType(const HloInstruction& concatenate) {
  return absl::c_all_of(concatenate.operands(), [&](const HloInstruction* x) {
    return x->shape().element_type() == concatenate.shape().element_type();
  });
}
bool IsFixedMovement(const HloInstruction& instruction) {
  static constexpr HloOpcode kOtherMovements[] = {HloOpcode::kDynamicSlice, HloOpcode::kGather, HloOpcode::kParameter,
                                                  HloOpcode::kConstant};
  if (!MovesElements(instruction.opcode()) || absl::c_linear_search(kOtherMovements, instruction.opcode()))
    return false;
  return instruction.opcode() == HloOpcode::kConcatenate ? HasOneElementType(instruction) : CanFuse(instruction);
}
bool AnyConstant(const HloInstruction&) { return true; }
bool IsPlainReduce(const HloInstruction& reduce) {
  const HloComputation& combiner = *reduce.to_apply();
  const PrimitiveType type = reduce.shape().element_type();
  return reduce.operand_count() == 2 && passes::IsScalarComputation(combiner, KernelSupport()) &&
         ShapeUtil::IsScalar(combiner.root_instruction()->shape()) &&
         absl::c_all_of(reduce.operands(), [&](auto* x) { return x->shape().element_type() == type; }) &&
         absl::c_all_of(combiner.parameter_instructions(),
                        [&](auto* x) { return x->shape().element_type() == type; }) &&
         combiner.root_instruction()->shape().element_type() == type;
}
bool IsPlainCopy(const HloInstruction& copy) { return KeepsElementType(copy); }
bool IsPlainDynamicSlice(const HloInstruction& slice) {
  return KeepsElementType(slice) && HasStartsOfOneType(slice, 1);
}
bool IsPlainUpdateSlice(const HloInstruction& update) {
  return KeepsElementType(update, 2) && HasStartsOfOneType(update, 2);
}

llvm::Value* EmitGather(const LaneBuilder& lanes, const HloInstruction& gather,
                        absl::Span<llvm::Value* const> operands) {
  return EmitGatherFromRegisters(lanes, gather, operands[0], operands[1]);
}
llvm::Value* EmitScatter(const LaneBuilder& lanes, const HloInstruction& scatter,
                         absl::Span<llvm::Value* const> operands) {
  return EmitScatterToRegisters(lanes, scatter, operands[0], operands[1], operands[2]);
}
llvm::Value* EmitConstantInstruction(const LaneBuilder& lanes, const HloInstruction& constant,
                                     absl::Span<llvm::Value* const>) {
  return EmitConstant(lanes, constant.shape(), constant.literal());
}
llvm::Value* EmitCopy(const LaneBuilder&, const HloInstruction&, absl::Span<llvm::Value* const> operands) {
  return operands[0];
}

struct SmallArrayRow {
  bool (*can_emit)(const HloInstruction& instruction);
  llvm::Value* (*emit)(const LaneBuilder& lanes, const HloInstruction& instruction,
                       absl::Span<llvm::Value* const> operands);
};
constexpr SmallArrayRow kElementwise = {&IsElementwise, &EmitElementwise},
                        kMovement = {&IsFixedMovement, &EmitMovement};
constexpr std::pair<HloOpcode, SmallArrayRow> kOthers[] = {
    {HloOpcode::kConstant, {&AnyConstant, &EmitConstantInstruction}},
    {HloOpcode::kCopy, {&IsPlainCopy, &EmitCopy}},
    {HloOpcode::kReduce, {&IsPlainReduce, &EmitReduce}},
    {HloOpcode::kDynamicSlice, {&IsPlainDynamicSlice, &EmitDynamicSlice}},
    {HloOpcode::kDynamicUpdateSlice, {&IsPlainUpdateSlice, &EmitDynamicUpdateSlice}},
    {HloOpcode::kGather, {&CanEmitSmallGather, &EmitGather}},
    {HloOpcode::kScatter, {&CanEmitSmallScatter, &EmitScatter}},
};

// Null: there is none.
const SmallArrayRow* FindRow(const HloInstruction& instruction) {
  for (const auto& [opcode, row] : kOthers) {
    if (opcode == instruction.opcode()) return row.can_emit(instruction) ? &row : nullptr;
  }
  for (const SmallArrayRow* row : {&kElementwise, &kMovement}) {
    if (row->can_emit(instruction)) return row;
  }
  return nullptr;
}

}  // namespace

bool IsSmallArray(const Shape& shape) {
  return passes::IsPlainArray(shape) && ShapeUtil::ElementsIn(shape) <= passes::kMostSmallElements;
}

llvm::Value* SmallElement(Ir& ir, llvm::Value* array, llvm::Value* i) {
  return array->getType()->isVectorTy() ? ir.CreateExtractElement(array, i) : array;
}

std::vector<int64_t> SmallCoordinates(int64_t linear, absl::Span<const int64_t> sizes) {
  std::vector<int64_t> coordinates(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; linear /= sizes[i]) coordinates[i] = linear % sizes[i];
  return coordinates;
}

// The lanes beyond the last element repeat it.
llvm::Value* SmallFromElements(const LaneBuilder& lanes, const Shape& shape, absl::Span<llvm::Value* const> elements) {
  const LaneBuilder small = SmallLanes(lanes, shape);
  if (small.lanes() == 1) return elements[0];
  llvm::Value* vector = llvm::PoisonValue::get(small.Register(shape.element_type()));
  for (int i = 0; i < small.lanes(); ++i) {
    llvm::Value* element = elements[std::min<size_t>(i, elements.size() - 1)];
    vector = lanes.ir().CreateInsertElement(vector, element, static_cast<uint64_t>(i));
  }
  return vector;
}

bool KeepsElementType(const HloInstruction& instruction, int64_t operands) {
  const PrimitiveType type = instruction.shape().element_type();
  for (int64_t i = 0; i < operands; ++i) {
    if (instruction.operand(i)->shape().element_type() != type) return false;
  }
  return true;
}

bool HasStartsOfOneType(const HloInstruction& slice, int64_t first_start) {
  if (!passes::HasScalarStarts(slice, first_start)) return false;
  return std::all_of(slice.operands().begin() + first_start, slice.operands().end(), [&](const HloInstruction* start) {
    return start->shape().element_type() == slice.operand(first_start)->shape().element_type();
  });
}

LaneBuilder SmallLanes(const LaneBuilder& lanes, const Shape& shape) { return lanes.WithLanes(LaneCount(shape)); }

bool CanEmitSmallArray(const HloInstruction& instruction) {
  return IsSmallArray(instruction.shape()) && !instruction.HasControlDependencies() &&
         absl::c_all_of(instruction.operands(), [](const HloInstruction* x) { return IsSmallArray(x->shape()); }) &&
         FindRow(instruction) != nullptr;
}

llvm::Value* EmitSmallArray(const LaneBuilder& lanes, const HloInstruction& instruction,
                            absl::Span<llvm::Value* const> operands) {
  return FindRow(instruction)->emit(lanes, instruction, operands);
}

llvm::Value* SpillSmallArray(const LaneBuilder& lanes, const Shape& shape, llvm::Value* array) {
  const LaneBuilder small = SmallLanes(lanes, shape);
  llvm::BasicBlock& entry = lanes.ir().GetInsertBlock()->getParent()->getEntryBlock();
  Ir at_entry(&entry, entry.begin());
  llvm::Type* const type = small.Widen(small.ScalarMemory(shape.element_type()));
  llvm::AllocaInst* const memory = at_entry.CreateAlloca(type);
  memory->setAlignment(llvm::Align(64));
  small.StoreConsecutive(shape.element_type(), array, memory, lanes.ir().getInt64(0));
  return memory;
}

llvm::Value* LoadSmallArray(const LaneBuilder& lanes, const Shape& shape, llvm::Value* pointer) {
  std::vector<llvm::Value*> indices;
  for (int64_t i = 0; i < ShapeUtil::ElementsIn(shape); ++i) indices.push_back(lanes.ir().getInt64(i));
  return LoadSmallElements(lanes, shape, pointer, indices);
}

void StoreSmallArray(const LaneBuilder& lanes, const Shape& shape, llvm::Value* value, llvm::Value* pointer) {
  std::vector<llvm::Value*> indices;
  for (int64_t i = 0; i < ShapeUtil::ElementsIn(shape); ++i) indices.push_back(lanes.ir().getInt64(i));
  StoreSmallElements(lanes, shape, value, pointer, indices);
}

std::vector<llvm::Value*> SliceIndices(const LaneBuilder& lanes, absl::Span<const int64_t> array_sizes,
                                       absl::Span<const int64_t> slice_sizes, absl::Span<llvm::Value* const> starts,
                                       PrimitiveType start_type) {
  Ir& ir = lanes.ir();
  const DimensionVector strides = evaluator::RowMajorStrides(array_sizes);
  llvm::Value* base = ir.getInt64(0);
  for (size_t i = 0; i < starts.size(); ++i) {
    llvm::Value* start = EmitSliceStart(ir, start_type, starts[i], array_sizes[i] - slice_sizes[i]);
    base = ir.CreateAdd(base, ir.CreateMul(start, ir.getInt64(strides[i])));
  }
  int64_t count = 1;
  for (int64_t size : slice_sizes) count *= size;
  std::vector<llvm::Value*> indices;
  for (int64_t i = 0; i < count; ++i) {
    const std::vector<int64_t> coordinates = SmallCoordinates(i, slice_sizes);
    const int64_t offset = std::inner_product(coordinates.begin(), coordinates.end(), strides.begin(), int64_t{0});
    indices.push_back(ir.CreateAdd(base, ir.getInt64(offset)));
  }
  return indices;
}

llvm::Value* LoadSmallElements(const LaneBuilder& lanes, const Shape& shape, llvm::Value* pointer,
                               absl::Span<llvm::Value* const> indices) {
  const LaneBuilder one = lanes.WithLanes(1);
  std::vector<llvm::Value*> elements;
  for (llvm::Value* index : indices) {
    elements.push_back(one.LoadScalar(shape.element_type(), pointer, index, /*is_invariant=*/false));
  }
  return SmallFromElements(lanes, shape, elements);
}

void StoreSmallElements(const LaneBuilder& lanes, const Shape& shape, llvm::Value* value, llvm::Value* pointer,
                        absl::Span<llvm::Value* const> indices) {
  const LaneBuilder one = lanes.WithLanes(1);
  int64_t i = 0;
  for (llvm::Value* index : indices) {
    one.StoreConsecutive(shape.element_type(), Element(lanes, value, i++), pointer, index);
  }
}

}  // namespace kashi::codegen
