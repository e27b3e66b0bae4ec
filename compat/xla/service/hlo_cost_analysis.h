// XLA's cost analysis: kashi::HloCostAnalysis, with its Options and Properties. `computation->Accept(&analysis)` and
// `instruction->Accept(&analysis)` work as in XLA; but it is not a visitor: it has no handlers to override.
#ifndef KASHI_COMPAT_XLA_SERVICE_HLO_COST_ANALYSIS_H_
#define KASHI_COMPAT_XLA_SERVICE_HLO_COST_ANALYSIS_H_

#include "kashi/analysis/hlo_cost_analysis.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_HLO_COST_ANALYSIS_H_
