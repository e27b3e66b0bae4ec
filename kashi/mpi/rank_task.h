// RankTask: the exchange between a group's members on this rank and those on other ranks, by nonblocking calls of MPI.
//
//   KASHI_RETURN_IF_ERROR(task.Begin());                 // makes the first calls, and returns
//   while (!*task.Advance()) …                           // makes the next ones, when those before are complete
//   KASHI_ASSIGN_OR_RETURN(Given rows, task.MakeResults(…));
//
// Most tasks make all of their calls in Begin. group_task.h and rank_exchange.h are the tasks.
#ifndef KASHI_MPI_RANK_TASK_H_
#define KASHI_MPI_RANK_TASK_H_

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/base/status.h"
#include "kashi/devices/collective_task.h"
#include "kashi/devices/device.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/mpi/mpi_types.h"
#include "kashi/mpi/mpi_world.h"
#include "kashi/mpi/rank_group.h"
#include "kashi/values/value.h"

namespace kashi::mpi {

// State that all tasks of a run share.
struct GroupTaskContext {
  MpiWorld* world;
  MpiTypes* types;
  std::shared_ptr<MemoryBudget> memory;
  const std::atomic<bool>* stop;  // the run has ended: no thread waits any more
  bool deterministic;
};

class RankTask {
 public:
  // Pre: the group has a communicator. `given[i]`: the operands of the i-th member here.
  RankTask(const GroupTaskContext& context, const RankGroup& group, devices::Given given)
      : context_(context), group_(group), given_(std::move(given)) {}
  // Memory that MPI may still use is kept until the process ends.
  virtual ~RankTask();
  RankTask(const RankTask&) = delete;
  RankTask& operator=(const RankTask&) = delete;

  // Makes the first calls. With an instruction, these check whether all ranks are there:
  // FAILED_PRECONDITION (from Advance) if members are at different instructions. For programs whose devices may take
  // different paths: MPI does not define what happens to calls that do not match.
  absl::Status Begin(const HloInstruction* checked = nullptr);
  // Whether all is complete. Makes the next calls if the earlier ones are complete.
  absl::StatusOr<bool> Advance();
  // Whether Advance has calls to make. Calls of other tasks on this communicator must come after them.
  bool has_more_calls() const { return !steps_.empty(); }
  // The results of each member here, or one row for all of them. Pre: all is complete. `task`: that of this thread's
  // device; null for exchanges.
  absl::StatusOr<devices::Given> MakeResults(const devices::CollectiveTask* task);

 protected:
  // A new array, and its memory, which MPI may write to until the calls of this step are complete.
  struct Array {
    Value value;
    char* data;
  };

  virtual absl::Status BeginCalls() = 0;
  virtual absl::StatusOr<devices::Given> Results(const devices::CollectiveTask* task) = 0;

  int64_t here() const { return static_cast<int64_t>(given_.size()); }
  absl::StatusOr<Array> MakeArray(const DenseShape& shape);
  absl::StatusOr<Array> MakeBytes(int64_t bytes) { return MakeArray(MakeDenseShape(U8, {bytes})); }
  // Makes a nonblocking call of MPI under the lock: call(&request).
  template <typename Call>
  absl::Status Issue(const char* name, const Call& call) {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const std::lock_guard<std::mutex> lock(context_.world->mutex());
      KASHI_RETURN_IF_ERROR(MpiStatus(call(&request), name));
    }
    requests_.push_back(request);
    return absl::OkStatus();
  }
  // Runs `step` when the calls so far are complete.
  void Then(std::function<absl::Status()> step) { steps_.push_back(std::move(step)); }
  // Keeps memory that MPI uses until the calls so far are complete.
  void Keep(std::shared_ptr<const void> memory) { kept_.push_back(std::move(memory)); }
  // A list of counts for one call of MPI, which reads it until the call is complete.
  std::vector<int>& NewCounts() { return counts_->emplace_back(); }
  // Gives every rank the numbers of all ranks. They are there when the call is complete.
  absl::StatusOr<std::shared_ptr<const std::vector<int64_t>>> GatherIntegers(int64_t own);
  // An MPI type of this number of bytes.
  absl::StatusOr<MPI_Datatype> BytesType(int64_t bytes);

  const GroupTaskContext& context_;
  const RankGroup& group_;
  const devices::Given given_;

 private:
  absl::Status RunSteps();

  std::vector<MPI_Request> requests_;
  std::deque<std::function<absl::Status()>> steps_;
  std::vector<std::shared_ptr<const void>> kept_;  // memory that MPI reads and writes, besides operands
  std::shared_ptr<std::deque<std::vector<int>>> counts_ = std::make_shared<std::deque<std::vector<int>>>();
};

// The error if devices of a group are at different instructions.
absl::Status AtAnotherInstruction(const HloInstruction& instruction);

}  // namespace kashi::mpi

#endif  // KASHI_MPI_RANK_TASK_H_
