#include "kashi/passes/pipeline.h"

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/passes/fold_constants.h"
#include "kashi/passes/hoist_invariants.h"
#include "kashi/passes/inline_calls.h"
#include "kashi/passes/keep_excess_precision.h"
#include "kashi/passes/mask_updates.h"
#include "kashi/passes/orient_dots.h"
#include "kashi/passes/simplify.h"
#include "kashi/passes/split_reductions.h"
#include "kashi/passes/sum_repeats.h"
#include "kashi/passes/unroll_loops.h"
#include "kashi/passes/unroll_windows.h"

namespace kashi::passes {
namespace {

constexpr PassRow kPasses[] = {
    {"inline-calls", &InlineCalls, ""},
    {"keep-excess-precision", &KeepExcessPrecision, "calls are inlined; fusions and loops are not"},
    {"inline-fusions", &InlineFusions, "what a fusion takes and gives is rounded already"},
    {"simplify", &Simplify, "calls are inlined: what they pass on is seen"},
    {"unroll-loops", &UnrollLoops, "calls and fusions are inlined"},
    {"fold-constants", &FoldConstants, "loops are unrolled: their counters become constants"},
    {"mask-updates", &MaskUpdates, ""},
    {"sum-repeats", &SumRepeats, "constants are folded: a broadcast of one is a constant's"},
    {"orient-dots", &OrientDots, ""},
    {"hoist-invariants", &HoistInvariants, "dots are oriented: the transposes that are left are copies"},
    {"unroll-windows", &UnrollWindows, ""},
    {"split-reductions", &SplitReductions, "sums of repeats are products already"},
};

absl::Status Verify(const PassRow& pass, HloModule* module) {
  const absl::Status valid =
      HloVerifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true).Run(module).status();
  if (valid.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("after the pass ", pass.name, ": ", valid.message()));
}

}  // namespace

absl::Span<const PassRow> Passes() { return kPasses; }

absl::Status RunPasses(HloModule* module, const PassContext& context, AfterPass after) {
  for (const PassRow& pass : kPasses) {
    KASHI_RETURN_IF_ERROR(context.check_stopped());
    KASHI_RETURN_IF_ERROR(pass.run(module, context));
    if (context.verifies) KASHI_RETURN_IF_ERROR(Verify(pass, module));
    KASHI_RETURN_IF_ERROR(after(pass, *module));
  }
  module->RemoveDeadCode();
  return context.check_stopped();
}

absl::Status RunPasses(HloModule* module, const PassContext& context) {
  return RunPasses(module, context, [](const PassRow&, const HloModule&) { return absl::OkStatus(); });
}

}  // namespace kashi::passes
