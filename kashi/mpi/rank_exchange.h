// An exchange in which every member gets the arrays of all others, of whatever sizes: for operations whose arrays have
// dynamic sizes, and for those that no group task does (group_task.h).
#ifndef KASHI_MPI_RANK_EXCHANGE_H_
#define KASHI_MPI_RANK_EXCHANGE_H_

#include <atomic>
#include <memory>

#include "absl/status/statusor.h"
#include "kashi/evaluator/device.h"
#include "kashi/evaluator/value.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/mpi/group_task.h"
#include "kashi/mpi/rank_group.h"

namespace kashi::internal {

// `given[i]`: the arrays of the i-th member here. The result: those of all members, by position, which must not be
// written.
absl::StatusOr<Given> ExchangeWithRanks(const GroupTaskContext& context, const RankGroup& group,
                                        const HloInstruction& instruction, const Given& given);

// FAILED_PRECONDITION if members are at different instructions. For programs whose devices may take different ways:
// what MPI does with calls that do not match is not defined.
absl::Status CheckSameInstruction(const GroupTaskContext& context, const RankGroup& group,
                                  const HloInstruction& instruction);

}  // namespace kashi::internal

#endif  // KASHI_MPI_RANK_EXCHANGE_H_
