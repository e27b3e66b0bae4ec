// The groups of values that share a buffer.
//
// Every position (value_positions.h) belongs to one group; the positions of a group are one buffer of the compiled
// program. Groups come from the rules of HLO, by union-find over positions, in near linear time:
//
//   forwarded       tuple elements, get-tuple-element, bitcast, copy-done, optimization-barrier, the sources that
//                   asynchronous starts repeat …: the position has no value of its own
//   one place       the init, the parameters, the root and the result of a while; operands, parameters, roots and
//                   results of calls, conditionals and async-starts; also the tables of tuples
//   in place        in_place.h: by the operation, and by the decision of the TPU compiler
//   one buffer      outputs with their parameter by input_output_alias; the operands of ConcatBitcast
//
// In a scheduled module, the compiler has already inserted copies, so all of these rules hold. In any other module, a
// rule does not apply if it would join two buffers that must both keep their values: the compiler will insert a copy.
// Such buffers are parameters of the entry, constants, states that different loops change, and operands that an
// operation would change although they have other users.
//
// A computation with several callers by control flow has its own buffers. The values that it shares with its callers
// are `borrowed` there.
#ifndef KASHI_ANALYSIS_BUFFER_GROUPS_H_
#define KASHI_ANALYSIS_BUFFER_GROUPS_H_

#include <cstdint>
#include <vector>

#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/value_positions.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

// The kind of value at a position.
enum class PositionKind : uint8_t {
  kValue,      // a value that its instruction makes
  kPhi,        // one of several values, by control flow: states of loops, results of conditionals
  kForwarded,  // the value of another position; also the parts of a loop's state that its body does not change
};

class BufferGroups {
 public:
  static BufferGroups Build(const HloModule& module, const CallGraph& graph, const ValuePositions& positions);

  int32_t group_count() const { return group_count_; }
  // In the order of the groups' first positions.
  int32_t GroupOf(int32_t position) const { return groups_[position]; }
  PositionKind KindOf(int32_t position) const { return kinds_[position]; }
  // The position whose value this one holds: itself, or, for a forwarded value, the position where the value was made.
  // In an unverified module, a cycle of positions may forward a value that no instruction makes: then any of these
  // positions.
  int32_t ValueOf(int32_t position) const { return values_[position]; }
  // By group: whether several callers of a computation share it.
  bool IsBorrowed(int32_t group) const { return is_borrowed_[group]; }

 private:
  int32_t group_count_ = 0;
  std::vector<int32_t> groups_;
  std::vector<PositionKind> kinds_;
  std::vector<int32_t> values_;
  std::vector<bool> is_borrowed_;
};

}  // namespace kashi

#endif  // KASHI_ANALYSIS_BUFFER_GROUPS_H_
