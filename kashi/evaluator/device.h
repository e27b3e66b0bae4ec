// Device: one device of a program of several devices. It exchanges values with the others.
#ifndef KASHI_EVALUATOR_DEVICE_H_
#define KASHI_EVALUATOR_DEVICE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/evaluator/value.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/spmd/transfer_routes.h"

namespace kashi::internal {

struct CollectiveTask;

// The arrays from the members of a group: [i][k] is array k of member i.
using Given = std::vector<std::vector<Value>>;

class Device {
 public:
  virtual ~Device() = default;

  int64_t replica_count() const { return replica_count_; }
  int64_t partition_count() const { return partition_count_; }
  int64_t replica_id() const { return id_ / partition_count_; }
  int64_t partition_id() const { return id_ % partition_count_; }
  int64_t id() const { return id_; }  // replica_id * partition_count + partition_id

  // Gives `operands` to the other members and waits for theirs. All of `members` (device ids, this one among them) must
  // call this with the same instruction and the same members. An error on all of them if some never call it.
  virtual absl::StatusOr<std::shared_ptr<const Given>> Exchange(const HloInstruction& collective,
                                                                absl::Span<const int64_t> members,
                                                                std::vector<Value> operands) = 0;

  // The same for results that are equal for all members: one member calls combine(given), and all get its result. Its
  // values must not be written.
  using CombineFunction = absl::FunctionRef<absl::StatusOr<std::vector<Value>>(const Given& given)>;
  virtual absl::StatusOr<std::vector<Value>> Combine(const HloInstruction& collective,
                                                     absl::Span<const int64_t> members, std::vector<Value> operands,
                                                     CombineFunction combine) = 0;

  // Whether the device takes whole tasks of this operation: what it does with the arrays is done while they are moved.
  virtual bool TakesTasks(const HloInstruction&, absl::Span<const int64_t>) { return false; }
  // The results of this device. Pre: TakesTasks(instruction, members).
  virtual absl::StatusOr<std::vector<Value>> Perform(const CollectiveTask& task, std::vector<Value> operands);

  // Transfers (transfers.h). The devices of a program have channels to each other; the processes of
  // interpreter.run_parallel also have a host. Devices that live for one operation only have none.
  enum class Transfers { kNone, kChannels, kChannelsAndHost };
  virtual Transfers transfers() const { return Transfers::kNone; }
  // The next value that the host gives to any of the devices; FAILED_PRECONDITION if there is none.
  virtual absl::StatusOr<Value> TakeInfeed(const HloInstruction& infeed);
  // Where this device sends to, or receives from; nothing if it has no part in it.
  absl::StatusOr<std::optional<TransferRoute>> RouteOf(const HloInstruction& transfer);
  // Sends without waiting. The value is shared (ShareWithThreads). Values of a route arrive in order, each once.
  virtual absl::Status Send(const HloInstruction& send, const TransferRoute& route, Value value);
  // Begins to receive the next value of a route, and gives the number of this reception, not 0.
  virtual absl::StatusOr<uint32_t> BeginReceive(const HloInstruction& receive, const TransferRoute& route);
  // Waits for the value. An error if none will come. `done`: where the device waits.
  virtual absl::StatusOr<Value> EndReceive(const HloInstruction& done, uint32_t number);

 protected:
  Device(int64_t id, int64_t replica_count, int64_t partition_count)
      : id_(id), replica_count_(replica_count), partition_count_(partition_count) {}

 private:
  int64_t id_;
  int64_t replica_count_;
  int64_t partition_count_;
  absl::flat_hash_map<const HloInstruction*, std::optional<TransferRoute>> routes_;
};

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_DEVICE_H_
