#include "kashi/mpi/rank_exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/base/fingerprint.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/mpi/mpi_world.h"

namespace kashi::internal {
namespace {

// The arrays of a rank as lines of 64 bytes: for each member the number of its arrays, and for each array its type,
// rank and sizes, padded to a line, and its elements, padded to a line.
constexpr int64_t kLine = 64;
int64_t InLines(int64_t bytes) { return (bytes + kLine - 1) / kLine; }
int64_t HeadLines(int64_t rank) { return InLines((rank + 2) * static_cast<int64_t>(sizeof(int64_t))); }
int64_t LinesOf(const Given& given) {
  int64_t lines = 0;
  for (const std::vector<Value>& values : given) {
    ++lines;
    for (const Value& value : values) lines += HeadLines(value.rank()) + InLines(value.byte_count());
  }
  return lines;
}

char* WriteInteger(int64_t value, char* to) {
  std::memcpy(to, &value, sizeof(value));
  return to + sizeof(value);
}
int64_t ReadInteger(const char* from) {
  int64_t value = 0;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

void Write(const Given& given, char* to) {
  for (const std::vector<Value>& values : given) {
    WriteInteger(static_cast<int64_t>(values.size()), to);
    to += kLine;
    for (const Value& value : values) {
      char* head = WriteInteger(value.rank(), WriteInteger(value.element_type(), to));
      for (const int64_t size : value.dimensions()) head = WriteInteger(size, head);
      to += HeadLines(value.rank()) * kLine;
      std::memcpy(to, value.bytes(), static_cast<size_t>(value.byte_count()));
      to += InLines(value.byte_count()) * kLine;
    }
  }
}

// The arrays of the next member. Other ranks run the same program, so what they wrote is as it should be.
absl::StatusOr<std::vector<Value>> ReadMember(const std::shared_ptr<const void>& owner, const char** at) {
  std::vector<Value> values;
  int64_t left = ReadInteger(*at);
  for (*at += kLine; left > 0; --left) {
    const auto type = static_cast<PrimitiveType>(ReadInteger(*at));
    const int64_t rank = ReadInteger(*at + sizeof(int64_t));
    DimensionVector sizes;
    for (int64_t i = 0; i < rank; ++i) sizes.push_back(ReadInteger(*at + (i + 2) * sizeof(int64_t)));
    *at += HeadLines(rank) * kLine;
    KASHI_ASSIGN_OR_RETURN(const DenseShape shape, MakeCheckedDenseShape(type, sizes));
    values.push_back(Value::Borrow(shape, *at, owner));
    *at += InLines(values.back().byte_count()) * kLine;
  }
  return values;
}

// Calls MPI, and waits. A call that is not complete when the run ends leaves `memory` to MPI.
template <typename Call>
absl::Status CallAndWait(const GroupTaskContext& context, const char* name, std::shared_ptr<const void> memory,
                         const Call& call) {
  std::vector<MPI_Request> requests(1);
  {
    const std::lock_guard<std::mutex> lock(context.world->mutex());
    KASHI_RETURN_IF_ERROR(MpiStatus(call(requests.data()), name));
  }
  const absl::Status status = context.world->Wait(&requests, context.stop);
  if (!status.ok()) context.world->Keep(std::move(memory));
  return status;
}

// The numbers of all ranks of the group.
absl::StatusOr<std::vector<int64_t>> GatherIntegers(const GroupTaskContext& context, const RankGroup& group,
                                                    int64_t own) {
  struct Memory {
    int64_t own;
    std::vector<int64_t> all;
  };
  const auto memory = std::make_shared<Memory>(Memory{own, std::vector<int64_t>(group.ranks.size())});
  KASHI_RETURN_IF_ERROR(CallAndWait(context, "MPI_Iallgather", memory, [&](MPI_Request* request) {
    return MPI_Iallgather(&memory->own, 1, MPI_INT64_T, memory->all.data(), 1, MPI_INT64_T, group.communicator,
                          request);
  }));
  return memory->all;
}

// Where the lines of the ranks are, in units of so many lines that MPI can count them.
struct Layout {
  Layout(const std::vector<int64_t>& lines, int64_t most_count) {
    int64_t total = 0;
    for (const int64_t of_rank : lines) total += of_rank;
    while (total / unit + static_cast<int64_t>(lines.size()) > most_count && unit < (int64_t{1} << 20)) unit *= 2;
    for (const int64_t of_rank : lines) {
      begins.push_back(static_cast<int>(units));
      counts.push_back(static_cast<int>((of_rank + unit - 1) / unit));
      units += counts.back();
    }
  }
  int64_t unit = 1;  // in lines
  int64_t units = 0;
  std::vector<int> counts, begins;  // by rank
};

}  // namespace

absl::StatusOr<Given> ExchangeWithRanks(const GroupTaskContext& context, const RankGroup& group,
                                        const HloInstruction& instruction, const Given& given) {
  for (const std::vector<Value>& values : given) {
    for (const Value& value : values) {
      if (!value.is_array()) return Unimplemented("%s: an operand that is not an array", instruction.name());
    }
  }
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> lines, GatherIntegers(context, group, LinesOf(given)));
  struct Memory {
    Layout layout;
    Value lines;
  };
  const auto memory = std::make_shared<Memory>(Memory{Layout(lines, context.world->most_count()), Value()});
  const Layout& layout = memory->layout;
  const int64_t unit_bytes = layout.unit * kLine;
  KASHI_ASSIGN_OR_RETURN(memory->lines,
                         Value::MakeArray(MakeDenseShape(U8, {layout.units * unit_bytes}), context.memory));
  char* const all = memory->lines.mutable_bytes();
  Write(given, all + layout.begins[group.own] * unit_bytes);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  {
    const std::lock_guard<std::mutex> lock(context.world->mutex());
    KASHI_ASSIGN_OR_RETURN(type, context.types->Bytes(unit_bytes));
  }
  KASHI_RETURN_IF_ERROR(CallAndWait(context, "MPI_Iallgatherv", memory, [&](MPI_Request* request) {
    return MPI_Iallgatherv(MPI_IN_PLACE, 0, type, all, layout.counts.data(), layout.begins.data(), type,
                           group.communicator, request);
  }));
  Given result(group.size());
  for (int64_t r = 0; r < group.rank_count(); ++r) {
    const char* at = all + layout.begins[r] * unit_bytes;
    for (const int64_t position : group.positions[r]) {
      KASHI_ASSIGN_OR_RETURN(result[position], ReadMember(memory, &at));
    }
  }
  return result;
}

absl::Status CheckSameInstruction(const GroupTaskContext& context, const RankGroup& group,
                                  const HloInstruction& instruction) {
  FingerprintBuilder identity;
  identity.Append(absl::StrCat(instruction.parent()->name(), "/", instruction.name()));
  const auto own = static_cast<int64_t>(identity.Finish().low);
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> all, GatherIntegers(context, group, own));
  if (std::all_of(all.begin(), all.end(), [own](int64_t other) { return other == own; })) return absl::OkStatus();
  return FailedPrecondition(
      "%s: other devices of its group are at another instruction: the devices have taken different ways through the "
      "program",
      instruction.name());
}

}  // namespace kashi::internal
