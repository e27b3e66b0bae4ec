// The table from operations to conversion functions, with one row for each operation.
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "kashi/stablehlo/conversion/chlo_expansion.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {
namespace {

template <HloOpcode opcode>
absl::Status Plain(OperationConverter& c) {
  return ConvertPlain(c, opcode);
}

struct Row {
  absl::string_view name;
  ConversionFunction convert;
};

constexpr Row kRows[] = {
    // An opcode of the same meaning.
    {"stablehlo.abs", &Plain<HloOpcode::kAbs>},
    {"stablehlo.add", &Plain<HloOpcode::kAdd>},
    {"stablehlo.and", &Plain<HloOpcode::kAnd>},
    {"stablehlo.atan2", &Plain<HloOpcode::kAtan2>},
    {"stablehlo.ceil", &Plain<HloOpcode::kCeil>},
    {"stablehlo.clamp", &Plain<HloOpcode::kClamp>},
    {"stablehlo.complex", &Plain<HloOpcode::kComplex>},
    {"stablehlo.cosine", &Plain<HloOpcode::kCos>},
    {"stablehlo.count_leading_zeros", &Plain<HloOpcode::kClz>},
    {"stablehlo.divide", &Plain<HloOpcode::kDivide>},
    {"stablehlo.exponential", &Plain<HloOpcode::kExp>},
    {"stablehlo.exponential_minus_one", &Plain<HloOpcode::kExpm1>},
    {"stablehlo.floor", &Plain<HloOpcode::kFloor>},
    {"stablehlo.imag", &Plain<HloOpcode::kImag>},
    {"stablehlo.is_finite", &Plain<HloOpcode::kIsFinite>},
    {"stablehlo.log", &Plain<HloOpcode::kLog>},
    {"stablehlo.log_plus_one", &Plain<HloOpcode::kLog1p>},
    {"stablehlo.logistic", &Plain<HloOpcode::kLogistic>},
    {"stablehlo.maximum", &Plain<HloOpcode::kMaximum>},
    {"stablehlo.minimum", &Plain<HloOpcode::kMinimum>},
    {"stablehlo.multiply", &Plain<HloOpcode::kMultiply>},
    {"stablehlo.negate", &Plain<HloOpcode::kNegate>},
    {"stablehlo.not", &Plain<HloOpcode::kNot>},
    {"stablehlo.or", &Plain<HloOpcode::kOr>},
    {"stablehlo.popcnt", &Plain<HloOpcode::kPopulationCount>},
    {"stablehlo.power", &Plain<HloOpcode::kPower>},
    {"stablehlo.real", &Plain<HloOpcode::kReal>},
    {"stablehlo.remainder", &Plain<HloOpcode::kRemainder>},
    {"stablehlo.round_nearest_afz", &Plain<HloOpcode::kRoundNearestAfz>},
    {"stablehlo.round_nearest_even", &Plain<HloOpcode::kRoundNearestEven>},
    {"stablehlo.rsqrt", &Plain<HloOpcode::kRsqrt>},
    {"stablehlo.select", &Plain<HloOpcode::kSelect>},
    {"stablehlo.shift_left", &Plain<HloOpcode::kShiftLeft>},
    {"stablehlo.shift_right_arithmetic", &Plain<HloOpcode::kShiftRightArithmetic>},
    {"stablehlo.shift_right_logical", &Plain<HloOpcode::kShiftRightLogical>},
    {"stablehlo.sign", &Plain<HloOpcode::kSign>},
    {"stablehlo.sine", &Plain<HloOpcode::kSin>},
    {"stablehlo.sqrt", &Plain<HloOpcode::kSqrt>},
    {"stablehlo.subtract", &Plain<HloOpcode::kSubtract>},
    {"stablehlo.tan", &Plain<HloOpcode::kTan>},
    {"stablehlo.tanh", &Plain<HloOpcode::kTanh>},
    {"stablehlo.xor", &Plain<HloOpcode::kXor>},
    // Their own functions.
    {"builtin.unrealized_conversion_cast", &ConvertIdentity},
    {"check.expect_almost_eq", &ConvertExpect},
    {"check.expect_almost_eq_const", &ConvertExpect},
    {"check.expect_close", &ConvertExpect},
    {"check.expect_eq", &ConvertExpect},
    {"check.expect_eq_const", &ConvertExpect},
    {"chlo.constant", &ConvertChloConstant},
    {"chlo.dynamic_reshape", &ConvertChloDynamicReshape},
    {"chlo.ragged_dot", &ConvertRaggedDot},
    {"chlo.scan", &ConvertScan},
    {"func.call", &ConvertCall},
    {"interpreter.print", &ConvertPrint},
    {"interpreter.probe", &ConvertIdentity},
    {"interpreter.run_parallel", &ConvertRunParallel},
    {"sdy.constant", &ConvertConstant},
    {"sdy.manual_computation", &ConvertManualComputation},
    {"sdy.named_computation", &ConvertNamedComputation},
    {"sdy.propagation_barrier", &ConvertIdentity},
    {"sdy.reshard", &ConvertShardingConstraint},
    {"sdy.sharding_constraint", &ConvertShardingConstraint},
    {"sdy.sharding_group", &ConvertShardingGroup},
    {"stablehlo.after_all", &ConvertAfterAll},
    {"stablehlo.all_gather", &ConvertAllGather},
    {"stablehlo.all_reduce", &ConvertAllReduce},
    {"stablehlo.all_to_all", &ConvertAllToAll},
    {"stablehlo.async_done", &ConvertAsyncDone},
    {"stablehlo.async_start", &ConvertAsyncStart},
    {"stablehlo.batch_norm_grad", &ConvertBatchNormGrad},
    {"stablehlo.batch_norm_inference", &ConvertBatchNormInference},
    {"stablehlo.batch_norm_training", &ConvertBatchNormTraining},
    {"stablehlo.bitcast_convert", &ConvertBitcastConvert},
    {"stablehlo.broadcast", &ConvertBroadcast},
    {"stablehlo.broadcast_in_dim", &ConvertBroadcastInDim},
    {"stablehlo.case", &ConvertCase},
    {"stablehlo.cbrt", &ConvertCbrt},
    {"stablehlo.cholesky", &ConvertCholesky},
    {"stablehlo.collective_broadcast", &ConvertCollectiveBroadcast},
    {"stablehlo.collective_permute", &ConvertCollectivePermute},
    {"stablehlo.collective_reduce", &ConvertCollectiveReduce},
    {"stablehlo.compare", &ConvertCompare},
    {"stablehlo.composite", &ConvertComposite},
    {"stablehlo.concatenate", &ConvertConcatenate},
    {"stablehlo.constant", &ConvertConstant},
    {"stablehlo.convert", &ConvertCast},
    {"stablehlo.convolution", &ConvertConvolution},
    {"stablehlo.create_token", &ConvertCreateToken},
    {"stablehlo.cross-replica-sum", &ConvertCrossReplicaSum},
    {"stablehlo.custom_call", &ConvertCustomCall},
    {"stablehlo.dot", &ConvertDot},
    {"stablehlo.dot_general", &ConvertDotGeneral},
    {"stablehlo.dynamic_broadcast_in_dim", &ConvertDynamicBroadcastInDim},
    {"stablehlo.dynamic_conv", &ConvertDynamicConv},
    {"stablehlo.dynamic_gather", &ConvertDynamicGather},
    {"stablehlo.dynamic_iota", &ConvertDynamicIota},
    {"stablehlo.dynamic_pad", &ConvertDynamicPad},
    {"stablehlo.dynamic_reshape", &ConvertDynamicReshape},
    {"stablehlo.dynamic_slice", &ConvertDynamicSlice},
    {"stablehlo.dynamic_update_slice", &ConvertDynamicUpdateSlice},
    {"stablehlo.einsum", &ConvertEinsum},
    {"stablehlo.fft", &ConvertFft},
    {"stablehlo.gather", &ConvertGather},
    {"stablehlo.get_dimension_size", &ConvertGetDimensionSize},
    {"stablehlo.get_tuple_element", &ConvertGetTupleElement},
    {"stablehlo.if", &ConvertIf},
    {"stablehlo.infeed", &ConvertInfeed},
    {"stablehlo.iota", &ConvertIota},
    {"stablehlo.map", &ConvertMap},
    {"stablehlo.optimization_barrier", &ConvertOptimizationBarrier},
    {"stablehlo.outfeed", &ConvertOutfeed},
    {"stablehlo.pad", &ConvertPad},
    {"stablehlo.partition_id", &ConvertPartitionId},
    {"stablehlo.real_dynamic_slice", &ConvertRealDynamicSlice},
    {"stablehlo.recv", &ConvertRecv},
    {"stablehlo.reduce", &ConvertReduce},
    {"stablehlo.reduce_precision", &ConvertReducePrecision},
    {"stablehlo.reduce_scatter", &ConvertReduceScatter},
    {"stablehlo.reduce_window", &ConvertReduceWindow},
    {"stablehlo.replica_id", &ConvertReplicaId},
    {"stablehlo.reshape", &ConvertReshape},
    {"stablehlo.reverse", &ConvertReverse},
    {"stablehlo.rng", &ConvertRng},
    {"stablehlo.rng_bit_generator", &ConvertRngBitGenerator},
    {"stablehlo.scatter", &ConvertScatter},
    {"stablehlo.select_and_scatter", &ConvertSelectAndScatter},
    {"stablehlo.send", &ConvertSend},
    {"stablehlo.set_dimension_size", &ConvertSetDimensionSize},
    {"stablehlo.slice", &ConvertSlice},
    {"stablehlo.sort", &ConvertSort},
    {"stablehlo.torch_index_select", &ConvertTorchIndexSelect},
    {"stablehlo.transpose", &ConvertTranspose},
    {"stablehlo.triangular_solve", &ConvertTriangularSolve},
    {"stablehlo.tuple", &ConvertTuple},
    {"stablehlo.unary_einsum", &ConvertUnaryEinsum},
    {"stablehlo.uniform_dequantize", &ConvertUnquantized},
    {"stablehlo.uniform_quantize", &ConvertUnquantized},
    {"stablehlo.while", &ConvertWhile},
};

}  // namespace

ConversionFunction FindConversion(absl::string_view operation_name) {
  static const auto* const functions = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, ConversionFunction>();
    for (const Row& row : kRows) map->emplace(row.name, row.convert);
    return map;
  }();
  const auto found = functions->find(operation_name);
  if (found != functions->end()) return found->second;
  return IsChloOperation(operation_name) ? &ConvertChlo : nullptr;
}

}  // namespace kashi::stablehlo
