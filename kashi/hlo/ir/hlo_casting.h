// XLA's names for operations with accessors of their own (docs/spec/xla-api.md 22.3).
//
// In XLA each name is a class derived from HloInstruction, and Cast<HloGatherInstruction>(x) gives access to its
// accessors. Here there is one class, HloInstruction, which has all accessors. The names below are *kinds* of
// instructions with XLA's ClassOf. Cast<> and DynCast<> check the kind and return a pointer to the HloInstruction:
//
//   const HloInstruction* gather = DynCast<HloGatherInstruction>(x);   // null unless x is a gather
//   Cast<HloIotaInstruction>(x)->iota_dimension()                      // dies unless x is an iota
//   const auto* iota = Cast<HloIotaInstruction>(x);                    // `auto`: there is no object of type
//   HloIotaInstruction
//
// Not offered: variables and parameters of type HloGatherInstruction*, std::make_unique of one, classes derived from
// them, and accessors that HloInstruction does not have (inputs(), scatter_operands(), GetAsyncChain(), …).
#ifndef KASHI_HLO_IR_HLO_CASTING_H_
#define KASHI_HLO_IR_HLO_CASTING_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi {

// The kind of instructions with one of these opcodes.
template <HloOpcode... opcodes>
struct HloInstructionKind {
  static bool ClassOf(const HloInstruction* instruction) { return ((instruction->opcode() == opcodes) || ...); }
};

#define KASHI_KIND(Name, ...) \
  struct Hlo##Name##Instruction : HloInstructionKind<__VA_ARGS__> {}
KASHI_KIND(AllGather, HloOpcode::kAllGather, HloOpcode::kAllGatherStart);
KASHI_KIND(AllReduce, HloOpcode::kAllReduce, HloOpcode::kAllReduceStart);
KASHI_KIND(AllToAll, HloOpcode::kAllToAll);
KASHI_KIND(Async, HloOpcode::kAsyncStart, HloOpcode::kAsyncUpdate, HloOpcode::kAsyncDone);
KASHI_KIND(AsyncStart, HloOpcode::kAsyncStart);
KASHI_KIND(BatchNorm, HloOpcode::kBatchNormGrad, HloOpcode::kBatchNormInference, HloOpcode::kBatchNormTraining);
KASHI_KIND(BatchNormGrad, HloOpcode::kBatchNormGrad);
KASHI_KIND(BatchNormInference, HloOpcode::kBatchNormInference);
KASHI_KIND(BatchNormTraining, HloOpcode::kBatchNormTraining);
KASHI_KIND(Broadcast, HloOpcode::kBroadcast);
KASHI_KIND(Call, HloOpcode::kCall);
KASHI_KIND(Callable, HloOpcode::kFusion, HloOpcode::kCall, HloOpcode::kCustomCall);
KASHI_KIND(Cholesky, HloOpcode::kCholesky);
KASHI_KIND(CollectiveBroadcast, HloOpcode::kCollectiveBroadcast);
KASHI_KIND(CollectivePermute, HloOpcode::kCollectivePermute, HloOpcode::kCollectivePermuteStart);
KASHI_KIND(CollectiveReduce, HloOpcode::kCollectiveReduce);
KASHI_KIND(Compare, HloOpcode::kCompare);
KASHI_KIND(Concatenate, HloOpcode::kConcatenate);
KASHI_KIND(Constant, HloOpcode::kConstant);
KASHI_KIND(Convolution, HloOpcode::kConvolution);
KASHI_KIND(CopyStart, HloOpcode::kCopyStart);
KASHI_KIND(CustomCall, HloOpcode::kCustomCall);
KASHI_KIND(Domain, HloOpcode::kDomain);
KASHI_KIND(Dot, HloOpcode::kDot);
KASHI_KIND(DynamicIndex, HloOpcode::kDynamicSlice, HloOpcode::kDynamicUpdateSlice);
KASHI_KIND(DynamicReshape, HloOpcode::kDynamicReshape);
KASHI_KIND(DynamicSlice, HloOpcode::kDynamicSlice);
KASHI_KIND(DynamicUpdateSlice, HloOpcode::kDynamicUpdateSlice);
KASHI_KIND(Fft, HloOpcode::kFft);
KASHI_KIND(Fusion, HloOpcode::kFusion);
KASHI_KIND(GetDimensionSize, HloOpcode::kGetDimensionSize);
KASHI_KIND(GetTupleElement, HloOpcode::kGetTupleElement);
KASHI_KIND(Infeed, HloOpcode::kInfeed);
KASHI_KIND(Iota, HloOpcode::kIota);
KASHI_KIND(Map, HloOpcode::kMap);
KASHI_KIND(Outfeed, HloOpcode::kOutfeed);
KASHI_KIND(Pad, HloOpcode::kPad);
KASHI_KIND(Parameter, HloOpcode::kParameter);
KASHI_KIND(RaggedAllToAll, HloOpcode::kRaggedAllToAll);
KASHI_KIND(RaggedDot, HloOpcode::kRaggedDot);
KASHI_KIND(Recv, HloOpcode::kRecv);
KASHI_KIND(RecvDone, HloOpcode::kRecvDone);
KASHI_KIND(Reduce, HloOpcode::kReduce);
KASHI_KIND(ReducePrecision, HloOpcode::kReducePrecision);
KASHI_KIND(ReduceScatter, HloOpcode::kReduceScatter);
KASHI_KIND(ReduceWindow, HloOpcode::kReduceWindow);
KASHI_KIND(Reshape, HloOpcode::kReshape);
KASHI_KIND(Reverse, HloOpcode::kReverse);
KASHI_KIND(Rng, HloOpcode::kRng);
KASHI_KIND(RngBitGenerator, HloOpcode::kRngBitGenerator);
KASHI_KIND(RngGetAndUpdateState, HloOpcode::kRngGetAndUpdateState);
KASHI_KIND(ScaledDot, HloOpcode::kScaledDot);
KASHI_KIND(SelectAndScatter, HloOpcode::kSelectAndScatter);
KASHI_KIND(Send, HloOpcode::kSend);
KASHI_KIND(SendDone, HloOpcode::kSendDone);
KASHI_KIND(SendRecv, HloOpcode::kSend, HloOpcode::kSendDone, HloOpcode::kRecv, HloOpcode::kRecvDone);
KASHI_KIND(SetDimensionSize, HloOpcode::kSetDimensionSize);
KASHI_KIND(Shuffle, HloOpcode::kShuffle);
KASHI_KIND(Slice, HloOpcode::kSlice);
KASHI_KIND(Sort, HloOpcode::kSort);
KASHI_KIND(TopK, HloOpcode::kTopK);
KASHI_KIND(Transpose, HloOpcode::kTranspose);
KASHI_KIND(TriangularSolve, HloOpcode::kTriangularSolve);
#undef KASHI_KIND
struct HloAllReduceInstructionBase : HloInstructionKind<HloOpcode::kAllReduce, HloOpcode::kAllReduceStart,
                                                        HloOpcode::kCollectiveReduce, HloOpcode::kReduceScatter> {};
struct HloCollectiveInstruction
    : HloInstructionKind<HloOpcode::kAllGather, HloOpcode::kAllGatherStart, HloOpcode::kAllReduce,
                         HloOpcode::kAllReduceStart, HloOpcode::kReduceScatter, HloOpcode::kAllToAll,
                         HloOpcode::kRaggedAllToAll, HloOpcode::kCollectiveBroadcast, HloOpcode::kCollectiveReduce> {};

struct HloGatherInstruction : HloInstructionKind<HloOpcode::kGather> {
  static GatherDimensionNumbers MakeGatherDimNumbers(absl::Span<const int64_t> offset_dims,
                                                     absl::Span<const int64_t> collapsed_slice_dims,
                                                     absl::Span<const int64_t> start_index_map,
                                                     int64_t index_vector_dim,
                                                     absl::Span<const int64_t> operand_batching_dims = {},
                                                     absl::Span<const int64_t> start_indices_batching_dims = {}) {
    GatherDimensionNumbers numbers;
    numbers.mutable_offset_dims()->Add(offset_dims.begin(), offset_dims.end());
    numbers.mutable_collapsed_slice_dims()->Add(collapsed_slice_dims.begin(), collapsed_slice_dims.end());
    numbers.mutable_start_index_map()->Add(start_index_map.begin(), start_index_map.end());
    numbers.set_index_vector_dim(index_vector_dim);
    numbers.mutable_operand_batching_dims()->Add(operand_batching_dims.begin(), operand_batching_dims.end());
    numbers.mutable_start_indices_batching_dims()->Add(start_indices_batching_dims.begin(),
                                                       start_indices_batching_dims.end());
    return numbers;
  }
};

struct HloScatterInstruction : HloInstructionKind<HloOpcode::kScatter> {
  static ScatterDimensionNumbers MakeScatterDimNumbers(absl::Span<const int64_t> update_window_dims,
                                                       absl::Span<const int64_t> inserted_window_dims,
                                                       absl::Span<const int64_t> scatter_dims_to_operand_dims,
                                                       int64_t index_vector_dim,
                                                       absl::Span<const int64_t> input_batching_dims = {},
                                                       absl::Span<const int64_t> scatter_indices_batching_dims = {}) {
    ScatterDimensionNumbers numbers;
    numbers.mutable_update_window_dims()->Add(update_window_dims.begin(), update_window_dims.end());
    numbers.mutable_inserted_window_dims()->Add(inserted_window_dims.begin(), inserted_window_dims.end());
    numbers.mutable_scatter_dims_to_operand_dims()->Add(scatter_dims_to_operand_dims.begin(),
                                                        scatter_dims_to_operand_dims.end());
    numbers.set_index_vector_dim(index_vector_dim);
    numbers.mutable_input_batching_dims()->Add(input_batching_dims.begin(), input_batching_dims.end());
    numbers.mutable_scatter_indices_batching_dims()->Add(scatter_indices_batching_dims.begin(),
                                                         scatter_indices_batching_dims.end());
    return numbers;
  }
};

// Dies for null and for an instruction of a different kind.
template <typename Kind>
const HloInstruction* Cast(const HloInstruction* instruction) {
  KASHI_CHECK(instruction != nullptr);
  KASHI_CHECK(Kind::ClassOf(instruction)) << instruction->name() << " is of another kind: " << instruction->opcode();
  return instruction;
}
template <typename Kind>
HloInstruction* Cast(HloInstruction* instruction) {
  Cast<Kind>(static_cast<const HloInstruction*>(instruction));
  return instruction;
}

// Null for an instruction of a different kind; dies for null.
template <typename Kind>
const HloInstruction* DynCast(const HloInstruction* instruction) {
  KASHI_CHECK(instruction != nullptr);
  return Kind::ClassOf(instruction) ? instruction : nullptr;
}
template <typename Kind>
HloInstruction* DynCast(HloInstruction* instruction) {
  return DynCast<Kind>(static_cast<const HloInstruction*>(instruction)) ? instruction : nullptr;
}

// Whether an instruction is one of these operations: for algorithms that take a predicate.
template <HloOpcode... opcodes>
bool HloPredicateIsOp(const HloInstruction* instruction) {
  return HloInstructionKind<opcodes...>::ClassOf(instruction);
}
template <HloOpcode... opcodes>
bool HloPredicateIsNotOp(const HloInstruction* instruction) {
  return !HloPredicateIsOp<opcodes...>(instruction);
}

}  // namespace kashi

#endif  // KASHI_HLO_IR_HLO_CASTING_H_
