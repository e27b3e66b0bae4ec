// Device: one device of a program of several devices. It exchanges values with the others.
#ifndef KASHI_DEVICES_DEVICE_H_
#define KASHI_DEVICES_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/spmd/transfer_routes.h"
#include "kashi/values/value.h"

namespace kashi::devices {

struct CollectiveTask;

// The arrays from the members of a group: [i][k] is array k of member i.
using Given = std::vector<std::vector<Value>>;

// A device's call of a collective operation.
struct CollectiveCall {
  const HloInstruction& instruction;
  absl::Span<const int64_t> members;  // device ids, this one among them; read only by Begin
  std::vector<Value> operands;
  // The operation as a whole (collective_task.h). It must outlive the operation. Null: arrays are exchanged.
  const CollectiveTask* task = nullptr;
  // Makes results that are equal for all members from the arrays of all. One member calls its own, in its own thread,
  // and all get its results. Null: each gets the arrays of all. Neither may be written.
  std::function<absl::StatusOr<std::vector<Value>>(const Given& given)> combine = nullptr;
  // The instruction that begins the operation, if another one ends it: the device does other work between. Null: the
  // device waits for the end at once.
  const HloInstruction* start = nullptr;

  const HloInstruction& begun_at() const { return start == nullptr ? instruction : *start; }
};

// A collective operation that a device has begun. Its operands stay in memory until it is destroyed. If that comes
// before Finish, the device has failed.
class PendingCollective {
 public:
  virtual ~PendingCollective() = default;
  struct Received {
    std::shared_ptr<const Given> all;  // of an exchange, by the order of the members
    std::vector<Value> own;            // of a task or a combination: the results of this device
  };
  // Waits until all members have begun the operation, and until the results are there. An error if some never begin it.
  // `done`: the instruction that waits. Called once, by the thread of the device.
  virtual absl::StatusOr<Received> Finish(const HloInstruction& done) = 0;
  // The time at which the arrays of all others had arrived, by the monotonic clock; 0: they have not, or it was not
  // noticed. Known after Finish.
  virtual int64_t arrival_ns() const = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  int64_t replica_count() const { return replica_count_; }
  int64_t partition_count() const { return partition_count_; }
  int64_t replica_id() const { return id_ / partition_count_; }
  int64_t partition_id() const { return id_ % partition_count_; }
  int64_t id() const { return id_; }  // replica_id * partition_count + partition_id

  // Begins a collective operation, without waiting for others. All members must begin it with the same instruction and
  // the same members, and all of them the operations of a group in the same order. A device may begin several before it
  // ends one of them, and end them in any order.
  virtual absl::StatusOr<std::unique_ptr<PendingCollective>> Begin(CollectiveCall call) = 0;
  // Whether the device takes this operation as a whole task: it processes the arrays while they are moved.
  virtual bool TakesTasks(const HloInstruction&, absl::Span<const int64_t>) { return false; }

  // Transfers (kashi/evaluator/transfers.h). The devices of a program have channels to each other; the processes of
  // interpreter.run_parallel also have a host. Devices that live for one operation only have none.
  enum class Transfers { kNone, kChannels, kChannelsAndHost };
  virtual Transfers transfers() const { return Transfers::kNone; }
  // The next value that the host gives to any of the devices; FAILED_PRECONDITION if there is none.
  virtual absl::StatusOr<Value> TakeInfeed(const HloInstruction& infeed);
  // The route on which this device sends or receives; nothing if it takes no part in the transfer.
  absl::StatusOr<std::optional<hlo::TransferRoute>> RouteOf(const HloInstruction& transfer);
  // Sends without waiting. The value is shared (ShareWithThreads). Values of a route arrive in order, each once.
  virtual absl::Status Send(const HloInstruction& send, const hlo::TransferRoute& route, Value value);
  // Begins to receive the next value of a route, and gives the number of this reception, not 0.
  virtual absl::StatusOr<uint32_t> BeginReceive(const HloInstruction& receive, const hlo::TransferRoute& route);
  // Waits for the value. An error if none will come. `done`: where the device waits.
  virtual absl::StatusOr<Value> EndReceive(const HloInstruction& done, uint32_t number);

 protected:
  Device(int64_t id, int64_t replica_count, int64_t partition_count)
      : id_(id), replica_count_(replica_count), partition_count_(partition_count) {}

 private:
  int64_t id_;
  int64_t replica_count_;
  int64_t partition_count_;
  absl::flat_hash_map<const HloInstruction*, std::optional<hlo::TransferRoute>> routes_;
};

}  // namespace kashi::devices

#endif  // KASHI_DEVICES_DEVICE_H_
