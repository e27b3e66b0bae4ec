// GroupTask: a collective task (kashi/evaluator/collective_task.h) of the members of a group that are on this rank,
// done with those on the other ranks by nonblocking calls of MPI.
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
// MPI reads operands and writes results where they are, if the blocks of an array lie one after the other and each rank
// has one member. Otherwise blocks are copied together first.
#ifndef KASHI_MPI_GROUP_TASK_H_
#define KASHI_MPI_GROUP_TASK_H_

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/evaluator/collective_task.h"
#include "kashi/evaluator/device.h"
#include "kashi/evaluator/value.h"
#include "kashi/mpi/mpi_types.h"
#include "kashi/mpi/mpi_world.h"
#include "kashi/mpi/rank_group.h"

namespace kashi::internal {

// What all tasks of a run share.
struct GroupTaskContext {
  MpiWorld* world;
  MpiTypes* types;
  std::shared_ptr<MemoryBudget> memory;
  const std::atomic<bool>* stop;  // the run has ended: nobody waits any more
  bool deterministic;
};

class GroupTask {
 public:
  // Pre: the group has a communicator. `given[i]`: the operands of the i-th member here.
  GroupTask(const GroupTaskContext& context, const RankGroup& group, const CollectiveTask& task, const Given& given)
      : context_(context), group_(group), task_(task), given_(given) {}

  // The results of each member here; or one row for all of them.
  absl::StatusOr<Given> Run();

 private:
  // A new array, and its memory, which MPI may write to until Wait returns.
  struct Array {
    Value value;
    char* data;
  };
  // How MPI counts equal blocks of memory: `count` times `type` is one of them.
  struct Blocks {
    MPI_Datatype type;
    int count;
  };

  absl::StatusOr<Given> RunKind();
  int64_t here() const { return static_cast<int64_t>(given_.size()); }
  const Value& operand(int64_t i, int64_t k) const { return given_[i][k]; }
  int64_t operand_count() const { return static_cast<int64_t>(given_[0].size()); }

  absl::StatusOr<Array> MakeArray(const DenseShape& shape);
  absl::StatusOr<Array> MakeBytes(int64_t bytes);
  // Makes a nonblocking call of MPI under the lock: call(&request).
  template <typename Call>
  absl::Status Issue(const char* name, const Call& call);
  // Returns when the calls so far are complete. After an error, MPI may still use their memory.
  absl::Status Wait();
  // A list of counts for one call of MPI, which reads it until Wait returns.
  std::vector<int>& NewCounts() { return counts_->emplace_back(); }
  // For `blocks` blocks in one call.
  absl::StatusOr<Blocks> BlocksOf(int64_t block_bytes, int64_t blocks);

  // group_reduction.cc
  absl::StatusOr<Value> AllReduce(int64_t k);
  absl::StatusOr<Value> ReduceByMpi(int64_t k);
  absl::StatusOr<Value> ReduceGathered(int64_t k);
  absl::StatusOr<Value> ReduceInPieces(int64_t k);
  absl::Status ReducePortion(int64_t k, int64_t begin, int64_t n, char* result);
  absl::StatusOr<Array> SendPieces(int64_t k, int64_t begin, absl::Span<const int64_t> pieces);
  absl::StatusOr<Given> ReduceScatter();

  // group_movement.cc
  absl::Status Gather(int64_t k, char* to);
  absl::StatusOr<Value> AllGather(int64_t k);
  absl::StatusOr<Given> AllToAll();
  absl::StatusOr<Given> TupleAllToAll();
  absl::StatusOr<Given> Permute();
  absl::Status PermutePair(int64_t source, int64_t target, Given* results);
  absl::StatusOr<std::vector<Value>> Broadcast();

  // Operand k of the i-th member here, with block 0 along the task's dimension first, then block 1 ….
  absl::StatusOr<const char*> InBlocks(int64_t i, int64_t k);
  // Sends block_of(i, to) of the i-th member here to member `to`, for all of them. The result says where the block is
  // that the j-th member here got from member `from`.
  using BlockOf = std::function<const char*(int64_t i, int64_t to)>;
  using ReceivedBlock = std::function<const char*(int64_t from, int64_t j)>;
  absl::StatusOr<ReceivedBlock> ExchangeBlocks(int64_t block_bytes, const BlockOf& block_of);
  // The same with one member on each rank, if the blocks lie one after the other; they are received so, too.
  absl::Status ExchangeBlocks(int64_t block_bytes, const char* blocks, char* received);

  const GroupTaskContext& context_;
  const RankGroup& group_;
  const CollectiveTask& task_;
  const Given& given_;
  std::vector<MPI_Request> requests_;
  std::vector<Value> kept_;
  std::shared_ptr<std::deque<std::vector<int>>> counts_ = std::make_shared<std::deque<std::vector<int>>>();
};

}  // namespace kashi::internal

#endif  // KASHI_MPI_GROUP_TASK_H_
