// What the evaluator gives for programs and arguments that differ a little from those that are compared.
#ifndef KASHI_TESTS_ENGINES_NEARBY_H_
#define KASHI_TESTS_ENGINES_NEARBY_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"
#include "tests/engines/comparison.h"

namespace kashi::tests {

absl::StatusOr<Literal> Evaluate(const HloModule& module, const std::vector<Literal>& arguments);

// The results for arguments that differ in their last digits; with f32 in the place of f16 or bf16; and with
// transcendental functions that round another way, all elements alike and each by itself; and with 0 in the place of
// denormal numbers, in these functions and in all arithmetic. `shape`: of the results.
NearbyResults EvaluateNearby(const HloModule& module, const std::vector<Literal>& arguments, const Shape& shape,
                             const Exactness& exactness);

}  // namespace kashi::tests

#endif  // KASHI_TESTS_ENGINES_NEARBY_H_
