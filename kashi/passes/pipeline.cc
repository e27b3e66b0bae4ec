#include "kashi/passes/pipeline.h"

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/passes/fold_constants.h"
#include "kashi/passes/fuse.h"
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
    {"inline-calls", &InlineCalls, "no calls", ""},
    {"keep-excess-precision", &KeepExcessPrecision, "bf16 results are f32 where only f32 is asked for",
     "calls are inlined; fusions and loops are not"},
    {"inline-fusions", &InlineFusions, "no fusions of other compilers",
     "what a fusion takes and gives is rounded already"},
    {"simplify", &Simplify, "nothing that gives an operand back: slices of all, `0 + x` of integers …",
     "calls are inlined: what they pass on is seen"},
    {"unroll-loops", &UnrollLoops, "loops of up to 8 iterations on large arrays are straight HLO",
     "calls and fusions are inlined"},
    {"fold-constants", &FoldConstants, "no small results of constants, no elements of tuples made in place",
     "loops are unrolled: their counters become constants"},
    {"mask-updates", &MaskUpdates, "no choices between an array and updates of it", ""},
    {"sum-repeats", &SumRepeats, "products in the place of sums of a repeated element",
     "constants are folded: a broadcast of one is a constant's"},
    {"orient-dots", &OrientDots, "dots read their operands as they lie", ""},
    {"hoist-invariants", &HoistInvariants, "what each iteration would compute again is computed before the loop",
     "dots are oriented: the transposes that are left are copies"},
    {"unroll-windows", &UnrollWindows, "slices in the place of small windows, and of windows on a few elements", ""},
    {"split-reductions", &SplitReductions, "reductions to few results are two, and threads share the first",
     "sums of repeats are products already"},
};

absl::Status Fuse(HloModule* module, const PassContext& context) { return FuseInstructions(module, context).status(); }

absl::Status RemoveDeadCode(HloModule* module, const PassContext& context) {
  KASHI_RETURN_IF_ERROR(context.check_stopped());
  module->RemoveDeadCode();
  return absl::OkStatus();
}

constexpr PassRow kOtherPasses[] = {
    {"fuse", &Fuse, "instructions that become one kernel are in fusions", "the engine's passes ran before"},
    {"dce", &RemoveDeadCode, "nothing without effect on the result", ""},
};

absl::Status Verify(const PassRow& pass, HloModule* module) {
  const absl::Status valid =
      HloVerifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true).Run(module).status();
  if (valid.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("after the pass ", pass.name, ": ", valid.message()));
}

}  // namespace

absl::Span<const PassRow> Passes() { return kPasses; }
absl::Span<const PassRow> OtherPasses() { return kOtherPasses; }

absl::Status RunPass(const PassRow& pass, HloModule* module, const PassContext& context) {
  KASHI_RETURN_IF_ERROR(context.check_stopped());
  KASHI_RETURN_IF_ERROR(pass.run(module, context));
  return context.verifies ? Verify(pass, module) : absl::OkStatus();
}

absl::Status RunPasses(HloModule* module, const PassContext& context, AfterPass after) {
  for (const PassRow& pass : kPasses) {
    KASHI_RETURN_IF_ERROR(RunPass(pass, module, context));
    KASHI_RETURN_IF_ERROR(after(pass, *module));
  }
  module->RemoveDeadCode();
  return context.check_stopped();
}

absl::Status RunPasses(HloModule* module, const PassContext& context) {
  return RunPasses(module, context, [](const PassRow&, const HloModule&) { return absl::OkStatus(); });
}

}  // namespace kashi::passes
