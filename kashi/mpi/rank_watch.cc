#include "kashi/mpi/rank_watch.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"

namespace kashi::mpi {
namespace {

// Time is counted in ticks, so that a process that was paused itself does not blame others.
constexpr std::chrono::milliseconds kTick(20);
constexpr int64_t kTicksBetweenQuestions = 3, kTicksBetweenGreetings = 100;
constexpr int64_t kMostSilentTicks = 3000;  // a minute

// A device as its rank describes it.
struct DeviceLine {
  int64_t device, kind, meetings, group, call;
  std::string wait;  // "waits at all-reduce.3 of devices {0,1}"
};

// The report of a rank: its devices, and for each group the number of MPI calls that it has begun.
struct RankReport {
  explicit RankReport(const std::string& situation) {
    MessageReader reader(situation);
    for (int64_t left = reader.ReadNumber(); left > 0; --left) {
      const int64_t group = reader.ReadNumber();
      calls[group] = reader.ReadNumber();
    }
    while (!reader.is_at_end()) {
      DeviceLine line{};
      line.device = reader.ReadNumber();
      line.kind = reader.ReadNumber();
      line.meetings = reader.ReadNumber();
      line.group = reader.ReadNumber();
      line.call = reader.ReadNumber();
      line.wait = reader.ReadText();
      devices.push_back(std::move(line));
    }
  }
  std::map<int64_t, int64_t> calls;
  std::vector<DeviceLine> devices;
};

// Whether all ranks of a group have come to this call: then data is on its way.
bool HaveAllCome(const std::vector<RankReport>& reports, int64_t group, int64_t call) {
  return absl::c_all_of(reports, [&](const RankReport& report) {
    const auto found = report.calls.find(group);
    return found == report.calls.end() || found->second >= call;
  });
}

bool IsKind(const DeviceLine& line, devices::MeetingPlace::State::Kind kind) {
  return line.kind == static_cast<int64_t>(kind);
}

}  // namespace

RankWatch::RankWatch(MpiWorld* world, RankMail* mail, devices::MeetingPlace* place, Run run)
    : world_(*world), mail_(*mail), place_(*place), run_(std::move(run)), peers_(world->size()) {}

bool RankWatch::Look(bool all_left) {
  const absl::Status status = Step(all_left);
  if (!status.ok()) {
    // Without messages there is nothing to wait for.
    place_.Fail(status);
    world_.set_abandoned();
    status_ = status;
    is_over_ = true;
  }
  return is_over_;
}

absl::Status RankWatch::Step(bool all_left) {
  KASHI_RETURN_IF_ERROR(Receive());
  if (is_over_) return absl::OkStatus();
  if (place_.has_failed().load() && !is_stopped_ && !has_told_failure_) {
    has_told_failure_ = true;
    const absl::Status error = place_.error();
    KASHI_RETURN_IF_ERROR(Tell(kFailed, WithMessage(error, Named(world_.rank(), std::string(error.message())))));
  }
  if (all_left && !has_told_end_) {
    has_told_end_ = true;
    KASHI_RETURN_IF_ERROR(Tell(kEnded, absl::OkStatus()));
  }
  const auto now = std::chrono::steady_clock::now();
  const bool is_tick = now - last_tick_ >= kTick;
  if (is_tick) last_tick_ = now;
  if (world_.rank() == 0) return Coordinate(is_tick);
  if (is_tick && ++silent_ticks_ > kMostSilentTicks) return Unavailable("rank 0 does not answer");
  return absl::OkStatus();
}

std::string RankWatch::Named(int rank, const std::string& message) const {
  return world_.size() == 1 ? message : absl::StrCat("rank ", rank, ": ", message);
}

MessageWriter RankWatch::Begin(Kind kind) const {
  MessageWriter writer;
  writer.Add(run_.number).Add(kind);
  return writer;
}

// A message of rank 0 to itself arrives at once.
absl::Status RankWatch::Tell(Kind kind, const absl::Status& status) {
  MessageWriter writer = Begin(kind);
  AddStatus(status, &writer);
  std::string text = writer.Finish();
  return world_.rank() == 0 ? Handle({0, std::move(text)}) : mail_.Send(0, std::move(text));
}

absl::Status RankWatch::SendToAll(const std::string& text) {
  for (int r = 1; r < world_.size(); ++r) KASHI_RETURN_IF_ERROR(mail_.Send(r, text));
  return absl::OkStatus();
}

absl::Status RankWatch::Receive() {
  while (!is_over_) {
    KASHI_ASSIGN_OR_RETURN(const std::optional<RankMail::Message> message, mail_.Receive());
    if (!message.has_value()) break;
    KASHI_RETURN_IF_ERROR(Handle(*message));
  }
  return absl::OkStatus();
}

absl::Status RankWatch::Handle(const RankMail::Message& message) {
  MessageReader reader(message.text);
  if (reader.ReadNumber() != run_.number) return absl::OkStatus();  // of an earlier run
  const auto kind = static_cast<Kind>(reader.ReadNumber());
  silent_ticks_ = 0;
  switch (kind) {
    case kStop:
      Stop(ReadStatus(&reader));
      return absl::OkStatus();
    case kAsk: {
      const int64_t question = reader.ReadNumber();
      MessageWriter answer = Begin(kSituation);
      answer.Add(question).Add(Situation());
      return mail_.Send(0, answer.Finish());
    }
    case kOver:
      status_ = ReadStatus(&reader);
      is_over_ = true;
      return absl::OkStatus();
    default:
      return HandleAtFirst(message.from, kind, &reader);
  }
}

absl::Status RankWatch::HandleAtFirst(int from, Kind kind, MessageReader* reader) {
  Peer& peer = peers_[from];
  peer.silent_ticks = 0;
  if (kind == kFailed) {
    const absl::Status error = ReadStatus(reader);
    if (failure_.ok()) failure_ = error;
  } else if (kind == kEnded) {
    peer.has_ended = true;
  } else if (kind == kSituation) {
    peer.answered = reader->ReadNumber();
    peer.before = std::move(peer.situation);
    peer.situation = reader->ReadText();
  }
  return absl::OkStatus();
}

void RankWatch::Stop(const absl::Status& error) {
  is_stopped_ = true;
  place_.Fail(error);
}

// ---- Rank 0 ---------------------------------------------------------------------------------------------------------

absl::Status RankWatch::Coordinate(bool is_tick) {
  if (is_tick && failure_.ok() && world_.size() > 1) KASHI_RETURN_IF_ERROR(AskAround());
  if (!failure_.ok() && !has_told_stop_) {
    has_told_stop_ = true;
    MessageWriter writer = Begin(kStop);
    AddStatus(failure_, &writer);
    KASHI_RETURN_IF_ERROR(SendToAll(writer.Finish()));
    Stop(failure_);
  }
  if (!absl::c_all_of(peers_, [](const Peer& peer) { return peer.has_ended; })) {
    // Ranks that do not answer are not waited for.
    if (is_tick && has_told_stop_) ++ticks_since_stop_;
    if (ticks_since_stop_ <= kMostSilentTicks) return absl::OkStatus();
    world_.set_abandoned();
  }
  MessageWriter writer = Begin(kOver);
  AddStatus(failure_, &writer);
  status_ = failure_;
  is_over_ = true;
  return SendToAll(writer.Finish());
}

bool RankWatch::AnyRunsHere() const {
  for (int64_t device = run_.here.first; device < run_.here.first + run_.here.count; ++device) {
    if (run_.device(device).state.kind == devices::MeetingPlace::State::Kind::kRuns) return true;
  }
  return false;
}

// Asks all ranks what their devices do: often while the devices here wait, otherwise to say that this rank is there.
absl::Status RankWatch::AskAround() {
  ++ticks_since_question_;
  if (!absl::c_all_of(peers_, [this](const Peer& peer) { return peer.answered == question_; })) {
    CheckSilence();
    return absl::OkStatus();
  }
  if (checked_question_ < question_) {
    checked_question_ = question_;
    CheckForDeadlock();
  }
  if (!failure_.ok() || ticks_since_question_ < (AnyRunsHere() ? kTicksBetweenGreetings : kTicksBetweenQuestions)) {
    return absl::OkStatus();
  }
  ++question_;
  ticks_since_question_ = 0;
  MessageWriter own = Begin(kSituation);
  own.Add(question_).Add(Situation());
  KASHI_RETURN_IF_ERROR(Handle({0, own.Finish()}));
  MessageWriter writer = Begin(kAsk);
  writer.Add(question_);
  return SendToAll(writer.Finish());
}

void RankWatch::CheckSilence() {
  for (int r = 0; r < world_.size(); ++r) {
    Peer& peer = peers_[r];
    if (peer.answered == question_ || ++peer.silent_ticks <= kMostSilentTicks) continue;
    failure_ = Unavailable("rank %d does not answer", r);
    ticks_since_stop_ = kMostSilentTicks;
  }
}

// Two equal answers of all ranks, one after the other: between them no device has done anything.
void RankWatch::CheckForDeadlock() {
  std::vector<RankReport> reports;
  for (const Peer& peer : peers_) {
    if (peer.situation != peer.before) return;
    reports.emplace_back(peer.situation);
  }
  std::vector<std::string> texts;
  bool any_waits = false;
  for (int r = 0; r < world_.size(); ++r) {
    for (const DeviceLine& line : reports[r].devices) {
      if (IsKind(line, devices::MeetingPlace::State::Kind::kRuns)) return;
      if (line.group != 0 && HaveAllCome(reports, line.group, line.call > 0 ? line.call : reports[r].calls[line.group]))
        return;
      const bool waits = IsKind(line, devices::MeetingPlace::State::Kind::kWaits);
      any_waits = any_waits || waits;
      texts.push_back(absl::StrCat("device ", line.device, " (rank ", r, ") ", waits ? line.wait : "has finished"));
    }
  }
  if (!any_waits) return;
  failure_ = FailedPrecondition("The devices wait for each other forever: %s", absl::StrJoin(texts, "; "));
}

std::string RankWatch::Situation() const {
  MessageWriter writer;
  const std::vector<std::pair<int64_t, int64_t>> calls = run_.calls();
  writer.Add(static_cast<int64_t>(calls.size()));
  for (const auto& [group, count] : calls) writer.Add(group).Add(count);
  for (int64_t id = run_.here.first; id < run_.here.first + run_.here.count; ++id) {
    const Device device = run_.device(id);
    const bool waits = device.state.kind == devices::MeetingPlace::State::Kind::kWaits;
    writer.Add(id).Add(static_cast<int64_t>(device.state.kind)).Add(static_cast<int64_t>(device.state.meetings));
    writer.Add(device.group).Add(device.call);
    const devices::MeetingPlace::State& state = device.state;
    writer.Add(waits ? devices::DescribeWait(*state.instruction, *state.begun_at, state.members) : "");
  }
  return writer.Finish();
}

}  // namespace kashi::mpi
