// XLA's evaluator: kashi::HloEvaluator. It is no visitor: nothing to override but OnEvaluateComputation.
#ifndef KASHI_COMPAT_XLA_HLO_EVALUATOR_HLO_EVALUATOR_H_
#define KASHI_COMPAT_XLA_HLO_EVALUATOR_HLO_EVALUATOR_H_

#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/array2d.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"
#include "xla/literal_util.h"

#endif  // KASHI_COMPAT_XLA_HLO_EVALUATOR_HLO_EVALUATOR_H_
