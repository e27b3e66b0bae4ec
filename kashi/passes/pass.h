// A pass: a function that changes a module in place, HLO to HLO. The order of the passes, and the assumptions of each:
// pipeline.h.
#ifndef KASHI_PASSES_PASS_H_
#define KASHI_PASSES_PASS_H_

#include "absl/status/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/code_support.h"

namespace kashi::passes {

struct PassContext {
  const CodeSupport& support;
  // Whether numbers keep bits that their type has no place for, where XLA:CPU keeps them (keep_excess_precision.h).
  bool excess_precision = true;
  // Whether RunPasses verifies the module after each pass. INTERNAL names a pass that leaves an invalid one.
  bool verifies = false;
  // Its error ends the pass. The module may be half changed then.
  StopFunction check_stopped = NeverStopped;
};

using PassFunction = absl::Status (*)(HloModule* module, const PassContext& context);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_PASS_H_
