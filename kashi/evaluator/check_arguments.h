// Whether literals fit the parameters of a computation.
#ifndef KASHI_EVALUATOR_CHECK_ARGUMENTS_H_
#define KASHI_EVALUATOR_CHECK_ARGUMENTS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/literal/literal.h"

namespace kashi::evaluator {

// INVALID_ARGUMENT if the number of arguments is wrong, or if the shape of one is not the parameter's. Of layouts, only
// minor_to_major is compared, and only if the parameter has a layout.
absl::Status CheckArguments(const HloComputation& computation, absl::Span<const Literal* const> arguments);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_CHECK_ARGUMENTS_H_
