// Operations of group_task.h that only move arrays.
#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "kashi/array/dimension_vector.h"
#include "kashi/base/status.h"
#include "kashi/literal/strided_walk.h"
#include "kashi/mpi/group_task.h"
#include "kashi/values/array_blocks.h"

namespace kashi::mpi {
namespace {

// One block of an array along a dimension, apart or in the array: `outer` rows.
struct BlockRows {
  BlockRows(const Value& array, int64_t dimension, int64_t blocks)
      : slabs(array.dimensions(), dimension), elements(slabs.size / blocks * slabs.inner) {}
  values::Slabs slabs;
  int64_t elements;  // of a row of a block

  DimensionVector bounds() const { return {slabs.outer, elements}; }
  DimensionVector strides_in_array() const { return {slabs.size * slabs.inner, 1}; }
  DimensionVector strides_apart() const { return {elements, 1}; }
};

}  // namespace

// ---- all-gather -----------------------------------------------------------------------------------------------------

// The operands k of all members, by their ranks.
absl::Status GroupTask::Gather(int64_t k, char* to) {
  const int64_t block_bytes = operand(0, k).byte_count();
  if (block_bytes == 0) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const Blocks blocks, BlocksOf(block_bytes, group_.size()));
  if (group_.has_one_each) {
    return Issue("MPI_Iallgather", [&](MPI_Request* request) {
      return MPI_Iallgather(operand(0, k).bytes(), blocks.count, blocks.type, to, blocks.count, blocks.type,
                            group_.communicator, request);
    });
  }
  std::vector<int>& counts = NewCounts();
  std::vector<int>& begins = NewCounts();
  int64_t members = 0;
  for (int64_t r = 0; r < group_.rank_count(); ++r) {
    counts.push_back(static_cast<int>(group_.members_on(r) * blocks.count));
    begins.push_back(static_cast<int>(members * blocks.count));
    for (int64_t i = 0; r == group_.own && i < here(); ++i) {
      std::memcpy(to + (members + i) * block_bytes, operand(i, k).bytes(), static_cast<size_t>(block_bytes));
    }
    members += group_.members_on(r);
  }
  return Issue("MPI_Iallgatherv", [&](MPI_Request* request) {
    return MPI_Iallgatherv(MPI_IN_PLACE, 0, blocks.type, to, counts.data(), begins.data(), blocks.type,
                           group_.communicator, request);
  });
}

absl::StatusOr<GroupTask::MakeValue> GroupTask::AllGather(int64_t k) {
  const Value& own = operand(0, k);
  const int64_t d = task_.dimension;
  DimensionVector dimensions(own.dimensions().begin(), own.dimensions().end());
  dimensions[d] *= group_.size();
  const DenseShape shape = MakeDenseShape(own.element_type(), dimensions);
  if (group_.is_in_order && values::Slabs(own.dimensions(), d).outer == 1) {
    KASHI_ASSIGN_OR_RETURN(Array result, MakeArray(shape));
    KASHI_RETURN_IF_ERROR(Gather(k, result.data));
    return MakeValue(
        [value = std::move(result.value)](const devices::CollectiveTask&) mutable { return std::move(value); });
  }
  KASHI_ASSIGN_OR_RETURN(const Array gathered, MakeBytes(own.byte_count() * group_.size()));
  KASHI_RETURN_IF_ERROR(Gather(k, gathered.data));
  return MakeValue([this, k, d, shape, gathered](const devices::CollectiveTask&) -> absl::StatusOr<Value> {
    const Value& operand_here = operand(0, k);
    KASHI_ASSIGN_OR_RETURN(Value result, Value::MakeArray(shape, context_.memory));
    const auto owner = std::make_shared<const Value>(gathered.value);
    int64_t at = 0;
    for (const std::vector<int64_t>& positions : group_.positions) {
      for (const int64_t position : positions) {
        const char* const from = gathered.data + operand_here.byte_count() * at++;
        const Value piece = Value::Borrow(operand_here.dense_shape(), from, owner);
        values::CopyBlock(piece, 0, &result, position * piece.dimension(d), piece.dimension(d), d);
      }
    }
    return result;
  });
}

// ---- Blocks to each member ------------------------------------------------------------------------------------------

absl::StatusOr<const char*> GroupTask::InBlocks(int64_t i, int64_t k) {
  const Value& from = operand(i, k);
  const BlockRows rows(from, task_.dimension, group_.size());
  if (rows.slabs.outer == 1 || from.element_count() == 0) return from.bytes();
  KASHI_ASSIGN_OR_RETURN(const Array packed, MakeBytes(from.byte_count()));
  const int64_t bytes = from.element_bytes();
  for (int64_t block = 0; block < group_.size(); ++block) {
    literal::CopyStrided(rows.bounds(), bytes, {from.bytes() + block * rows.elements * bytes, rows.strides_in_array()},
                         {packed.data + block * rows.slabs.outer * rows.elements * bytes, rows.strides_apart()});
  }
  return packed.data;
}

absl::Status GroupTask::ExchangeBlocks(int64_t block_bytes, const char* blocks, char* received) {
  if (block_bytes > 0) {
    KASHI_ASSIGN_OR_RETURN(const Blocks mpi, BlocksOf(block_bytes, group_.size()));
    KASHI_RETURN_IF_ERROR(Issue("MPI_Ialltoall", [&](MPI_Request* request) {
      return MPI_Ialltoall(blocks, mpi.count, mpi.type, received, mpi.count, mpi.type, group_.communicator, request);
    }));
  }
  return absl::OkStatus();
}

// Each rank receives the blocks of its members: first those for its first member, ordered by sender, then those for the
// second, and so on.
absl::StatusOr<GroupTask::ReceivedBlock> GroupTask::ExchangeBlocks(int64_t block_bytes, const BlockOf& block_of) {
  const int64_t blocks = group_.size() * here();
  KASHI_ASSIGN_OR_RETURN(const Array packed, MakeBytes(block_bytes * blocks));
  KASHI_ASSIGN_OR_RETURN(const Array received, MakeBytes(block_bytes * blocks));
  KASHI_ASSIGN_OR_RETURN(const Blocks mpi, BlocksOf(block_bytes, blocks));
  std::vector<int>& counts = NewCounts();
  std::vector<int>& begins = NewCounts();
  std::vector<int64_t> first;  // block from each rank, or for it: the numbers are the same
  int64_t at = 0;
  for (int64_t r = 0; r < group_.rank_count(); ++r) {
    first.push_back(at);
    counts.push_back(static_cast<int>(group_.members_on(r) * here() * mpi.count));
    begins.push_back(static_cast<int>(at * mpi.count));
    for (const int64_t to : group_.positions[r]) {
      for (int64_t i = 0; i < here(); ++i) {
        std::memcpy(packed.data + block_bytes * at++, block_of(i, to), static_cast<size_t>(block_bytes));
      }
    }
  }
  if (block_bytes > 0) {
    KASHI_RETURN_IF_ERROR(Issue("MPI_Ialltoallv", [&](MPI_Request* request) {
      return MPI_Ialltoallv(packed.data, counts.data(), begins.data(), mpi.type, received.data, counts.data(),
                            begins.data(), mpi.type, group_.communicator, request);
    }));
  }
  std::vector<int64_t> within(group_.size());  // the number of a member on its rank
  for (const std::vector<int64_t>& positions : group_.positions) {
    for (size_t i = 0; i < positions.size(); ++i) within[positions[i]] = static_cast<int64_t>(i);
  }
  const RankGroup& group = group_;
  return ReceivedBlock([&group, received, first, within, block_bytes](int64_t from, int64_t j) -> const char* {
    const int r = group.rank_of[from];
    return received.data + block_bytes * (first[r] + j * group.members_on(r) + within[from]);
  });
}

absl::Status GroupTask::AllToAll() {
  const Value& own = operand(0, 0);
  const BlockRows rows(own, task_.dimension, group_.size());
  const int64_t block_bytes = own.byte_count() / group_.size();
  std::vector<const char*> blocks;
  for (int64_t i = 0; i < here(); ++i) {
    KASHI_ASSIGN_OR_RETURN(const char* of_member, InBlocks(i, 0));
    blocks.push_back(of_member);
  }
  if (group_.has_one_each && rows.slabs.outer == 1) {
    KASHI_ASSIGN_OR_RETURN(Array result, MakeArray(own.dense_shape()));
    KASHI_RETURN_IF_ERROR(ExchangeBlocks(block_bytes, blocks[0], result.data));
    make_rows_ = [value = std::move(result.value)](const devices::CollectiveTask&) mutable {
      return devices::Given{{std::move(value)}};
    };
    return absl::OkStatus();
  }
  KASHI_ASSIGN_OR_RETURN(const ReceivedBlock received, ExchangeBlocks(block_bytes, [&](int64_t i, int64_t to) {
                           return blocks[i] + to * block_bytes;
                         }));
  make_rows_ = [this, rows, received](const devices::CollectiveTask&) -> absl::StatusOr<devices::Given> {
    devices::Given results;
    const Value& operand_here = operand(0, 0);
    const int64_t bytes = operand_here.element_bytes();
    for (int64_t j = 0; j < here(); ++j) {
      KASHI_ASSIGN_OR_RETURN(Value result, Value::MakeArray(operand_here.dense_shape(), context_.memory));
      for (int64_t from = 0; from < group_.size() && operand_here.element_count() > 0; ++from) {
        literal::CopyStrided(rows.bounds(), static_cast<int>(bytes), {received(from, j), rows.strides_apart()},
                             {result.mutable_bytes() + from * rows.elements * bytes, rows.strides_in_array()});
      }
      results.push_back({std::move(result)});
    }
    return results;
  };
  return absl::OkStatus();
}

absl::Status GroupTask::TupleAllToAll() {
  const int64_t bytes = operand(0, 0).byte_count();
  KASHI_ASSIGN_OR_RETURN(const ReceivedBlock received,
                         ExchangeBlocks(bytes, [&](int64_t i, int64_t to) { return operand(i, to).bytes(); }));
  make_rows_ = [this, bytes, received](const devices::CollectiveTask&) -> absl::StatusOr<devices::Given> {
    devices::Given results(here());
    for (int64_t j = 0; j < here(); ++j) {
      for (int64_t from = 0; from < group_.size(); ++from) {
        KASHI_ASSIGN_OR_RETURN(Value result, Value::MakeArray(operand(0, 0).dense_shape(), context_.memory));
        std::memcpy(result.mutable_bytes(), received(from, j), static_cast<size_t>(bytes));
        results[j].push_back(std::move(result));
      }
    }
    return results;
  };
  return absl::OkStatus();
}

// ---- collective-permute, collective-broadcast -----------------------------------------------------------------------

absl::Status GroupTask::Permute() {
  const auto results = std::make_shared<devices::Given>(here());
  std::set<int64_t> targets;
  for (const auto& [source, target] : task_.source_target_pairs) {
    // The first pair of a target counts.
    if (targets.insert(target).second) KASHI_RETURN_IF_ERROR(PermutePair(source, target, results.get()));
  }
  make_rows_ = [this, results](const devices::CollectiveTask&) -> absl::StatusOr<devices::Given> {
    for (int64_t j = 0; j < here(); ++j) {
      std::vector<Value>& row = (*results)[j];
      for (int64_t k = 0; row.size() < static_cast<size_t>(operand_count()); ++k) {
        KASHI_ASSIGN_OR_RETURN(Value zeros, Value::MakeArray(operand(0, k).dense_shape(), context_.memory));
        std::memset(zeros.mutable_bytes(), 0, static_cast<size_t>(zeros.byte_count()));
        row.push_back(std::move(zeros));
      }
    }
    return std::move(*results);
  };
  return absl::OkStatus();
}

absl::Status GroupTask::PermutePair(int64_t source, int64_t target, devices::Given* results) {
  const int from = group_.rank_of[source], to = group_.rank_of[target];
  const auto index_here = [&](int64_t position) {
    const absl::Span<const int64_t> own = group_.own_positions();
    return std::find(own.begin(), own.end(), position) - own.begin();
  };
  const int tag = static_cast<int>(target);
  for (int64_t k = 0; k < operand_count(); ++k) {
    const int64_t bytes = operand(0, k).byte_count();
    KASHI_ASSIGN_OR_RETURN(const Blocks mpi, BlocksOf(std::max<int64_t>(1, bytes), 1));
    const int count = bytes == 0 ? 0 : mpi.count;
    if (to == group_.own) {
      KASHI_ASSIGN_OR_RETURN(Array array, MakeArray(operand(0, k).dense_shape()));
      if (from == group_.own) {
        std::memcpy(array.data, operand(index_here(source), k).bytes(), static_cast<size_t>(bytes));
      } else {
        KASHI_RETURN_IF_ERROR(Issue("MPI_Irecv", [&](MPI_Request* request) {
          return MPI_Irecv(array.data, count, mpi.type, from, tag, group_.communicator, request);
        }));
      }
      (*results)[index_here(target)].push_back(std::move(array.value));
    } else if (from == group_.own) {
      KASHI_RETURN_IF_ERROR(Issue("MPI_Isend", [&](MPI_Request* request) {
        return MPI_Isend(operand(index_here(source), k).bytes(), count, mpi.type, to, tag, group_.communicator,
                         request);
      }));
    }
  }
  return absl::OkStatus();
}

absl::Status GroupTask::Broadcast() {
  const int root = group_.rank_of[0];
  for (int64_t k = 0; k < operand_count(); ++k) {
    const Value& own = operand(0, k);
    // The root's result is its operand; a copy of it if other devices get it, too.
    Array result{own, const_cast<char*>(own.bytes())};
    if (root != group_.own || here() > 1) {
      KASHI_ASSIGN_OR_RETURN(result, MakeArray(own.dense_shape()));
      if (root == group_.own) std::memcpy(result.data, own.bytes(), static_cast<size_t>(own.byte_count()));
    }
    if (own.byte_count() > 0) {
      KASHI_ASSIGN_OR_RETURN(const Blocks mpi, BlocksOf(own.byte_count(), 1));
      KASHI_RETURN_IF_ERROR(Issue("MPI_Ibcast", [&](MPI_Request* request) {
        return MPI_Ibcast(result.data, mpi.count, mpi.type, root, group_.communicator, request);
      }));
    }
    make_row_.emplace_back(
        [value = std::move(result.value)](const devices::CollectiveTask&) mutable { return std::move(value); });
  }
  return absl::OkStatus();
}

}  // namespace kashi::mpi
