// The interface of XLA's passes, which run over a module and may change it (docs/spec/xla-api.md, 26).
#ifndef KASHI_HLO_IR_HLO_PASS_INTERFACE_H_
#define KASHI_HLO_IR_HLO_PASS_INTERFACE_H_

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

// A class that overrides the Run with two arguments needs `using HloPassInterface::Run;`, because it hides the other
// one.
class HloPassInterface {
 public:
  virtual ~HloPassInterface() = default;
  virtual absl::string_view name() const = 0;
  // Runs on all execution threads. Returns whether the module was changed.
  absl::StatusOr<bool> Run(HloModule* module) { return Run(module, {}); }
  // Runs on the computations of these execution threads; an empty set means all.
  virtual absl::StatusOr<bool> Run(HloModule* module,
                                   const absl::flat_hash_set<absl::string_view>& execution_threads) = 0;
  virtual bool IsPassPipeline() const { return false; }
};

// A pass over one module.
class HloModulePass : public HloPassInterface {};

}  // namespace kashi

#endif  // KASHI_HLO_IR_HLO_PASS_INTERFACE_H_
