// Any bytes as HLO text: for a module that the reader accepts, the verifier never ends the process, with any options.
// A finding names a rule and has a message.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "fuzz/hlo_text_mutator.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"

namespace kashi::fuzz {
namespace {

void Verify(const HloModule& module, const HloVerifierOpts& opts) {
  for (const HloFinding& finding : VerifyHlo(module, opts)) {
    KASHI_CHECK(!finding.rule.empty());
    KASHI_CHECK(!finding.message.empty()) << finding.rule;
    KASHI_CHECK(finding.code != absl::StatusCode::kOk) << finding.rule;
    if (finding.instruction != nullptr) finding.instruction->ToString();
  }
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = kashi::ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) return 0;
  kashi::fuzz::Verify(**module, {});
  kashi::HloVerifierOpts strict;
  strict.layout_sensitive = true;
  strict.verify_broadcast_dimensions_order = true;
  strict.verify_reshape_is_bitcast = true;
  strict.verify_call_nested_computation_thread_name = true;
  strict.verify_instruction_name_unchanged = true;
  strict.verify_no_host_memory_space = true;
  strict.verify_no_collective_deadlocks = true;
  strict.instruction_can_change_layout = kashi::InstructionMayChangeLayout;
  kashi::fuzz::Verify(**module, strict);
  kashi::fuzz::Verify(**module, kashi::HloVerifierOpts{}.AllowMixedPrecision().WithAllowUnboundedDynamism(true));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return kashi::fuzz::MutateHloText(data, size, max_size, seed);
}
