#include "kashi/reduction/candidate.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/base/fingerprint.h"
#include "kashi/base/status.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/reduction/module_edit.h"

namespace kashi::reduction {
namespace {

// Rules of the verifier without which the graph, or the parts of an instruction, cannot be relied on.
constexpr absl::string_view kStructure[] = {
    "attributes",   "called computations", "cycle", "entry", "operand count", "parameter numbers",
    "parent",       "recursion",           "root",  "shape", "unique ids",    "users",
    "unique names",
};

std::string TextOf(const HloModule& module) {
  return module.ToString(HloPrintOptions().set_print_large_constants(true));
}

// The module as everyone will read it; `text` becomes its text. New instructions are the last ones of their
// computations in a module that was edited, and where the text has them in one that was read; and the order of
// instructions decides that of computations, and this that of source positions.
absl::StatusOr<std::unique_ptr<HloModule>> ReadUntilStable(std::string* text) {
  constexpr int kMostReadings = 4;
  for (int i = 0; i < kMostReadings; ++i) {
    KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(*text));
    std::string again = TextOf(*module);
    if (again == *text) return module;
    *text = std::move(again);
  }
  return Internal("the text of the module changes whenever it is read");
}

Candidate Describe(std::shared_ptr<const HloModule> module, std::string text, const Rules& rules) {
  Candidate candidate;
  candidate.size = SizeOf(*module, rules.are_all_kept());
  candidate.text = std::move(text);
  candidate.fingerprint = base::FingerprintOf(candidate.text).ToString();
  candidate.module = std::move(module);
  return candidate;
}

}  // namespace

absl::StatusOr<Rules> Rules::Of(const HloModule& module, const HloVerifierOpts& opts) {
  Rules rules(opts);
  for (const HloFinding& finding : VerifyHlo(module, opts)) {
    if (absl::c_linear_search(kStructure, finding.rule)) {
      return FailedPrecondition("the module cannot be taken apart: [%s] %s", finding.rule, finding.message);
    }
    rules.broken_.insert(finding.rule);
  }
  return rules;
}

absl::Status Rules::Check(const HloModule& module) const {
  for (const HloFinding& finding : VerifyHlo(module, opts_)) {
    if (!broken_.contains(finding.rule)) return Internal("[%s] %s", finding.rule, finding.message);
  }
  return absl::OkStatus();
}

Candidate MakeCandidate(const HloModule& module, const Rules& rules) {
  return Describe(module.Clone(/*suffix=*/""), TextOf(module), rules);
}

absl::StatusOr<Candidate> MakeCandidate(const Candidate& from, const Transformation& transformation,
                                        absl::Span<const Site> sites, const Rules& rules) {
  if (transformation.needs_valid_module && !rules.are_all_kept()) return FailedPrecondition("the module is not valid");
  ModuleEdit edit(*from.module);
  KASHI_RETURN_IF_ERROR(transformation.apply(sites, &edit));
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, std::move(edit).Finish());
  std::string text = TextOf(*module);
  KASHI_ASSIGN_OR_RETURN(module, ReadUntilStable(&text));
  KASHI_RETURN_IF_ERROR(rules.Check(*module));
  return Describe(std::move(module), std::move(text), rules);
}

}  // namespace kashi::reduction
