#include "kashi/mpi/rank_call.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/base/status.h"
#include "kashi/mpi/group_task.h"
#include "kashi/mpi/rank_exchange.h"

namespace kashi::mpi {

WaitState::Scope::Scope(WaitState* state, const HloInstruction& done, const HloInstruction& begun_at,
                        const RankParty& party, int64_t call)
    : state_(*state) {
  // A thread that sees one of them also sees that the wait before has ended.
  state_.done_.store(&done, std::memory_order_release);
  state_.begun_at_.store(&begun_at, std::memory_order_release);
  state_.party_.store(&party, std::memory_order_release);
  state_.call_.store(call, std::memory_order_release);
  state_.changes_.fetch_add(1);
}

void WaitState::AddTo(RankWatch::Device* device) const {
  const uint64_t changes = changes_.load();
  const HloInstruction *const done = done_.load(), *const begun_at = begun_at_.load();
  const RankParty* const party = party_.load();
  const int64_t call = call_.load();
  devices::MeetingPlace::State& state = device->state;
  state.meetings += changes;
  if (changes % 2 == 0 || changes_.load() != changes) return;
  state.kind = devices::MeetingPlace::State::Kind::kWaits;
  state.instruction = done;
  state.begun_at = begun_at;
  state.members = party->members;
  device->group = party->id;
  device->call = call;
}

namespace {

class RankCall final : public devices::PendingCollective {
 public:
  RankCall(const RankCallContext& context, const RankGroup& group, const devices::CollectiveCall& call)
      : context_(context),
        group_(group),
        instruction_(call.instruction),
        begun_at_(call.begun_at()),
        is_asynchronous_(call.start != nullptr),
        task_(call.task),
        combine_(call.combine) {}
  ~RankCall() override {
    if (!is_owner_ || has_finished_) return;
    context_.progress->Remove(*operation_);
    operation_->Abandon();
  }

  absl::Status Begin(std::vector<Value> operands) {
    if (group_.here.size() == 1) {
      BeginOperation(devices::Given{std::move(operands)});
      return absl::OkStatus();
    }
    if (context_.checks_ways) {
      KASHI_RETURN_IF_ERROR(group_.queue->CheckOrder(context_.device, group_.here.size(), instruction_));
    }
    KASHI_ASSIGN_OR_RETURN(const devices::MeetingPlace::Arrival arrival,
                           context_.place->Come(context_.device, {instruction_, group_.members, group_.here, begun_at_},
                                                std::move(operands)));
    meeting_ = arrival.meeting;
    if (!arrival.is_last) return absl::OkStatus();
    BeginOperation(std::move(meeting_->given));
    meeting_->work = operation_;
    // The others sleep until all is done. Its error is that of all: they get it where they wait.
    if (!is_asynchronous_) End(instruction_).IgnoreError();
    context_.place->Complete(meeting_.get());
    return absl::OkStatus();
  }

  absl::StatusOr<Received> Finish(const HloInstruction& done) override {
    if (operation_ == nullptr) {
      KASHI_RETURN_IF_ERROR(context_.place->Await(context_.device, meeting_.get(), done));
      operation_ = std::static_pointer_cast<RankOperation>(meeting_->work);
    }
    if (is_asynchronous_) context_.progress->Remove(*operation_);
    KASHI_RETURN_IF_ERROR(End(done));
    has_finished_ = true;
    devices::Given& rows = operation_->rows();
    if (combine_ != nullptr || (task_ != nullptr && rows.size() == 1)) {
      if (group_.here.size() == 1) return Received{nullptr, std::move(rows[0])};
      return Received{nullptr, rows[0]};
    }
    if (task_ == nullptr) return Received{std::shared_ptr<const devices::Given>(operation_, &rows), {}};
    return Received{nullptr, std::move(rows[absl::c_find(group_.here, context_.device) - group_.here.begin()])};
  }

  int64_t arrival_ns() const override { return operation_ == nullptr ? 0 : operation_->complete_ns(); }

 private:
  void BeginOperation(devices::Given given) {
    std::unique_ptr<RankTask> task;
    if (task_ != nullptr) {
      task = std::make_unique<GroupTask>(context_.tasks, group_, *task_, std::move(given));
    } else {
      task = std::make_unique<RankExchange>(context_.tasks, group_, instruction_, std::move(given));
    }
    operation_ = std::make_shared<RankOperation>(context_.tasks, group_, std::move(task),
                                                 context_.checks_ways ? &instruction_ : nullptr);
    is_owner_ = true;
    operation_->Begin();
    if (is_asynchronous_) context_.progress->Add(operation_);
  }

  // Waits, and makes the rows that all members here take theirs from.
  absl::Status End(const HloInstruction& done) {
    {
      const WaitState::Scope waits(context_.state, done, begun_at_, group_, operation_->number());
      KASHI_RETURN_IF_ERROR(operation_->Wait());
    }
    return operation_->MakeRowsOnce([this](RankTask& task) -> absl::StatusOr<devices::Given> {
      KASHI_ASSIGN_OR_RETURN(devices::Given rows, task.MakeResults(task_));
      if (combine_ == nullptr) return rows;
      KASHI_ASSIGN_OR_RETURN(std::vector<Value> combined, combine_(rows));
      return devices::Given{std::move(combined)};
    });
  }

  const RankCallContext context_;
  const RankGroup& group_;
  const HloInstruction& instruction_;
  const HloInstruction& begun_at_;
  const bool is_asynchronous_;
  const devices::CollectiveTask* const task_;
  const decltype(devices::CollectiveCall::combine) combine_;
  std::shared_ptr<devices::MeetingPlace::Meeting> meeting_;  // null: no other member is here
  std::shared_ptr<RankOperation> operation_;
  bool is_owner_ = false;  // this device has begun it
  bool has_finished_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<devices::PendingCollective>> BeginRankCall(const RankCallContext& context,
                                                                          const RankGroup& group,
                                                                          devices::CollectiveCall call) {
  auto begun = std::make_unique<RankCall>(context, group, call);
  KASHI_RETURN_IF_ERROR(begun->Begin(std::move(call.operands)));
  return std::unique_ptr<devices::PendingCollective>(std::move(begun));
}

}  // namespace kashi::mpi
