// The devices between which send and recv move data: frontend attribute _xla_send_recv_source_target_pairs of both.
//
//   send(x, t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2}}}
//
// Device 0 sends to device 1, and device 1 to device 2. A device that is no source sends nothing, and one that is no
// target receives zeros.
#ifndef KASHI_HLO_SPMD_TRANSFER_ROUTES_H_
#define KASHI_HLO_SPMD_TRANSFER_ROUTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/spmd/collective_groups.h"

namespace kashi::hlo {

// A route from one device to another, by a channel. Without devices: from any device that sends to any that receives.
struct TransferRoute {
  int64_t channel = 0;
  std::optional<int64_t> source, target;

  friend bool operator<(const TransferRoute& a, const TransferRoute& b) {
    return std::tie(a.channel, a.source, a.target) < std::tie(b.channel, b.source, b.target);
  }
  // "channel 1 from device 0 to device 3"
  std::string ToString() const;
};

// StableHLO's channel 0 is no channel in HLO.
int64_t ChannelOfTransfer(const HloInstruction& transfer);
// Whether it is a send or a recv between devices, and not a host transfer or a send-done or recv-done.
bool IsDeviceTransfer(const HloInstruction& instruction);

// The pairs of ids as in the text; nothing without the attribute. INVALID_ARGUMENT for any other text.
absl::StatusOr<std::optional<std::vector<std::pair<int64_t, int64_t>>>> TransferPairs(const HloInstruction& transfer);
// The ids are those of partitions, of one replica, if the program has several and a channel or one replica. Otherwise
// they are those of replicas, of one partition.
bool NamesPartitions(const HloInstruction& transfer, DeviceCounts counts);

// The routes of all devices, in the order of the pairs. INVALID_ARGUMENT without the attribute, for unknown ids, and
// for an id that is twice a source or twice a target.
absl::StatusOr<std::vector<TransferRoute>> TransferRoutes(const HloInstruction& transfer, DeviceCounts counts);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_SPMD_TRANSFER_ROUTES_H_
