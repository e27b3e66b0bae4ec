// Custom calls that are partitioned by code of their caller, as by XLA's CustomCallPartitioner: JAX's
// custom_partitioning asks Python functions.
//
//   y = f32[32,16] custom-call(x), custom_call_target="CustomSPMDPartitioning"     x {devices=[4,1]<=[4]}
//     InferShardingFromOperands   y {devices=[4,1]<=[4]}
//     Partition                   (f32[8,16]) -> f32[8,16], a program of each device, which takes the place of the call
#ifndef KASHI_PARTITION_CUSTOM_CALL_PARTITIONER_H_
#define KASHI_PARTITION_CUSTOM_CALL_PARTITIONER_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

// Shardings of operands and of the result fit their shapes; that of a tuple is a tuple. An error ends the partitioning.
class CustomCallPartitioner {
 public:
  virtual ~CustomCallPartitioner() = default;

  // The sharding of the result that follows from those of the operands; nullopt if none does.
  virtual absl::StatusOr<std::optional<HloSharding>> InferShardingFromOperands(
      const HloInstruction& call, absl::Span<const HloSharding> operands) const = 0;
  // The sharding that the result should have if its users have it with this one.
  virtual absl::StatusOr<HloSharding> PropagateUserSharding(const HloInstruction& call,
                                                            const HloSharding& sharding) const = 0;

  // The program of each device. Its parameters are the shards of the operands, and its result is that of the call, both
  // as these shardings say. Collectives in it are among all partitions.
  struct Partitioned {
    std::unique_ptr<HloModule> module;
    std::vector<HloSharding> operands;
    HloSharding result;
  };
  // The shardings are those that the arrays have; other ones may be returned, and the arrays are moved.
  virtual absl::StatusOr<Partitioned> Partition(const HloInstruction& call, absl::Span<const HloSharding> operands,
                                                const HloSharding& result) const = 0;
};

// Which custom calls are partitioned by code of their caller.
class CustomCallPartitioners {
 public:
  virtual ~CustomCallPartitioners() = default;

  // Null: calls to the target have no partitioner.
  virtual std::shared_ptr<const CustomCallPartitioner> Find(absl::string_view target) const = 0;
  // Whether calls to the target treat each element of a batch alone. The call's frontend attribute num_batch_dims says
  // how many leading dimensions of all operands and results the batch has.
  virtual bool IsBatchPartitionable(absl::string_view target) const = 0;
};

}  // namespace kashi

#endif  // KASHI_PARTITION_CUSTOM_CALL_PARTITIONER_H_
