#include "kashi/evaluator/integer_forms.h"

#include <algorithm>
#include <limits>

#include "kashi/array/primitive_util.h"
#include "kashi/base/check.h"
#include "kashi/evaluator/operation_table.h"

namespace kashi::evaluator {
namespace {

using Int128 = __int128;

// Results beyond these limits have no form, so that the table stays small for any program.
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
  // The lower half of U64.
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

// Rounds towards zero. A divisor of 0 is left out: code that divides by a size knows that it is not 0, and x / 0 bounds
// nothing.
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

// Has the sign of the dividend. Known for positive divisors only.
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

// Between the bounds of both. An operand whose range lies on one side of the other's is the result itself.
IntegerForms::Id IntegerForms::Maximum(Id a, Id b) {
  const IntegerRange x = RangeOf(a), y = RangeOf(b);
  if (x.low >= y.high) return a;
  if (y.low >= x.high) return b;
  return Unknown({std::max(x.low, y.low), std::max(x.high, y.high)});
}

IntegerForms::Id IntegerForms::Minimum(Id a, Id b) {
  const IntegerRange x = RangeOf(a), y = RangeOf(b);
  if (x.high <= y.low) return a;
  if (y.high <= x.low) return b;
  return Unknown({std::min(x.low, y.low), std::min(x.high, y.high)});
}

// ---- The rules -----------------------------------------------------------------------------------------------------

IntegerForms::Id IntegerRules::Abs(IntegerForms& forms, PrimitiveType, Ids x) { return forms.AbsoluteValue(x[0]); }

IntegerForms::Id IntegerRules::Add(IntegerForms& forms, PrimitiveType type, Ids x) {
  return type == PRED ? Or(forms, type, x) : forms.Sum(x[0], x[1], 1);
}

IntegerForms::Id IntegerRules::And(IntegerForms& forms, PrimitiveType type, Ids x) {
  if (type != PRED) return IntegerForms::kNone;
  const IntegerRange a = forms.RangeOf(x[0]), b = forms.RangeOf(x[1]);
  return forms.Unknown({std::min(a.low, b.low), std::min(a.high, b.high)});
}

IntegerForms::Id IntegerRules::Clamp(IntegerForms& forms, PrimitiveType type, Ids x) {
  return forms.Apply(HloOpcode::kMinimum, type, {forms.Maximum(x[0], x[1]), x[2]});
}

// To PRED: whether it is not 0.
IntegerForms::Id IntegerRules::Convert(IntegerForms& forms, PrimitiveType type, Ids x) {
  if (type != PRED || IsOne(forms.RangeOf(x[0]))) return x[0];
  return forms.Compare(ComparisonDirection::kNe, x[0], forms.Constant(0));
}

IntegerForms::Id IntegerRules::Copy(IntegerForms&, PrimitiveType, Ids x) { return x[0]; }
IntegerForms::Id IntegerRules::Divide(IntegerForms& forms, PrimitiveType, Ids x) { return forms.Quotient(x[0], x[1]); }
IntegerForms::Id IntegerRules::Maximum(IntegerForms& forms, PrimitiveType, Ids x) { return forms.Maximum(x[0], x[1]); }
IntegerForms::Id IntegerRules::Minimum(IntegerForms& forms, PrimitiveType, Ids x) { return forms.Minimum(x[0], x[1]); }
IntegerForms::Id IntegerRules::Multiply(IntegerForms& forms, PrimitiveType, Ids x) { return forms.Product(x[0], x[1]); }
IntegerForms::Id IntegerRules::Negate(IntegerForms& forms, PrimitiveType, Ids x) { return forms.Scaled(x[0], -1); }

// 1 - x of a PRED, -1 - x of an integer.
IntegerForms::Id IntegerRules::Not(IntegerForms& forms, PrimitiveType type, Ids x) {
  return forms.Sum(forms.Constant(type == PRED ? 1 : -1), x[0], -1);
}

IntegerForms::Id IntegerRules::Or(IntegerForms& forms, PrimitiveType type, Ids x) {
  if (type != PRED) return IntegerForms::kNone;
  const IntegerRange a = forms.RangeOf(x[0]), b = forms.RangeOf(x[1]);
  return forms.Unknown({std::max(a.low, b.low), std::max(a.high, b.high)});
}

IntegerForms::Id IntegerRules::Remainder(IntegerForms& forms, PrimitiveType, Ids x) {
  return forms.Remainder(x[0], x[1]);
}

IntegerForms::Id IntegerRules::Sign(IntegerForms& forms, PrimitiveType, Ids x) {
  const IntegerRange range = forms.RangeOf(x[0]);
  return forms.Unknown({std::clamp<int64_t>(range.low, -1, 1), std::clamp<int64_t>(range.high, -1, 1)});
}

IntegerForms::Id IntegerRules::Subtract(IntegerForms& forms, PrimitiveType, Ids x) { return forms.Sum(x[0], x[1], -1); }

// --------------------------------------------------------------------------------------------------------------------

IntegerForms::Id IntegerForms::AsType(PrimitiveType type, Id id) {
  const std::optional<IntegerRange> whole = RangeOfType(type);
  if (id == kNone || !whole) return kNone;
  const IntegerRange range = RangeOf(id);
  return range.low >= whole->low && range.high <= whole->high ? id : kNone;
}

IntegerForms::Id IntegerForms::Apply(HloOpcode opcode, PrimitiveType type, absl::Span<const Id> operands) {
  const IntegerRule rule = TraitsOf(opcode).integers;
  if (rule == nullptr || std::find(operands.begin(), operands.end(), kNone) != operands.end()) return kNone;
  return AsType(type, rule(*this, type, operands));
}

}  // namespace kashi::evaluator
