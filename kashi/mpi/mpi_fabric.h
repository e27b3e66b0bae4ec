// MpiFabric: the devices of a program, spread over the ranks of an MPI communicator (kashi/devices/device_fabric.h).
//
// The devices of a rank are its threads. At a collective operation they meet first, and the last to arrive calls MPI
// for all of them (group_task.h). If a rank has one device, that device calls MPI itself.
#ifndef KASHI_MPI_MPI_FABRIC_H_
#define KASHI_MPI_MPI_FABRIC_H_

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/devices/device_fabric.h"
#include "kashi/devices/meeting_place.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/collective_groups.h"
#include "kashi/mpi/mpi_options.h"
#include "kashi/mpi/mpi_types.h"
#include "kashi/mpi/mpi_world.h"
#include "kashi/mpi/rank_group.h"
#include "kashi/mpi/rank_mail.h"

namespace kashi::mpi {

class MpiFabric final : public devices::DeviceFabric {
 public:
  // Every rank of the communicator calls this, with the same options.
  static absl::StatusOr<std::unique_ptr<MpiFabric>> Make(MPI_Comm communicator, const MpiOptions& options);

  // Every rank calls this, too. A rank that calls it early leaves: other ranks get an error when they compare programs.
  ~MpiFabric() override;

  MpiWorld& world() { return *world_; }
  MpiTypes& types() { return types_; }
  void set_options(const MpiOptions& options) { options_ = options; }
  devices::DeviceRange DevicesHere(int64_t devices) const {
    return DevicesOfRank(devices, world_->size(), world_->rank());
  }

  bool Runs(int64_t device, DeviceCounts counts) const override { return DevicesHere(counts.total()).Has(device); }
  // FAILED_PRECONDITION if the ranks have different modules, versions, options or numbers of devices, and after a run
  // that has failed.
  absl::Status OnDevices(const HloModule& module, DeviceCounts counts, const values::RunLimits& limits,
                         devices::DeviceFunction f) override;
  absl::Status Refuse(const absl::Status& error) override;

 private:
  MpiFabric(std::unique_ptr<MpiWorld> world, const MpiOptions& options)
      : options_(options), world_(std::move(world)), groups_(world_.get()), mail_(world_.get()) {}
  absl::Status CheckSameProgram(const HloModule& module, DeviceCounts counts);
  absl::Status FirstRefusal(const std::vector<std::string>& texts) const;

  MpiOptions options_;
  std::unique_ptr<MpiWorld> world_;
  MpiTypes types_;
  RankGroups groups_;
  RankMail mail_;
  int64_t runs_ = 0;
  absl::Status broken_;  // a run has failed: calls of MPI may be left that no rank completes
};

}  // namespace kashi::mpi

#endif  // KASHI_MPI_MPI_FABRIC_H_
