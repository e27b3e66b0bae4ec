#include "kashi/devices/meeting_call.h"

#include <utility>

#include "kashi/base/status.h"

namespace kashi::devices {
namespace {

class MeetingCall final : public PendingCollective {
 public:
  MeetingCall(MeetingPlace* place, int64_t device, decltype(CollectiveCall::combine) combine)
      : place_(*place), device_(device), combine_(std::move(combine)) {}

  absl::Status Begin(CollectiveCall call) {
    KASHI_ASSIGN_OR_RETURN(const MeetingPlace::Arrival arrival,
                           place_.Come(device_, {call.instruction, call.members, call.members, call.begun_at()},
                                       std::move(call.operands)));
    meeting_ = arrival.meeting;
    if (!arrival.is_last) return absl::OkStatus();
    // Its error is the error of all members, which get it where they wait.
    if (call.start == nullptr) Combine().IgnoreError();
    place_.Complete(meeting_.get());
    return absl::OkStatus();
  }

  absl::StatusOr<Received> Finish(const HloInstruction& done) override {
    KASHI_RETURN_IF_ERROR(place_.Await(device_, meeting_.get(), done));
    KASHI_RETURN_IF_ERROR(Combine());
    if (combine_ != nullptr) return Received{nullptr, meeting_->combined};
    return Received{std::shared_ptr<const Given>(meeting_, &meeting_->given), {}};
  }

  int64_t arrival_ns() const override { return meeting_->complete_ns; }

 private:
  absl::Status Combine() {
    if (combine_ == nullptr) return absl::OkStatus();
    return meeting_->DoOnce([this]() -> absl::Status {
      KASHI_ASSIGN_OR_RETURN(meeting_->combined, combine_(meeting_->given));
      return absl::OkStatus();
    });
  }

  MeetingPlace& place_;
  const int64_t device_;
  const decltype(CollectiveCall::combine) combine_;
  std::shared_ptr<MeetingPlace::Meeting> meeting_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PendingCollective>> BeginMeeting(MeetingPlace* place, int64_t device,
                                                                CollectiveCall call) {
  auto begun = std::make_unique<MeetingCall>(place, device, std::move(call.combine));
  KASHI_RETURN_IF_ERROR(begun->Begin(std::move(call)));
  return std::unique_ptr<PendingCollective>(std::move(begun));
}

}  // namespace kashi::devices
