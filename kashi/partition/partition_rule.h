// How an operation may be computed in parts: which dimensions of its operands and results belong together.
//
//   dot f32[8,32] = f32[8,16], f32[16,32]        factors: 0 rows, 1 columns, 2 contracting, a sum
//     operands  {0, 2}, {2, 1}    results  {0, 1}
//
// All dimensions of one factor are cut in the same way, and then each device computes its part of the result with the
// same operation on smaller shapes. If a factor that is a sum is cut, each device has a part of a sum, and the parts
// are combined. A dimension without a factor (-1) must be whole. An operation without a rule needs whole operands.
//
//   reverse f32[8,16], dimensions={0}            factors: 0 whole, 1        operands {0, 1}    results {0, 1}
//
//   reshape f32[4,8] = f32[32]                    factors: 0 of size 4, 1 of size 8, 2 with the digits 0 and 1
//     operands  {2}    results  {0, 1}
//
// A dimension that consists of several factors is cut along the axes of each (factor_axes.h).
//
// The dimensions of a factor that is whole are whole where the operation is computed, but its result is cut as its
// operand is: shardings spread through the operation.
#ifndef KASHI_PARTITION_PARTITION_RULE_H_
#define KASHI_PARTITION_PARTITION_RULE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/partition/halo.h"

namespace kashi::partition {

struct PartitionFactor {
  int64_t size = 0;     // of its dimensions, unless there is a divisor
  int64_t divisor = 0;  // the number of parts must divide it, because the dimensions have several sizes; 0: any number
  bool is_sum = false;
  bool is_whole = false;         // its dimensions may have any sizes
  bool is_rotated = false;       // the result begins at another index, and ends with the elements before that
  std::vector<int> digits = {};  // of a dimension that consists of several factors: these, the major one first
  // The result has another size than the operand, and needs elements of neighbours.
  std::optional<MovingWindow> moving = std::nullopt;
};

struct PartitionRule {
  static constexpr int kWhole = -1;

  std::vector<PartitionFactor> factors;
  std::vector<std::vector<int>> operands;  // [operand][dimension]
  std::vector<std::vector<int>> results;   // [leaf][dimension]
  HloOpcode combiner = HloOpcode::kAdd;    // combines the parts of a sum
  bool is_offset = false;                  // an iota: each part begins at another index

  int Add(int64_t size, bool is_sum = false) {
    factors.emplace_back();
    factors.back().size = size;
    factors.back().is_sum = is_sum;
    return static_cast<int>(factors.size()) - 1;
  }
  int AddMoving(const MovingWindow& window) {
    const int factor = Add(window.to_size);
    factors[factor].moving = window;
    return factor;
  }
  int AddWhole() {
    const int factor = Add(0);
    factors[factor].is_whole = true;
    return factor;
  }
  // Whether the dimensions of a factor, or without one, are whole where the operation is computed.
  bool IsWhole(int factor) const { return factor == kWhole || factors[factor].is_whole; }
};

// The rule of an operation on static arrays; nullopt if there is none, or if it has no factors.
std::optional<PartitionRule> PartitionRuleOf(const HloInstruction& instruction);

// The rule of a custom call that treats each element of a batch alone: its frontend attribute num_batch_dims says how
// many leading dimensions the batch has. Nullopt if it says none, or on other shapes than static arrays.
std::optional<PartitionRule> BatchRuleOf(const HloInstruction& custom_call);

// Whether x op initial is x for all x that a sum can be: with 0 as the initial value of a sum, no part is -0.
bool IsNeutral(const HloInstruction& initial, HloOpcode combiner);

// Adjusts the attributes of an operation that depend on its sizes, after a copy got the shapes of the parts. `whole` is
// the operation that was copied. `tiles`: the number of parts into which each factor is cut.
void AdjustAttributes(const HloInstruction& whole, const PartitionRule& rule, const std::vector<int64_t>& tiles,
                      HloInstruction* part);

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_PARTITION_RULE_H_
