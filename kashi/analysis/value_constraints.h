// Constraints on the inputs of a program, so that its results are meaningful: indices within their array, positive
// numbers under a square root, few iterations. They are used for random arguments (fake_arguments.h) and for elided
// constants.
//
//   p = f32[64] parameter(1)                  p: in [0.1, ...], for rsqrt
//   b = f32[8,64] broadcast(p), …             |
//   s = f32[8,64] add(b, epsilon)             | passed through moves, conversions and additions
//   r = f32[8,64] rsqrt(s)                    needs a positive operand
//
// An operation passes constraints to its operands until nothing changes: through tuples, calls, fusions, loops,
// conditionals and asynchronous operations, if the inverse of the operation is known. This is a heuristic: if
// constraints contradict each other, the first one holds, but indices have priority.
#ifndef KASHI_ANALYSIS_VALUE_CONSTRAINTS_H_
#define KASHI_ANALYSIS_VALUE_CONSTRAINTS_H_

#include <limits>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "kashi/array/shape_index.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::analysis {

// A constraint on the elements of one array.
struct ValueConstraint {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  // Elements lie in [min, max]; of complex numbers the real part.
  double min = -kInfinity;
  double max = kInfinity;
  bool is_index = false;                 // indices have priority over other constraints
  bool any_bits = false;                 // integers whose bits are used, not their values: keys of random numbers
  bool no_duplicates = false;            // keys of a sort, unique indices
  bool is_sorted = false;                // ascending
  bool is_dominant = false;              // square matrices with a large positive diagonal, symmetric
  bool continues_loop = false;           // the condition of a loop; only for predicates
  std::optional<double> value;           // all elements have this value: a reduction's neutral one
  const HloInstruction* user = nullptr;  // the first operation that needs it; null if there is no constraint

  bool is_free() const { return user == nullptr; }
};

class ValueConstraints {
 public:
  // Looks at all computations that the entry computation reaches. INVALID_ARGUMENT for a module without entry or with
  // recursion; RESOURCE_EXHAUSTED for more than 2^24 values. O(instructions + operands); nested loops take a few
  // rounds. The module must outlive this.
  static absl::StatusOr<ValueConstraints> Build(const HloModule& module);

  // The constraint on the array at `index` of the result of the instruction; free if there is none.
  ValueConstraint Of(const HloInstruction* instruction, const ShapeIndex& index) const;

 private:
  absl::flat_hash_map<const HloInstruction*, absl::flat_hash_map<ShapeIndex, ValueConstraint>> constraints_;
};

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_VALUE_CONSTRAINTS_H_
