#include "kashi/mpi/rank_exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "kashi/array/dimension_vector.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/mpi/mpi_world.h"

namespace kashi::mpi {
namespace {

// The arrays of a rank as lines of 64 bytes: for each member the number of its arrays, and for each array its type,
// rank and sizes, padded to a line, and its elements, padded to a line.
constexpr int64_t kLine = 64;
int64_t InLines(int64_t bytes) { return (bytes + kLine - 1) / kLine; }
int64_t HeadLines(int64_t rank) { return InLines((rank + 2) * static_cast<int64_t>(sizeof(int64_t))); }
int64_t LinesOf(const devices::Given& given) {
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

void Write(const devices::Given& given, char* to) {
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

// The arrays of the next member. Other ranks run the same program, so their data is valid.
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

}  // namespace

// The places of the ranks' lines, in units that are large enough for MPI to count them.
struct RankExchange::Lines {
  Lines(const std::vector<int64_t>& lines, int64_t most_count) {
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
  Value bytes;
};

absl::Status RankExchange::BeginCalls() {
  for (const std::vector<Value>& values : given_) {
    for (const Value& value : values) {
      if (!value.is_array()) return Unimplemented("%s: an operand that is not an array", instruction_.name());
    }
  }
  KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<const std::vector<int64_t>> counts, GatherIntegers(LinesOf(given_)));
  Then([this, counts] { return GatherLines(*counts); });
  return absl::OkStatus();
}

absl::Status RankExchange::GatherLines(const std::vector<int64_t>& counts) {
  lines_ = std::make_shared<Lines>(counts, context_.world->most_count());
  const int64_t unit_bytes = lines_->unit * kLine;
  KASHI_ASSIGN_OR_RETURN(lines_->bytes,
                         Value::MakeArray(MakeDenseShape(U8, {lines_->units * unit_bytes}), context_.memory));
  char* const all = lines_->bytes.mutable_bytes();
  Write(given_, all + lines_->begins[group_.own] * unit_bytes);
  KASHI_ASSIGN_OR_RETURN(const MPI_Datatype type, BytesType(unit_bytes));
  Keep(lines_);
  return Issue("MPI_Iallgatherv", [&](MPI_Request* request) {
    return MPI_Iallgatherv(MPI_IN_PLACE, 0, type, all, lines_->counts.data(), lines_->begins.data(), type,
                           group_.communicator, request);
  });
}

absl::StatusOr<devices::Given> RankExchange::Results(const devices::CollectiveTask*) {
  devices::Given result(group_.size());
  for (int64_t r = 0; r < group_.rank_count(); ++r) {
    const char* at = lines_->bytes.bytes() + lines_->begins[r] * lines_->unit * kLine;
    for (const int64_t position : group_.positions[r]) {
      KASHI_ASSIGN_OR_RETURN(result[position], ReadMember(lines_, &at));
    }
  }
  return result;
}

}  // namespace kashi::mpi
