// Observers of every value of a run: `kashi run --trace`, `--until`, `--check-nan`, and the progress line.
#ifndef KASHI_CLI_RUN_WATCH_H_
#define KASHI_CLI_RUN_WATCH_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "cli/progress.h"
#include "cli/value_summary.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/values/value.h"

namespace kashi::cli {

// OnValue is called with each value. An error ends the run.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual absl::Status OnValue(const HloInstruction& instruction, const Value& value) = 0;
};

// Writes every array to a directory as .npy; a tuple element by element. index.tsv lists the files:
//
//   file                 instruction  computation  occurrence  leaf  shape
//   000002.dot.3.npy     dot.3        main         1           {}    f32[2,2]
class Tracer : public Watcher {
 public:
  // Stops writing with a warning before the files exceed `limit_bytes` on the disk.
  Tracer(std::string directory, int64_t limit_bytes) : directory_(std::move(directory)), limit_bytes_(limit_bytes) {}

  // Creates the directory and checks that it can be written.
  absl::Status Begin();
  absl::Status OnValue(const HloInstruction& instruction, const Value& value) override;
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
  absl::Status OnValue(const HloInstruction& instruction, const Value& value) override;
  const HloInstruction& instruction() const { return *instruction_; }
  // Nothing if the run did not reach the instruction.
  const Value& value() const { return value_; }

 private:
  const HloInstruction* instruction_;
  Value value_;
};

// The instruction with this name, with or without `%`. NOT_FOUND with similar names.
absl::StatusOr<const HloInstruction*> FindInstruction(const HloModule& module, absl::string_view name);

// Ends the run at the first instruction that makes a NaN from operands without NaN, or an infinity from operands
// without infinity. Parameters and constants are not checked. For an instruction that calls computations, those
// are checked instead.
class NanCheck : public Watcher {
 public:
  absl::Status OnValue(const HloInstruction& instruction, const Value& value) override;
  // The description: instruction, computation, operands, source; "" if there is none.
  const std::string& finding() const { return finding_; }
  // The instructions with a NaN or an infinity that an operand has, too: they may make others.
  int64_t passed_on() const { return static_cast<int64_t>(passed_on_.size()); }

 private:
  void Describe(const HloInstruction& instruction, NonFinite kind, const Value& value);

  absl::flat_hash_map<const HloInstruction*, ValueSummary> summaries_;  // of the last occurrence
  absl::flat_hash_set<const HloInstruction*> passed_on_;
  std::string finding_;
};

// The part of the progress line about a run: "instruction 18 of 340, iteration 44, last dot.3 in body". It counts the
// instructions of the entry computation. The iteration and the last instruction may be in called computations. Several
// devices may call OnValue at the same time; they are counted together.
class RunProgress : public Watcher {
 public:
  // `label` names the run; "" if there is only one. The module must outlive this object.
  RunProgress(const HloModule& module, int64_t devices, std::string label);
  absl::Status OnValue(const HloInstruction& instruction, const Value& value) override;

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

}  // namespace kashi::cli

#endif  // KASHI_CLI_RUN_WATCH_H_
