// Device::Begin for groups on several ranks: the members here meet, and the last one to arrive starts the operation
// for all of them (rank_operation.h). If a rank has one member, that device starts it itself.
#ifndef KASHI_MPI_RANK_CALL_H_
#define KASHI_MPI_RANK_CALL_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kashi/devices/device.h"
#include "kashi/devices/meeting_place.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/mpi/rank_group.h"
#include "kashi/mpi/rank_operation.h"
#include "kashi/mpi/rank_task.h"
#include "kashi/mpi/rank_watch.h"

namespace kashi::mpi {

// The place at which a device waits for other ranks. Written by its thread, read by the thread that watches the run.
class WaitState {
 public:
  // During the life of this object, the device waits at `done` for call number `call` of the party, which `begun_at`
  // starts. 0: the last call that the party has started by then.
  class Scope {
   public:
    Scope(WaitState* state, const HloInstruction& done, const HloInstruction& begun_at, const RankParty& party,
          int64_t call = 0);
    ~Scope() { state_.changes_.fetch_add(1); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    WaitState& state_;
  };

  // Adds the present wait of the device, if there is one.
  void AddTo(RankWatch::Device* device) const;

 private:
  std::atomic<uint64_t> changes_{0};  // odd: it waits
  std::atomic<const HloInstruction*> done_{nullptr}, begun_at_{nullptr};
  std::atomic<const RankParty*> party_{nullptr};
  std::atomic<int64_t> call_{0};
};

// The state of the rank that a device needs for the call.
struct RankCallContext {
  const GroupTaskContext& tasks;
  devices::MeetingPlace* place;
  RankProgress* progress;
  WaitState* state;
  int64_t device;
  bool checks_ways;  // devices may take different ways through the program
};

// Pre: the group has a communicator. The objects to which the context refers must outlive the result.
absl::StatusOr<std::unique_ptr<devices::PendingCollective>> BeginRankCall(const RankCallContext& context,
                                                                          const RankGroup& group,
                                                                          devices::CollectiveCall call);

}  // namespace kashi::mpi

#endif  // KASHI_MPI_RANK_CALL_H_
