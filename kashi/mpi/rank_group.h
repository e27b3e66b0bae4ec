// The ranks of devices, and the groups of devices that meet at collective operations.
//
// Devices are distributed in order, as evenly as possible: of 8 devices on 3 ranks, 0 1 2 are on rank 0, 3 4 5 on rank
// 1, 6 7 on rank 2.
#ifndef KASHI_MPI_RANK_GROUP_H_
#define KASHI_MPI_RANK_GROUP_H_

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/devices/meeting_place.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/collective_groups.h"
#include "kashi/hlo/spmd/transfer_routes.h"
#include "kashi/mpi/mpi_world.h"

namespace kashi::mpi {

struct RankQueue;

devices::DeviceRange DevicesOfRank(int64_t devices, int64_t ranks, int64_t rank);
int64_t RankOfDevice(int64_t devices, int64_t ranks, int64_t device);

// Devices of several ranks that meet.
struct RankParty {
  std::vector<int64_t> members;  // devices, in the order of the operation
  int64_t id = 0;                // equal on all ranks; different parties have different ids, except by chance
  // The number of operations that this rank has started with the others.
  std::shared_ptr<std::atomic<int64_t>> calls = std::make_shared<std::atomic<int64_t>>(0);
};

// The members of a group, by rank. A rank's number here is its number in `communicator`.
struct RankGroup : RankParty {
  std::vector<int> ranks;  // of the world, in the order of their first members
  // [r]: the positions in `members` of the members on ranks[r], ascending.
  std::vector<std::vector<int64_t>> positions;
  std::vector<int> rank_of;               // by position: the number of its rank
  int own = 0;                            // this rank's number
  std::vector<int64_t> here;              // the devices of this rank
  bool is_in_order = true;                // positions[0], positions[1] … one after the other are 0, 1, 2 …
  bool has_one_each = true;               // one member on each rank
  MPI_Comm communicator = MPI_COMM_NULL;  // null: all members are here
  std::shared_ptr<RankQueue> queue;       // of the communicator (rank_operation.h)

  int64_t size() const { return static_cast<int64_t>(members.size()); }
  int64_t rank_count() const { return static_cast<int64_t>(ranks.size()); }
  absl::Span<const int64_t> own_positions() const { return positions[own]; }
  int64_t members_on(int64_t r) const { return static_cast<int64_t>(positions[r].size()); }
};

// A route of send and recv between a device here and one of another rank.
struct RankRoute : RankParty {
  int other_rank = 0;
  int tag = 0;  // of its messages: no other route has it
};

// The group from the view of rank `rank` of `ranks`, without a communicator.
RankGroup MakeRankGroup(std::vector<int64_t> members, int64_t devices, int64_t ranks, int64_t rank);

// The groups of the devices of this rank. Each has its own communicator, made once: two groups on the same
// ranks may be at different operations at the same time.
class RankGroups {
 public:
  explicit RankGroups(MpiWorld* world) : world_(*world) {}
  ~RankGroups();
  RankGroups(const RankGroups&) = delete;
  RankGroups& operator=(const RankGroups&) = delete;

  // Makes the groups of all collective operations of a module. All ranks call this, with the same module.
  absl::Status Prepare(const HloModule& module, DeviceCounts counts);
  // The group with these members, which must have been prepared; one is here. Null otherwise.
  const RankGroup* Find(int64_t devices, absl::Span<const int64_t> members) const;
  // Null: both devices are here.
  const RankRoute* FindRoute(const hlo::TransferRoute& route) const;
  // The id and the number of calls of each group that is on several ranks, and of each route between two.
  std::vector<std::pair<int64_t, int64_t>> Calls() const;

 private:
  using Key = std::pair<int64_t, std::vector<int64_t>>;  // the number of devices, the members
  absl::Status Make(const Key& key);
  absl::Status PrepareRoutes(const HloModule& module, DeviceCounts counts);

  MpiWorld& world_;
  std::map<Key, std::unique_ptr<RankGroup>> groups_;
  std::map<hlo::TransferRoute, RankRoute> routes_;  // of the module that was prepared last
};

}  // namespace kashi::mpi

#endif  // KASHI_MPI_RANK_GROUP_H_
