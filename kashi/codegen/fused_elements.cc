#include "kashi/codegen/fused_elements.h"

#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/codegen/element_emitters.h"
#include "kashi/codegen/scalar_computation.h"
#include "kashi/passes/kernel_premises.h"
#include "kashi/passes/plain_array.h"

namespace kashi::codegen {
namespace {

// An instruction and the index at which it is asked for.
struct MovedElements {
  FusedElements& elements;
  const HloInstruction& instruction;
  ElementIndex* index;

  const CoordinateMath& math() const { return elements.math(); }
  absl::Span<const int64_t> operand_sizes(int i = 0) const { return instruction.operand(i)->shape().dimensions(); }
  llvm::Value* Operand(int i, ElementIndex operand_index) const {
    return elements.At(*instruction.operand(i), elements.AddIndex(std::move(operand_index)));
  }
  llvm::Value* Operand(int i, std::vector<Coordinate> coordinates) const {
    return Operand(i, ElementIndex::FromCoordinates(operand_sizes(i), std::move(coordinates)));
  }
};

llvm::Value* EmitBroadcast(const MovedElements& op) {
  std::vector<Coordinate> coordinates;
  for (size_t i = 0; i < op.instruction.dimensions().size(); ++i) {
    // A size of 1 may be stretched.
    const bool is_one = op.operand_sizes()[i] == 1;
    coordinates.push_back(is_one ? op.math().Constant(0) : op.index->At(op.instruction.dimensions(i), op.math()));
  }
  return op.Operand(0, std::move(coordinates));
}

llvm::Value* EmitTranspose(const MovedElements& op) {
  std::vector<Coordinate> coordinates(op.operand_sizes().size());
  for (size_t i = 0; i < coordinates.size(); ++i) {
    coordinates[op.instruction.dimensions(i)] = op.index->At(i, op.math());
  }
  return op.Operand(0, std::move(coordinates));
}

llvm::Value* EmitReshape(const MovedElements& op) {
  return op.Operand(0, op.index->Reshape(op.operand_sizes(), op.math()));
}

llvm::Value* EmitSlice(const MovedElements& op) {
  std::vector<Coordinate> coordinates;
  for (size_t i = 0; i < op.operand_sizes().size(); ++i) {
    const Coordinate scaled = op.math().Multiply(op.index->At(i, op.math()), op.instruction.slice_strides(i));
    coordinates.push_back(op.math().Add(scaled, op.instruction.slice_starts(i)));
  }
  return op.Operand(0, std::move(coordinates));
}

llvm::Value* EmitReverse(const MovedElements& op) {
  std::vector<Coordinate> coordinates = op.index->Coordinates(op.math());
  for (int64_t dimension : op.instruction.dimensions()) {
    const int64_t last = op.operand_sizes()[dimension] - 1;
    coordinates[dimension] = op.math().Add(op.math().Multiply(coordinates[dimension], -1), last);
  }
  return op.Operand(0, std::move(coordinates));
}

llvm::Value* EmitIota(const MovedElements& op) {
  const LaneBuilder& lanes = op.elements.lanes();
  const PrimitiveType type = op.instruction.shape().element_type();
  const Coordinate& at = op.index->At(op.instruction.iota_dimension(), op.math());
  if (primitive_util::IsComplexType(type)) {
    llvm::Type* part = lanes.Register(primitive_util::ComplexComponentType(type));
    return lanes.Complex(lanes.ir().CreateSIToFP(op.math().AsLanes(at), part), llvm::Constant::getNullValue(part));
  }
  if (!primitive_util::IsFloatingPointType(type)) return op.math().AsNumbers(at, lanes.ScalarRegister(type));
  return lanes.Round(type, lanes.ir().CreateSIToFP(op.math().AsLanes(at), lanes.Register(type)));
}

// Outside of the operand, the padding value; the operand is read there too, at the nearest element. Where the
// coordinates are known to be inside or outside, there is nothing to choose.
llvm::Value* EmitPad(const MovedElements& op) {
  Ir& ir = op.elements.lanes().ir();
  std::vector<Coordinate> coordinates;
  llvm::Value* is_inside = nullptr;
  llvm::Value* outside = op.elements.lanes().Splat(op.elements.Scalar(*op.instruction.operand(1)));
  for (size_t i = 0; i < op.operand_sizes().size(); ++i) {
    const auto& padding = op.instruction.padding_config().dimensions(static_cast<int>(i));
    const int64_t size = op.operand_sizes()[i];
    Coordinate at = op.index->At(i, op.math());
    if (padding.edge_padding_low() != 0 || padding.edge_padding_high() != 0) {
      at = op.math().Add(at, -padding.edge_padding_low());
      if (at.range.IsOutside(0, size)) return outside;
      if (!at.range.IsWithin(0, size)) {
        llvm::Value* is_here = ir.CreateAnd(op.math().IsBelow(at, size), ir.CreateNot(op.math().IsBelow(at, 0)));
        is_inside = is_inside == nullptr ? is_here : ir.CreateAnd(is_inside, is_here);
        at = op.math().Clamp(at, size);
      }
    }
    coordinates.push_back(at);
  }
  llvm::Value* inside = op.Operand(0, std::move(coordinates));
  return is_inside == nullptr ? inside : op.elements.lanes().Select(is_inside, inside, outside);
}

// Every operand in which the element may be is read, at the nearest element.
llvm::Value* EmitConcatenate(const MovedElements& op) {
  const int64_t dimension = op.instruction.concatenate_dimension();
  const Coordinate at = op.index->At(dimension, op.math());
  llvm::Value* value = nullptr;
  int64_t begin = 0;
  for (int i = 0; i < op.instruction.operand_count(); ++i) {
    const int64_t size = op.operand_sizes(i)[dimension];
    if (!at.range.IsOutside(begin, begin + size)) {
      std::vector<Coordinate> coordinates = op.index->Coordinates(op.math());
      coordinates[dimension] = op.math().Clamp(op.math().Add(at, -begin), size);
      llvm::Value* part = op.Operand(i, std::move(coordinates));
      value = value == nullptr ? part : op.elements.lanes().Select(op.math().IsBelow(at, begin), value, part);
    }
    begin += size;
  }
  return value;
}

llvm::Value* StartOf(const MovedElements& op, int operand, int64_t last) {
  const HloInstruction& start = *op.instruction.operand(operand);
  return EmitSliceStart(op.elements.lanes().ir(), start.shape().element_type(), op.elements.Scalar(start), last);
}

llvm::Value* EmitDynamicSlice(const MovedElements& op) {
  std::vector<Coordinate> coordinates;
  for (size_t i = 0; i < op.operand_sizes().size(); ++i) {
    const int64_t last = op.operand_sizes()[i] - op.instruction.shape().dimensions(i);
    Coordinate at = op.index->At(i, op.math());
    if (last > 0) at = op.math().Add(at, {StartOf(op, 1 + static_cast<int>(i), last), 0, nullptr});
    coordinates.push_back(at);
  }
  return op.Operand(0, std::move(coordinates));
}

// Coordinate d of the operand: the element's place within its window (0 if there is no such dimension), plus the start
// of the window, which the indices tell. Windows are numbered by the dimensions of the result that are not within them.
llvm::Value* EmitGather(const MovedElements& op) {
  const GatherDimensionNumbers& numbers = op.instruction.gather_dimension_numbers();
  std::vector<Coordinate> window, within;  // coordinates of the result
  for (int64_t d = 0; d < static_cast<int64_t>(op.instruction.shape().dimensions().size()); ++d) {
    (absl::c_linear_search(numbers.offset_dims(), d) ? within : window).push_back(op.index->At(d, op.math()));
  }
  // The coordinates of component k of the window's index.
  const auto index_coordinates = [&](int64_t k) {
    std::vector<Coordinate> coordinates = window;
    if (numbers.index_vector_dim() < static_cast<int64_t>(op.operand_sizes(1).size())) {
      coordinates.insert(coordinates.begin() + numbers.index_vector_dim(), op.math().Constant(k));
    }
    return coordinates;
  };
  std::vector<Coordinate> coordinates(op.operand_sizes().size(), op.math().Constant(0));
  size_t next = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(coordinates.size()); ++d) {
    const bool is_gone = absl::c_linear_search(numbers.collapsed_slice_dims(), d) ||
                         absl::c_linear_search(numbers.operand_batching_dims(), d);
    if (!is_gone) coordinates[d] = within[next++];
  }
  for (int64_t k = 0; k < static_cast<int64_t>(numbers.start_index_map().size()); ++k) {
    const int64_t d = numbers.start_index_map(static_cast<int>(k));
    const int64_t last = op.operand_sizes()[d] - op.instruction.gather_slice_sizes()[d];
    if (last == 0) continue;
    llvm::Value* index = op.Operand(1, index_coordinates(k));
    const PrimitiveType type = op.instruction.operand(1)->shape().element_type();
    coordinates[d] = op.math().Add(coordinates[d], op.math().ClampNumbers(index, type, last));
  }
  const std::vector<Coordinate> of_index = index_coordinates(0);
  for (int i = 0; i < numbers.operand_batching_dims_size(); ++i) {
    coordinates[numbers.operand_batching_dims(i)] = of_index[numbers.start_indices_batching_dims(i)];
  }
  return op.Operand(0, std::move(coordinates));
}

llvm::Value* EmitParameter(const MovedElements& op) {
  const LaneBuilder& lanes = op.elements.lanes();
  const PrimitiveType type = op.instruction.shape().element_type();
  llvm::Value* pointer = op.elements.parameter(op.instruction.parameter_number());
  const Coordinate& at = op.index->Linear(op.math());
  if (at.is_uniform()) return lanes.Splat(lanes.LoadScalar(type, pointer, at.base, /*is_invariant=*/true));
  const bool is_invariant = op.elements.loads_are_invariant();
  if (at.is_affine()) return lanes.LoadStrided(type, pointer, at.base, at.step, is_invariant);
  return lanes.LoadEach(type, pointer, op.math().AsLanes(at), is_invariant);
}

llvm::Value* EmitConstant(const MovedElements& op) { return EmitScalarConstant(op.elements.lanes(), op.instruction); }

// ---- Which of them can be emitted; types have been looked at.
bool Always(const HloInstruction&) { return true; }
bool StartsAtScalars(const HloInstruction& slice) { return passes::HasScalarStarts(slice, 1); }
bool IsScalarConstant(const HloInstruction& instruction) { return ShapeUtil::IsScalar(instruction.shape()); }
// A bitcast of the bytes of other layouts is no reshape.
bool IsReshape(const HloInstruction& bitcast) {
  const auto is_dense = [](const Shape& shape) {
    return !shape.has_layout() || LayoutUtil::Equal(shape.layout(), LayoutUtil::GetDefaultLayoutForShape(shape));
  };
  return is_dense(bitcast.shape()) && is_dense(bitcast.operand(0)->shape()) &&
         ShapeUtil::ElementsIn(bitcast.shape()) == ShapeUtil::ElementsIn(bitcast.operand(0)->shape());
}
// Coordinates less the padding must fit the lanes' integers.
constexpr int64_t kMostPadding = int64_t{1} << 30;
bool HasOnlyEdges(const HloInstruction& pad) {
  return !ShapeUtil::IsZeroElementArray(pad.operand(0)->shape()) &&
         absl::c_all_of(pad.padding_config().dimensions(), [](const PaddingConfigDimension& dimension) {
           return dimension.interior_padding() == 0 && dimension.edge_padding_low() > -kMostPadding &&
                  dimension.edge_padding_low() < kMostPadding;
         });
}
constexpr int kManyOperands = 8;  // of a concatenate: each is a loop, or a choice
bool HasFewOperands(const HloInstruction& concatenate) {
  return concatenate.operand_count() <= kManyOperands &&
         absl::c_none_of(concatenate.operands(),
                         [](const HloInstruction* x) { return ShapeUtil::IsZeroElementArray(x->shape()); });
}

// Neighbours in the result are of different windows. Else whole rows are copied, which is the evaluator's work, unless
// they have so few elements that its call would cost more.
bool GathersElements(const HloInstruction& gather) {
  constexpr int64_t kFewElements = 4096;
  const Shape& shape = gather.shape();
  if (!primitive_util::IsIntegralType(gather.operand(1)->shape().element_type())) return false;
  const int64_t elements = ShapeUtil::ElementsIn(shape);
  if (elements > 1 && elements <= kFewElements) return true;
  int64_t inner = static_cast<int64_t>(shape.dimensions().size()) - 1;
  while (inner >= 0 && shape.dimensions(inner) == 1) --inner;
  return inner >= 0 && !absl::c_linear_search(gather.gather_dimension_numbers().offset_dims(), inner);
}

struct MovementRow {
  HloOpcode opcode;
  llvm::Value* (*emit)(const MovedElements& op);
  bool (*can_emit)(const HloInstruction& instruction);
};
constexpr MovementRow kMovements[] = {
    {HloOpcode::kBroadcast, &EmitBroadcast, &Always},
    {HloOpcode::kTranspose, &EmitTranspose, &Always},
    {HloOpcode::kReshape, &EmitReshape, &Always},
    {HloOpcode::kBitcast, &EmitReshape, &IsReshape},
    {HloOpcode::kSlice, &EmitSlice, &Always},
    {HloOpcode::kReverse, &EmitReverse, &Always},
    {HloOpcode::kPad, &EmitPad, &HasOnlyEdges},
    {HloOpcode::kConcatenate, &EmitConcatenate, &HasFewOperands},
    {HloOpcode::kDynamicSlice, &EmitDynamicSlice, &StartsAtScalars},
    {HloOpcode::kGather, &EmitGather, &GathersElements},
    {HloOpcode::kIota, &EmitIota, &Always},
    {HloOpcode::kParameter, &EmitParameter, &Always},
    {HloOpcode::kConstant, &EmitConstant, &IsScalarConstant},
};

const MovementRow* FindMovement(HloOpcode opcode) {
  const auto row = absl::c_find_if(kMovements, [&](const MovementRow& row) { return row.opcode == opcode; });
  return row == std::end(kMovements) ? nullptr : &*row;
}

// Operands that are moved have the type of the result; the others of a dynamic slice or a gather tell places.
bool KeepsType(const HloInstruction& instruction) {
  const bool has_places =
      instruction.opcode() == HloOpcode::kDynamicSlice || instruction.opcode() == HloOpcode::kGather;
  const size_t moved = has_places ? 1 : instruction.operands().size();
  for (size_t i = 0; i < moved; ++i) {
    if (instruction.operand(i)->shape().element_type() != instruction.shape().element_type()) return false;
  }
  return true;
}

// Operations with three operands may have scalars that count for every element: clamp's bounds, select's predicate.
bool HasSizesOfOperands(const HloInstruction& instruction) {
  const bool may_repeat = instruction.operand_count() == 3;
  return absl::c_all_of(instruction.operands(), [&](const HloInstruction* operand) {
    return operand->shape().dimensions() == instruction.shape().dimensions() ||
           (may_repeat && ShapeUtil::IsScalar(operand->shape()));
  });
}

}  // namespace

bool MovesElements(HloOpcode opcode) { return FindMovement(opcode) != nullptr; }

bool CanFuse(const HloInstruction& instruction) {
  if (!passes::IsElementArray(instruction.shape()) || instruction.HasControlDependencies()) return false;
  if (!absl::c_all_of(instruction.operands(),
                      [](const HloInstruction* x) { return passes::IsElementArray(x->shape()); })) {
    return false;
  }
  if (const MovementRow* row = FindMovement(instruction.opcode())) {
    return KeepsType(instruction) && row->can_emit(instruction);
  }
  return FindElementEmitter(instruction) != nullptr && HasSizesOfOperands(instruction);
}

FusedElements::FusedElements(const LaneBuilder& lanes, llvm::IntegerType* lane_type,
                             absl::Span<llvm::Value* const> parameters, bool loads_are_invariant)
    : lanes_(lanes),
      math_(lanes_, lane_type),
      parameters_(parameters.begin(), parameters.end()),
      loads_are_invariant_(loads_are_invariant) {
  if (lanes.lanes() == 1) {
    scalar_index_ = AddIndex(ElementIndex::FromLinear({}, math_.Constant(0)));
  } else {
    scalars_ = std::make_unique<FusedElements>(lanes.WithLanes(1), lane_type, parameters, loads_are_invariant);
  }
}

llvm::Value* FusedElements::Scalar(const HloInstruction& instruction) {
  if (scalars_ != nullptr) return scalars_->Scalar(instruction);
  return At(instruction, scalar_index_);
}

llvm::Value* FusedElements::At(const HloInstruction& instruction, ElementIndex* index) {
  if (const auto scalar = known_scalars_.find(&instruction); scalar != known_scalars_.end()) {
    return lanes_.Splat(scalar->second);
  }
  const bool is_scalar = ShapeUtil::IsScalar(instruction.shape());
  if (is_scalar && scalars_ != nullptr) return lanes_.Splat(Scalar(instruction));
  if (is_scalar) index = scalar_index_;
  const auto key = std::make_pair(&instruction, static_cast<const ElementIndex*>(index));
  if (const auto known = values_.find(key); known != values_.end()) return known->second;
  llvm::Value* value = Emit(instruction, index);
  return values_[key] = value;
}

llvm::Value* FusedElements::Emit(const HloInstruction& instruction, ElementIndex* index) {
  if (const MovementRow* row = FindMovement(instruction.opcode())) return row->emit({*this, instruction, index});
  std::vector<llvm::Value*> operands;
  for (const HloInstruction* operand : instruction.operands()) operands.push_back(At(*operand, index));
  return FindElementEmitter(instruction)->emit({lanes_, instruction, operands});
}

llvm::IntegerType* LaneTypeFor(const HloComputation& fused, Ir& ir) {
  int64_t most = 0;
  for (const HloInstruction* instruction : fused.instructions()) {
    if (instruction->shape().IsArray()) most = std::max(most, ShapeUtil::ElementsIn(instruction->shape()));
  }
  return most < std::numeric_limits<int32_t>::max() / 2 ? ir.getInt32Ty() : ir.getInt64Ty();
}

}  // namespace kashi::codegen
