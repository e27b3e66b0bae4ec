// RankTransfers: the values that one device sends to devices of other ranks and receives from them (send and recv).
//
// A value is a message that describes its arrays, and one message for each array. The first is sent synchronously: MPI
// completes it when it is received. So values that are never received are found at the end of the program.
#ifndef KASHI_MPI_RANK_TRANSFERS_H_
#define KASHI_MPI_RANK_TRANSFERS_H_

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/mpi/group_task.h"
#include "kashi/mpi/rank_group.h"
#include "kashi/values/value.h"

namespace kashi::mpi {

class RankTransfers {
 public:
  explicit RankTransfers(const GroupTaskContext& context) : context_(context) {}
  // Values that MPI has not sent yet stay in memory.
  ~RankTransfers();
  RankTransfers(const RankTransfers&) = delete;
  RankTransfers& operator=(const RankTransfers&) = delete;

  // Returns at once. The value is shared, not copied.
  absl::Status Send(const HloInstruction& send, const RankRoute& route, const Value& value);
  // The next reception of a route: its number among all receptions.
  int64_t BeginReceive(const RankRoute& route) { return ways_[&route].begun++; }
  // Waits for this reception, and for those before it.
  absl::StatusOr<Value> EndReceive(const HloInstruction& done, const RankRoute& route, int64_t place);

  // Waits until all sent values are received. wait(send, route, f) tells others where this device waits during f().
  using WaitFunction = std::function<absl::Status(const HloInstruction& send, const RankRoute& route,
                                                  const std::function<absl::Status()>& f)>;
  absl::Status FinishSends(const WaitFunction& wait);

 private:
  struct Sent {
    const HloInstruction* send;
    const RankRoute* route;
    Value value;
    std::vector<int64_t> description;
    std::vector<MPI_Request> requests;
  };
  struct Way {
    int64_t begun = 0, arrived = 0;
    std::map<int64_t, Value> early;  // received for another reception than the one that asks
  };

  absl::Status ForgetReceived();
  absl::StatusOr<Value> ReceiveNext(const HloInstruction& done, const RankRoute& route);
  absl::StatusOr<std::vector<int64_t>> ReceiveDescription(const RankRoute& route);
  absl::StatusOr<Value> ReceiveArray(const RankRoute& route, const DenseShape& shape);

  const GroupTaskContext& context_;
  std::list<std::shared_ptr<Sent>> sent_;
  std::map<const RankRoute*, Way> ways_;
};

}  // namespace kashi::mpi

#endif  // KASHI_MPI_RANK_TRANSFERS_H_
