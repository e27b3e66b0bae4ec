// Programs of several devices on the ranks of an MPI communicator.
//
//   MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
//   KASHI_ASSIGN_OR_RETURN(std::unique_ptr<MpiRanks> ranks, MpiRanks::Make(MPI_Comm_c2f(MPI_COMM_WORLD)));
//   std::vector<std::vector<Literal>> arguments(devices);                 // by device; only this rank's are needed:
//   const auto [first, end] = ranks->DevicesHere(devices);               // devices [first, end)
//   …
//   KASHI_ASSIGN_OR_RETURN(std::vector<Literal> results, ranks->RunOnDevices(*module, std::move(arguments)));
//   KASHI_RETURN_IF_ERROR(ranks->GatherToFirst(root_shape, &results));    // now rank 0 has the results of all devices
//
// Every rank makes the same calls with the same module and options. docs/mpi.md says more.
#ifndef KASHI_MPI_MPI_RANKS_H_
#define KASHI_MPI_MPI_RANKS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/collective_groups.h"
#include "kashi/literal/literal.h"
#include "kashi/mpi/mpi_options.h"

namespace kashi::devices {
class DeviceFabric;
}  // namespace kashi::devices

namespace kashi {

namespace mpi {
class MpiFabric;
}  // namespace mpi

class MpiRanks {
 public:
  // The communicator as MPI_Comm_c2f gives it (mpi4py: comm.py2f()), so that this header needs no MPI. It is copied.
  // FAILED_PRECONDITION if MPI is not initialised with MPI_THREAD_SERIALIZED or more.
  static absl::StatusOr<std::unique_ptr<MpiRanks>> Make(int communicator, const MpiOptions& options = {});
  // Every rank destroys its object. A rank that does this while others begin a run leaves them: their RunOnDevices and
  // other functions end with UNAVAILABLE and the name of this rank. Otherwise it waits up to ten seconds for them.
  ~MpiRanks();
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int rank() const;
  int size() const;
  int ranks_of_machine() const;
  // For the next run; the same on all ranks.
  void set_options(const MpiOptions& options);

  // The devices of this rank of a program for `devices` devices: [first, end).
  std::pair<int64_t, int64_t> DevicesHere(int64_t devices) const;
  // For RunHooks::fabric.
  devices::DeviceFabric* fabric();

  // RunOnDevices (device_group.h) and Program::ExecuteOnDevices on all ranks. Reads the arguments of this rank's
  // devices; only their results are set. The first error of any rank is the result on all of them; after that, these
  // ranks cannot run again. If one has wrong arguments, so that its run does not begin, the others get its error and
  // its name, and can run again.
  absl::StatusOr<std::vector<Literal>> RunOnDevices(const HloModule& module,
                                                    std::vector<std::vector<Literal>> arguments_of_devices,
                                                    const EvaluationOptions& options = {},
                                                    std::optional<DeviceCounts> counts = std::nullopt);
  absl::StatusOr<std::vector<Literal>> RunOnDevices(const Program& program,
                                                    std::vector<std::vector<Literal>> arguments_of_devices,
                                                    const EvaluationOptions& options = {},
                                                    std::optional<DeviceCounts> counts = std::nullopt);
  // Instead of RunOnDevices, for a rank that cannot read the program or its arguments: the run of the others does not
  // begin, and ends with this error and the name of this rank. Returns the error.
  absl::Status Refuse(const absl::Status& error);
  // Gives rank 0 the results of all devices, which have this shape. Others keep theirs.
  absl::Status GatherToFirst(const Shape& shape, std::vector<Literal>* results);
  // The texts of all ranks, by rank, each up to 1 MiB.
  absl::StatusOr<std::vector<std::string>> GatherTexts(const std::string& own);
  // Whether a run has left calls of MPI that never complete: MPI_Finalize may wait for them forever.
  bool has_abandoned() const;

 private:
  explicit MpiRanks(std::unique_ptr<mpi::MpiFabric> fabric);

  std::unique_ptr<mpi::MpiFabric> fabric_;
};

}  // namespace kashi

#endif  // KASHI_MPI_MPI_RANKS_H_
