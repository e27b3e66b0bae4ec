// The arrays of a value, with all tuples taken apart: leaf 0, 1, … of its shape in order.
#ifndef KASHI_BUFFERS_LEAVES_H_
#define KASHI_BUFFERS_LEAVES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::buffers {

// The number of the first leaf of element i of a tuple.
int64_t LeavesBefore(const Shape& tuple, int64_t i);

// The bytes of each leaf; nothing if a leaf is not an array, or has a dynamic size.
std::optional<std::vector<int64_t>> LeafBytes(const Shape& shape);

// An argument whose memory a result takes if the caller gives it up (input_output_alias): leaves of all parameters, one
// after the other, and of the result.
struct LeafAlias {
  int64_t argument, result;
};
// The aliases of a module between static arrays that have as many elements, of one width; each argument once. In the
// order of the results.
std::vector<LeafAlias> AliasesOf(const HloModule& module);

// Whether the instruction only gives its operand another shape or name: its elements do not change.
bool KeepsElements(const HloInstruction& instruction);

// A leaf of an instruction's value.
struct LeafOf {
  const HloInstruction* instruction;
  int64_t leaf;
};

// The operand's leaf that this leaf forwards, by tuples and operations that keep elements; nothing: it forwards none.
std::optional<LeafOf> ForwardedFrom(const LeafOf& at);
// ForwardedFrom, or the leaf of an operand that the instruction may update to make this one: by dynamic-update-slice,
// scatter, loops or conditionals.
std::optional<LeafOf> ForwardedOrUpdatedFrom(const LeafOf& at);

// The leaf of the root that a leaf of an instruction becomes, if `origin` leads from operand to result. Leaves
// that become none are missing; a leaf that becomes several has the first.
using RootLeaves = absl::flat_hash_map<std::pair<const HloInstruction*, int64_t>, int64_t>;
using LeafOrigin = absl::FunctionRef<std::optional<LeafOf>(const LeafOf&)>;
RootLeaves FindRootLeaves(const HloInstruction& root, LeafOrigin origin = ForwardedFrom);

// The leaf of the computation's only parameter that becomes leaf `leaf` of the root, perhaps after updates that can be
// in place: by dynamic-update-slice, scatter, loops or conditionals. -1: none.
int64_t UpdatedArgument(const HloComputation& computation, int64_t leaf);

}  // namespace kashi::buffers

#endif  // KASHI_BUFFERS_LEAVES_H_
