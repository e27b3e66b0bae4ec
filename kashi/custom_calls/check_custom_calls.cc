// Calls of StableHLO's dialect `check`, which its tests use. They compare two arrays of one shape: (actual, expected).
// Limits are frontend attributes.
//
//   check.expect_eq         equal: NaN is equal to NaN, and -0 to 0
//   check.expect_almost_eq  equal, or no further apart than `tolerance` (1e-4)
//   check.expect_close      The largest distance in the array, in units in the last place, is at least
//                           `min_ulp_difference` (0) and at most `max_ulp_difference` (3). Integers and PRED, which are
//                           never rounded, are equal.
//
// They give nothing; a mismatch is an error. The older call check.eq gives whether the arrays are equal.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/types.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/custom_calls/custom_call_functions.h"
#include "kashi/hlo/attributes/comparison_util.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_util.h"

namespace kashi::custom_calls {
namespace {

constexpr double kDefaultTolerance = 1e-4;
constexpr uint64_t kDefaultMaxUlps = 3;
constexpr uint64_t kNoDistance =
    std::numeric_limits<uint64_t>::max();  // of a NaN, an infinity or an integer, and another

// ---- Elements ------------------------------------------------------------------------------------------------------

template <typename T>
bool IsSameElement(T x, T y) {
  if constexpr (is_complex_v<T>) {
    return IsSameElement(x.real(), y.real()) && IsSameElement(x.imag(), y.imag());
  } else if constexpr (is_specialized_floating_point_v<T>) {
    return x == y || (x != x && y != y);
  } else {
    return x == y;
  }
}

template <typename T>
bool IsAlmostSameElement(T x, T y, double tolerance) {
  if constexpr (is_complex_v<T>) {
    return IsAlmostSameElement(x.real(), y.real(), tolerance) && IsAlmostSameElement(x.imag(), y.imag(), tolerance);
  } else if constexpr (is_specialized_floating_point_v<T>) {
    return IsSameElement(x, y) || std::abs(static_cast<double>(x) - static_cast<double>(y)) <= tolerance;
  } else {
    return x == y;
  }
}

// How many representable numbers further the other one is. -0 and 0 are one number.
template <typename T>
uint64_t UlpDistance(T x, T y) {
  if constexpr (is_complex_v<T>) {
    return std::max(UlpDistance(x.real(), y.real()), UlpDistance(x.imag(), y.imag()));
  } else if constexpr (!is_specialized_floating_point_v<T>) {
    return x == y ? 0 : kNoDistance;
  } else {
    if (IsSameElement(x, y)) return 0;
    if (!std::isfinite(static_cast<double>(x)) || !std::isfinite(static_cast<double>(y))) return kNoDistance;
    const auto place = [](T value) {
      const int64_t key = comparison_internal::TotalOrderKey(value);  // -1 of -0
      return static_cast<uint64_t>(key < 0 ? key + 1 : key);
    };
    const uint64_t from = place(x), to = place(y);
    return static_cast<int64_t>(from) < static_cast<int64_t>(to) ? to - from : from - to;
  }
}

// ---- Arrays --------------------------------------------------------------------------------------------------------

struct Mismatches {
  int64_t count = 0;
  int64_t first = -1;  // in row-major order
};

template <typename T, typename Matches>
Mismatches FindMismatches(const Value& actual, const Value& expected, Matches matches) {
  const auto* const x = static_cast<const T*>(actual.untyped_data());
  const auto* const y = static_cast<const T*>(expected.untyped_data());
  Mismatches found;
  for (int64_t i = 0; i < actual.element_count(); ++i) {
    if (matches(x[i], y[i])) continue;
    if (found.count++ == 0) found.first = i;
  }
  return found;
}

Mismatches FindDifferences(const Value& actual, const Value& expected) {
  return primitive_util::ArrayTypeSwitch(
      [&](auto type) {
        using T = primitive_util::NativeTypeOf<type>;
        return FindMismatches<T>(actual, expected, [](T x, T y) { return IsSameElement(x, y); });
      },
      actual.element_type());
}

bool IsPair(const values::BasicOperation& op) {
  return HasArrayOperands(op, 2) && op.operands[0].shape() == op.operands[1].shape();
}

bool GivesNothing(const values::BasicOperation& op) {
  return op.instruction.shape().IsTuple() && op.instruction.shape().tuple_shapes_size() == 0;
}

// The error about the first mismatch; OK if there is none.
absl::Status ReportMismatches(const values::BasicOperation& op, const Mismatches& found, absl::string_view rule) {
  if (found.count == 0) return absl::OkStatus();
  const Value& actual = op.operands[0];
  std::vector<int64_t> index(actual.rank());
  int64_t rest = found.first;
  for (int d = actual.rank(); d-- > 0;) {
    index[d] = rest % actual.dimension(d);
    rest /= actual.dimension(d);
  }
  std::string elements[2];
  for (int i = 0; i < 2; ++i) {
    KASHI_ASSIGN_OR_RETURN(const Literal literal, op.operands[i].ToLiteral(actual.shape()));
    elements[i] = literal.GetAsString(index);
  }
  return FailedPrecondition("%s: %s: element %s is %s, but %s is expected (%s); %d of %s %s", op.instruction.name(),
                            op.instruction.custom_call_target(), LiteralUtil::MultiIndexAsString(index), elements[0],
                            elements[1], rule, found.count, base::Count(actual.element_count(), "element"),
                            actual.element_count() == 1 ? "differs" : "differ");
}

// A number in a frontend attribute of the call.
template <typename T, typename Parse>
absl::StatusOr<T> LimitOf(const values::BasicOperation& op, absl::string_view name, T fallback, Parse parse) {
  const std::optional<std::string> text = op.instruction.get_frontend_attribute(name);
  if (!text.has_value()) return fallback;
  T value;
  if (parse(*text, &value) && !(value < 0)) return value;
  return InvalidArgument("%s: %s=\"%s\" is not a number of 0 or more", op.instruction.name(), name, *text);
}

absl::StatusOr<uint64_t> UlpLimitOf(const values::BasicOperation& op, absl::string_view name, uint64_t fallback) {
  return LimitOf(op, name, fallback,
                 [](const std::string& text, uint64_t* value) { return absl::SimpleAtoi(text, value); });
}

}  // namespace

absl::StatusOr<Value> EvaluateExpectEq(values::BasicOperation& op) {
  if (!IsPair(op) || !GivesNothing(op)) return MisusedCustomCall(op);
  KASHI_RETURN_IF_ERROR(ReportMismatches(op, FindDifferences(op.operands[0], op.operands[1]), "equal"));
  return Value::MakeTuple({});
}

absl::StatusOr<Value> EvaluateExpectAlmostEq(values::BasicOperation& op) {
  if (!IsPair(op) || !GivesNothing(op)) return MisusedCustomCall(op);
  KASHI_ASSIGN_OR_RETURN(const double tolerance,
                         LimitOf(op, "tolerance", kDefaultTolerance, [](const std::string& text, double* value) {
                           return absl::SimpleAtod(text, value) && !std::isnan(*value);
                         }));
  const Mismatches found = primitive_util::ArrayTypeSwitch(
      [&](auto type) {
        using T = primitive_util::NativeTypeOf<type>;
        return FindMismatches<T>(op.operands[0], op.operands[1],
                                 [&](T x, T y) { return IsAlmostSameElement(x, y, tolerance); });
      },
      op.operands[0].element_type());
  KASHI_RETURN_IF_ERROR(ReportMismatches(op, found, absl::StrCat("tolerance ", tolerance)));
  return Value::MakeTuple({});
}

absl::StatusOr<Value> EvaluateExpectClose(values::BasicOperation& op) {
  if (!IsPair(op) || !GivesNothing(op)) return MisusedCustomCall(op);
  KASHI_ASSIGN_OR_RETURN(const uint64_t least, UlpLimitOf(op, "min_ulp_difference", 0));
  KASHI_ASSIGN_OR_RETURN(const uint64_t most, UlpLimitOf(op, "max_ulp_difference", kDefaultMaxUlps));
  uint64_t largest = 0;
  const Mismatches found = primitive_util::ArrayTypeSwitch(
      [&](auto type) {
        using T = primitive_util::NativeTypeOf<type>;
        return FindMismatches<T>(op.operands[0], op.operands[1], [&](T x, T y) {
          const uint64_t distance = UlpDistance(x, y);
          largest = std::max(largest, distance);
          return distance <= most;
        });
      },
      op.operands[0].element_type());
  KASHI_RETURN_IF_ERROR(ReportMismatches(op, found, absl::StrCat("max_ulp_difference ", most)));
  if (largest >= least) return Value::MakeTuple({});
  return FailedPrecondition(
      "%s: %s: elements are at most %d units in the last place apart, but min_ulp_difference is %d",
      op.instruction.name(), op.instruction.custom_call_target(), largest, least);
}

absl::StatusOr<Value> EvaluateCheckEq(values::BasicOperation& op) {
  if (!IsPair(op) || !HasArrayResult(op, PRED, {})) return MisusedCustomCall(op);
  KASHI_ASSIGN_OR_RETURN(Value result, op.MakeResult());
  result.mutable_data<bool>()[0] = FindDifferences(op.operands[0], op.operands[1]).count == 0;
  return result;
}

}  // namespace kashi::custom_calls
