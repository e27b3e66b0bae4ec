// XLA's CallGraph: something to be passed along. HloEvaluator finds callers itself.
#ifndef KASHI_COMPAT_XLA_SERVICE_CALL_GRAPH_H_
#define KASHI_COMPAT_XLA_SERVICE_CALL_GRAPH_H_

#include <memory>

#include "xla/hlo/ir/hlo_module.h"

namespace xla {

class CallGraph {
 public:
  static std::unique_ptr<CallGraph> Build(const HloModule*) { return std::make_unique<CallGraph>(); }
};

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_SERVICE_CALL_GRAPH_H_
