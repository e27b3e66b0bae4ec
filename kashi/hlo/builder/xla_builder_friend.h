// Instructions that compilers insert and for which the builder has no operation. (XLA's XlaBuilderFriend.) Callers give
// the shapes that cannot be inferred.
#ifndef KASHI_HLO_BUILDER_XLA_BUILDER_FRIEND_H_
#define KASHI_HLO_BUILDER_XLA_BUILDER_FRIEND_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "kashi/hlo/builder/xla_builder.h"

namespace kashi::internal {

struct XlaBuilderFriend {
  // The present state of the instruction as a proto, valid as long as the builder. Changes to it do not change the
  // instruction. Null for an op that is not of its builder. (kashi/proto)
  static HloInstructionProto* GetInstruction(XlaOp op);

  static XlaOp BuildAddDependency(XlaBuilder* builder, XlaOp operand, XlaOp token, const Shape& shape);
  static XlaOp BuildAllReduceStart(XlaBuilder* builder, XlaOp operand, const XlaComputationRef& computation,
                                   absl::Span<const ReplicaGroup> replica_groups = {},
                                   const std::optional<ChannelHandle>& channel_id = std::nullopt,
                                   std::optional<bool> use_global_device_ids = std::nullopt);
  static XlaOp BuildAllReduceDone(XlaBuilder* builder, XlaOp operand, const Shape& shape);
  static XlaOp BuildAsyncStart(XlaBuilder* builder, absl::Span<const XlaOp> operands,
                               const std::string& execution_thread, const XlaComputationRef& called_computation,
                               const Shape& shape);
  static XlaOp BuildAsyncUpdate(XlaBuilder* builder, XlaOp operand, const Shape& shape);
  static XlaOp BuildAsyncDone(XlaBuilder* builder, XlaOp operand, const Shape& shape);
  static XlaOp BuildBitcast(XlaBuilder* builder, XlaOp operand, const Shape& shape);
  static XlaOp BuildCollectivePermuteStart(XlaBuilder* builder, XlaOp operand,
                                           const std::vector<std::pair<int64_t, int64_t>>& source_target_pairs,
                                           const std::optional<ChannelHandle>& channel_id = std::nullopt);
  static XlaOp BuildCollectivePermuteDone(XlaBuilder* builder, XlaOp operand, const Shape& shape);
  static XlaOp BuildCopyStart(XlaBuilder* builder, XlaOp operand,
                              std::optional<int> cross_program_prefetch_index = std::nullopt);
  static XlaOp BuildCopyDone(XlaBuilder* builder, XlaOp operand, const Shape& shape);
  static XlaOp BuildDomain(XlaBuilder* builder, XlaOp operand, const OpSharding& entry, const OpSharding& exit,
                           const Shape& shape);
  // `fusion_kind` is the text: "kLoop". The shape is that of the computation's result.
  static XlaOp BuildFusion(XlaBuilder* builder, absl::Span<const XlaOp> operands, absl::string_view fusion_kind,
                           const XlaComputationRef& fused_computation);
  static XlaOp BuildPartitionId(XlaBuilder* builder, const Shape& shape);
  static XlaOp BuildRngGetAndUpdateState(XlaBuilder* builder, int64_t delta, const Shape& shape);
};

}  // namespace kashi::internal

#endif  // KASHI_HLO_BUILDER_XLA_BUILDER_FRIEND_H_
