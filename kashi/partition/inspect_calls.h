// Custom calls that ask for the sharding of an array (PartitionOptions::inspect).
#ifndef KASHI_PARTITION_INSPECT_CALLS_H_
#define KASHI_PARTITION_INSPECT_CALLS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/partition/partition_program.h"
#include "kashi/partition/program_shardings.h"

namespace kashi::partition {

struct InspectCall {
  const HloInstruction* array;
  std::string backend_config;
};

// Takes them out of the program; its users get the array itself.
absl::StatusOr<std::vector<InspectCall>> TakeInspectCalls(HloModule* flat);

// Tells the sharding of each array. An array of a manual region has the sharding manual.
absl::Status TellShardings(const std::vector<InspectCall>& calls, const ProgramShardings& shardings,
                           const DeviceAxes& axes, const PartitionOptions& options);

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_INSPECT_CALLS_H_
