// Which instruction is written how: one row for each opcode that StableHLO has a form for.
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
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
  ValueNames names;
  for (const HloInstruction* element : i.operands()) {
    const ValueNames& leaves = w.NamesOf(element);
    names.insert(names.end(), leaves.begin(), leaves.end());
  }
  w.SetNames(&i, std::move(names));
  return absl::OkStatus();
}

absl::Status WriteGetTupleElement(StableHloWriter& w, const HloInstruction& i) {
  const ValueNames& names = w.NamesOf(i.operand(0));
  size_t begin = 0;
  for (int64_t before = 0; before < i.tuple_index(); ++before) {
    begin += LeavesOf(i.operand(0)->shape().tuple_shapes(static_cast<int>(before))).size();
  }
  ValueNames element(names.begin() + begin, names.begin() + begin + LeavesOf(i.shape()).size());
  w.SetNames(&i, std::move(element));
  return absl::OkStatus();
}

absl::Status WriteNothing(StableHloWriter&, const HloInstruction&) { return absl::OkStatus(); }

// Where the value is that of the first operand.
absl::Status WriteSame(StableHloWriter& w, const HloInstruction& i) {
  w.SetNames(&i, ValueNames(w.NamesOf(i.operand(0))));
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
    {HloOpcode::kAfterAll, "", &WriteAfterAll},
    {HloOpcode::kAllGather, "", &WriteAllGather},
    {HloOpcode::kAllReduce, "", &WriteAllReduce},
    {HloOpcode::kAllToAll, "", &WriteAllToAll},
    {HloOpcode::kBatchNormGrad, "", &WriteBatchNorm},
    {HloOpcode::kBatchNormInference, "", &WriteBatchNorm},
    {HloOpcode::kBatchNormTraining, "", &WriteBatchNorm},
    {HloOpcode::kBroadcast, "", &WriteBroadcast},
    {HloOpcode::kCall, "", &WriteCall},
    {HloOpcode::kCholesky, "", &WriteCholesky},
    {HloOpcode::kCollectiveBroadcast, "", &WriteCollectiveBroadcast},
    {HloOpcode::kCollectivePermute, "", &WriteCollectivePermute},
    {HloOpcode::kCompare, "", &WriteCompare},
    {HloOpcode::kConcatenate, "", &WriteConcatenate},
    {HloOpcode::kConditional, "", &WriteConditional},
    {HloOpcode::kConstant, "", &WriteConstant},
    {HloOpcode::kConvolution, "", &WriteConvolution},
    {HloOpcode::kCopy, "", &WriteSame},
    {HloOpcode::kCustomCall, "", &WriteCustomCall},
    {HloOpcode::kDomain, "", &WriteSame},
    {HloOpcode::kDot, "", &WriteDot},
    {HloOpcode::kDynamicSlice, "", &WriteDynamicSlice},
    {HloOpcode::kDynamicUpdateSlice, "", &WriteDynamicUpdateSlice},
    {HloOpcode::kFft, "", &WriteFft},
    {HloOpcode::kGather, "", &WriteGather},
    {HloOpcode::kGetDimensionSize, "", &WriteDimensionSize},
    {HloOpcode::kGetTupleElement, "", &WriteGetTupleElement},
    {HloOpcode::kInfeed, "", &WriteInfeed},
    {HloOpcode::kIota, "", &WriteIota},
    {HloOpcode::kMap, "", &WriteMap},
    {HloOpcode::kOutfeed, "", &WriteOutfeed},
    {HloOpcode::kPad, "", &WritePad},
    {HloOpcode::kParameter, "", &WriteNothing},  // an argument
    {HloOpcode::kRecv, "", &WriteRecv},
    {HloOpcode::kRecvDone, "", &WriteSame},
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
    {HloOpcode::kSendDone, "", &WriteSame},
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
  const absl::Status written = row == rows->end() ? Unimplemented("StableHLO has no operation for it")
                                                  : WriteRow(writer, *row->second, instruction);
  constexpr absl::string_view kMark = "instruction ";
  if (written.ok() || written.message().substr(0, kMark.size()) == kMark) return written;
  return absl::Status(written.code(), absl::StrCat(kMark, instruction.name(), " (",
                                                   HloOpcodeString(instruction.opcode()), "): ", written.message()));
}

}  // namespace kashi::stablehlo
