// Rotations of an array along one dimension, such as jnp.roll writes them: its two parts in reverse order.
//
//   a = f32[6] slice(x), slice={[4:8]}   b = f32[4] slice(x), slice={[0:4]}   y = f32[10]… concatenate(a, b)
//
// Each device needs elements of at most two others.
#ifndef KASHI_PARTITION_ROTATION_H_
#define KASHI_PARTITION_ROTATION_H_

#include <cstdint>
#include <optional>

#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/partition/partition_rule.h"

namespace kashi::partition {

// Element i of the result along the dimension is element i + by, modulo the size, of the array. 0 < by < size.
struct Rotation {
  HloInstruction* array;
  int64_t dimension;
  int64_t by;
};

// Nullopt: the instruction is none.
std::optional<Rotation> RotationOf(const HloInstruction& instruction);

// The rule that connects the array and the result.
PartitionRule RuleOfRotation(const Rotation& rotation);

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_ROTATION_H_
