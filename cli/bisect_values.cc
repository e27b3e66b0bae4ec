#include "cli/bisect_values.h"

#include <memory>

#include "cli/program_run.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal_comparison.h"

namespace kashi::cli {
namespace {

constexpr int64_t kMostBytes = int64_t{2} << 30;
constexpr int64_t kOverhead = 256;  // of a kept value, besides its elements
constexpr char kEvaluator[] = "evaluator";

bool HaveEqualSizes(const Value& a, const Value& b) {
  return a.is_array() && b.is_array() && a.dimensions() == b.dimensions();
}

}  // namespace

absl::StatusOr<OutputComparison> CompareValues(const Value& expected, const Value& actual, const Tolerance& tolerance) {
  KASHI_ASSIGN_OR_RETURN(const Literal a, expected.ToLiteral(expected.shape()));
  KASHI_ASSIGN_OR_RETURN(const Literal b, actual.ToLiteral(actual.shape()));
  return CompareForms(a, b, tolerance);
}

void ValuePairs::Keep(const HloInstruction& a, const Value& value) {
  if (!value.is_array()) return;
  Kept& kept = kept_[&a];
  const bool fits = kept_bytes_ + value.byte_count() + kOverhead <= kMostBytes;
  kept.is_complete = kept.is_complete && fits;
  if (!kept.is_complete) return;
  kept_bytes_ += value.byte_count() + kOverhead;
  kept.values.push_back(value);
}

absl::Status ValuePairs::CompareNext(const HloInstruction& b, const Value& value, const Tolerance& tolerance) {
  const auto partner = partners_.find(&b);
  if (partner == partners_.end() || !value.is_array()) return absl::OkStatus();
  const int64_t occurrence = compared_[&b]++;
  const auto kept = kept_.find(partner->second);
  if (kept == kept_.end() || occurrence >= static_cast<int64_t>(kept->second.values.size())) return absl::OkStatus();
  const Value& expected = kept->second.values[occurrence];
  if (first_differing_.count(&b) > 0 || !HaveEqualSizes(expected, value)) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const OutputComparison comparison, CompareValues(expected, value, tolerance));
  if (comparison.statistics.mismatches == 0) return absl::OkStatus();
  first_differing_[&b] = differing_.size();
  differing_.push_back({partner->second, &b, occurrence});
  return absl::OkStatus();
}

absl::StatusOr<ValuePairs> ValuePairs::Compare(const ProgramForm& a, const ProgramForm& b,
                                               const Counterparts& counterparts, const Tolerance& tolerance,
                                               const EvaluationOptions& evaluation) {
  ValuePairs pairs;
  EvaluationOptions of_a = evaluation;
  of_a.observer = [&](const HloInstruction& x, const Value& value) {
    if (counterparts.contains(&x)) pairs.Keep(x, value);
    return absl::OkStatus();
  };
  KASHI_RETURN_IF_ERROR(RunOn(*a.module, *a.arguments, kEvaluator, std::move(of_a)).status());
  for (const auto& [x, y] : counterparts) pairs.partners_[y] = x;
  EvaluationOptions of_b = evaluation;
  of_b.observer = [&](const HloInstruction& y, const Value& value) { return pairs.CompareNext(y, value, tolerance); };
  KASHI_RETURN_IF_ERROR(RunOn(*b.module, *b.arguments, kEvaluator, std::move(of_b)).status());
  return pairs;
}

bool ValuePairs::AgreesBefore(const HloInstruction* b, size_t limit) const {
  const auto partner = partners_.find(b);
  if (partner == partners_.end()) return false;
  const auto kept = kept_.find(partner->second);
  if (kept == kept_.end() || !kept->second.is_complete || kept->second.values.empty() || compared_.count(b) == 0) {
    return false;
  }
  if (b->shape().IsArray() && !ShapeUtil::SameDimensions(b->shape(), partner->second->shape())) return false;
  const auto first = first_differing_.find(b);
  return first == first_differing_.end() || first->second > limit;
}

std::optional<std::vector<Value>> ValuePairs::ValuesOfA(const HloInstruction* a) const {
  const auto kept = kept_.find(a);
  if (kept == kept_.end() || !kept->second.is_complete) return std::nullopt;
  return kept->second.values;
}

absl::StatusOr<ValueMap> ValuesUntil(const ProgramForm& form, const absl::flat_hash_set<const HloInstruction*>& wanted,
                                     const HloInstruction* until, int64_t occurrence, EvaluationOptions evaluation) {
  ValueMap values;
  bool is_there = false;
  evaluation.observer = [&](const HloInstruction& x, const Value& value) {
    if (wanted.contains(&x) || &x == until) values[&x] = value;
    is_there = &x == until && occurrence-- == 0;
    return is_there ? absl::CancelledError("the value is there") : absl::OkStatus();
  };
  const absl::Status status = RunOn(*form.module, *form.arguments, kEvaluator, std::move(evaluation)).status();
  if (!is_there) KASHI_RETURN_IF_ERROR(status);
  return values;
}

}  // namespace kashi::cli
