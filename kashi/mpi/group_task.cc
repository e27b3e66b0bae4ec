#include "kashi/mpi/group_task.h"

#include "kashi/base/status.h"
#include "kashi/mpi/mpi_world.h"

namespace kashi::mpi {

absl::Status GroupTask::BeginCalls() {
  switch (task_.kind) {
    case devices::CollectiveTask::Kind::kReduceScatter:
      return ReduceScatter();
    case devices::CollectiveTask::Kind::kAllToAll:
      return AllToAll();
    case devices::CollectiveTask::Kind::kTupleAllToAll:
      return TupleAllToAll();
    case devices::CollectiveTask::Kind::kPermute:
      return Permute();
    case devices::CollectiveTask::Kind::kBroadcast:
      return Broadcast();
    case devices::CollectiveTask::Kind::kAllReduce:
    case devices::CollectiveTask::Kind::kAllGather:
      break;
  }
  for (int64_t k = 0; k < operand_count(); ++k) {
    KASHI_ASSIGN_OR_RETURN(MakeValue make,
                           task_.kind == devices::CollectiveTask::Kind::kAllReduce ? AllReduce(k) : AllGather(k));
    make_row_.push_back(std::move(make));
  }
  return absl::OkStatus();
}

absl::StatusOr<devices::Given> GroupTask::Results(const devices::CollectiveTask* task) {
  if (make_rows_ != nullptr) return make_rows_(*task);
  std::vector<Value> row;
  for (const MakeValue& make : make_row_) {
    KASHI_ASSIGN_OR_RETURN(Value result, make(*task));
    row.push_back(std::move(result));
  }
  return devices::Given{std::move(row)};
}

absl::StatusOr<GroupTask::Blocks> GroupTask::BlocksOf(int64_t block_bytes, int64_t blocks) {
  if (block_bytes <= context_.world->most_count() / blocks) return Blocks{MPI_BYTE, static_cast<int>(block_bytes)};
  KASHI_ASSIGN_OR_RETURN(const MPI_Datatype type, BytesType(block_bytes));
  return Blocks{type, 1};
}

}  // namespace kashi::mpi
