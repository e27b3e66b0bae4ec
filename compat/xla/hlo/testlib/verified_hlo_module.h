// A module that fails its test unless it keeps HLO's rules.
#ifndef KASHI_COMPAT_XLA_HLO_TESTLIB_VERIFIED_HLO_MODULE_H_
#define KASHI_COMPAT_XLA_HLO_TESTLIB_VERIFIED_HLO_MODULE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/hlo/testlib/test.h"
#include "xla/service/hlo_module_config.h"
#include "xla/service/hlo_verifier.h"
#include "xla/shape.h"

namespace xla {

// A module that is verified when it is parsed, and again when it is destroyed.
class VerifiedHloModule : public HloModule {
 public:
  VerifiedHloModule(const std::string& name, const HloModuleConfig& config, bool verifier_layout_sensitive,
                    bool allow_mixed_precision_in_hlo_verifier,
                    std::function<int64_t(const Shape&)> shape_size_function,
                    HloPredicate instruction_can_change_layout_func = {})
      : HloModule(name, config),
        verifier_(verifier_layout_sensitive, allow_mixed_precision_in_hlo_verifier,
                  std::move(instruction_can_change_layout_func), std::move(shape_size_function)) {}
  ~VerifiedHloModule() override { VerifyOrAddFailure("in destructor"); }

  // This module must still be empty. It takes the text's name, and keeps the settings that the text does not mention.
  // An error if the text is not a module, or if the module does not pass the verifier.
  absl::Status ParseHloStringAndVerifyModule(absl::string_view text, const HloParserOptions& options = {}) {
    if (computation_count() != 0) return absl::FailedPreconditionError("the module is not empty");
    KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> parsed, ParseAndReturnUnverifiedModule(text, config(), options));
    Swap(parsed.get());
    return Verify();
  }

  // An empty module keeps all rules.
  absl::Status Verify() { return computation_count() == 0 ? absl::OkStatus() : verifier_.Run(this).status(); }

  void VerifyOrAddFailure(absl::string_view message) {
    const absl::Status status = Verify();
    if (status.ok()) return;
    ADD_FAILURE() << "module " << name() << " does not keep HLO's rules" << (message.empty() ? "" : " ") << message
                  << ": " << status << "\n"
                  << ToString();
  }

 private:
  HloVerifier verifier_;
};

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_HLO_TESTLIB_VERIFIED_HLO_MODULE_H_
