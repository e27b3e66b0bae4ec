// A part of a program as a program of its own.
//
//   a = f32[8] parameter(0)              ExtractSubmodule(module, {y, z}):
//   x = f32[8] exponential(a)
//   y = f32[8] negate(x)                   x = f32[8] parameter(0)
//   z = f32[8] multiply(y, y)              y = f32[8] negate(x)
//   ROOT r = f32[8] add(z, a)              ROOT z = f32[8] multiply(y, y)
//
// The part is valid if the program is. If its parameters have the values that the instructions of their names have in a
// run of the program, its results have the values of the program, bit for bit, whatever was chosen. (Runs must round
// alike: EvaluationOptions::excess_precision would keep a bf16 value unrounded that the cut makes a parameter.)
//
//   * An operand that was not chosen becomes a parameter with its name, metadata and sharding. Constants, iotas and
//     broadcasts of constants are copied instead, because they need no value from outside.
//   * An element of a tuple whose tuple was not chosen is a parameter itself, so that large tuples stay outside.
//   * Results are the chosen values that something else uses, that nothing uses, or that are roots: a tuple of them, or
//     the value itself if it is the only one.
//   * Called computations are copied whole. Instructions of computations that a chosen one calls are in these copies.
//   * Tokens are not passed in or out: an operand that is a token becomes an `after-all()`.
//   * An asynchronous operation in flight, a buffer and an opaque value can be neither a parameter nor a result, so the
//     instructions around them are added.
//   * Instructions of several computations stand side by side in the new entry.
//   * Layouts, shardings, the schedule, replicas, partitions and control dependencies within the part stay. Aliases of
//     parameters and results, donated parameters and tables about the whole program are left out.
#ifndef KASHI_QUERY_SUBMODULE_H_
#define KASHI_QUERY_SUBMODULE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape_index.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::query {

// The value of an instruction of the original module, or a part of its tuple.
struct CutValue {
  const HloInstruction* instruction = nullptr;
  ShapeIndex index;
};

struct Submodule {
  std::unique_ptr<HloModule> module;
  std::vector<CutValue> parameters;  // the value of each parameter
  std::vector<CutValue> results;     // the value of each element of the root; of the root, if there is one result
  // Remarks for people, each a sentence without its full stop.
  std::vector<std::string> notes;
};

struct SubmoduleOptions {
  // First add the operands of the chosen instructions, their operands, and so on, this often.
  int64_t with_operands = 0;
};

// Pre: the module passes the verifier, and the instructions are its own. INVALID_ARGUMENT if there are none;
// FAILED_PRECONDITION if an asynchronous operation among them ends in another computation.
// O(instructions and operands of the module).
absl::StatusOr<Submodule> ExtractSubmodule(const HloModule& module,
                                           absl::Span<const HloInstruction* const> instructions,
                                           const SubmoduleOptions& options = {});

}  // namespace kashi::query

#endif  // KASHI_QUERY_SUBMODULE_H_
