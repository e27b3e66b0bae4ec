// GroupTask: a collective task (kashi/devices/collective_task.h) of the members of a group that are on this rank.
// Nonblocking calls of MPI do it together with the members on the other ranks.
//
//                            how                                               result is that of threads
//   all-reduce               MPI_Iallreduce of what the members here add up    but for the rounding of sums
//     with `deterministic`,  each rank gets a piece of all members             bit for bit
//     or where the order     (MPI_Ialltoallv), reduces it in the order of the
//     of members decides     members, and gives it to all (MPI_Iallgatherv)
//   reduce-scatter           MPI_Ialltoall(v), then the reduction              bit for bit
//   all-gather               MPI_Iallgather(v)                                 bit for bit
//   all-to-all               MPI_Ialltoall(v)                                  bit for bit
//   collective-permute       MPI_Isend, MPI_Irecv for each pair                bit for bit
//   collective-broadcast     MPI_Ibcast                                        bit for bit
//
// MPI reads operands and writes results in place if the blocks of an array are contiguous and each rank
// has one member. Otherwise blocks are first copied together.
#ifndef KASHI_MPI_GROUP_TASK_H_
#define KASHI_MPI_GROUP_TASK_H_

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/devices/collective_task.h"
#include "kashi/devices/device.h"
#include "kashi/mpi/rank_group.h"
#include "kashi/mpi/rank_task.h"
#include "kashi/values/value.h"

namespace kashi::mpi {

class GroupTask final : public RankTask {
 public:
  // `task`: that of the device that starts this one. It must outlive the last step.
  GroupTask(const GroupTaskContext& context, const RankGroup& group, const devices::CollectiveTask& task,
            devices::Given given)
      : RankTask(context, group, std::move(given)), task_(task) {}

 private:
  // Makes a result when all calls are complete. `task`: as in MakeResults.
  using MakeValue = std::function<absl::StatusOr<Value>(const devices::CollectiveTask& task)>;
  using BlockOf = std::function<const char*(int64_t i, int64_t to)>;
  using ReceivedBlock = std::function<const char*(int64_t from, int64_t j)>;
  // Equal blocks of memory as MPI counts them: a block is `count` times `type`.
  struct Blocks {
    MPI_Datatype type;
    int count;
  };
  // Elements [begin, begin + n) of operand k of all members, reduced in the order of the members.
  struct Portion {
    int64_t k, begin, n;
    std::vector<int64_t> pieces;  // where the piece of each rank begins, and the end
    std::shared_ptr<Array> result;
    Array received;
  };

  absl::Status BeginCalls() override;
  absl::StatusOr<devices::Given> Results(const devices::CollectiveTask* task) override;

  const Value& operand(int64_t i, int64_t k) const { return given_[i][k]; }
  int64_t operand_count() const { return static_cast<int64_t>(given_[0].size()); }
  // For `blocks` blocks in one call.
  absl::StatusOr<Blocks> BlocksOf(int64_t block_bytes, int64_t blocks);

  // group_reduction.cc
  absl::StatusOr<MakeValue> AllReduce(int64_t k);
  absl::StatusOr<MakeValue> ReduceByMpi(int64_t k);
  absl::StatusOr<MakeValue> ReduceGathered(int64_t k);
  absl::StatusOr<MakeValue> ReduceInPieces(int64_t k);
  absl::Status SendPieces(Portion* portion);
  absl::Status GatherReduced(const Portion& portion);
  absl::Status ReduceScatter();
  absl::StatusOr<devices::Given> ReduceBlocks(const devices::CollectiveTask& task,
                                              absl::Span<const ReceivedBlock> received);

  // group_movement.cc
  absl::Status Gather(int64_t k, char* to);
  absl::StatusOr<MakeValue> AllGather(int64_t k);
  absl::Status AllToAll();
  absl::Status TupleAllToAll();
  absl::Status Permute();
  absl::Status PermutePair(int64_t source, int64_t target, devices::Given* results);
  absl::Status Broadcast();

  // Operand k of the i-th member here, with block 0 along the task's dimension first, then block 1, and so on.
  absl::StatusOr<const char*> InBlocks(int64_t i, int64_t k);
  // Sends block_of(i, to) of the i-th member here to member `to`, for all of them. The result says where the block is
  // that the j-th member here received from member `from`, when the call is complete.
  absl::StatusOr<ReceivedBlock> ExchangeBlocks(int64_t block_bytes, const BlockOf& block_of);
  // ExchangeBlocks with one member on each rank: the blocks are contiguous, and are received in that order.
  absl::Status ExchangeBlocks(int64_t block_bytes, const char* blocks, char* received);

  const devices::CollectiveTask& task_;
  std::vector<MakeValue> make_row_;  // one row for all, or …
  std::function<absl::StatusOr<devices::Given>(const devices::CollectiveTask& task)> make_rows_;
};

}  // namespace kashi::mpi

#endif  // KASHI_MPI_GROUP_TASK_H_
