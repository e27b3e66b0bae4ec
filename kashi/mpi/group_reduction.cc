// Reductions of group_task.h.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/mpi/group_task.h"

namespace kashi::mpi {
namespace {

// Up to this number of bytes of all members, one exchange of all data is faster than two exchanges of pieces.
constexpr int64_t kMostGatheredBytes = 1 << 16;
// The memory of the pieces of one portion.
constexpr int64_t kPortionBytes = int64_t{1} << 28;

}  // namespace

absl::StatusOr<GroupTask::MakeValue> GroupTask::AllReduce(int64_t k) {
  const devices::CollectiveReduction& reduction = task_.reductions[k];
  const Value& own = operand(0, k);
  if (own.element_count() == 0) {
    return MakeValue([this, k](const devices::CollectiveTask&) {
      return Value::MakeArray(operand(0, k).dense_shape(), context_.memory);
    });
  }
  const ReductionOrder order = ReductionOrderOf(reduction);
  const bool is_ordered =
      order == ReductionOrder::kOrdered || (order == ReductionOrder::kRounded && context_.deterministic);
  if (!is_ordered) return ReduceByMpi(k);
  // Pieces are reduced by the thread that finds them complete.
  const bool is_small = own.byte_count() <= kMostGatheredBytes / group_.size();
  return is_small || !reduction.is_for_any_thread ? ReduceGathered(k) : ReduceInPieces(k);
}

absl::StatusOr<GroupTask::MakeValue> GroupTask::ReduceByMpi(int64_t k) {
  const Value& own = operand(0, k);
  const int64_t n = own.element_count();
  KASHI_ASSIGN_OR_RETURN(Array result, MakeArray(own.dense_shape()));
  // MPI reduces in place on all ranks or on none.
  const bool is_in_place = absl::c_all_of(group_.positions, [](const auto& of_rank) { return of_rank.size() > 1; });
  const char* from = own.bytes();
  if (here() > 1) {
    Array sum = result;
    if (!is_in_place) {
      KASHI_ASSIGN_OR_RETURN(sum, MakeArray(own.dense_shape()));
    }
    std::vector<const char*> parts;
    for (int64_t i = 0; i < here(); ++i) parts.push_back(operand(i, k).bytes());
    KASHI_RETURN_IF_ERROR(task_.reductions[k].fold(parts, sum.data, n));
    from = sum.data;
  }
  MpiTypes::TypeAndOperation mpi;
  {
    const std::lock_guard<std::mutex> lock(context_.world->mutex());
    KASHI_ASSIGN_OR_RETURN(mpi, context_.types->Reduction(task_.reductions[k]));
  }
  for (int64_t begin = 0; begin < n; begin += context_.world->most_count()) {
    const int count = static_cast<int>(std::min(n - begin, context_.world->most_count()));
    const int64_t offset = begin * own.element_bytes();
    const void* const send = is_in_place ? MPI_IN_PLACE : from + offset;
    KASHI_RETURN_IF_ERROR(Issue("MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(send, result.data + offset, count, mpi.type, mpi.operation, group_.communicator, request);
    }));
  }
  return MakeValue(
      [value = std::move(result.value)](const devices::CollectiveTask&) mutable { return std::move(value); });
}

// Each rank gets all operands and reduces them.
absl::StatusOr<GroupTask::MakeValue> GroupTask::ReduceGathered(int64_t k) {
  KASHI_ASSIGN_OR_RETURN(const Array gathered, MakeBytes(operand(0, k).byte_count() * group_.size()));
  KASHI_RETURN_IF_ERROR(Gather(k, gathered.data));
  return MakeValue([this, k, gathered](const devices::CollectiveTask& task) -> absl::StatusOr<Value> {
    const Value& own = operand(0, k);
    std::vector<const char*> parts(group_.size());
    int64_t at = 0;
    for (const std::vector<int64_t>& positions : group_.positions) {
      for (const int64_t position : positions) parts[position] = gathered.data + own.byte_count() * at++;
    }
    KASHI_ASSIGN_OR_RETURN(Value result, Value::MakeArray(own.dense_shape(), context_.memory));
    KASHI_RETURN_IF_ERROR(task.reductions[k].fold(parts, result.mutable_bytes(), own.element_count()));
    return result;
  });
}

// Piece r of each portion of all members comes to rank r, which reduces it and gives it to all.
absl::StatusOr<GroupTask::MakeValue> GroupTask::ReduceInPieces(int64_t k) {
  const Value& own = operand(0, k);
  const int64_t most = std::min(context_.world->most_count(), kPortionBytes / own.element_bytes());
  const int64_t size = std::max<int64_t>(1, most / here());
  KASHI_ASSIGN_OR_RETURN(Array array, MakeArray(own.dense_shape()));
  const auto result = std::make_shared<Array>(std::move(array));
  for (int64_t begin = 0; begin < own.element_count(); begin += size) {
    const int64_t n = std::min(size, own.element_count() - begin);
    const auto portion = std::make_shared<Portion>(Portion{k, begin, n, {}, result, {}});
    for (int64_t r = 0; r <= group_.rank_count(); ++r) portion->pieces.push_back(n * r / group_.rank_count());
    Then([this, portion] { return SendPieces(portion.get()); });
    Then([this, portion] { return GatherReduced(*portion); });
  }
  return MakeValue([result](const devices::CollectiveTask&) { return std::move(result->value); });
}

absl::Status GroupTask::GatherReduced(const Portion& portion) {
  const int64_t bytes = operand(0, portion.k).element_bytes();
  const int64_t own_begin = portion.pieces[group_.own], own_size = portion.pieces[group_.own + 1] - own_begin;
  std::vector<const char*> parts(group_.size());
  int64_t at = 0;
  for (const std::vector<int64_t>& positions : group_.positions) {
    for (const int64_t position : positions) parts[position] = portion.received.data + own_size * bytes * at++;
  }
  char* const all = portion.result->data + portion.begin * bytes;
  if (own_size > 0) {
    KASHI_RETURN_IF_ERROR(task_.reductions[portion.k].fold(parts, all + own_begin * bytes, own_size));
  }
  std::vector<int>& counts = NewCounts();
  std::vector<int>& begins = NewCounts();
  for (int64_t r = 0; r < group_.rank_count(); ++r) {
    counts.push_back(static_cast<int>(portion.pieces[r + 1] - portion.pieces[r]));
    begins.push_back(static_cast<int>(portion.pieces[r]));
  }
  KASHI_ASSIGN_OR_RETURN(const MPI_Datatype type, BytesType(bytes));
  Keep(portion.result);
  return Issue("MPI_Iallgatherv", [&](MPI_Request* request) {
    return MPI_Iallgatherv(MPI_IN_PLACE, 0, type, all, counts.data(), begins.data(), type, group_.communicator,
                           request);
  });
}

// The rank receives its piece of each member, by the members' ranks.
absl::Status GroupTask::SendPieces(Portion* portion) {
  const std::vector<int64_t>& pieces = portion->pieces;
  const int64_t k = portion->k, begin = portion->begin;
  const int64_t bytes = operand(0, k).element_bytes();
  const int64_t own_size = pieces[group_.own + 1] - pieces[group_.own];
  std::vector<int>& send_counts = NewCounts();
  std::vector<int>& send_begins = NewCounts();
  std::vector<int>& counts = NewCounts();
  std::vector<int>& begins = NewCounts();
  int64_t received_members = 0;
  for (int64_t r = 0; r < group_.rank_count(); ++r) {
    send_counts.push_back(static_cast<int>((pieces[r + 1] - pieces[r]) * here()));
    send_begins.push_back(static_cast<int>(pieces[r] * here()));
    counts.push_back(static_cast<int>(own_size * group_.members_on(r)));
    begins.push_back(static_cast<int>(own_size * received_members));
    received_members += group_.members_on(r);
  }
  const char* from = operand(0, k).bytes() + begin * bytes;
  if (here() > 1) {
    KASHI_ASSIGN_OR_RETURN(const Array packed, MakeBytes(pieces.back() * here() * bytes));
    for (int64_t r = 0; r < group_.rank_count(); ++r) {
      const int64_t piece_bytes = (pieces[r + 1] - pieces[r]) * bytes;
      for (int64_t i = 0; i < here(); ++i) {
        std::memcpy(packed.data + pieces[r] * here() * bytes + i * piece_bytes,
                    operand(i, k).bytes() + (begin + pieces[r]) * bytes, static_cast<size_t>(piece_bytes));
      }
    }
    from = packed.data;
  }
  KASHI_ASSIGN_OR_RETURN(portion->received, MakeBytes(own_size * group_.size() * bytes));
  KASHI_ASSIGN_OR_RETURN(const MPI_Datatype type, BytesType(bytes));
  return Issue("MPI_Ialltoallv", [&](MPI_Request* request) {
    return MPI_Ialltoallv(from, send_counts.data(), send_begins.data(), type, portion->received.data, counts.data(),
                          begins.data(), type, group_.communicator, request);
  });
}

absl::Status GroupTask::ReduceScatter() {
  std::vector<ReceivedBlock> received(operand_count());
  for (int64_t k = 0; k < operand_count(); ++k) {
    const Value& own = operand(0, k);
    const int64_t block_bytes = own.byte_count() / group_.size();
    std::vector<const char*> blocks;
    for (int64_t i = 0; i < here(); ++i) {
      KASHI_ASSIGN_OR_RETURN(const char* of_member, InBlocks(i, k));
      blocks.push_back(of_member);
    }
    if (group_.has_one_each) {
      KASHI_ASSIGN_OR_RETURN(const Array buffer, MakeBytes(own.byte_count()));
      KASHI_RETURN_IF_ERROR(ExchangeBlocks(block_bytes, blocks[0], buffer.data));
      received[k] = [buffer, block_bytes](int64_t from, int64_t) { return buffer.data + from * block_bytes; };
    } else {
      KASHI_ASSIGN_OR_RETURN(received[k], ExchangeBlocks(block_bytes, [&](int64_t i, int64_t to) {
                               return blocks[i] + to * block_bytes;
                             }));
    }
  }
  make_rows_ = [this, received = std::move(received)](const devices::CollectiveTask& task) {
    return ReduceBlocks(task, received);
  };
  return absl::OkStatus();
}

absl::StatusOr<devices::Given> GroupTask::ReduceBlocks(const devices::CollectiveTask& task,
                                                       absl::Span<const ReceivedBlock> received) {
  devices::Given rows(here());
  for (int64_t k = 0; k < operand_count(); ++k) {
    const Value& own = operand(0, k);
    DimensionVector dimensions(own.dimensions().begin(), own.dimensions().end());
    dimensions[task.dimension] /= group_.size();
    const DenseShape shape = MakeDenseShape(own.element_type(), dimensions);
    for (int64_t j = 0; j < here(); ++j) {
      KASHI_ASSIGN_OR_RETURN(Value result, Value::MakeArray(shape, context_.memory));
      std::vector<const char*> parts;
      for (int64_t from = 0; from < group_.size(); ++from) parts.push_back(received[k](from, j));
      KASHI_RETURN_IF_ERROR(task.reductions[k].fold(parts, result.mutable_bytes(), result.element_count()));
      rows[j].push_back(std::move(result));
    }
  }
  return rows;
}

}  // namespace kashi::mpi
