#include "kashi/devices/meeting_place.h"

#include <chrono>
#include <system_error>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/base/catch_exceptions.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"

namespace kashi::devices {
namespace {

// How often waiting devices check whether the run is cancelled or past its deadline, because they are not notified.
constexpr std::chrono::milliseconds kPoll(20);

std::string DescribeMissing(const MeetingPlace::Meeting& meeting, const HloInstruction& done) {
  if (meeting.route.has_value()) {
    return absl::StrCat("waits at ", done.name(), " for a value from ", meeting.route->ToString());
  }
  std::vector<int64_t> missing;
  for (size_t i = 0; i < meeting.here.size(); ++i) {
    if (!meeting.has_come[i]) missing.push_back(meeting.here[i]);
  }
  return absl::StrCat(DescribeWait(done, *meeting.begun_at, meeting.members), " for {", absl::StrJoin(missing, ","),
                      "}");
}

}  // namespace

std::string DescribeWait(const HloInstruction& done, const HloInstruction& begun_at,
                         absl::Span<const int64_t> members) {
  const std::string begin = &done == &begun_at ? "" : absl::StrCat(", begun at ", begun_at.name(), ",");
  return absl::StrCat("waits at ", done.name(), begin, " of devices {", absl::StrJoin(members, ","), "}");
}

void MeetingPlace::Meeting::Come(int64_t device, std::vector<Value> values) {
  const size_t i = absl::c_find(here, device) - here.begin();
  KASHI_CHECK(i < here.size()) << "device " << device << " is not a member";
  given[i] = std::move(values);
  has_come[i] = true;
  --missing;
}

bool MeetingPlace::Meeting::HasCome(int64_t device) const {
  return has_come[absl::c_find(here, device) - here.begin()];
}

absl::Status MeetingPlace::Meeting::DoOnce(absl::FunctionRef<absl::Status()> f) {
  const std::lock_guard<std::mutex> lock(once_mutex_);
  if (!is_done_) status_ = f();
  is_done_ = true;
  // Each gets a message of its own: abseil counts references where thread sanitizers cannot see it.
  return status_.ok() ? absl::OkStatus() : WithMessage(status_, status_.message());
}

absl::StatusOr<MeetingPlace::Arrival> MeetingPlace::Come(int64_t device, const Call& call, std::vector<Value> values) {
  const std::lock_guard<std::mutex> lock(mutex_);
  KASHI_RETURN_IF_ERROR(error_);
  std::shared_ptr<Meeting> meeting = FindOrOpen(device, call);
  ++StateAt(device).meetings;
  meeting->Come(device, std::move(values));
  const bool is_last = meeting->missing == 0;
  return Arrival{std::move(meeting), is_last};
}

void MeetingPlace::Complete(Meeting* meeting) {
  const std::lock_guard<std::mutex> lock(mutex_);
  CompleteLocked(meeting);
}

absl::Status MeetingPlace::Await(int64_t device, Meeting* meeting, const HloInstruction& done) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!meeting->is_complete) {
    KASHI_RETURN_IF_ERROR(error_);
    Wait(device, meeting, done, &lock);
  }
  // A meeting that is complete is good, even if something else went wrong since.
  return meeting->is_complete ? absl::OkStatus() : error_;
}

absl::StatusOr<Value> MeetingPlace::TakeInfeed(const HloInstruction& infeed) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (infeed_->empty()) return FailedPrecondition("%s: the infeed has no more values", infeed.name());
  Value value = std::move(infeed_->front());
  infeed_->pop_front();
  return value;
}

void MeetingPlace::Send(const hlo::TransferRoute& route, Value value) {
  std::lock_guard<std::mutex> lock(mutex_);
  Channel& to = channels_[route];
  if (to.receivers.empty()) {
    to.values.push_back(std::move(value));
    return;
  }
  const std::shared_ptr<Meeting> receiver = std::move(to.receivers.front());
  to.receivers.pop_front();
  receiver->given[0] = {std::move(value)};
  CompleteLocked(receiver.get());
}

std::shared_ptr<MeetingPlace::Meeting> MeetingPlace::BeginReceive(int64_t device, const hlo::TransferRoute& route) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto reception = std::make_shared<Meeting>();
  reception->route = route;
  reception->here = {device};
  reception->members = {route.source.value_or(device), device};
  reception->given.resize(1);
  Channel& from = channels_[route];
  if (from.values.empty()) {
    from.receivers.push_back(reception);
    return reception;
  }
  reception->given[0] = {std::move(from.values.front())};
  reception->is_complete = true;
  from.values.pop_front();
  return reception;
}

absl::StatusOr<Value> MeetingPlace::EndReceive(int64_t device, const HloInstruction& done, Meeting* reception) {
  KASHI_RETURN_IF_ERROR(Await(device, reception, done));
  return std::move(reception->given[0][0]);
}

void MeetingPlace::Leave(int64_t device, const absl::Status& status) {
  std::lock_guard<std::mutex> lock(mutex_);
  StateAt(device).is_done = true;
  --running_;
  if (!status.ok()) {
    FailLocked(WithMessage(status, absl::StrCat("device ", device, ": ", status.message())));
  } else {
    CheckSomebodyRuns();
  }
  if (--present_ > 0) return;
  CheckAllIsReceived();
  all_left_.notify_all();
}

bool MeetingPlace::WaitAWhile() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (all_left_.wait_for(lock, kPoll, [this] { return present_ == 0; })) return true;
  if (error_.ok() && work_->IsOver()) FailLocked(work_->Check());
  return false;
}

void MeetingPlace::Fail(const absl::Status& error) {
  std::lock_guard<std::mutex> lock(mutex_);
  FailLocked(error);
}

absl::Status MeetingPlace::error() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

MeetingPlace::State MeetingPlace::StateOf(int64_t device) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const DeviceState& state = devices_[device - first_];
  if (state.is_done) return {State::Kind::kHasEnded, nullptr, nullptr, {}, state.meetings};
  if (state.waits_at == nullptr) return {State::Kind::kRuns, nullptr, nullptr, {}, state.meetings};
  const HloInstruction* const begun_at = state.waits_at->route.has_value() ? state.waits_in : state.waits_at->begun_at;
  return {State::Kind::kWaits, state.waits_in, begun_at, state.waits_at->members, state.meetings};
}

// Each device comes to the meetings of a call in turn, so they are completed in turn.
std::shared_ptr<MeetingPlace::Meeting> MeetingPlace::FindOrOpen(int64_t device, const Call& call) {
  std::vector<int64_t> list(call.members.begin(), call.members.end());
  std::deque<std::shared_ptr<Meeting>>& meetings = open_[Key(&call.instruction, list)];
  for (const std::shared_ptr<Meeting>& meeting : meetings) {
    if (!meeting->HasCome(device)) return meeting;
  }
  const std::shared_ptr<Meeting>& meeting = meetings.emplace_back(std::make_shared<Meeting>());
  meeting->instruction = &call.instruction;
  meeting->begun_at = &call.begun_at;
  meeting->here.assign(call.here.begin(), call.here.end());
  meeting->missing = call.here.size();
  meeting->given.resize(call.here.size());
  meeting->has_come.resize(call.here.size());
  meeting->members = std::move(list);
  return meeting;
}

void MeetingPlace::CompleteLocked(Meeting* meeting) {
  for (const int64_t member : meeting->here) {
    DeviceState& state = StateAt(member);
    if (state.waits_at != meeting) continue;  // it runs
    state.waits_at = nullptr;
    ++running_;
  }
  if (!meeting->route.has_value()) {
    const auto found = open_.find(Key(meeting->instruction, meeting->members));
    found->second.pop_front();
    if (found->second.empty()) open_.erase(found);
  }
  meeting->is_complete = true;
  meeting->complete_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  meeting->completed.notify_all();
}

void MeetingPlace::Wait(int64_t device, Meeting* meeting, const HloInstruction& done,
                        std::unique_lock<std::mutex>* lock) {
  StateAt(device).waits_at = meeting;
  StateAt(device).waits_in = &done;
  --running_;
  CheckSomebodyRuns();
  meeting->completed.wait(*lock, [&] { return meeting->is_complete || !error_.ok(); });
  if (meeting->is_complete) return;  // the device that completed it has set this one running
  StateAt(device).waits_at = nullptr;
  ++running_;
}

void MeetingPlace::FailLocked(const absl::Status& error) {
  if (!error_.ok()) return;
  error_ = error;
  has_failed_.store(true, std::memory_order_relaxed);
  work_->End();
  for (const auto& [key, meetings] : open_) {
    for (const std::shared_ptr<Meeting>& meeting : meetings) meeting->completed.notify_all();
  }
  for (const auto& [route, channel] : channels_) {
    for (const std::shared_ptr<Meeting>& reception : channel.receivers) reception->completed.notify_all();
  }
}

void MeetingPlace::CheckSomebodyRuns() {
  if (running_ > 0 || !error_.ok()) return;
  const auto waits = [](const DeviceState& device) { return device.waits_at != nullptr; };
  if (absl::c_none_of(devices_, waits)) return;
  FailLocked(FailedPrecondition("The devices wait for each other forever: %s", Situation()));
}

// The host and processes of run_parallel may send values that are not received.
void MeetingPlace::CheckAllIsReceived() {
  if (!error_.ok()) return;
  for (const auto& [route, channel] : channels_) {
    if (channel.values.empty() || !route.target.has_value()) continue;
    return FailLocked(FailedPrecondition("nobody receives what goes over %s", route.ToString()));
  }
}

// "device 0 waits at all-reduce.3 of devices {0,1} for {1}; device 1 has finished"
std::string MeetingPlace::Situation() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < devices_.size(); ++i) {
    const Meeting* meeting = devices_[i].waits_at;
    const std::string what = meeting == nullptr ? "has finished" : DescribeMissing(*meeting, *devices_[i].waits_in);
    lines.push_back(absl::StrCat("device ", first_ + i, " ", what));
  }
  return absl::StrJoin(lines, "; ");
}

std::vector<std::thread> StartDevices(DeviceRange devices, MeetingPlace* place,
                                      const std::function<absl::Status(int64_t device)>& f) {
  std::vector<std::thread> threads;
  const int64_t end = devices.first + devices.count;
  try {
    for (int64_t id = devices.first; id < end; ++id) {
      threads.emplace_back([place, id, f] { place->Leave(id, base::CatchExceptions([&] { return f(id); })); });
    }
  } catch (const std::system_error& error) {
    // Those that have begun do not wait for those that never will.
    for (int64_t id = devices.first + static_cast<int64_t>(threads.size()); id < end; ++id) {
      place->Leave(id, ResourceExhausted("cannot start a thread: %s", error.what()));
    }
  }
  return threads;
}

}  // namespace kashi::devices
