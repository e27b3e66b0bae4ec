#include "kashi/mpi/mpi_ranks.h"

#include <mpi.h>

#include <algorithm>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/engine/program_door.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/literal_run.h"
#include "kashi/mpi/mpi_fabric.h"
#include "kashi/mpi/mpi_world.h"
#include "kashi/mpi/rank_group.h"

namespace kashi {

using devices::DeviceRange;
using mpi::MpiFabric;
using mpi::MpiStatus;
using mpi::MpiWorld;
using mpi::RankOfDevice;
namespace {

// Sends or receives all arrays of a literal, and the sizes of its dynamic dimensions.
class LiteralMail {
 public:
  LiteralMail(MpiWorld* world, mpi::MpiTypes* types) : world_(*world), types_(*types) {}

  absl::Status Send(const Literal& literal, int tag) {
    sizes_.push_back(DynamicSizesOf(literal));
    KASHI_RETURN_IF_ERROR(SendBytes(sizes_.back().data(), Bytes(sizes_.back()), tag));
    for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(literal.shape())) {
      if (!leaf.shape.IsArray()) continue;
      KASHI_RETURN_IF_ERROR(SendBytes(literal.untyped_data(leaf.index), literal.size_bytes(leaf.index), tag));
    }
    return absl::OkStatus();
  }

  absl::Status Receive(Literal* literal, int from, int tag) {
    std::vector<int32_t> sizes = DynamicSizesOf(*literal);
    KASHI_RETURN_IF_ERROR(ReceiveBytes(sizes.data(), Bytes(sizes), from, tag));
    for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(literal->shape())) {
      if (!leaf.shape.IsArray()) continue;
      KASHI_RETURN_IF_ERROR(
          ReceiveBytes(literal->untyped_data(leaf.index), literal->size_bytes(leaf.index), from, tag));
    }
    KASHI_RETURN_IF_ERROR(Wait());
    SetDynamicSizes(sizes, literal);
    return absl::OkStatus();
  }

  absl::Status Wait() { return requests_.empty() ? absl::OkStatus() : world_.Wait(&requests_, nullptr); }

 private:
  static int64_t Bytes(const std::vector<int32_t>& sizes) {
    return static_cast<int64_t>(sizes.size() * sizeof(int32_t));
  }
  // Visits each dynamic dimension, in order.
  template <typename Visit>
  static void ForEachDynamicDimension(const Shape& shape, const Visit& visit) {
    for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(shape)) {
      if (!leaf.shape.IsArray()) continue;
      for (int i = 0; i < static_cast<int>(leaf.shape.dimensions().size()); ++i) {
        if (leaf.shape.is_dynamic_dimension(i)) visit(i, leaf.index);
      }
    }
  }
  static std::vector<int32_t> DynamicSizesOf(const Literal& literal) {
    std::vector<int32_t> sizes;
    ForEachDynamicDimension(literal.shape(), [&](int64_t i, const ShapeIndex& index) {
      sizes.push_back(static_cast<int32_t>(literal.GetDynamicSize(i, index)));
    });
    return sizes;
  }
  static void SetDynamicSizes(const std::vector<int32_t>& sizes, Literal* literal) {
    size_t next = 0;
    const Shape shape = literal->shape();
    ForEachDynamicDimension(
        shape, [&](int64_t i, const ShapeIndex& index) { literal->SetDynamicSize(i, index, sizes[next++]); });
  }

  absl::Status SendBytes(const void* data, int64_t bytes, int tag) {
    if (bytes == 0) return absl::OkStatus();
    const std::lock_guard<std::mutex> lock(world_.mutex());
    KASHI_ASSIGN_OR_RETURN(const MPI_Datatype type, types_.Bytes(bytes));
    return MpiStatus(MPI_Isend(data, 1, type, 0, tag, world_.data(), &requests_.emplace_back()), "MPI_Isend");
  }
  absl::Status ReceiveBytes(void* data, int64_t bytes, int from, int tag) {
    if (bytes == 0) return absl::OkStatus();
    const std::lock_guard<std::mutex> lock(world_.mutex());
    KASHI_ASSIGN_OR_RETURN(const MPI_Datatype type, types_.Bytes(bytes));
    return MpiStatus(MPI_Irecv(data, 1, type, from, tag, world_.data(), &requests_.emplace_back()), "MPI_Irecv");
  }

  MpiWorld& world_;
  mpi::MpiTypes& types_;
  std::vector<MPI_Request> requests_;
  std::vector<std::vector<int32_t>> sizes_;  // that are being sent
};

// Room for what other ranks send. RESOURCE_EXHAUSTED if there is none.
absl::Status MakeRoom(const Shape& shape, const DeviceRange& here, std::vector<Literal>* results) {
  for (int64_t device = 0; device < static_cast<int64_t>(results->size()); ++device) {
    if (here.Has(device)) continue;
    KASHI_ASSIGN_OR_RETURN((*results)[device], Literal::Make(shape));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<MpiRanks>> MpiRanks::Make(int communicator, const MpiOptions& options) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<MpiFabric> fabric, MpiFabric::Make(MPI_Comm_f2c(communicator), options));
  return std::unique_ptr<MpiRanks>(new MpiRanks(std::move(fabric)));
}

MpiRanks::MpiRanks(std::unique_ptr<MpiFabric> fabric) : fabric_(std::move(fabric)) {}
MpiRanks::~MpiRanks() = default;

int MpiRanks::rank() const { return fabric_->world().rank(); }
int MpiRanks::size() const { return fabric_->world().size(); }
int MpiRanks::ranks_of_machine() const { return fabric_->world().ranks_of_machine(); }
void MpiRanks::set_options(const MpiOptions& options) { fabric_->set_options(options); }
devices::DeviceFabric* MpiRanks::fabric() { return fabric_.get(); }
bool MpiRanks::has_abandoned() const { return fabric_->world().has_abandoned(); }

std::pair<int64_t, int64_t> MpiRanks::DevicesHere(int64_t devices) const {
  const DeviceRange here = fabric_->DevicesHere(devices);
  return {here.first, here.first + here.count};
}

absl::StatusOr<std::vector<Literal>> MpiRanks::RunOnDevices(const HloModule& module,
                                                            std::vector<std::vector<Literal>> arguments_of_devices,
                                                            const EvaluationOptions& options,
                                                            std::optional<DeviceCounts> counts) {
  evaluator::RunHooks hooks;
  hooks.fabric = fabric_.get();
  return evaluator::RunOnDevicesWithHooks(module, std::move(arguments_of_devices), options, hooks, counts);
}

absl::StatusOr<std::vector<Literal>> MpiRanks::RunOnDevices(const Program& program,
                                                            std::vector<std::vector<Literal>> arguments_of_devices,
                                                            const EvaluationOptions& options,
                                                            std::optional<DeviceCounts> counts) {
  evaluator::RunHooks hooks;
  hooks.fabric = fabric_.get();
  return engine::ProgramDoor::ExecuteOnDevices(program, std::move(arguments_of_devices), options, hooks, counts);
}

absl::Status MpiRanks::Refuse(const absl::Status& error) { return fabric_->Refuse(error); }

absl::Status MpiRanks::GatherToFirst(const Shape& shape, std::vector<Literal>* results) {
  MpiWorld& world = fabric_->world();
  const auto devices = static_cast<int64_t>(results->size());
  const DeviceRange here = fabric_->DevicesHere(devices);
  const absl::Status room = rank() == 0 ? MakeRoom(shape, here, results) : absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const std::vector<std::string> texts, GatherTexts(std::string(room.message())));
  if (!texts[0].empty()) return ResourceExhausted("rank 0 cannot hold the results of all devices: %s", texts[0]);
  LiteralMail mail(&world, &fabric_->types());
  for (int64_t device = 0; device < devices; ++device) {
    const int from = static_cast<int>(RankOfDevice(devices, size(), device));
    if (from == 0) continue;
    Literal& result = (*results)[device];
    const int tag = static_cast<int>(device) + 1;
    if (rank() == 0) KASHI_RETURN_IF_ERROR(mail.Receive(&result, from, tag));
    if (rank() == from) KASHI_RETURN_IF_ERROR(mail.Send(result, tag));
  }
  return mail.Wait();
}

absl::StatusOr<std::vector<std::string>> MpiRanks::GatherTexts(const std::string& own) {
  return fabric_->world().GatherTexts(own);
}

}  // namespace kashi
