// Operations of the dialect CHLO that text and old artifacts hold as themselves, not as composites.
#include <memory>
#include <utility>

#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/chlo_expansion.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {

absl::Status ConvertChlo(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  absl::Status misfit;  // the first instruction whose shape its operands do not make
  const auto add = [&c, &misfit](std::unique_ptr<HloInstruction> instruction) {
    return c.AddNotingError(std::move(instruction), &misfit);
  };
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const value, ExpandChlo(c.operation(), c.operands(), shape, add));
  KASHI_RETURN_IF_ERROR(misfit);
  KASHI_RETURN_IF_ERROR(c.AddAttributesTo(value));
  if (c.operation().results.size() != 1) return c.SetResultsToElements(value);
  return c.SetResults({value});
}

}  // namespace kashi::stablehlo
