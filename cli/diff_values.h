// Compares the values of two programs during their runs: `kashi diff` prints the first one that differs.
#ifndef KASHI_CLI_DIFF_VALUES_H_
#define KASHI_CLI_DIFF_VALUES_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "cli/run_outputs.h"
#include "cli/value_summary.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/matching/module_diff.h"
#include "kashi/values/value.h"

namespace kashi::cli {

// Keeps the values of A, compares the values of B with them during the run of B, and keeps the first difference in A's
// order. The n-th value of an instruction is compared with the n-th value of its counterpart. NaN on both sides is
// counted, but is not a difference.
class ValueComparer {
 public:
  struct Disagreement {
    int64_t place;  // in A's order
    const HloInstruction* a;
    const HloInstruction* b;
    int64_t occurrence;  // from 1
    ValueSummary summary_a;
    ValueSummary summary_b;
    OutputComparison comparison;
  };

  ValueComparer(const matching::ModuleDiff& diff, Tolerance tolerance) : diff_(diff), tolerance_(tolerance) {}

  absl::Status OnValueOfA(const HloInstruction& instruction, const Value& value);
  absl::Status OnValueOfB(const HloInstruction& instruction, const Value& value);

  // An instruction whose value is all NaN in A and in B.
  struct NanValue {
    int64_t place;
    const HloInstruction* a;
  };

  const std::optional<Disagreement>& first() const { return first_; }
  // The number of values with compared elements.
  int64_t compared() const { return compared_ - all_nan_; }
  // The number of values that are all NaN on both sides, so that nothing is compared, and the first of them in A's
  // order.
  int64_t all_nan() const { return all_nan_; }
  const std::optional<NanValue>& first_nan() const { return first_nan_; }
  int64_t not_kept() const { return not_kept_; }

 private:
  struct Kept {
    int64_t place;
    const HloInstruction* instruction;
    Value value;  // nothing: there was no room for it
  };

  const HloInstruction* CounterpartOf(const HloInstruction& instruction) const;
  void NoteNan(const Kept& kept);

  static constexpr int64_t kMostBytes = int64_t{2} << 30;
  static constexpr int64_t kOverhead = 256;  // the bytes of a kept value besides its elements

  const matching::ModuleDiff& diff_;
  const Tolerance tolerance_;
  absl::flat_hash_map<const HloInstruction*, std::deque<Kept>> kept_;  // by B's instruction
  absl::flat_hash_map<const HloInstruction*, int64_t> occurrences_;    // in B
  int64_t places_ = 0;
  int64_t kept_bytes_ = 0;
  int64_t compared_ = 0;
  int64_t all_nan_ = 0;
  int64_t not_kept_ = 0;
  std::optional<Disagreement> first_;
  std::optional<NanValue> first_nan_;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_DIFF_VALUES_H_
