#include "kashi/partition/factor_axes.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/partition/halo.h"

namespace kashi::partition {
namespace {

AxisList JoinedAll(const std::vector<AxisList>& lists) {
  AxisList all;
  for (const AxisList& list : lists) all = Joined(all, list);
  return all;
}

// The place of a factor among the digits of a dimension.
std::optional<size_t> PlaceOf(const PartitionRule& rule, int factor, int dimension) {
  if (dimension == PartitionRule::kWhole) return std::nullopt;
  const std::vector<int>& digits = rule.factors[dimension].digits;
  const auto found = absl::c_find(digits, factor);
  if (found == digits.end()) return std::nullopt;
  return found - digits.begin();
}

}  // namespace

AxisList Spread(const DeviceAxes& axes, const PartitionRule& rule, int factor, const AxisList& list) {
  const PartitionFactor& f = rule.factors[factor];
  if (!f.digits.empty()) return JoinedAll(AxesOfDigits(axes, rule, factor, list));
  if (f.divisor == 0) return list;
  AxisList allowed;
  for (const int axis : list) {
    AxisList longer = allowed;
    longer.push_back(axis);
    if (f.divisor % axes.SizeOf(longer) != 0) break;
    allowed = std::move(longer);
  }
  return allowed;
}

AxisList Allowed(const DeviceAxes& axes, const PartitionRule& rule, int factor, const AxisList& list) {
  const PartitionFactor& f = rule.factors[factor];
  if (f.is_whole) return {};
  if (f.is_rotated) return f.size % axes.SizeOf(list) == 0 ? list : AxisList();
  if (!f.moving.has_value()) return Spread(axes, rule, factor, list);
  return PlanHalo(*f.moving, axes.SizeOf(list)).has_value() ? list : AxisList();
}

std::vector<AxisList> AxesOfDigits(const DeviceAxes& axes, const PartitionRule& rule, int dimension,
                                   const AxisList& list) {
  std::vector<AxisList> of_digits;
  AxisList rest = list;
  for (const int digit : rule.factors[dimension].digits) {
    AxisList own = Spread(axes, rule, digit, rest);
    const bool is_single = axes.SizeOf(own) == rule.factors[digit].size;
    rest = is_single ? WithoutFirst(rest, own.size()) : AxisList();
    of_digits.push_back(std::move(own));
  }
  return of_digits;
}

std::optional<AxisList> AxesIn(const DeviceAxes& axes, const PartitionRule& rule, int factor, int dimension,
                               const AxisList& list) {
  if (dimension == factor) return Spread(axes, rule, factor, list);
  const std::optional<size_t> place = PlaceOf(rule, factor, dimension);
  if (!place.has_value()) return std::nullopt;
  return AxesOfDigits(axes, rule, dimension, list)[*place];
}

std::optional<AxisList> CutFor(const DeviceAxes& axes, const PartitionRule& rule, int factor, int dimension,
                               const AxisList& now, const AxisList& wanted) {
  if (dimension == factor) return wanted;
  const std::optional<size_t> place = PlaceOf(rule, factor, dimension);
  if (!place.has_value()) return std::nullopt;
  std::vector<AxisList> before = AxesOfDigits(axes, rule, dimension, now);
  before.resize(*place);
  for (size_t i = 0; i < before.size(); ++i) {
    if (axes.SizeOf(before[i]) != rule.factors[rule.factors[dimension].digits[i]].size) return std::nullopt;
  }
  return Joined(JoinedAll(before), wanted);
}

}  // namespace kashi::partition
