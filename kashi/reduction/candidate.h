// Candidates: what a transformation makes of a module, verified, measured, and as the text that a check sees.
#ifndef KASHI_REDUCTION_CANDIDATE_H_
#define KASHI_REDUCTION_CANDIDATE_H_

#include <memory>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/reduction/module_size.h"
#include "kashi/reduction/transformation.h"

namespace kashi::reduction {

struct Candidate {
  std::shared_ptr<const HloModule> module;
  ModuleSize size;
  std::string text;         // with all elements of constants
  std::string fingerprint;  // of the text, 32 hexadecimal digits
};

// The rules that candidates must keep: those that the module itself keeps.
class Rules {
 public:
  // FAILED_PRECONDITION for a module whose structure is broken: nothing can be cut out of it.
  static absl::StatusOr<Rules> Of(const HloModule& module, const HloVerifierOpts& opts);

  // INTERNAL: the first rule that is broken and need not be.
  absl::Status Check(const HloModule& module) const;
  // Whether the module keeps all rules, so that its parts may be evaluated.
  bool are_all_kept() const { return broken_.empty(); }

 private:
  explicit Rules(const HloVerifierOpts& opts) : opts_(opts) {}

  HloVerifierOpts opts_;
  absl::flat_hash_set<std::string> broken_;
};

// The module itself, as a candidate. Its copy has no gaps (HloComputation::Cleanup).
Candidate MakeCandidate(const HloModule& module, const Rules& rules);

// An error: the transformation does not apply, or what it makes breaks a rule.
absl::StatusOr<Candidate> MakeCandidate(const Candidate& from, const Transformation& transformation,
                                        absl::Span<const Site> sites, const Rules& rules);

}  // namespace kashi::reduction

#endif  // KASHI_REDUCTION_CANDIDATE_H_
