// The functions that write instructions as operations of StableHLO; stablehlo_writer_table.cc maps opcodes to
// functions.
#ifndef KASHI_STABLEHLO_CONVERSION_STABLEHLO_WRITE_FUNCTIONS_H_
#define KASHI_STABLEHLO_CONVERSION_STABLEHLO_WRITE_FUNCTIONS_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/stablehlo/conversion/stablehlo_writer.h"

namespace kashi::stablehlo {

using WriteFunction = absl::Status (*)(StableHloWriter& w, const HloInstruction& i);

// stablehlo_write_arrays.cc
absl::Status WriteBroadcast(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteCompare(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteConcatenate(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteConstant(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteDimensionSize(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteDynamicSlice(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteDynamicUpdateSlice(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteGather(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteIota(StableHloWriter& w, const HloInstruction& i);
absl::Status WritePad(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteReducePrecision(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteReverse(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteRng(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteRngBitGenerator(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteSlice(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteTopK(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteTranspose(StableHloWriter& w, const HloInstruction& i);

// stablehlo_write_bitcast.cc
absl::Status WriteBitcast(StableHloWriter& w, const HloInstruction& i);

// stablehlo_write_contractions.cc
absl::Status WriteBatchNorm(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteCholesky(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteConvolution(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteDot(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteFft(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteTriangularSolve(StableHloWriter& w, const HloInstruction& i);

// stablehlo_write_calls.cc
absl::Status WriteCall(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteConditional(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteCustomCall(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteFusion(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteMap(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteReduce(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteReduceWindow(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteScatter(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteSelectAndScatter(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteSort(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteWhile(StableHloWriter& w, const HloInstruction& i);

// stablehlo_write_communication.cc
absl::Status WriteAfterAll(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteAllGather(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteAllGatherStart(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteAllReduce(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteAllToAll(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteAsyncStart(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteCollectiveBroadcast(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteCollectivePermute(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteCollectiveReduce(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteCollectivePermuteStart(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteCopyDone(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteCopyStart(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteDone(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteInfeed(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteOutfeed(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteRecv(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteRecvDone(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteReduceScatter(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteSend(StableHloWriter& w, const HloInstruction& i);
absl::Status WriteSendDone(StableHloWriter& w, const HloInstruction& i);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_STABLEHLO_WRITE_FUNCTIONS_H_
