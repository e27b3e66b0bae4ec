#include "cli/flat_module.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/excess_precision.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/inline_calls.h"

namespace kashi::cli {
namespace {

using Names = absl::flat_hash_map<const HloInstruction*, std::string>;

absl::Status Inline(HloInstruction* call, Names* names) {
  HloComputation* caller = call->parent();
  const std::vector<HloInstruction*> arguments(call->operands().begin(), call->operands().end());
  HloInstruction* result = passes::CopyBody(
      *call->called_computations()[0], arguments,
      [&](const HloInstruction& x, absl::Span<HloInstruction* const> operands) {
        HloInstruction* copy = caller->AddInstruction(x.CloneWithNewOperands(x.shape(), operands), x.name());
        const auto original = names->find(&x);  // a copy itself, of a call within the call
        std::string name = original == names->end() ? std::string(x.name()) : original->second;
        (*names)[copy] = std::move(name);
        return copy;
      });
  return passes::ReplaceByBody(call, result);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HloModule>> FlatModule(const HloModule& module) {
  std::unique_ptr<HloModule> flat = module.Clone("");
  flat->clear_schedule();
  if (passes::HasManualRegions(*flat)) return flat;
  absl::flat_hash_map<const HloComputation*, int64_t> calls;
  for (const HloComputation* computation : flat->computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      for (const HloComputation* callee : x->called_computations()) ++calls[callee];
    }
  }
  Names names;
  for (HloComputation* computation : flat->MakeComputationPostOrder()) {  // callees first
    const std::vector<HloInstruction*> instructions = computation->instructions();
    for (HloInstruction* x : instructions) {
      if (!evaluator::CanInline(*x) || calls[x->called_computations()[0]] != 1) continue;
      KASHI_RETURN_IF_ERROR(Inline(x, &names));
    }
  }
  KASHI_RETURN_IF_ERROR(flat->RemoveUnusedComputations());
  for (HloComputation* computation : flat->computations()) {
    for (HloInstruction* x : computation->instructions()) {
      const auto name = names.find(x);
      if (name != names.end()) x->SetAndSanitizeName(name->second);
    }
  }
  return flat;
}

}  // namespace kashi::cli
