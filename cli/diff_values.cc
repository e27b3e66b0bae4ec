#include "cli/diff_values.h"

#include <utility>

#include "kashi/base/status.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_comparison.h"

namespace kashi::cli {

const HloInstruction* ValueComparer::CounterpartOf(const HloInstruction& instruction) const {
  const auto found = diff_.counterparts.find(&instruction);
  return found == diff_.counterparts.end() ? nullptr : found->second;
}

absl::Status ValueComparer::OnValueOfA(const HloInstruction& instruction, const Value& value) {
  ++places_;
  const HloInstruction* counterpart = CounterpartOf(instruction);
  if (counterpart == nullptr || !value.is_array()) return absl::OkStatus();
  if (kept_bytes_ > kMostBytes) return ++not_kept_, absl::OkStatus();
  const bool fits = value.byte_count() <= kMostBytes - kept_bytes_;
  kept_bytes_ += kOverhead + (fits ? value.byte_count() : 0);
  not_kept_ += fits ? 0 : 1;
  kept_[counterpart].push_back({places_, &instruction, fits ? value : Value()});
  return absl::OkStatus();
}

namespace {

LiteralSlice AsLiteral(const Value& value, std::optional<BorrowingLiteral>* holder) {
  holder->emplace(value.bytes(), value.shape());
  return LiteralSlice(**holder);
}

}  // namespace

absl::Status ValueComparer::OnValueOfB(const HloInstruction& instruction, const Value& value) {
  const auto waiting = kept_.find(&instruction);
  if (waiting == kept_.end() || waiting->second.empty()) return absl::OkStatus();
  const int64_t occurrence = ++occurrences_[&instruction];
  const Kept kept = std::move(waiting->second.front());
  waiting->second.pop_front();
  if (kept.value.is_nothing() || (first_.has_value() && first_->place < kept.place)) return absl::OkStatus();
  if (!value.is_array() || kept.value.shape() != value.shape()) return absl::OkStatus();
  ++compared_;
  std::optional<BorrowingLiteral> a;
  std::optional<BorrowingLiteral> b;
  OutputComparison comparison;
  comparison.tolerance = tolerance_.For(value.element_type());
  KASHI_ASSIGN_OR_RETURN(comparison.statistics,
                         literal_comparison::Compare(AsLiteral(kept.value, &a), AsLiteral(value, &b),
                                                     ErrorSpec(comparison.tolerance, comparison.tolerance)));
  if (comparison.statistics.is_all_nan()) NoteNan(kept);
  if (comparison.statistics.mismatches == 0) return absl::OkStatus();
  first_ = Disagreement{kept.place,       kept.instruction, &instruction, occurrence, Summarize(kept.value),
                        Summarize(value), comparison};
  return absl::OkStatus();
}

void ValueComparer::NoteNan(const Kept& kept) {
  ++all_nan_;
  if (!first_nan_.has_value() || kept.place < first_nan_->place) first_nan_ = NanValue{kept.place, kept.instruction};
}

}  // namespace kashi::cli
