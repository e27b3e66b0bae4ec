// The values of two forms of a program, instruction by instruction, for `kashi bisect`.
#ifndef KASHI_CLI_BISECT_VALUES_H_
#define KASHI_CLI_BISECT_VALUES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"
#include "kashi/values/value.h"

namespace kashi::cli {

// A form of the program, with its arguments.
struct ProgramForm {
  const HloModule* module;
  const Arguments* arguments;
};

// Counterparts of instructions of A in B.
using Counterparts = absl::flat_hash_map<const HloInstruction*, const HloInstruction*>;

// A pair of instructions whose values differ.
struct DifferingPair {
  const HloInstruction* a = nullptr;
  const HloInstruction* b = nullptr;
  int64_t occurrence = 0;  // the first value that differs, from 0; -1: not known, the pair was not compared
};

class ValuePairs {
 public:
  // Runs both forms. Of A it keeps the values of instructions that have counterparts, as far as 2 GiB go.
  static absl::StatusOr<ValuePairs> Compare(const ProgramForm& a, const ProgramForm& b,
                                            const Counterparts& counterparts, const Tolerance& tolerance,
                                            const EvaluationOptions& evaluation);

  // In the order in which B has computed them.
  const std::vector<DifferingPair>& differing() const { return differing_; }
  // Whether the values of an instruction of B were compared, and none differed before the one of `limit`, a number of
  // differing().
  bool AgreesBefore(const HloInstruction* b, size_t limit) const;
  // All values of an instruction of A, in order; nullopt if they were not kept.
  std::optional<std::vector<Value>> ValuesOfA(const HloInstruction* a) const;

 private:
  struct Kept {
    std::vector<Value> values;
    bool is_complete = true;
  };

  void Keep(const HloInstruction& a, const Value& value);
  absl::Status CompareNext(const HloInstruction& b, const Value& value, const Tolerance& tolerance);

  absl::flat_hash_map<const HloInstruction*, Kept> kept_;  // by A's instruction
  int64_t kept_bytes_ = 0;
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> partners_;  // of B's instructions
  absl::flat_hash_map<const HloInstruction*, int64_t> compared_;                // by B's instruction: how many
  absl::flat_hash_map<const HloInstruction*, size_t> first_differing_;          // a number of differing_
  std::vector<DifferingPair> differing_;
};

// The comparison of two values of equal sizes; types may differ.
absl::StatusOr<OutputComparison> CompareValues(const Value& expected, const Value& actual, const Tolerance& tolerance);

// The last values of these instructions before the value of `until` that has this number, from 0, and this value too.
// Ends the run there. Instructions that have no value by then are left out.
using ValueMap = absl::flat_hash_map<const HloInstruction*, Value>;
absl::StatusOr<ValueMap> ValuesUntil(const ProgramForm& form, const absl::flat_hash_set<const HloInstruction*>& wanted,
                                     const HloInstruction* until, int64_t occurrence, EvaluationOptions evaluation);

}  // namespace kashi::cli

#endif  // KASHI_CLI_BISECT_VALUES_H_
