#include "kashi/mpi/rank_group.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "kashi/base/fingerprint.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/mpi/rank_operation.h"

namespace kashi::mpi {

devices::DeviceRange DevicesOfRank(int64_t devices, int64_t ranks, int64_t rank) {
  const int64_t each = devices / ranks, more = devices % ranks;
  return {rank * each + std::min(rank, more), each + (rank < more ? 1 : 0)};
}

int64_t RankOfDevice(int64_t devices, int64_t ranks, int64_t device) {
  const int64_t each = devices / ranks, more = devices % ranks;
  const int64_t of_larger = more * (each + 1);
  return device < of_larger ? device / (each + 1) : more + (device - of_larger) / each;
}

RankGroup MakeRankGroup(std::vector<int64_t> members, int64_t devices, int64_t ranks, int64_t rank) {
  RankGroup group;
  group.members = std::move(members);
  std::map<int64_t, int> number_of;
  for (int64_t i = 0; i < group.size(); ++i) {
    const int64_t on = RankOfDevice(devices, ranks, group.members[i]);
    const auto [at, is_new] = number_of.emplace(on, static_cast<int>(group.ranks.size()));
    if (is_new) {
      group.ranks.push_back(static_cast<int>(on));
      group.positions.emplace_back();
    }
    group.positions[at->second].push_back(i);
    group.rank_of.push_back(at->second);
    if (on == rank) group.here.push_back(group.members[i]);
  }
  const auto own = number_of.find(rank);
  group.own = own == number_of.end() ? -1 : own->second;
  base::FingerprintBuilder identity;
  identity.Append(absl::StrJoin(group.members, ","));
  group.id = static_cast<int64_t>(identity.Finish().low);
  group.is_in_order = absl::c_is_sorted(group.rank_of);
  group.has_one_each = group.rank_count() == group.size();
  return group;
}

RankGroups::~RankGroups() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised != 0 || world_.has_abandoned()) return;
  for (auto& [key, group] : groups_) {
    if (group->communicator != MPI_COMM_NULL) MPI_Comm_free(&group->communicator);
  }
}

// Making a communicator waits for its ranks. Each rank makes its own in one order of all of them, so none waits for
// ever.
absl::Status RankGroups::Prepare(const HloModule& module, DeviceCounts counts) {
  const devices::DeviceRange own = DevicesOfRank(counts.total(), world_.size(), world_.rank());
  std::set<Key> wanted;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!GetHloOpcodeInfo(instruction->opcode()).Has(HloOpcodeFlags::kCollective)) continue;
      for (int64_t device = own.first; device < own.first + own.count; ++device) {
        // The operation itself reports errors in its groups, if it is ever reached.
        absl::StatusOr<std::vector<int64_t>> members = CollectiveGroupOf(*instruction, counts, device);
        if (members.ok() && members->size() > 1) wanted.insert(Key(counts.total(), *std::move(members)));
      }
    }
  }
  for (const Key& key : wanted) {
    if (groups_.find(key) == groups_.end()) KASHI_RETURN_IF_ERROR(Make(key));
  }
  return PrepareRoutes(module, counts);
}

// All ranks number all routes in the same order. Nothing is under way between two runs, so each has its own numbers.
absl::Status RankGroups::PrepareRoutes(const HloModule& module, DeviceCounts counts) {
  std::set<hlo::TransferRoute> all;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!hlo::IsDeviceTransfer(*instruction)) continue;
      // The operation itself reports errors in its pairs, if it is ever reached.
      const absl::StatusOr<std::vector<hlo::TransferRoute>> routes = hlo::TransferRoutes(*instruction, counts);
      if (routes.ok()) all.insert(routes->begin(), routes->end());
    }
  }
  int *most = nullptr, has_most = 0;
  KASHI_RETURN_IF_MPI_ERROR(MPI_Comm_get_attr, world_.data(), MPI_TAG_UB, &most, &has_most);
  if (has_most != 0 && all.size() > static_cast<size_t>(*most)) {
    return ResourceExhausted("the program has %d routes of send and recv, but this MPI can name %d", all.size(), *most);
  }
  routes_.clear();
  int tag = 0;
  for (const hlo::TransferRoute& route : all) {
    const int64_t source = RankOfDevice(counts.total(), world_.size(), *route.source);
    const int64_t target = RankOfDevice(counts.total(), world_.size(), *route.target);
    ++tag;
    if (source == target || (source != world_.rank() && target != world_.rank())) continue;
    RankRoute& own = routes_[route];
    own.members = {*route.source, *route.target};
    own.other_rank = static_cast<int>(source == world_.rank() ? target : source);
    own.tag = tag;
    base::FingerprintBuilder identity;
    identity.Append(route.ToString());
    own.id = static_cast<int64_t>(identity.Finish().low);
  }
  return absl::OkStatus();
}

const RankRoute* RankGroups::FindRoute(const hlo::TransferRoute& route) const {
  const auto found = routes_.find(route);
  return found == routes_.end() ? nullptr : &found->second;
}

absl::Status RankGroups::Make(const Key& key) {
  auto group = std::make_unique<RankGroup>(MakeRankGroup(key.second, key.first, world_.size(), world_.rank()));
  if (group->rank_count() > 1) {
    const std::lock_guard<std::mutex> lock(world_.mutex());
    MPI_Group all = MPI_GROUP_NULL, chosen = MPI_GROUP_NULL;
    KASHI_RETURN_IF_MPI_ERROR(MPI_Comm_group, world_.data(), &all);
    KASHI_RETURN_IF_MPI_ERROR(MPI_Group_incl, all, static_cast<int>(group->ranks.size()), group->ranks.data(), &chosen);
    KASHI_RETURN_IF_MPI_ERROR(MPI_Comm_create_group, world_.data(), chosen, /*tag=*/0, &group->communicator);
    MPI_Comm_set_errhandler(group->communicator, MPI_ERRORS_RETURN);
    group->queue = std::make_shared<RankQueue>();
    MPI_Group_free(&chosen);
    MPI_Group_free(&all);
  }
  groups_[key] = std::move(group);
  return absl::OkStatus();
}

std::vector<std::pair<int64_t, int64_t>> RankGroups::Calls() const {
  std::vector<std::pair<int64_t, int64_t>> calls;
  for (const auto& [key, group] : groups_) {
    if (group->communicator != MPI_COMM_NULL) calls.emplace_back(group->id, group->calls->load());
  }
  for (const auto& [name, route] : routes_) calls.emplace_back(route.id, route.calls->load());
  return calls;
}

const RankGroup* RankGroups::Find(int64_t devices, absl::Span<const int64_t> members) const {
  const auto found = groups_.find(Key(devices, std::vector<int64_t>(members.begin(), members.end())));
  return found == groups_.end() ? nullptr : found->second.get();
}

}  // namespace kashi::mpi
