// RankWatch: watches a run on several ranks. Rank 0 collects the state of all ranks:
//
//   a device fails           its rank tells rank 0, which stops all others: they end with this error
//   devices wait for ever    if no device of any rank runs, and none of the operations at which they wait can start,
//                            the error says which device waits where
//   a rank is silent         it was killed, or its machine does not answer: the run ends with an error that names it
//   all devices have ended   rank 0 tells all ranks, and the run is over
//
// Each rank answers by the thread that waits for its devices, some 50 times a second.
#ifndef KASHI_MPI_RANK_WATCH_H_
#define KASHI_MPI_RANK_WATCH_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kashi/devices/meeting_place.h"
#include "kashi/mpi/mpi_world.h"
#include "kashi/mpi/rank_mail.h"

namespace kashi::mpi {

class RankWatch {
 public:
  // The state of a device of this rank. `group`: the id of the group of the operation for which it waits, if other
  // ranks take part in it; `call`: the number of that operation, 0: the last one of the group.
  struct Device {
    devices::MeetingPlace::State state;
    int64_t group = 0;
    int64_t call = 0;
  };
  struct Run {
    int64_t number;  // of the run: messages of earlier ones do not count
    devices::DeviceRange here;
    std::function<Device(int64_t device)> device;
    // The calls that this rank has begun with each group (RankGroups::Calls).
    std::function<std::vector<std::pair<int64_t, int64_t>>()> calls;
  };
  RankWatch(MpiWorld* world, RankMail* mail, devices::MeetingPlace* place, Run run);

  // Called at least some 50 times a second. True: the run has ended.
  bool Look(bool all_left);
  // The first error on any rank, of a run that is over.
  const absl::Status& status() const { return status_; }

 private:
  enum Kind : int64_t { kFailed, kStop, kAsk, kSituation, kEnded, kOver };
  // The state of a rank as known to rank 0.
  struct Peer {
    bool has_ended = false;
    std::string situation;  // the answer to the last question
    std::string before;     // that to the one before
    int64_t answered = 0;   // the number of the question
    int64_t silent_ticks = 0;
  };

  absl::Status Step(bool all_left);
  absl::Status Receive();
  absl::Status Handle(const RankMail::Message& message);
  absl::Status HandleAtFirst(int from, Kind kind, MessageReader* reader);
  MessageWriter Begin(Kind kind) const;
  absl::Status SendToAll(const std::string& text);
  absl::Status Tell(Kind kind, const absl::Status& status);
  void Stop(const absl::Status& error);
  absl::Status Coordinate(bool is_tick);
  absl::Status AskAround();
  bool AnyRunsHere() const;
  void CheckSilence();
  void CheckForDeadlock();
  std::string Situation() const;
  std::string Named(int rank, const std::string& message) const;

  MpiWorld& world_;
  RankMail& mail_;
  devices::MeetingPlace& place_;
  const Run run_;
  absl::Status status_;
  bool is_over_ = false, is_stopped_ = false, has_told_failure_ = false, has_told_end_ = false;
  std::chrono::steady_clock::time_point last_tick_ = std::chrono::steady_clock::now();
  int64_t silent_ticks_ = 0;  // without a word of rank 0
  // Of rank 0.
  std::vector<Peer> peers_;
  absl::Status failure_;
  bool has_told_stop_ = false;
  int64_t question_ = 0, checked_question_ = 0, ticks_since_question_ = 0, ticks_since_stop_ = 0;
};

}  // namespace kashi::mpi

#endif  // KASHI_MPI_RANK_WATCH_H_
