// XLA's cost analysis: kashi::HloCostAnalysis. HLO has no visitors here: `analysis.Visit(*computation)` is
// `computation->Accept(&analysis)`. No options, no optimal seconds, nothing by operand.
#ifndef KASHI_COMPAT_XLA_SERVICE_HLO_COST_ANALYSIS_H_
#define KASHI_COMPAT_XLA_SERVICE_HLO_COST_ANALYSIS_H_

#include "kashi/analysis/hlo_cost_analysis.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_HLO_COST_ANALYSIS_H_
