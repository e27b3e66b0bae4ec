// RankOperation: a collective operation that this rank has started with others, and the steps that end it.
//
// MPI requires one order of the calls on a communicator on all ranks. Devices start the operations of a group in one
// order (Device::Begin). Most operations make all of their calls at once. An operation that makes more calls later
// keeps those behind it waiting for their turn, in the queue of its group:
//
//   queue   all-reduce, deterministic   all-gather        what it has to do
//           first call is under way     waits             when it is complete: reduce, call again
//           second call is under way    is under way
//
// Waiting threads advance the operations, and so does a thread of the run (RankProgress) while all devices compute.
#ifndef KASHI_MPI_RANK_OPERATION_H_
#define KASHI_MPI_RANK_OPERATION_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/devices/device.h"
#include "kashi/devices/meeting_place.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/mpi/rank_group.h"
#include "kashi/mpi/rank_task.h"

namespace kashi::mpi {

class RankOperation;

// The queue of one communicator.
struct RankQueue {
  std::mutex mutex;
  // The operations that have calls to make, or that wait for their turn.
  std::deque<std::shared_ptr<RankOperation>> waiting;

  // FAILED_PRECONDITION unless all devices of the group that are here reach the same instructions in the same order.
  // For programs whose devices may take different paths.
  absl::Status CheckOrder(int64_t device, size_t devices_here, const HloInstruction& instruction);

 private:
  std::deque<const HloInstruction*> order_;  // that not all devices here have come to
  int64_t first_ = 0;                        // the number of the first of them
  std::map<int64_t, int64_t> numbers_;       // to how many each device has come
};

class RankOperation final : public devices::MeetingPlace::Work, public std::enable_shared_from_this<RankOperation> {
 public:
  // `checked`: see RankTask::Begin.
  RankOperation(const GroupTaskContext& context, const RankGroup& group, std::unique_ptr<RankTask> task,
                const HloInstruction* checked)
      : context_(context), group_(group), queue_(*group.queue), task_(std::move(task)), checked_(checked) {}

  // Makes the first calls of the operation, if it is its turn.
  void Begin();
  // Makes the calls that are possible now. Returns whether the operation has ended: complete, or failed. Any thread.
  bool Advance();
  // Waits for the end of the operation. CANCELLED if the run ends before.
  absl::Status Wait();
  // Makes the rows from the task, if no member here has done so before. Pre: Wait() was OK.
  using MakeRows = absl::FunctionRef<absl::StatusOr<devices::Given>(RankTask& task)>;
  absl::Status MakeRowsOnce(MakeRows make);
  // After MakeRowsOnce.
  devices::Given& rows() { return rows_; }
  // The device that started it has failed, and the memory to which it refers is freed.
  void Abandon();

  // The number of this operation among those of the group, from 1.
  int64_t number() const { return number_; }
  // The time at which it was found to be complete; 0: it was not.
  int64_t complete_ns() const { return complete_ns_.load(); }

 private:
  void BeginThis();
  void AdvanceQueue();
  void AdvanceThis();

  const GroupTaskContext& context_;
  const RankGroup& group_;
  RankQueue& queue_;
  int64_t number_ = 0;
  std::atomic<bool> is_over_{false};
  std::atomic<int64_t> complete_ns_{0};
  std::mutex waiting_mutex_;  // held by the thread that moves it on while it waits
  // Guarded by the mutex of the queue.
  std::unique_ptr<RankTask> task_;  // null: abandoned
  const HloInstruction* const checked_;
  bool has_begun_ = false;
  absl::Status status_;
  std::mutex rows_mutex_;
  // Guarded by rows_mutex_ until they are made.
  bool has_rows_ = false;
  absl::Status rows_status_;
  devices::Given rows_;
};

// Advances operations while no device waits for them, because MPI does nothing by itself.
class RankProgress {
 public:
  RankProgress() = default;
  ~RankProgress();
  RankProgress(const RankProgress&) = delete;
  RankProgress& operator=(const RankProgress&) = delete;

  // Advances the operation until it ends or is removed. The first one starts the thread.
  void Add(std::shared_ptr<RankOperation> operation);
  void Remove(const RankOperation& operation);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<RankOperation>> operations_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace kashi::mpi

#endif  // KASHI_MPI_RANK_OPERATION_H_
