#include "kashi/mpi/rank_transfers.h"

#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/mpi/mpi_world.h"

namespace kashi::mpi {
namespace {

void AppendArrays(const Value& value, std::vector<const Value*>* arrays) {
  if (value.is_array()) arrays->push_back(&value);
  if (!value.is_tuple()) return;
  for (const Value& element : value.elements()) AppendArrays(element, arrays);
}

// For each array its type, rank and sizes.
std::vector<int64_t> Describe(const std::vector<const Value*>& arrays) {
  std::vector<int64_t> description;
  for (const Value* array : arrays) {
    description.push_back(array->element_type());
    description.push_back(array->rank());
    for (const int64_t size : array->dimensions()) description.push_back(size);
  }
  return description;
}

// Other ranks run the same program, so their data is valid.
absl::StatusOr<std::vector<DenseShape>> ReadDescription(const std::vector<int64_t>& description) {
  std::vector<DenseShape> shapes;
  for (size_t at = 0; at < description.size();) {
    const auto type = static_cast<PrimitiveType>(description[at]);
    const auto begin = description.begin() + static_cast<std::ptrdiff_t>(at) + 2;
    const int64_t rank = description[at + 1];
    KASHI_ASSIGN_OR_RETURN(DenseShape shape, MakeCheckedDenseShape(type, DimensionVector(begin, begin + rank)));
    shapes.push_back(std::move(shape));
    at += static_cast<size_t>(rank) + 2;
  }
  return shapes;
}

// The arrays in the tuples of the shape; nothing if it has more arrays, or fewer.
std::optional<Value> InTuples(const Shape& shape, std::vector<Value>* arrays, size_t* next) {
  if (!shape.IsTuple()) {
    if (*next >= arrays->size()) return std::nullopt;
    return std::move((*arrays)[(*next)++]);
  }
  std::vector<Value> elements;
  for (const Shape& element : shape.tuple_shapes()) {
    std::optional<Value> value = InTuples(element, arrays, next);
    if (!value.has_value()) return std::nullopt;
    elements.push_back(*std::move(value));
  }
  return Value::MakeTuple(std::move(elements));
}

}  // namespace

RankTransfers::~RankTransfers() {
  for (std::shared_ptr<Sent>& sent : sent_) {
    context_.world->set_abandoned();
    context_.world->Keep(std::move(sent));
  }
}

absl::Status RankTransfers::Send(const HloInstruction& send, const RankRoute& route, const Value& value) {
  KASHI_RETURN_IF_ERROR(ForgetReceived());
  const auto sent = std::make_shared<Sent>(Sent{&send, &route, value, {}, {}});
  std::vector<const Value*> arrays;
  AppendArrays(sent->value, &arrays);
  sent->description = Describe(arrays);
  sent_.push_back(sent);
  route.calls->fetch_add(1);
  MPI_Comm const comm = context_.world->data();
  const std::lock_guard<std::mutex> lock(context_.world->mutex());
  KASHI_RETURN_IF_MPI_ERROR(MPI_Issend, sent->description.data(), static_cast<int>(sent->description.size()),
                            MPI_INT64_T, route.other_rank, route.tag, comm, &sent->requests.emplace_back());
  for (const Value* array : arrays) {
    if (array->byte_count() == 0) continue;
    KASHI_ASSIGN_OR_RETURN(const MPI_Datatype type, context_.types->Bytes(array->byte_count()));
    KASHI_RETURN_IF_MPI_ERROR(MPI_Isend, array->bytes(), 1, type, route.other_rank, route.tag, comm,
                              &sent->requests.emplace_back());
  }
  return absl::OkStatus();
}

absl::Status RankTransfers::ForgetReceived() {
  const std::lock_guard<std::mutex> lock(context_.world->mutex());
  for (auto sent = sent_.begin(); sent != sent_.end();) {
    std::vector<MPI_Request>& requests = (*sent)->requests;
    int done = 0;
    KASHI_RETURN_IF_MPI_ERROR(MPI_Testall, static_cast<int>(requests.size()), requests.data(), &done,
                              MPI_STATUSES_IGNORE);
    sent = done != 0 ? sent_.erase(sent) : std::next(sent);
  }
  return absl::OkStatus();
}

absl::Status RankTransfers::FinishSends(const WaitFunction& wait) {
  while (!sent_.empty()) {
    Sent& sent = *sent_.front();
    KASHI_RETURN_IF_ERROR(
        wait(*sent.send, *sent.route, [&] { return context_.world->Wait(&sent.requests, context_.stop); }));
    sent_.pop_front();
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> RankTransfers::EndReceive(const HloInstruction& done, const RankRoute& route, int64_t place) {
  Way& way = ways_[&route];
  while (way.arrived <= place) {
    KASHI_ASSIGN_OR_RETURN(way.early[way.arrived], ReceiveNext(done, route));
    ++way.arrived;
  }
  const auto found = way.early.find(place);
  Value value = std::move(found->second);
  way.early.erase(found);
  return value;
}

absl::StatusOr<Value> RankTransfers::ReceiveNext(const HloInstruction& done, const RankRoute& route) {
  route.calls->fetch_add(1);
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> description, ReceiveDescription(route));
  KASHI_ASSIGN_OR_RETURN(const std::vector<DenseShape> shapes, ReadDescription(description));
  std::vector<Value> arrays;
  for (const DenseShape& shape : shapes) {
    KASHI_ASSIGN_OR_RETURN(arrays.emplace_back(), ReceiveArray(route, shape));
  }
  const Shape& declared = done.shape().tuple_shapes(0);
  size_t next = 0;
  std::optional<Value> value = InTuples(declared, &arrays, &next);
  if (value.has_value() && next == arrays.size()) return *std::move(value);
  return InvalidArgument("%s: what arrives does not suit %s", done.name(), ShapeUtil::HumanString(declared));
}

// The size of the message is known when it is there.
absl::StatusOr<std::vector<int64_t>> RankTransfers::ReceiveDescription(const RankRoute& route) {
  MpiWorld& world = *context_.world;
  for (int64_t tests = 0;; ++tests) {
    {
      const std::lock_guard<std::mutex> lock(world.mutex());
      int is_there = 0, count = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      KASHI_RETURN_IF_MPI_ERROR(MPI_Improbe, route.other_rank, route.tag, world.data(), &is_there, &message, &status);
      if (is_there != 0) {
        MPI_Get_count(&status, MPI_INT64_T, &count);
        std::vector<int64_t> description(static_cast<size_t>(count));
        KASHI_RETURN_IF_MPI_ERROR(MPI_Mrecv, description.data(), count, MPI_INT64_T, &message, MPI_STATUS_IGNORE);
        return description;
      }
    }
    if (context_.stop->load(std::memory_order_relaxed)) return Cancelled("the run has ended");
    world.Pause(tests);
  }
}

absl::StatusOr<Value> RankTransfers::ReceiveArray(const RankRoute& route, const DenseShape& shape) {
  KASHI_ASSIGN_OR_RETURN(Value array, Value::MakeArray(shape, context_.memory));
  if (array.byte_count() == 0) return array;
  std::vector<MPI_Request> requests(1);
  {
    const std::lock_guard<std::mutex> lock(context_.world->mutex());
    KASHI_ASSIGN_OR_RETURN(const MPI_Datatype type, context_.types->Bytes(array.byte_count()));
    KASHI_RETURN_IF_MPI_ERROR(MPI_Irecv, array.mutable_bytes(), 1, type, route.other_rank, route.tag,
                              context_.world->data(), requests.data());
  }
  const absl::Status status = context_.world->Wait(&requests, context_.stop);
  if (status.ok()) return array;
  context_.world->Keep(std::make_shared<const Value>(std::move(array)));
  return status;
}

}  // namespace kashi::mpi
