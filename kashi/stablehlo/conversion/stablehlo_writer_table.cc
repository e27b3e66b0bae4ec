// The table from opcodes to writing functions: one row for each opcode that has a form in StableHLO.
#include <string>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/stablehlo/conversion/stablehlo_write_functions.h"

namespace kashi::stablehlo {
namespace {

struct WriterRow {
  HloOpcode opcode;
  // An operation of the same meaning, whose only attribute is the accuracy of its result; or a function.
  absl::string_view name;
  WriteFunction write = nullptr;
};

// Values that have no operation: tuples are lists of names.
absl::Status WriteTuple(StableHloWriter& w, const HloInstruction& i) {
  w.SetNames(&i, w.NamesOfOperands(i));
  return absl::OkStatus();
}

absl::Status WriteGetTupleElement(StableHloWriter& w, const HloInstruction& i) {
  w.SetNames(&i, w.NamesOfElement(*i.operand(0), i.tuple_index()));
  return absl::OkStatus();
}

// An argument, which has been written.
absl::Status WriteParameter(StableHloWriter& w, const HloInstruction& i) { return w.CheckTypes(i.shape()); }

// For instructions whose value is that of the first operand.
absl::Status WriteSame(StableHloWriter& w, const HloInstruction& i) {
  w.SetNames(&i, ValueNames(w.NamesOf(i.operand(0))));
  return absl::OkStatus();
}

// Compilers let a copy convert.
absl::Status WriteCopy(StableHloWriter& w, const HloInstruction& i) {
  if (ShapeUtil::Compatible(i.shape(), i.operand(0)->shape())) return WriteSame(w, i);
  if (!i.shape().IsArray()) return Unimplemented("StableHLO has no form for a copy of a tuple that converts");
  return w.WriteFor(i, w.Operation("stablehlo.convert", i));
}

// They also let the operands and the result of an operation have different precisions.
absl::Status CheckPrecisions(const HloInstruction& i) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(i.opcode());
  const bool has_one = info.Has(HloOpcodeFlags::kElementwise) || info.Has(HloOpcodeFlags::kMovesElements);
  if (!has_one || i.opcode() == HloOpcode::kConvert || i.opcode() == HloOpcode::kCopy) return absl::OkStatus();
  if (i.opcode() == HloOpcode::kBitcastConvert) return absl::OkStatus();
  PrimitiveType type = PRIMITIVE_TYPE_INVALID;
  const auto differs = [&type](const Shape& shape) {
    if (!shape.IsArray() || !primitive_util::IsFloatingPointType(shape.element_type())) return false;
    if (type == PRIMITIVE_TYPE_INVALID) type = shape.element_type();
    return shape.element_type() != type;
  };
  if (differs(i.shape()) ||
      absl::c_any_of(i.operands(), [&](const HloInstruction* operand) { return differs(operand->shape()); })) {
    return Unimplemented("StableHLO has no form for operands and a result of different precisions");
  }
  return absl::OkStatus();
}

constexpr WriterRow kWriterRows[] = {
    {HloOpcode::kAbs, "stablehlo.abs"},
    {HloOpcode::kAcos, "chlo.acos"},
    {HloOpcode::kAcosh, "chlo.acosh"},
    {HloOpcode::kAdd, "stablehlo.add"},
    {HloOpcode::kAnd, "stablehlo.and"},
    {HloOpcode::kAsin, "chlo.asin"},
    {HloOpcode::kAsinh, "chlo.asinh"},
    {HloOpcode::kAtan, "chlo.atan"},
    {HloOpcode::kAtan2, "stablehlo.atan2"},
    {HloOpcode::kAtanh, "chlo.atanh"},
    {HloOpcode::kBitcastConvert, "stablehlo.bitcast_convert"},
    {HloOpcode::kCbrt, "stablehlo.cbrt"},
    {HloOpcode::kCeil, "stablehlo.ceil"},
    {HloOpcode::kClamp, "stablehlo.clamp"},
    {HloOpcode::kClz, "stablehlo.count_leading_zeros"},
    {HloOpcode::kComplex, "stablehlo.complex"},
    {HloOpcode::kConvert, "stablehlo.convert"},
    {HloOpcode::kCos, "stablehlo.cosine"},
    {HloOpcode::kCosh, "chlo.cosh"},
    {HloOpcode::kDivide, "stablehlo.divide"},
    {HloOpcode::kErf, "chlo.erf"},
    {HloOpcode::kExp, "stablehlo.exponential"},
    {HloOpcode::kExpm1, "stablehlo.exponential_minus_one"},
    {HloOpcode::kFloor, "stablehlo.floor"},
    {HloOpcode::kImag, "stablehlo.imag"},
    {HloOpcode::kIsFinite, "stablehlo.is_finite"},
    {HloOpcode::kLog, "stablehlo.log"},
    {HloOpcode::kLog1p, "stablehlo.log_plus_one"},
    {HloOpcode::kLogistic, "stablehlo.logistic"},
    {HloOpcode::kMaximum, "stablehlo.maximum"},
    {HloOpcode::kMinimum, "stablehlo.minimum"},
    {HloOpcode::kMulhi, "chlo.mulhi"},
    {HloOpcode::kMultiply, "stablehlo.multiply"},
    {HloOpcode::kNegate, "stablehlo.negate"},
    {HloOpcode::kNot, "stablehlo.not"},
    {HloOpcode::kOptimizationBarrier, "stablehlo.optimization_barrier"},
    {HloOpcode::kOr, "stablehlo.or"},
    {HloOpcode::kPartitionId, "stablehlo.partition_id"},
    {HloOpcode::kPopulationCount, "stablehlo.popcnt"},
    {HloOpcode::kPower, "stablehlo.power"},
    {HloOpcode::kReal, "stablehlo.real"},
    {HloOpcode::kRemainder, "stablehlo.remainder"},
    {HloOpcode::kReplicaId, "stablehlo.replica_id"},
    {HloOpcode::kReshape, "stablehlo.reshape"},
    {HloOpcode::kRoundNearestAfz, "stablehlo.round_nearest_afz"},
    {HloOpcode::kRoundNearestEven, "stablehlo.round_nearest_even"},
    {HloOpcode::kRsqrt, "stablehlo.rsqrt"},
    {HloOpcode::kSelect, "stablehlo.select"},
    {HloOpcode::kShiftLeft, "stablehlo.shift_left"},
    {HloOpcode::kShiftRightArithmetic, "stablehlo.shift_right_arithmetic"},
    {HloOpcode::kShiftRightLogical, "stablehlo.shift_right_logical"},
    {HloOpcode::kSign, "stablehlo.sign"},
    {HloOpcode::kSin, "stablehlo.sine"},
    {HloOpcode::kSinh, "chlo.sinh"},
    {HloOpcode::kSqrt, "stablehlo.sqrt"},
    {HloOpcode::kSubtract, "stablehlo.subtract"},
    {HloOpcode::kTan, "stablehlo.tan"},
    {HloOpcode::kTanh, "stablehlo.tanh"},
    {HloOpcode::kXor, "stablehlo.xor"},
    // Their own functions.
    {HloOpcode::kAddDependency, "", &WriteSame},
    {HloOpcode::kAfterAll, "", &WriteAfterAll},
    {HloOpcode::kAllGather, "", &WriteAllGather},
    {HloOpcode::kAllGatherDone, "", &WriteDone},
    {HloOpcode::kAllGatherStart, "", &WriteAllGatherStart},
    {HloOpcode::kAllReduce, "", &WriteAllReduce},
    {HloOpcode::kAllReduceDone, "", &WriteSame},
    {HloOpcode::kAllReduceStart, "", &WriteAllReduce},
    {HloOpcode::kAllToAll, "", &WriteAllToAll},
    {HloOpcode::kAsyncDone, "", &WriteDone},
    {HloOpcode::kAsyncStart, "", &WriteAsyncStart},
    {HloOpcode::kAsyncUpdate, "", &WriteSame},
    {HloOpcode::kBatchNormGrad, "", &WriteBatchNorm},
    {HloOpcode::kBatchNormInference, "", &WriteBatchNorm},
    {HloOpcode::kBatchNormTraining, "", &WriteBatchNorm},
    {HloOpcode::kBitcast, "", &WriteBitcast},
    {HloOpcode::kBroadcast, "", &WriteBroadcast},
    {HloOpcode::kCall, "", &WriteCall},
    {HloOpcode::kCholesky, "", &WriteCholesky},
    {HloOpcode::kCollectiveBroadcast, "", &WriteCollectiveBroadcast},
    {HloOpcode::kCollectivePermute, "", &WriteCollectivePermute},
    {HloOpcode::kCollectivePermuteDone, "", &WriteDone},
    {HloOpcode::kCollectivePermuteStart, "", &WriteCollectivePermuteStart},
    {HloOpcode::kCollectiveReduce, "", &WriteCollectiveReduce},
    {HloOpcode::kCompare, "", &WriteCompare},
    {HloOpcode::kConcatenate, "", &WriteConcatenate},
    {HloOpcode::kConditional, "", &WriteConditional},
    {HloOpcode::kConstant, "", &WriteConstant},
    {HloOpcode::kConvolution, "", &WriteConvolution},
    {HloOpcode::kCopy, "", &WriteCopy},
    {HloOpcode::kCopyDone, "", &WriteCopyDone},
    {HloOpcode::kCopyStart, "", &WriteCopyStart},
    {HloOpcode::kCustomCall, "", &WriteCustomCall},
    {HloOpcode::kDomain, "", &WriteSame},
    {HloOpcode::kDot, "", &WriteDot},
    {HloOpcode::kDynamicSlice, "", &WriteDynamicSlice},
    {HloOpcode::kDynamicUpdateSlice, "", &WriteDynamicUpdateSlice},
    {HloOpcode::kFft, "", &WriteFft},
    {HloOpcode::kFusion, "", &WriteFusion},
    {HloOpcode::kGather, "", &WriteGather},
    {HloOpcode::kGetDimensionSize, "", &WriteDimensionSize},
    {HloOpcode::kGetTupleElement, "", &WriteGetTupleElement},
    {HloOpcode::kInfeed, "", &WriteInfeed},
    {HloOpcode::kIota, "", &WriteIota},
    {HloOpcode::kMap, "", &WriteMap},
    {HloOpcode::kOutfeed, "", &WriteOutfeed},
    {HloOpcode::kPad, "", &WritePad},
    {HloOpcode::kParameter, "", &WriteParameter},
    {HloOpcode::kRecv, "", &WriteRecv},
    {HloOpcode::kRecvDone, "", &WriteRecvDone},
    {HloOpcode::kReduce, "", &WriteReduce},
    {HloOpcode::kReducePrecision, "", &WriteReducePrecision},
    {HloOpcode::kReduceScatter, "", &WriteReduceScatter},
    {HloOpcode::kReduceWindow, "", &WriteReduceWindow},
    {HloOpcode::kReverse, "", &WriteReverse},
    {HloOpcode::kRng, "", &WriteRng},
    {HloOpcode::kRngBitGenerator, "", &WriteRngBitGenerator},
    {HloOpcode::kScatter, "", &WriteScatter},
    {HloOpcode::kSelectAndScatter, "", &WriteSelectAndScatter},
    {HloOpcode::kSend, "", &WriteSend},
    {HloOpcode::kSendDone, "", &WriteSendDone},
    {HloOpcode::kSetDimensionSize, "", &WriteDimensionSize},
    {HloOpcode::kSlice, "", &WriteSlice},
    {HloOpcode::kSort, "", &WriteSort},
    {HloOpcode::kTopK, "", &WriteTopK},
    {HloOpcode::kTranspose, "", &WriteTranspose},
    {HloOpcode::kTriangularSolve, "", &WriteTriangularSolve},
    {HloOpcode::kTuple, "", &WriteTuple},
    {HloOpcode::kWhile, "", &WriteWhile},
};

std::string AccuracyText(const ResultAccuracy& accuracy) {
  const auto [values, mode] =
      accuracy.has_tolerance()
          ? std::pair<std::string, std::string>(
                absl::StrFormat("atol = %.17e, rtol = %.17e, ulps = %d, ", accuracy.tolerance().atol(),
                                accuracy.tolerance().rtol(), accuracy.tolerance().ulps()),
                "TOLERANCE")
          : std::pair<std::string, std::string>("", accuracy.mode() == ResultAccuracy::HIGHEST ? "HIGHEST" : "DEFAULT");
  return absl::StrCat("#stablehlo.result_accuracy<", values, "mode = #stablehlo.result_accuracy_mode<", mode, ">>");
}

absl::Status WriteRow(StableHloWriter& w, const WriterRow& row, const HloInstruction& i) {
  if (row.write != nullptr) return row.write(w, i);
  OperationText operation = w.Operation(row.name, i);
  if (i.has_result_accuracy()) operation.Set("result_accuracy", AccuracyText(i.result_accuracy()));
  return w.WriteFor(i, std::move(operation));
}

}  // namespace

absl::Status WriteInstruction(StableHloWriter& writer, const HloInstruction& instruction) {
  static const auto* const rows = [] {
    auto* map = new absl::flat_hash_map<HloOpcode, const WriterRow*>();
    for (const WriterRow& row : kWriterRows) map->emplace(row.opcode, &row);
    return map;
  }();
  const auto row = rows->find(instruction.opcode());
  if (row == rows->end()) return Unimplemented("StableHLO has no operation for it");
  KASHI_RETURN_IF_ERROR(CheckPrecisions(instruction));
  return WriteRow(writer, *row->second, instruction);
}

}  // namespace kashi::stablehlo
