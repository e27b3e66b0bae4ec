#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/shape.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/chlo_expansion.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {
namespace {

// The table of operations has no rows for CHLO.
absl::Status CheckCounts(const OperationConverter& c, size_t operands) {
  if (c.operands().size() == operands && c.operation().results.size() == 1) return absl::OkStatus();
  return InvalidArgument("must have %d operands and one result", operands);
}

}  // namespace

absl::Status ConvertChloConstant(OperationConverter& c) {
  KASHI_RETURN_IF_ERROR(CheckCounts(c, 0));
  return ConvertConstant(c);
}

absl::Status ConvertChloDynamicReshape(OperationConverter& c) {
  KASHI_RETURN_IF_ERROR(CheckCounts(c, 2));
  return ConvertDynamicReshape(c);
}

// Formulas add instructions without looking at errors, so the first one is kept until all are there.
absl::Status ConvertChlo(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  absl::Status error;
  const auto add = [&](std::unique_ptr<HloInstruction> instruction) {
    error.Update(OperationConverter::CheckShape(*instruction));
    return c.AddUnchecked(std::move(instruction));
  };
  const absl::StatusOr<HloInstruction*> result = ExpandChlo(c.operation(), c.operands(), shape, add);
  KASHI_RETURN_IF_ERROR(error);
  KASHI_RETURN_IF_ERROR(result.status());
  const bool is_own = !absl::c_linear_search(c.operands(), *result);  // the conjugate of a real number is the operand
  if (is_own) KASHI_RETURN_IF_ERROR(c.AddAttributesTo(*result));
  if (c.operation().results.size() != 1) return c.SetResultsToElements(*result);
  return c.SetResults({*result});
}

}  // namespace kashi::stablehlo
