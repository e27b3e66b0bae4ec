// Whether a module is one device's program or the whole program that is still to be partitioned.
// (docs/sharded-programs.md)
//
//   jax.jit(f).lower(…).compiler_ir('hlo'), *before_optimizations.txt          global: arrays are whole
//   *after_spmd-partitioning*.txt, *after_optimizations.txt                    of one device: arrays are its shards
//
// XLA's text does not say so in one place. The first line that applies decides; D is the number of partitions in the
// head, or if that is 1 the number of devices that shardings and meshes are over.
//
//   D is 1                                                                     one device
//   custom calls that partitioning removes: Sharding, SPMDFullToShardShape,    global
//       SPMDShardToFullShape, xla.sdy.*
//   is_scheduled=true, or ENTRY is named `…_spmd`, as the partitioner does     of one device
//   partition-id, or collectives over partitions                               of one device
//   a sharding other than {manual} on an instruction; xla.sdy.sharding         global
//   otherwise                                                                  of one device, if the head has
//   partitions
#ifndef KASHI_HLO_SPMD_PROGRAM_SCOPE_H_
#define KASHI_HLO_SPMD_PROGRAM_SCOPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

struct ProgramScope {
  enum class Kind { kOneDevice, kPerDevice, kGlobal };
  Kind kind = Kind::kOneDevice;
  int64_t partitions = 1;
  std::string reason;  // "it has a custom-call to Sharding"; empty for one device

  bool is_global() const { return kind == Kind::kGlobal; }
};

// O(instructions).
ProgramScope ProgramScopeOf(const HloModule& module);

// How the arguments lie on devices: {replicated} where nothing is said, as the partitioner has it. Of a partitioned
// module: the shardings that it had, which the partitioner leaves on parameters.
std::vector<HloSharding> ParameterShardings(const HloModule& module);

// For each leaf of the result (in pre-order, as ShapeUtil::GetLeafShapes), how it lies on devices, as far as the module
// says: by the root's sharding, or that of what the root is made of. Propagation may choose another where the text
// leaves it open.
std::vector<std::optional<HloSharding>> ResultShardings(const HloModule& module);

namespace internal {

// Whether it is one of the custom calls that partitioning removes.
bool IsShardingCall(const HloInstruction& instruction);

// For each leaf of the instruction, what it says itself: by its sharding, unless that is {manual}, or by an attribute
// of Shardy.
std::vector<std::optional<HloSharding>> StatedShardings(const HloInstruction& instruction);

}  // namespace internal
}  // namespace kashi

#endif  // KASHI_HLO_SPMD_PROGRAM_SCOPE_H_
