// XLA's TuplePointsToAnalysis: something to be passed along. HloEvaluator sees through tuples itself.
#ifndef KASHI_COMPAT_XLA_HLO_ANALYSIS_TUPLE_POINTS_TO_ANALYSIS_H_
#define KASHI_COMPAT_XLA_HLO_ANALYSIS_TUPLE_POINTS_TO_ANALYSIS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/call_graph.h"

namespace xla {

class TuplePointsToAnalysis {
 public:
  static absl::StatusOr<std::unique_ptr<TuplePointsToAnalysis>> Run(const HloModule*) {
    return std::make_unique<TuplePointsToAnalysis>();
  }
};

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_HLO_ANALYSIS_TUPLE_POINTS_TO_ANALYSIS_H_
