// RankExchange: every member gets the arrays of all others, of any sizes. For operations whose arrays have dynamic
// sizes, and for those that group tasks do not support (group_task.h).
#ifndef KASHI_MPI_RANK_EXCHANGE_H_
#define KASHI_MPI_RANK_EXCHANGE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/devices/device.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/mpi/rank_task.h"
#include "kashi/values/value.h"

namespace kashi::mpi {

// The results: the arrays of all members, by position, which must not be written.
class RankExchange final : public RankTask {
 public:
  RankExchange(const GroupTaskContext& context, const RankGroup& group, const HloInstruction& instruction,
               devices::Given given)
      : RankTask(context, group, std::move(given)), instruction_(instruction) {}

 private:
  struct Lines;

  absl::Status BeginCalls() override;
  absl::Status GatherLines(const std::vector<int64_t>& counts);
  absl::StatusOr<devices::Given> Results(const devices::CollectiveTask* task) override;

  const HloInstruction& instruction_;
  std::shared_ptr<Lines> lines_;
};

}  // namespace kashi::mpi

#endif  // KASHI_MPI_RANK_EXCHANGE_H_
