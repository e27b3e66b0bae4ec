// What looks at every value of a run as it is made: `kashi run --trace`, `--until`, `--check-nan`, and the line that shows
// how far a long run is.
#ifndef KASHI_CLI_RUN_WATCH_H_
#define KASHI_CLI_RUN_WATCH_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "cli/progress.h"
#include "cli/value_summary.h"
#include "kashi/evaluator/value.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::internal::cli {

// An error from See ends the run.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual absl::Status See(const HloInstruction& instruction, const Value& value) = 0;
};

// Writes every array as .npy into a directory: of tuples each element. index.tsv says what the files are:
//
//   file                 instruction  computation  occurrence  leaf  shape
//   000002.dot.3.npy     dot.3        main         1           {}    f32[2,2]
class Tracer : public Watcher {
 public:
  // Stops writing, and says so, where the files would take more than `limit_bytes` on a disk.
  Tracer(std::string directory, int64_t limit_bytes) : directory_(std::move(directory)), limit_bytes_(limit_bytes) {}

  // Makes the directory and shows that it can be written.
  absl::Status Begin();
  absl::Status See(const HloInstruction& instruction, const Value& value) override;
  // Writes index.tsv.
  absl::Status Finish();

 private:
  absl::Status WriteLeaves(const HloInstruction& instruction, const Value& value, ShapeIndex* index);
  absl::Status WriteArray(const HloInstruction& instruction, const Value& array, const ShapeIndex& index);

  std::string directory_;
  int64_t limit_bytes_;
  int64_t written_bytes_ = 0;
  bool is_full_ = false;
  int64_t values_ = 0;
  absl::flat_hash_map<const HloInstruction*, int64_t> occurrences_;
  std::string index_;
};

// Keeps the value of one instruction and ends the run with it.
class Until : public Watcher {
 public:
  explicit Until(const HloInstruction* instruction) : instruction_(instruction) {}
  absl::Status See(const HloInstruction& instruction, const Value& value) override;
  const HloInstruction& instruction() const { return *instruction_; }
  // Nothing if the run never came there.
  const Value& value() const { return value_; }

 private:
  const HloInstruction* instruction_;
  Value value_;
};

// The instruction of that name, with or without `%`. NOT_FOUND, with names that are like it.
absl::StatusOr<const HloInstruction*> FindInstruction(const HloModule& module, absl::string_view name);

// Ends the run at the first instruction that makes a NaN though no operand has one, or an infinity though no operand has
// either. Parameters and constants make nothing; of instructions that call computations, what they call is checked instead.
class NanCheck : public Watcher {
 public:
  absl::Status See(const HloInstruction& instruction, const Value& value) override;
  // What was found: instruction, computation, operands, source; "" if nothing was.
  const std::string& finding() const { return finding_; }

 private:
  void Describe(const HloInstruction& instruction, const ValueSummary& summary);

  absl::flat_hash_map<const HloInstruction*, ValueSummary> summaries_;  // of the last occurrence
  std::string finding_;
};

// The part of the progress line about a run: "instruction 18 of 340, iteration 44, last dot.3 in body". Counted are the
// instructions of the entry computation; what they call is seen in the iteration and the last instruction. Several devices
// may call See at once, and are counted together.
class RunProgress : public Watcher {
 public:
  // `label` says which run it is; "" if there is only one. The module must outlive this.
  RunProgress(const HloModule& module, int64_t devices, std::string label);
  absl::Status See(const HloInstruction& instruction, const Value& value) override;

 private:
  std::string Text() const;

  const std::string label_;
  const HloComputation* const entry_;
  const int64_t instructions_;  // of the entry computation, on all devices
  std::atomic<int64_t> seen_{0};
  std::atomic<const HloInstruction*> last_{nullptr};
  std::unordered_map<const HloInstruction*, std::atomic<int64_t>> iterations_of_;  // by the roots of loop bodies
  std::atomic<int64_t> iterations_{0};                                             // of the loop that made the last
  const Progress progress_{[this] { return Text(); }};                             // reads the others
};

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_RUN_WATCH_H_
