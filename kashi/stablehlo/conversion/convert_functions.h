// The conversion functions, one for each kind of operation; conversion_table.cc maps operations to functions.
#ifndef KASHI_STABLEHLO_CONVERSION_CONVERT_FUNCTIONS_H_
#define KASHI_STABLEHLO_CONVERSION_CONVERT_FUNCTIONS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {

// Converts an operation that has an opcode with the same meaning and no attribute but result_accuracy.
absl::Status ConvertPlain(OperationConverter& c, HloOpcode opcode);

// convert_elementwise.cc
absl::Status ConvertCbrt(OperationConverter& c);
absl::Status ConvertCompare(OperationConverter& c);
absl::Status ConvertReducePrecision(OperationConverter& c);
absl::Status ConvertConstant(OperationConverter& c);
// Adds the value of a tensor attribute. An error if it has another element type.
absl::StatusOr<HloInstruction*> AddConstant(OperationConverter& c, const Attribute& value, const Shape& shape);
absl::Status ConvertIota(OperationConverter& c);
// An iota of this shape.
absl::Status FinishIota(OperationConverter& c, const Shape& shape);
absl::Status ConvertCast(OperationConverter& c);
absl::Status ConvertBitcastConvert(OperationConverter& c);

// convert_shape_ops.cc
absl::Status ConvertBroadcast(OperationConverter& c);
absl::Status ConvertBroadcastInDim(OperationConverter& c);
// Broadcasts to this shape. HLO's broadcast does not stretch dimensions of size 1: they are dropped first.
absl::Status BroadcastInDim(OperationConverter& c, const Shape& shape);
absl::Status ConvertReshape(OperationConverter& c);
absl::Status ConvertTranspose(OperationConverter& c);
absl::Status ConvertReverse(OperationConverter& c);
absl::Status ConvertConcatenate(OperationConverter& c);
absl::Status ConvertSlice(OperationConverter& c);
absl::Status ConvertPad(OperationConverter& c);
// Finishes a pad with these amounts, one of each list for each dimension. Pre: the lists are equally long.
absl::Status FinishPad(OperationConverter& c, const Shape& shape, absl::Span<const int64_t> low,
                       absl::Span<const int64_t> high, absl::Span<const int64_t> interior);
absl::Status ConvertDynamicSlice(OperationConverter& c);
absl::Status ConvertDynamicUpdateSlice(OperationConverter& c);
absl::Status ConvertGather(OperationConverter& c);
absl::Status ConvertTorchIndexSelect(OperationConverter& c);

// convert_contraction.cc
absl::Status ConvertDot(OperationConverter& c);
absl::Status ConvertDotGeneral(OperationConverter& c);
absl::Status ConvertEinsum(OperationConverter& c);
absl::Status ConvertUnaryEinsum(OperationConverter& c);
absl::Status ConvertConvolution(OperationConverter& c);
absl::Status ConvertFft(OperationConverter& c);
absl::Status ConvertCholesky(OperationConverter& c);
absl::Status ConvertTriangularSolve(OperationConverter& c);
absl::Status ConvertBatchNormTraining(OperationConverter& c);
absl::Status ConvertBatchNormInference(OperationConverter& c);
absl::Status ConvertBatchNormGrad(OperationConverter& c);
// The padding of a dynamic_conv is an operand.
absl::Status ConvertConvolutionWithPadding(OperationConverter& c, std::vector<std::pair<int64_t, int64_t>> padding);
absl::StatusOr<PrecisionConfig> PrecisionOf(const Attribute& precisions);

// convert_check.cc: the dialects of StableHLO's tests
absl::Status ConvertExpect(OperationConverter& c);
// Sets the limits of a check, which are attributes of the operation, even if it is a custom call.
absl::Status SetExpectationLimits(const OperationConverter& c, HloInstruction* call);
absl::Status ConvertRunParallel(OperationConverter& c);
absl::Status ConvertPrint(OperationConverter& c);

// convert_chlo.cc: the operations of chlo_expansion.h, and those that StableHLO has too
absl::Status ConvertChlo(OperationConverter& c);
// Whether a custom call stands for an operation of MHLO that XLA reads back, such as `mhlo.erf`, and its conversion.
absl::StatusOr<bool> IsMhloCall(const OperationConverter& c);
absl::Status ConvertMhloCall(OperationConverter& c);
absl::Status ConvertChloConstant(OperationConverter& c);
absl::Status ConvertChloDynamicReshape(OperationConverter& c);
absl::Status ConvertScan(OperationConverter& c);

// convert_reduction.cc
absl::Status ConvertReduce(OperationConverter& c);
absl::Status ConvertReduceWindow(OperationConverter& c);
// The parts of a window, one number for each dimension.
struct WindowLists {
  std::vector<int64_t> sizes, strides, base_dilations, window_dilations;
  PairList padding;
};
absl::StatusOr<Window> WindowOf(const WindowLists& lists);
// Reduces the first `inputs` operands, with the next `inputs` operands as initial values.
absl::Status FinishReduceWindow(OperationConverter& c, size_t inputs, const Window& window, HloComputation* body);
RandomAlgorithm RandomAlgorithmNamed(absl::string_view name);
absl::Status ConvertMap(OperationConverter& c);
// A computation that adds two scalars of this type.
absl::StatusOr<HloComputation*> MakeAddition(OperationConverter& c, PrimitiveType type);
absl::Status ConvertSort(OperationConverter& c);
absl::Status ConvertScatter(OperationConverter& c);
absl::Status ConvertSelectAndScatter(OperationConverter& c);
absl::Status ConvertRng(OperationConverter& c);
absl::Status ConvertRngBitGenerator(OperationConverter& c);

// convert_control.cc
absl::Status ConvertCall(OperationConverter& c);
absl::Status ConvertComposite(OperationConverter& c);
absl::Status ConvertRaggedDot(OperationConverter& c);
absl::Status ConvertWhile(OperationConverter& c);
absl::Status ConvertIf(OperationConverter& c);
absl::Status ConvertCase(OperationConverter& c);
absl::Status ConvertTuple(OperationConverter& c);
absl::Status ConvertGetTupleElement(OperationConverter& c);
absl::Status ConvertOptimizationBarrier(OperationConverter& c);
absl::Status ConvertIdentity(OperationConverter& c);

// quantized_values.cc: uniform_quantize and uniform_dequantize without quantized types are an error
absl::Status ConvertUnquantized(OperationConverter& c);

// convert_collective.cc
absl::Status ConvertAllGather(OperationConverter& c);
absl::Status ConvertAllReduce(OperationConverter& c);
absl::Status ConvertCrossReplicaSum(OperationConverter& c);
absl::Status ConvertReduceScatter(OperationConverter& c);
absl::Status ConvertAllToAll(OperationConverter& c);
absl::Status ConvertCollectiveBroadcast(OperationConverter& c);
absl::Status ConvertCollectivePermute(OperationConverter& c);
absl::Status ConvertCollectiveReduce(OperationConverter& c);
absl::Status ConvertReplicaId(OperationConverter& c);
absl::Status ConvertPartitionId(OperationConverter& c);
absl::Status ConvertAsyncStart(OperationConverter& c);
absl::Status ConvertAsyncDone(OperationConverter& c);

// convert_transfer.cc
absl::Status ConvertCreateToken(OperationConverter& c);
absl::Status ConvertAfterAll(OperationConverter& c);
absl::Status ConvertInfeed(OperationConverter& c);
absl::Status ConvertOutfeed(OperationConverter& c);
absl::Status ConvertSend(OperationConverter& c);
absl::Status ConvertRecv(OperationConverter& c);

// convert_custom_call.cc
absl::Status ConvertCustomCall(OperationConverter& c);
// Converts a custom call that FindDynamicCall and IsMhloCall do not know.
absl::Status ConvertPlainCustomCall(OperationConverter& c);

// The attribute of a custom call that lists the operands which give the sizes of its results.
inline constexpr absl::string_view kShapeOperands = "indices_of_shape_operands";

// convert_dynamic_calls.cc: the custom calls that stand for dynamic operations; nullptr for any other target
ConversionFunction FindDynamicCall(absl::string_view target);

// convert_sharding.cc
absl::Status ConvertShardingConstraint(OperationConverter& c);
absl::Status ConvertShardingGroup(OperationConverter& c);
absl::Status ConvertManualComputation(OperationConverter& c);
absl::Status ConvertNamedComputation(OperationConverter& c);

// convert_dynamic.cc
absl::Status ConvertDynamicBroadcastInDim(OperationConverter& c);
absl::Status ConvertDynamicIota(OperationConverter& c);
absl::Status ConvertDynamicReshape(OperationConverter& c);
absl::Status ConvertDynamicPad(OperationConverter& c);
absl::Status ConvertRealDynamicSlice(OperationConverter& c);
absl::Status ConvertDynamicGather(OperationConverter& c);
absl::Status ConvertDynamicConv(OperationConverter& c);
absl::Status ConvertGetDimensionSize(OperationConverter& c);
absl::Status ConvertSetDimensionSize(OperationConverter& c);
// The operand with the element type of the reducer's parameter `number`, by convert if that type is wider: reducers may
// promote, which HLO's verifier does not allow. XLA's converter leaves both types as they are.
absl::StatusOr<HloInstruction*> Promote(OperationConverter& c, HloInstruction* operand, const HloComputation& reducer,
                                        int64_t number);
// Converts to a gather with these slice sizes.
absl::Status ConvertGatherWithSizes(OperationConverter& c, const std::vector<int64_t>& slice_sizes);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_CONVERT_FUNCTIONS_H_
