#include "kashi/evaluator/integer_forms.h"

#include <algorithm>
#include <limits>

#include "kashi/array/primitive_util.h"
#include "kashi/base/check.h"

namespace kashi::internal {
namespace {

using Int128 = __int128;

// Beyond these nothing more is said: the table stays small whatever the program.
constexpr size_t kMaxIntegerForms = 1 << 20;
constexpr size_t kMaxFormTerms = 8;

std::optional<IntegerRange> RangeIfFits(Int128 low, Int128 high) {
  constexpr Int128 kMin = std::numeric_limits<int64_t>::min();
  constexpr Int128 kMax = std::numeric_limits<int64_t>::max();
  if (low < kMin || high > kMax) return std::nullopt;
  return IntegerRange{static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

std::optional<int64_t> NumberIfFits(Int128 value) {
  const std::optional<IntegerRange> range = RangeIfFits(value, value);
  return range ? std::optional<int64_t>(range->low) : std::nullopt;
}

// Between the least and the greatest of the function at the corners of the two ranges.
template <typename Function>
std::optional<IntegerRange> RangeOfCorners(IntegerRange a, IntegerRange b, Function function) {
  const auto [low, high] =
      std::minmax({function(Int128{a.low}, Int128{b.low}), function(Int128{a.low}, Int128{b.high}),
                   function(Int128{a.high}, Int128{b.low}), function(Int128{a.high}, Int128{b.high})});
  return RangeIfFits(low, high);
}

bool IsOne(IntegerRange range) { return range.low == range.high; }

}  // namespace

std::optional<IntegerRange> IntegerForms::RangeOfType(PrimitiveType type) {
  if (type == PRED) return IntegerRange{0, 1};
  if (!primitive_util::IsIntegralType(type)) return std::nullopt;
  const int bits = primitive_util::BitWidth(type);
  if (primitive_util::IsSignedIntegralType(type)) {
    return RangeIfFits(-(Int128{1} << (bits - 1)), (Int128{1} << (bits - 1)) - 1);
  }
  // Of U64 the lower half.
  return RangeIfFits(0, (Int128{1} << std::min(bits, 63)) - 1);
}

IntegerRange IntegerForms::RangeOf(Id id) const {
  KASHI_CHECK(id != kNone);
  return form(id).range;
}

IntegerForms::Id IntegerForms::Insert(int64_t constant, std::vector<Term> terms) {
  Int128 low = constant;
  Int128 high = constant;
  for (const auto& [unknown, coefficient] : terms) {
    const IntegerRange range = unknowns_[unknown];
    low += Int128{coefficient} * (coefficient > 0 ? range.low : range.high);
    high += Int128{coefficient} * (coefficient > 0 ? range.high : range.low);
  }
  const std::optional<IntegerRange> range = RangeIfFits(low, high);
  if (!range || forms_.size() >= kMaxIntegerForms) return kNone;
  if (terms.size() > kMaxFormTerms) return Unknown(*range);
  forms_.push_back({constant, std::move(terms), *range});
  return static_cast<Id>(forms_.size());
}

IntegerForms::Id IntegerForms::Constant(int64_t value) {
  const auto found = constants_.find(value);
  if (found != constants_.end()) return found->second;
  const Id id = Insert(value, {});
  if (id != kNone) constants_[value] = id;
  return id;
}

IntegerForms::Id IntegerForms::Unknown(IntegerRange range) {
  if (IsOne(range)) return Constant(range.low);
  unknowns_.push_back(range);
  return Insert(0, {{static_cast<int32_t>(unknowns_.size()) - 1, 1}});
}

IntegerForms::Id IntegerForms::Sum(Id a, Id b, int64_t factor) {
  if (a == kNone || b == kNone) return kNone;
  const std::optional<int64_t> constant = NumberIfFits(form(a).constant + Int128{factor} * form(b).constant);
  if (!constant) return kNone;
  absl::flat_hash_map<int32_t, Int128> sums;
  for (const auto& [unknown, coefficient] : form(a).terms) sums[unknown] += coefficient;
  for (const auto& [unknown, coefficient] : form(b).terms) sums[unknown] += Int128{factor} * coefficient;
  std::vector<Term> terms;
  for (const auto& [unknown, sum] : sums) {
    const std::optional<int64_t> coefficient = NumberIfFits(sum);
    if (!coefficient) return kNone;
    if (*coefficient != 0) terms.push_back({unknown, *coefficient});
  }
  std::sort(terms.begin(), terms.end());
  return Insert(*constant, std::move(terms));
}

IntegerForms::Id IntegerForms::Product(Id a, Id b) {
  if (IsOne(RangeOf(b))) return Scaled(a, RangeOf(b).low);
  if (IsOne(RangeOf(a))) return Scaled(b, RangeOf(a).low);
  const auto range = RangeOfCorners(RangeOf(a), RangeOf(b), [](Int128 x, Int128 y) { return x * y; });
  return range ? Unknown(*range) : kNone;
}

// Rounds towards zero. A divisor of 0 is left out: code that divides by a size knows that it is not 0, and x / 0 is no
// bound.
IntegerForms::Id IntegerForms::Quotient(Id a, Id b) {
  const IntegerRange divisor = RangeOf(b);
  std::optional<IntegerRange> both;
  const auto add = [&](int64_t low, int64_t high) {
    if (low > high) return true;
    const auto part = RangeOfCorners(RangeOf(a), {low, high}, [](Int128 x, Int128 y) { return x / y; });
    if (!part) return false;
    both = both ? IntegerRange{std::min(both->low, part->low), std::max(both->high, part->high)} : *part;
    return true;
  };
  const bool fits =
      add(divisor.low, std::min<int64_t>(divisor.high, -1)) && add(std::max<int64_t>(divisor.low, 1), divisor.high);
  return fits && both ? Unknown(*both) : kNone;
}

// Has the sign of the dividend. Said of positive divisors only.
IntegerForms::Id IntegerForms::Remainder(Id a, Id b) {
  const IntegerRange dividend = RangeOf(a);
  const IntegerRange divisor = RangeOf(b);
  if (divisor.low < 1) return kNone;
  const int64_t most = divisor.high - 1;
  return Unknown({std::clamp<int64_t>(dividend.low, -most, 0), std::clamp<int64_t>(dividend.high, 0, most)});
}

IntegerForms::Id IntegerForms::AbsoluteValue(Id a) {
  const IntegerRange range = RangeOf(a);
  if (range.low >= 0) return a;
  if (range.high <= 0) return Scaled(a, -1);
  const std::optional<int64_t> negated = NumberIfFits(-Int128{range.low});
  return negated ? Unknown({0, std::max(*negated, range.high)}) : kNone;
}

IntegerForms::Id IntegerForms::Either(Id a, Id b) {
  if (a == b || a == kNone || b == kNone) return a == b ? a : kNone;
  const IntegerRange x = RangeOf(a);
  const IntegerRange y = RangeOf(b);
  return Unknown({std::min(x.low, y.low), std::max(x.high, y.high)});
}

IntegerForms::Id IntegerForms::Compare(ComparisonDirection direction, Id lhs, Id rhs) {
  const Id difference = Sum(lhs, rhs, -1);
  if (difference == kNone) return kNone;
  const auto [low, high] = RangeOf(difference);
  const auto known = [this](bool surely, bool surely_not) {
    return surely ? Constant(1) : surely_not ? Constant(0) : Unknown({0, 1});
  };
  switch (direction) {
    case ComparisonDirection::kEq:
      return known(low == 0 && high == 0, low > 0 || high < 0);
    case ComparisonDirection::kNe:
      return known(low > 0 || high < 0, low == 0 && high == 0);
    case ComparisonDirection::kGe:
      return known(low >= 0, high < 0);
    case ComparisonDirection::kGt:
      return known(low > 0, high <= 0);
    case ComparisonDirection::kLe:
      return known(high <= 0, low > 0);
    case ComparisonDirection::kLt:
      return known(high < 0, low >= 0);
  }
  return kNone;
}

IntegerForms::Id IntegerForms::ApplyTo(HloOpcode opcode, PrimitiveType type, absl::Span<const Id> x) {
  const auto range = [&](int i) { return RangeOf(x[i]); };
  const auto least = [&] {
    return Unknown({std::min(range(0).low, range(1).low), std::min(range(0).high, range(1).high)});
  };
  const auto greatest = [&] {
    return Unknown({std::max(range(0).low, range(1).low), std::max(range(0).high, range(1).high)});
  };
  switch (opcode) {
    case HloOpcode::kAdd:
      return type == PRED ? greatest() : Sum(x[0], x[1], 1);
    case HloOpcode::kSubtract:
      return Sum(x[0], x[1], -1);
    case HloOpcode::kMultiply:
      return Product(x[0], x[1]);
    case HloOpcode::kDivide:
      return Quotient(x[0], x[1]);
    case HloOpcode::kRemainder:
      return Remainder(x[0], x[1]);
    case HloOpcode::kMaximum:
      return range(0).low >= range(1).high ? x[0] : range(1).low >= range(0).high ? x[1] : greatest();
    case HloOpcode::kMinimum:
      return range(0).high <= range(1).low ? x[0] : range(1).high <= range(0).low ? x[1] : least();
    case HloOpcode::kOr:
      return type == PRED ? greatest() : kNone;
    case HloOpcode::kAnd:
      return type == PRED ? least() : kNone;
    case HloOpcode::kNot:
      return type == PRED ? Sum(Constant(1), x[0], -1) : Sum(Constant(-1), x[0], -1);
    case HloOpcode::kNegate:
      return Scaled(x[0], -1);
    case HloOpcode::kAbs:
      return AbsoluteValue(x[0]);
    case HloOpcode::kSign:
      return Unknown({std::clamp<int64_t>(range(0).low, -1, 1), std::clamp<int64_t>(range(0).high, -1, 1)});
    case HloOpcode::kConvert:
      // To PRED: whether it is not 0.
      return type == PRED && !IsOne(range(0)) ? Compare(ComparisonDirection::kNe, x[0], Constant(0)) : x[0];
    case HloOpcode::kCopy:
      return x[0];
    case HloOpcode::kClamp:
      return Apply(HloOpcode::kMinimum, type, {ApplyTo(HloOpcode::kMaximum, type, {x[0], x[1]}), x[2]});
    default:
      return kNone;
  }
}

IntegerForms::Id IntegerForms::AsType(PrimitiveType type, Id id) {
  const std::optional<IntegerRange> whole = RangeOfType(type);
  if (id == kNone || !whole) return kNone;
  const IntegerRange range = RangeOf(id);
  return range.low >= whole->low && range.high <= whole->high ? id : kNone;
}

IntegerForms::Id IntegerForms::Apply(HloOpcode opcode, PrimitiveType type, absl::Span<const Id> operands) {
  if (std::find(operands.begin(), operands.end(), kNone) != operands.end()) return kNone;
  return AsType(type, ApplyTo(opcode, type, operands));
}

}  // namespace kashi::internal
