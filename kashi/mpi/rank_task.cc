#include "kashi/mpi/rank_task.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/fingerprint.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::mpi {
namespace {

// The value as several threads may hold it: it is unique for none of them.
Value ValueForThreads(Value value) {
  auto owner = std::make_shared<const Value>(std::move(value));
  return Value::Borrow(owner->dense_shape(), owner->untyped_data(), owner);
}

int64_t IdentityOf(const HloInstruction& instruction) {
  base::FingerprintBuilder identity;
  identity.Append(absl::StrCat(instruction.parent()->name(), "/", instruction.name()));
  return static_cast<int64_t>(identity.Finish().low);
}

}  // namespace

RankTask::~RankTask() {
  if (requests_.empty()) return;
  context_.world->set_abandoned();
  context_.world->Keep(std::make_shared<const devices::Given>(given_));
  context_.world->Keep(counts_);
  for (std::shared_ptr<const void>& memory : kept_) context_.world->Keep(std::move(memory));
}

absl::Status RankTask::Begin(const HloInstruction* checked) {
  if (checked == nullptr) {
    KASHI_RETURN_IF_ERROR(BeginCalls());
    return requests_.empty() ? RunSteps() : absl::OkStatus();
  }
  KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<const std::vector<int64_t>> all, GatherIntegers(IdentityOf(*checked)));
  Then([this, checked, all]() -> absl::Status {
    const int64_t own = (*all)[group_.own];
    if (absl::c_all_of(*all, [own](int64_t other) { return other == own; })) return BeginCalls();
    return AtAnotherInstruction(*checked);
  });
  return absl::OkStatus();
}

absl::StatusOr<bool> RankTask::Advance() {
  if (!requests_.empty()) {
    int done = 0;
    {
      const std::lock_guard<std::mutex> lock(context_.world->mutex());
      KASHI_RETURN_IF_MPI_ERROR(MPI_Testall, static_cast<int>(requests_.size()), requests_.data(), &done,
                                MPI_STATUSES_IGNORE);
    }
    if (done == 0) return false;
    requests_.clear();
    kept_.clear();
    counts_->clear();
  }
  KASHI_RETURN_IF_ERROR(RunSteps());
  return requests_.empty();
}

// Until one of them calls MPI.
absl::Status RankTask::RunSteps() {
  while (requests_.empty() && !steps_.empty()) {
    const std::function<absl::Status()> step = std::move(steps_.front());
    steps_.pop_front();
    KASHI_RETURN_IF_ERROR(step());
  }
  return absl::OkStatus();
}

absl::StatusOr<devices::Given> RankTask::MakeResults(const devices::CollectiveTask* task) {
  KASHI_ASSIGN_OR_RETURN(devices::Given results, Results(task));
  if (results.size() == 1 && here() > 1) {
    for (Value& value : results[0]) value = ValueForThreads(std::move(value));
  }
  return results;
}

absl::StatusOr<RankTask::Array> RankTask::MakeArray(const DenseShape& shape) {
  KASHI_ASSIGN_OR_RETURN(Value value, Value::MakeArray(shape, context_.memory));
  char* const data = value.mutable_bytes();
  kept_.push_back(std::make_shared<const Value>(value));
  return Array{std::move(value), data};
}

absl::StatusOr<std::shared_ptr<const std::vector<int64_t>>> RankTask::GatherIntegers(int64_t own) {
  auto all = std::make_shared<std::vector<int64_t>>(group_.ranks.size());
  (*all)[group_.own] = own;
  kept_.push_back(all);
  KASHI_RETURN_IF_ERROR(Issue("MPI_Iallgather", [&](MPI_Request* request) {
    return MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT64_T, all->data(), 1, MPI_INT64_T, group_.communicator, request);
  }));
  return std::shared_ptr<const std::vector<int64_t>>(std::move(all));
}

absl::StatusOr<MPI_Datatype> RankTask::BytesType(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(context_.world->mutex());
  return context_.types->Bytes(bytes);
}

absl::Status AtAnotherInstruction(const HloInstruction& instruction) {
  return FailedPrecondition(
      "%s: other devices of its group are at another instruction: the devices have taken different ways through the "
      "program",
      instruction.name());
}

}  // namespace kashi::mpi
