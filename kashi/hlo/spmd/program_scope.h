// Whether a module is the program of one device, or the whole program, which is not yet partitioned.
// (docs/sharded-programs.md)
//
//   jax.jit(f).lower(…).compiler_ir('hlo'), *before_optimizations.txt          global: arrays are whole
//   *after_spmd-partitioning*.txt, *after_optimizations.txt                    of one device: arrays are its shards
//
// XLA's text does not say this in one place. The first line that applies decides; D is the number of partitions in the
// head, or, if that is 1, the number of devices of shardings and meshes.
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

// The shardings of the arguments: {replicated} for arguments without one, as in the partitioner. For a partitioned
// module: the shardings before partitioning, which the partitioner leaves on parameters.
std::vector<HloSharding> ParameterShardings(const HloModule& module);

// The sharding of each leaf of the result (in pre-order, as ShapeUtil::GetLeafShapes), if the module has
// one: that of the root, or of the instruction that makes the leaf. If the text has none, propagation may choose
// any.
std::vector<std::optional<HloSharding>> ResultShardings(const HloModule& module);

namespace hlo {

// Whether the instruction is one of the custom calls that partitioning removes.
bool IsShardingCall(const HloInstruction& instruction);

// Whether it is the one of them that has no result, but says that its operand is in a group.
bool IsShardingGroup(const HloInstruction& instruction);

// For each leaf of the instruction, the sharding that it has itself: its sharding, unless that is {manual}, or an
// attribute of Shardy.
std::vector<std::optional<HloSharding>> StatedShardings(const HloInstruction& instruction);

// For each leaf of the instruction, for each dimension, whether its stated sharding leaves open how else it is cut: `?`
// in Shardy's text, unspecified_dims of a custom call to Sharding. Empty for a leaf without such dimensions.
std::vector<std::vector<bool>> OpenDimensions(const HloInstruction& instruction);

}  // namespace hlo
}  // namespace kashi

#endif  // KASHI_HLO_SPMD_PROGRAM_SCOPE_H_
