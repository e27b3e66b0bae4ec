// What runs over a module and may change it: the interface that XLA's passes have (docs/spec/xla-api.md, 26).
#ifndef KASHI_HLO_IR_HLO_PASS_INTERFACE_H_
#define KASHI_HLO_IR_HLO_PASS_INTERFACE_H_

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

// Whoever overrides the Run of two arguments says `using HloPassInterface::Run;`, or hides the other.
class HloPassInterface {
 public:
  virtual ~HloPassInterface() = default;
  virtual absl::string_view name() const = 0;
  // On all threads of execution. Returns whether the module was changed.
  absl::StatusOr<bool> Run(HloModule* module) { return Run(module, {}); }
  // On computations of these threads only; none named: on all.
  virtual absl::StatusOr<bool> Run(HloModule* module,
                                   const absl::flat_hash_set<absl::string_view>& execution_threads) = 0;
  virtual bool IsPassPipeline() const { return false; }
};

// A pass over one module.
class HloModulePass : public HloPassInterface {};

}  // namespace kashi

#endif  // KASHI_HLO_IR_HLO_PASS_INTERFACE_H_
