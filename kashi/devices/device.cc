#include "kashi/devices/device.h"

#include "absl/algorithm/container.h"
#include "kashi/base/status.h"

namespace kashi::devices {

absl::StatusOr<Value> Device::TakeInfeed(const HloInstruction& infeed) {
  return FailedPrecondition("%s: there is no host", infeed.name());
}
absl::Status Device::Send(const HloInstruction& send, const hlo::TransferRoute&, Value) {
  return FailedPrecondition("%s: there is no other device", send.name());
}
absl::StatusOr<uint32_t> Device::BeginReceive(const HloInstruction& receive, const hlo::TransferRoute&) {
  return FailedPrecondition("%s: there is no other device", receive.name());
}
absl::StatusOr<Value> Device::EndReceive(const HloInstruction& done, uint32_t) {
  return FailedPrecondition("%s: there is no other device", done.name());
}

absl::StatusOr<std::optional<hlo::TransferRoute>> Device::RouteOf(const HloInstruction& transfer) {
  if (transfers() == Transfers::kChannelsAndHost) return hlo::TransferRoute{hlo::ChannelOfTransfer(transfer), {}, {}};
  const auto known = routes_.find(&transfer);
  if (known != routes_.end()) return known->second;
  KASHI_ASSIGN_OR_RETURN(const std::vector<hlo::TransferRoute> routes,
                         hlo::TransferRoutes(transfer, {replica_count_, partition_count_}));
  const auto own = absl::c_find_if(routes, [&](const hlo::TransferRoute& route) {
    return (transfer.opcode() == HloOpcode::kSend ? route.source : route.target) == id_;
  });
  std::optional<hlo::TransferRoute> route;
  if (own != routes.end()) route = *own;
  routes_[&transfer] = route;
  return route;
}

}  // namespace kashi::devices
