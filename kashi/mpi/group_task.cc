#include "kashi/mpi/group_task.h"

#include <cstring>
#include <utility>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/mpi/group_task_calls.h"

namespace kashi::internal {
namespace {

// The value as several threads may hold it: it is unique for none of them.
Value ValueForThreads(Value value) {
  auto owner = std::make_shared<const Value>(std::move(value));
  return Value::Borrow(owner->dense_shape(), owner->untyped_data(), owner);
}

}  // namespace

absl::StatusOr<Given> GroupTask::Run() {
  absl::StatusOr<Given> results = RunKind();
  if (!results.ok()) {
    // Calls that were made before the error use memory of ours.
    if (!requests_.empty()) {
      context_.world->set_abandoned();
      context_.world->Keep(std::make_shared<const Given>(given_));
      context_.world->Keep(std::make_shared<const std::vector<Value>>(std::move(kept_)));
      context_.world->Keep(counts_);
    }
    return results.status();
  }
  if (results->size() == 1 && here() > 1) {
    for (Value& value : (*results)[0]) value = ValueForThreads(std::move(value));
  }
  return results;
}

absl::StatusOr<Given> GroupTask::RunKind() {
  switch (task_.kind) {
    case CollectiveTask::Kind::kReduceScatter:
      return ReduceScatter();
    case CollectiveTask::Kind::kAllToAll:
      return AllToAll();
    case CollectiveTask::Kind::kTupleAllToAll:
      return TupleAllToAll();
    case CollectiveTask::Kind::kPermute:
      return Permute();
    case CollectiveTask::Kind::kBroadcast: {
      KASHI_ASSIGN_OR_RETURN(std::vector<Value> row, Broadcast());
      return Given{std::move(row)};
    }
    case CollectiveTask::Kind::kAllReduce:
    case CollectiveTask::Kind::kAllGather:
      break;
  }
  std::vector<Value> row;
  for (int64_t k = 0; k < operand_count(); ++k) {
    KASHI_ASSIGN_OR_RETURN(Value result, task_.kind == CollectiveTask::Kind::kAllReduce ? AllReduce(k) : AllGather(k));
    row.push_back(std::move(result));
  }
  return Given{std::move(row)};
}

absl::StatusOr<GroupTask::Array> GroupTask::MakeArray(const DenseShape& shape) {
  KASHI_ASSIGN_OR_RETURN(Value value, Value::MakeArray(shape, context_.memory));
  char* const data = value.mutable_bytes();
  kept_.push_back(value);
  return Array{std::move(value), data};
}

absl::StatusOr<GroupTask::Array> GroupTask::MakeBytes(int64_t bytes) { return MakeArray(MakeDenseShape(U8, {bytes})); }

absl::Status GroupTask::Wait() {
  if (!requests_.empty()) KASHI_RETURN_IF_ERROR(context_.world->Wait(&requests_, context_.stop));
  kept_.clear();
  counts_->clear();
  return absl::OkStatus();
}

absl::StatusOr<GroupTask::Blocks> GroupTask::BlocksOf(int64_t block_bytes, int64_t blocks) {
  if (block_bytes <= context_.world->most_count() / blocks) return Blocks{MPI_BYTE, static_cast<int>(block_bytes)};
  const std::lock_guard<std::mutex> lock(context_.world->mutex());
  KASHI_ASSIGN_OR_RETURN(const MPI_Datatype type, context_.types->Bytes(block_bytes));
  return Blocks{type, 1};
}

}  // namespace kashi::internal
