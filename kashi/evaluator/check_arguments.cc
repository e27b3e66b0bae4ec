#include "kashi/evaluator/check_arguments.h"

#include <cstdint>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"

namespace kashi::evaluator {
namespace {

bool HasLayoutOf(const Shape& parameter, const Shape& argument) {
  bool same = true;
  ShapeUtil::ForEachSubshape(parameter, [&](const Shape& part, const ShapeIndex& index) {
    if (!part.IsArray() || !part.has_layout()) return;
    const Shape& other = ShapeUtil::GetSubshape(argument, index);
    same = same && other.has_layout() && part.layout().minor_to_major() == other.layout().minor_to_major();
  });
  return same;
}

}  // namespace

absl::Status CheckArguments(const HloComputation& computation, absl::Span<const Literal* const> arguments) {
  if (static_cast<size_t>(computation.num_parameters()) != arguments.size()) {
    return InvalidArgument("Expected %d argument%s, but got %d.", computation.num_parameters(),
                           computation.num_parameters() == 1 ? "" : "s", arguments.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Shape& expected = computation.parameter_instruction(static_cast<int64_t>(i))->shape();
    const Shape& got = arguments[i]->shape();
    if (!ShapeUtil::Compatible(expected, got) || !HasLayoutOf(expected, got)) {
      return InvalidArgument("Shape mismatch at parameter %d. Computation expected %s, but arg was %s.", i,
                             ShapeUtil::HumanStringWithLayout(expected), ShapeUtil::HumanStringWithLayout(got));
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::evaluator
