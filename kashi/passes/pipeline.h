// The passes before fusion, in the order in which they run: a table, one row a pass.
//
//   KASHI_RETURN_IF_ERROR(RunPasses(module, {support}));
//
// After each pass the module is valid HLO, and computes what it computed before. Each row names what the pass assumes
// of the module. Fusion (fuse.h) comes after them, for an engine may compile loops as a whole first.
#ifndef KASHI_PASSES_PIPELINE_H_
#define KASHI_PASSES_PIPELINE_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

struct PassRow {
  absl::string_view name;  // as in dumps and golden files
  PassFunction run;
  absl::string_view result;   // what is there afterwards, or not any more
  absl::string_view assumes;  // for readers; "": nothing
};

absl::Span<const PassRow> Passes();

// Passes that an engine runs in other ways, for those who run passes by hand: `fuse` (fuse.h) and `dce`, which removes
// dead code.
absl::Span<const PassRow> OtherPasses();

using AfterPass = absl::FunctionRef<absl::Status(const PassRow& pass, const HloModule& module)>;

// One of them. With context.verifies, INTERNAL if it leaves an invalid module.
absl::Status RunPass(const PassRow& pass, HloModule* module, const PassContext& context);

// Runs all of Passes(), then removes dead code. `after` is called after each, to dump the module. Ends with the first
// error of a pass, of context.check_stopped or of `after`.
absl::Status RunPasses(HloModule* module, const PassContext& context, AfterPass after);
absl::Status RunPasses(HloModule* module, const PassContext& context);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_PIPELINE_H_
