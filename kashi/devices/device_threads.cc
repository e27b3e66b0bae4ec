#include "kashi/devices/device_threads.h"

#include <deque>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/devices/meeting_call.h"
#include "kashi/devices/meeting_place.h"
#include "kashi/devices/receptions.h"
#include "kashi/values/value.h"

namespace kashi::devices {
namespace {

class ThreadedDevice : public Device {
 public:
  ThreadedDevice(int64_t id, DeviceCounts counts, Transfers transfers, MeetingPlace* place)
      : Device(id, counts.replicas, counts.partitions), transfers_(transfers), place_(place) {}

  absl::StatusOr<std::unique_ptr<PendingCollective>> Begin(CollectiveCall call) override {
    return BeginMeeting(place_, id(), std::move(call));
  }

  Transfers transfers() const override { return transfers_; }
  absl::StatusOr<Value> TakeInfeed(const HloInstruction& infeed) override { return place_->TakeInfeed(infeed); }
  absl::Status Send(const HloInstruction&, const hlo::TransferRoute& route, Value value) override {
    place_->Send(route, std::move(value));
    return absl::OkStatus();
  }
  absl::StatusOr<uint32_t> BeginReceive(const HloInstruction&, const hlo::TransferRoute& route) override {
    return receptions_.Begin(place_->BeginReceive(id(), route));
  }
  absl::StatusOr<Value> EndReceive(const HloInstruction& done, uint32_t number) override {
    KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<MeetingPlace::Meeting> reception, receptions_.End(done, number));
    return place_->EndReceive(id(), done, reception.get());
  }

 private:
  const Transfers transfers_;
  MeetingPlace* place_;
  Receptions<std::shared_ptr<MeetingPlace::Meeting>> receptions_;
};

// The kind of a run of several devices: the transfers that they support, and the values of their host.
struct RunKind {
  Device::Transfers transfers;
  std::deque<Value>* infeed = nullptr;
};

absl::Status RunAtOnce(DeviceCounts counts, const values::RunLimits& limits, const RunKind& kind, DeviceFunction f) {
  const DeviceRange devices = {0, counts.total()};
  MeetingPlace place(devices, limits.work.get(), kind.infeed);
  std::vector<std::thread> threads = StartDevices(devices, &place, [&](int64_t id) {
    ThreadedDevice device(id, counts, kind.transfers, &place);
    return f(device);
  });
  while (!place.WaitAWhile()) continue;
  for (std::thread& thread : threads) thread.join();
  return place.error();
}

}  // namespace

absl::Status ThreadFabric::OnDevices(const HloModule&, DeviceCounts counts, const values::RunLimits& limits,
                                     DeviceFunction f) {
  return RunAtOnce(counts, limits, {Device::Transfers::kChannels}, f);
}

absl::Status OnDevicesAtOnce(DeviceCounts counts, const values::RunLimits& limits, DeviceFunction f) {
  return RunAtOnce(counts, limits, {Device::Transfers::kNone}, f);
}

absl::Status OnProcessesAtOnce(DeviceCounts counts, const values::RunLimits& limits, std::deque<Value> infeed,
                               DeviceFunction f) {
  return RunAtOnce(counts, limits, {Device::Transfers::kChannelsAndHost, &infeed}, f);
}

absl::Status OnDevicesInTurn(DeviceCounts counts, const values::RunLimits& limits, DeviceFunction f) {
  for (int64_t id = 0; id < counts.total(); ++id) {
    MeetingPlace place({0, counts.total()}, limits.work.get());
    ThreadedDevice device(id, counts, Device::Transfers::kNone, &place);
    const absl::Status status = f(device);
    if (!status.ok()) return WithMessage(status, absl::StrCat("device ", id, ": ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace kashi::devices
