#include "kashi/hlo/inference/instruction_shape.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::hlo {
namespace {

using ShapeOr = absl::StatusOr<Shape>;
using I = ShapeInference;

// ---------------------------------------------------------------------------------------------------------------------
// Parts of an instruction. CheckInstructionIsComplete has checked that required fields and the fixed number of operands
// exist.
// ---------------------------------------------------------------------------------------------------------------------

const Shape& OperandShape(const HloInstruction& x, int64_t i) { return x.operand(i)->shape(); }

absl::InlinedVector<const Shape*, 4> OperandShapes(const HloInstruction& x, int64_t begin = 0) {
  absl::InlinedVector<const Shape*, 4> shapes;
  for (int64_t i = begin; i < x.operand_count(); ++i) shapes.push_back(&OperandShape(x, i));
  return shapes;
}

// Copies, for the functions that need them.
std::vector<Shape> OperandShapeList(const HloInstruction& x, int64_t begin) {
  std::vector<Shape> shapes;
  for (int64_t i = begin; i < x.operand_count(); ++i) shapes.push_back(OperandShape(x, i));
  return shapes;
}

// A record that may be absent; then an empty one.
template <HloField field>
const HloFieldType<field>& Record(const HloInstruction& x) {
  const auto* record = x.fields().Find<field>();
  return record ? *record : HloFieldType<field>::default_instance();
}

absl::Span<const int64_t> Dimensions(const HloInstruction& x) {
  const auto* dimensions = x.fields().Find<HloField::dimensions>();
  return dimensions ? absl::MakeConstSpan(*dimensions) : absl::Span<const int64_t>();
}

absl::StatusOr<int64_t> OnlyDimension(const HloInstruction& x) {
  const absl::Span<const int64_t> dimensions = Dimensions(x);
  if (dimensions.size() == 1) return dimensions[0];
  return InvalidArgument("%s takes one dimension, but has %d.", HloOpcodeString(x.opcode()), dimensions.size());
}

ProgramShape CalledShape(const HloInstruction& x, int64_t i) {
  return x.called_computations()[i]->ComputeProgramShape();
}

// The element type of the written shape, if it is an array.
std::optional<PrimitiveType> WrittenType(const HloInstruction& x) {
  if (!x.shape().IsArrayExcludingBuffer()) return std::nullopt;
  return x.shape().element_type();
}

absl::StatusOr<const Shape*> WrittenArray(const HloInstruction& x) {
  if (x.shape().IsArrayExcludingBuffer()) return &x.shape();
  return InvalidArgument("%s needs a shape of its own that is an array, but has %s.", HloOpcodeString(x.opcode()),
                         ShapeUtil::HumanString(x.shape()));
}

absl::Status CheckOperandCount(const HloInstruction& x, int64_t at_least) {
  if (x.operand_count() >= at_least) return absl::OkStatus();
  return InvalidArgument("%s needs at least %d operands, but has %d.", HloOpcodeString(x.opcode()), at_least,
                         x.operand_count());
}

ShapeOr TupleElement(const Shape& shape, int64_t i) { return I::InferGetTupleElementShape(shape, i); }

// The contexts of a …-start, which come after the operands and the result.
std::vector<Shape> WrittenContexts(const HloInstruction& x) {
  if (!x.shape().IsTuple() || x.shape().tuple_shapes_size() <= 2) return {};
  return std::vector<Shape>(x.shape().tuple_shapes().begin() + 2, x.shape().tuple_shapes().end());
}

const Shape& FirstLeaf(const Shape& shape) {
  const Shape* leaf = &shape;
  while (leaf->IsTuple() && !leaf->tuple_shapes().empty()) leaf = &leaf->tuple_shapes(0);
  return *leaf;
}

// The number of pieces of size `piece` in `whole`; 1 if the sizes do not tell.
int64_t PieceCount(const Shape& whole, const Shape& piece, int64_t dimension) {
  const auto has = [&](const Shape& shape) {
    return shape.IsArray() && dimension >= 0 && dimension < shape.rank() &&
           shape.dimensions(static_cast<int>(dimension)) > 0;
  };
  if (!has(whole) || !has(piece)) return 1;
  return CeilOfRatio(whole.dimensions(static_cast<int>(dimension)), piece.dimensions(static_cast<int>(dimension)));
}

// ---------------------------------------------------------------------------------------------------------------------
// The rules of shape_rules.def
// ---------------------------------------------------------------------------------------------------------------------

ShapeOr InferFirstOperand(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  return OperandShape(x, 0);
}
ShapeOr InferSecondOperand(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 2));
  return OperandShape(x, 1);
}
ShapeOr InferAddDependency(const HloInstruction& x) { return OperandShape(x, 0); }
ShapeOr InferCopy(const HloInstruction& x) { return OperandShape(x, 0); }
ShapeOr InferToken(const HloInstruction&) { return ShapeUtil::MakeTokenShape(); }
ShapeOr InferU32(const HloInstruction&) { return ShapeUtil::MakeScalarShape(U32); }

ShapeOr InferUnary(const HloInstruction& x) { return I::InferUnaryOpShape(x.opcode(), x.operand(0)); }
ShapeOr InferBinary(const HloInstruction& x) { return I::InferBinaryOpShape(x.opcode(), x.operand(0), x.operand(1)); }
ShapeOr InferCompare(const HloInstruction& x) { return InferBinary(x); }
ShapeOr InferTernary(const HloInstruction& x) {
  return I::InferTernaryOpShape(x.opcode(), x.operand(0), x.operand(1), x.operand(2));
}
ShapeOr InferTuple(const HloInstruction& x) { return I::InferVariadicOpShape(x.opcode(), OperandShapes(x)); }
ShapeOr InferSort(const HloInstruction& x) { return I::InferVariadicOpShape(x.opcode(), OperandShapes(x)); }

ShapeOr InferConvert(const HloInstruction& x) {
  return I::InferConvertShape(OperandShape(x, 0), x.shape().element_type());
}
ShapeOr InferBitcastConvert(const HloInstruction& x) {
  return I::InferBitcastConvertShape(OperandShape(x, 0), x.shape().element_type());
}
ShapeOr InferStochasticConvert(const HloInstruction& x) {
  return I::InferStochasticConvertShape(OperandShape(x, 0), OperandShape(x, 1), x.shape().element_type());
}
ShapeOr InferReducePrecision(const HloInstruction& x) {
  return I::InferReducePrecisionShape(OperandShape(x, 0), x.exponent_bits(), x.mantissa_bits());
}

ShapeOr InferSlice(const HloInstruction& x) {
  return I::InferSliceShape(OperandShape(x, 0), x.slice_starts(), x.slice_limits(), x.slice_strides());
}
ShapeOr InferDynamicSlice(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  return I::InferDynamicSliceShape(OperandShape(x, 0), OperandShapeList(x, 1), x.dynamic_slice_sizes());
}
ShapeOr InferDynamicUpdateSlice(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 2));
  return I::InferDynamicUpdateSliceShape(OperandShape(x, 0), OperandShape(x, 1), OperandShapeList(x, 2));
}
ShapeOr InferPad(const HloInstruction& x) {
  return I::InferPadShape(OperandShape(x, 0), OperandShape(x, 1), x.padding_config());
}
ShapeOr InferReverse(const HloInstruction& x) { return I::InferReverseShape(OperandShape(x, 0), Dimensions(x)); }
ShapeOr InferShuffle(const HloInstruction& x) {
  return I::InferShuffleShape(OperandShape(x, 0), Dimensions(x), x.shuffle_shifts());
}
ShapeOr InferTranspose(const HloInstruction& x) { return I::InferTransposeShape(OperandShape(x, 0), Dimensions(x)); }
ShapeOr InferBroadcast(const HloInstruction& x) { return I::InferBroadcastShape(OperandShape(x, 0), Dimensions(x)); }
ShapeOr InferConcatenate(const HloInstruction& x) {
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, OnlyDimension(x));
  return I::InferConcatOpShape(OperandShapes(x), dimension);
}
ShapeOr InferReshape(const HloInstruction& x) {
  KASHI_ASSIGN_OR_RETURN(const Shape* written, WrittenArray(x));
  return I::InferReshapeShape(OperandShape(x, 0), written->dimensions(), x.inferred_dimension());
}
ShapeOr InferDynamicReshape(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  KASHI_ASSIGN_OR_RETURN(const Shape* written, WrittenArray(x));
  const auto flags = written->dynamic_dimensions();
  return I::InferDynamicReshapeShape(OperandShape(x, 0), OperandShapes(x, 1), written->dimensions(),
                                     std::vector<bool>(flags.begin(), flags.end()));
}
ShapeOr InferGetTupleElement(const HloInstruction& x) { return TupleElement(OperandShape(x, 0), x.tuple_index()); }
ShapeOr InferGetDimensionSize(const HloInstruction& x) {
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, OnlyDimension(x));
  return I::InferGetDimensionSizeShape(OperandShape(x, 0), dimension);
}
ShapeOr InferSetDimensionSize(const HloInstruction& x) {
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, OnlyDimension(x));
  return I::InferSetDimensionSizeShape(OperandShape(x, 0), OperandShape(x, 1), dimension);
}

// A map may omit its dimensions: it works on all dimensions.
ShapeOr InferMap(const HloInstruction& x) {
  const auto operands = OperandShapes(x);
  if (!Dimensions(x).empty()) return I::InferMapShape(operands, CalledShape(x, 0), Dimensions(x));
  int64_t rank = 0;
  for (const Shape* shape : operands) rank = std::max(rank, shape->IsArray() ? shape->rank() : 0);
  std::vector<int64_t> all(rank);
  std::iota(all.begin(), all.end(), 0);
  return I::InferMapShape(operands, CalledShape(x, 0), all);
}
ShapeOr InferReduce(const HloInstruction& x) {
  return I::InferReduceShape(OperandShapes(x), Dimensions(x), CalledShape(x, 0));
}
ShapeOr InferReduceWindow(const HloInstruction& x) {
  const auto operands = OperandShapes(x);
  if (operands.empty() || operands.size() % 2 != 0) {
    return InvalidArgument("reduce-window needs an even number of operands, but has %d.", operands.size());
  }
  const auto all = absl::MakeConstSpan(operands);
  return I::InferReduceWindowShape(all.first(all.size() / 2), all.subspan(all.size() / 2), x.window(),
                                   CalledShape(x, 0));
}
ShapeOr InferSelectAndScatter(const HloInstruction& x) {
  return I::InferSelectAndScatterShape(OperandShape(x, 0), CalledShape(x, 0), x.window(), OperandShape(x, 1),
                                       OperandShape(x, 2), CalledShape(x, 1));
}
ShapeOr InferScan(const HloInstruction& x) {
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, OnlyDimension(x));
  return I::InferScanShape(OperandShapes(x), CalledShape(x, 0), dimension, x.fields().Get<HloField::num_carries>(0));
}
ShapeOr InferTopK(const HloInstruction& x) { return I::InferTopKShape(OperandShape(x, 0), x.k()); }

ShapeOr InferDot(const HloInstruction& x) {
  return I::InferDotOpShape(OperandShape(x, 0), OperandShape(x, 1), Record<HloField::dot_dimension_numbers>(x),
                            WrittenType(x));
}
// The scales do not matter.
ShapeOr InferScaledDot(const HloInstruction& x) { return InferDot(x); }
ShapeOr InferRaggedDot(const HloInstruction& x) {
  return I::InferRaggedDotOpShape(OperandShape(x, 0), OperandShape(x, 1), OperandShape(x, 2),
                                  Record<HloField::ragged_dot_dimension_numbers>(x), WrittenType(x));
}
ShapeOr InferConvolution(const HloInstruction& x) {
  return I::InferConvolveShape(OperandShape(x, 0), OperandShape(x, 1), x.feature_group_count(), x.batch_group_count(),
                               x.window(), x.convolution_dimension_numbers(), WrittenType(x));
}
ShapeOr InferGather(const HloInstruction& x) {
  return I::InferGatherShape(OperandShape(x, 0), OperandShape(x, 1), x.gather_dimension_numbers(),
                             x.gather_slice_sizes());
}
ShapeOr InferScatter(const HloInstruction& x) {
  return I::InferScatterShape(OperandShapes(x), CalledShape(x, 0), x.scatter_dimension_numbers());
}

ShapeOr InferCall(const HloInstruction& x) { return I::InferCallShape(OperandShapes(x), CalledShape(x, 0)); }
ShapeOr InferWhile(const HloInstruction& x) {
  return I::InferWhileShape(/*condition=*/CalledShape(x, 1), /*body=*/CalledShape(x, 0), OperandShape(x, 0));
}
ShapeOr InferConditional(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  std::vector<ProgramShape> branches;
  for (const HloComputation* branch : x.called_computations()) branches.push_back(branch->ComputeProgramShape());
  return I::InferConditionalShape(OperandShape(x, 0), branches, OperandShapeList(x, 1));
}

ShapeOr InferAllGather(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, OnlyDimension(x));
  return I::InferAllGatherShape(OperandShapes(x), dimension,
                                PieceCount(FirstLeaf(x.shape()), OperandShape(x, 0), dimension));
}
ShapeOr InferAllGatherStart(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, OnlyDimension(x));
  KASHI_ASSIGN_OR_RETURN(const Shape result, TupleElement(x.shape(), 1));
  return I::InferAllGatherStartShape(OperandShapes(x), dimension,
                                     PieceCount(FirstLeaf(result), OperandShape(x, 0), dimension));
}
ShapeOr InferAllGatherDone(const HloInstruction& x) { return I::InferAllGatherDoneShape(OperandShape(x, 0)); }
ShapeOr InferAllReduce(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  return I::InferAllReduceShape(OperandShapes(x));
}
ShapeOr InferCollectiveReduce(const HloInstruction& x) {
  return I::InferCollectiveReduceShape(OperandShapes(x), x.has_dynamic_root());
}
ShapeOr InferCollectiveBroadcast(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  return I::InferCollectiveBroadcastShape(OperandShapes(x), x.has_dynamic_root());
}
ShapeOr InferReduceScatter(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, OnlyDimension(x));
  return I::InferReduceScatterShape(OperandShapes(x), dimension,
                                    PieceCount(OperandShape(x, 0), FirstLeaf(x.shape()), dimension));
}
// The pieces are split and concatenated along the same dimension, so their number is the same.
ShapeOr InferAllToAll(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  if (Dimensions(x).empty()) return I::InferAllToAllTupleShape(OperandShapes(x));
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, OnlyDimension(x));
  const auto* devices = x.fields().Find<HloField::replica_groups>();
  const bool has_groups = devices != nullptr && devices->num_replica_groups() > 0;
  const int64_t pieces = has_groups ? devices->num_devices_per_group() : 1;
  return I::InferAllToAllShape(OperandShape(x, 0), dimension, dimension, pieces);
}
ShapeOr InferCollectivePermute(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  return I::InferCollectivePermuteShape(OperandShapes(x), x.fields().Has(HloField::dynamic_slice_sizes_list));
}
ShapeOr InferCollectivePermuteStart(const HloInstruction& x) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  return I::InferCollectivePermuteStartShape(OperandShapes(x), WrittenContexts(x),
                                             x.fields().Has(HloField::dynamic_slice_sizes_list));
}
ShapeOr InferCollectivePermuteDone(const HloInstruction& x) {
  return I::InferCollectivePermuteDoneShape(OperandShape(x, 0));
}

// ((arguments), result, contexts…). The result is () while `wrapped` still waits for arguments of an async-update.
ShapeOr AsyncState(const HloInstruction& x, const HloComputation& wrapped, const std::vector<Shape>& arguments) {
  const bool is_complete = static_cast<int64_t>(arguments.size()) >= wrapped.num_parameters();
  std::vector<Shape> elements = {ShapeUtil::MakeTupleShape(arguments),
                                 is_complete ? wrapped.root_instruction()->shape() : ShapeUtil::MakeNil()};
  for (Shape& context : WrittenContexts(x)) elements.push_back(std::move(context));
  return ShapeUtil::MakeTupleShape(elements);
}
ShapeOr InferAsyncStart(const HloInstruction& x) {
  return AsyncState(x, *x.called_computations()[0], OperandShapeList(x, 0));
}
ShapeOr InferAsyncUpdate(const HloInstruction& x) {
  const HloComputation* wrapped = x.async_wrapped_computation();
  if (x.operand_count() == 1 || wrapped == nullptr) return OperandShape(x, 0);
  KASHI_ASSIGN_OR_RETURN(const Shape given, TupleElement(OperandShape(x, 0), 0));
  if (!given.IsTuple()) return InvalidArgument("%s has no asynchronous state to update", x.name());
  std::vector<Shape> arguments(given.tuple_shapes().begin(), given.tuple_shapes().end());
  for (Shape& late : OperandShapeList(x, 1)) arguments.push_back(std::move(late));
  return AsyncState(x, *wrapped, arguments);
}
ShapeOr InferAsyncDone(const HloInstruction& x) { return TupleElement(OperandShape(x, 0), 1); }
// (destination, source, context)
ShapeOr InferCopyStart(const HloInstruction& x) {
  return ShapeUtil::MakeTupleShape({OperandShape(x, 0), OperandShape(x, 0), ShapeUtil::MakeScalarShape(U32)});
}
ShapeOr InferCopyDone(const HloInstruction& x) { return TupleElement(OperandShape(x, 0), 0); }

ShapeOr InferFft(const HloInstruction& x) { return I::InferFftShape(OperandShape(x, 0), x.fft_type(), x.fft_length()); }
ShapeOr InferTriangularSolve(const HloInstruction& x) {
  return I::InferTriangularSolveShape(OperandShape(x, 0), OperandShape(x, 1),
                                      Record<HloField::triangular_solve_options>(x));
}
ShapeOr InferCholesky(const HloInstruction& x) { return I::InferCholeskyShape(OperandShape(x, 0)); }
ShapeOr InferBatchNormTraining(const HloInstruction& x) {
  return I::InferBatchNormTrainingShape(OperandShape(x, 0), OperandShape(x, 1), OperandShape(x, 2), x.feature_index());
}
ShapeOr InferBatchNormInference(const HloInstruction& x) {
  return I::InferBatchNormInferenceShape(OperandShape(x, 0), OperandShape(x, 1), OperandShape(x, 2), OperandShape(x, 3),
                                         OperandShape(x, 4), x.feature_index());
}
ShapeOr InferBatchNormGrad(const HloInstruction& x) {
  return I::InferBatchNormGradShape(OperandShape(x, 0), OperandShape(x, 1), OperandShape(x, 2), OperandShape(x, 3),
                                    OperandShape(x, 4), x.feature_index());
}

ShapeOr InferNone(const HloInstruction& x) {
  return Unimplemented("The shape of %s does not follow from its operands.", HloOpcodeString(x.opcode()));
}

using Rule = ShapeOr (*)(const HloInstruction& x);
constexpr Rule kRules[] = {
    InferNone,
#define KASHI_SHAPE_RULE(name) Infer##name,
#include "kashi/hlo/ir/shape_rules.def"
};

// ---------------------------------------------------------------------------------------------------------------------
// Completeness
// ---------------------------------------------------------------------------------------------------------------------

// Where an attribute is kept: a field, or a called computation.
struct AttributePlace {
  HloField field;
  int argument;
};
constexpr AttributePlace kAttributePlaces[] = {
#define KASHI_ATTRIBUTE(identifier, name, codec, field, argument) {HloField::field, argument},
#include "kashi/hlo/ir/attributes.def"
};

bool HasAttribute(const HloInstruction& x, HloAttribute attribute) {
  const AttributePlace place = kAttributePlaces[static_cast<int>(attribute)];
  if (place.field != HloField::called_computations) return x.fields().Has(place.field);
  return static_cast<int>(x.called_computations().size()) > place.argument;
}

// ---------------------------------------------------------------------------------------------------------------------
// Size
// ---------------------------------------------------------------------------------------------------------------------

// Checks that rules, which copy shapes, do not copy too much.
absl::Status CheckSize(const HloInstruction& x) {
  int64_t left = kMaxInferredSubshapes;
  const auto take = [&left](const HloInstruction* instruction) {
    left -= ShapeUtil::SubshapeCount(instruction->shape());
    return left >= 0;
  };
  const auto take_called = [&take](const HloComputation* called) {
    return absl::c_all_of(called->parameter_instructions(), take) && take(called->root_instruction());
  };
  if (absl::c_all_of(x.operands(), take) && absl::c_all_of(x.called_computations(), take_called)) {
    return absl::OkStatus();
  }
  return InvalidArgument("The shapes of operands and called computations have more than %d subshapes.",
                         kMaxInferredSubshapes);
}

}  // namespace

bool HasItsOperandCount(const HloInstruction& x) {
  const int arity = GetHloOpcodeInfo(x.opcode()).arity;
  return arity < 0 || x.operand_count() == arity ||
         (x.opcode() == HloOpcode::kAsyncUpdate && x.operand_count() > arity);
}

// Checks that the parts exist which the rules rely on.
absl::Status CheckInstructionIsComplete(const HloInstruction& x) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(x.opcode());
  if (!HasItsOperandCount(x)) {
    return InvalidArgument("Expected %d operands for %s instruction, but it has %d.", static_cast<int>(info.arity),
                           info.name, x.operand_count());
  }
  for (const HloOpcodeAttribute& entry : info.attributes) {
    // The list of dimensions may be empty: rules use Dimensions.
    if (entry.need != HloOpcodeAttribute::kRequired || entry.attribute == HloAttribute::dimensions) continue;
    if (!HasAttribute(x, entry.attribute)) {
      return InvalidArgument("%s needs the attribute %s.", info.name, HloAttributeName(entry.attribute));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> InferInstructionShape(const HloInstruction& instruction) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(instruction.opcode());
  KASHI_RETURN_IF_ERROR(CheckInstructionIsComplete(instruction));
  if (info.shape_rule != HloShapeRule::kGetTupleElement) KASHI_RETURN_IF_ERROR(CheckSize(instruction));
  return kRules[static_cast<int>(info.shape_rule)](instruction);
}

}  // namespace kashi::hlo
