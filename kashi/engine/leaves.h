// Arguments and results as lists of their arrays and tokens, with tuples taken apart in order.
#ifndef KASHI_ENGINE_LEAVES_H_
#define KASHI_ENGINE_LEAVES_H_

#include <vector>

#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/values/value.h"

namespace kashi::engine {

// The leaves of all parameters, and of the root.
std::vector<Shape> ArgumentLeaves(const HloComputation& entry);
std::vector<Shape> ResultLeaves(const HloComputation& entry);

// Makes one value for each parameter from the leaves, which it takes.
std::vector<Value> ArgumentsOfLeaves(const HloComputation& entry, std::vector<Value> leaves);
// The leaves of a value, which it takes.
std::vector<Value> LeavesOf(Value value);

// For each leaf of the parameters, whether input_output_alias or buffer_donor of the module names it.
std::vector<bool> DonatedLeaves(const HloModule& module);

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_LEAVES_H_
