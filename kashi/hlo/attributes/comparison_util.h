// Comparison: the kind of comparison of a compare instruction. A direction (EQ, GE, …), the type of the numbers, and
// the order, which matters for floating-point numbers only:
//
//   partial   IEEE's: -0 == 0, and NaN neither equals, precedes nor follows anything
//   total     -NaN < -inf < … < -0 < 0 < … < inf < NaN
//
// Integers and PRED are always totally ordered; floating-point and complex numbers partially by default.
// docs/spec/xla-api.md, section 16.
#ifndef KASHI_HLO_ATTRIBUTES_COMPARISON_UTIL_H_
#define KASHI_HLO_ATTRIBUTES_COMPARISON_UTIL_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/types.h"
#include "kashi/base/check.h"

namespace kashi {

namespace comparison_internal {

// An integer that orders values as the total order does.
template <typename T>
int64_t TotalOrderKey(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    const Bits bits = __builtin_bit_cast(Bits, x);
    return bits < 0 ? static_cast<Bits>(bits ^ std::numeric_limits<Bits>::max()) : bits;
  } else {
    // In formats without a zero or with only one zero, values are in numeric order. Their NaN has either the
    // sign bit and no magnitude, and comes first, or no sign at all, and comes last.
    if constexpr (std::numeric_limits<T>::is_signed && !has_negative_zero_v<T>) {
      if (isnan(x)) return std::numeric_limits<int64_t>::min();
    }
    const int64_t magnitude = abs(x).rep();
    return std::numeric_limits<T>::is_signed && signbit(x) ? ~magnitude : magnitude;
  }
}

}  // namespace comparison_internal

class Comparison {
 public:
  enum class Order : uint8_t { kTotal, kPartial };
  enum class Direction : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };
  // An older form, which combines type and order.
  enum class Type : uint8_t { kFloat, kFloatTotalOrder, kSigned, kUnsigned };

  // Uses the default order of the type. Dies unless `type` is an array type.
  Comparison(Direction direction, PrimitiveType type);
  // Also dies for a partial order of integers or PRED.
  Comparison(Direction direction, PrimitiveType type, Order order);
  // A comparison of F32, F32 in total order, S32 or U32. Prefer the other constructors.
  Comparison(Direction direction, Type type);

  Direction GetDirection() const { return direction_; }
  PrimitiveType GetPrimitiveType() const { return primitive_type_; }
  Order GetOrder() const { return order_; }
  Type GetType() const;

  bool IsEq() const { return direction_ == Direction::kEq; }
  bool IsNe() const { return direction_ == Direction::kNe; }
  bool IsGe() const { return direction_ == Direction::kGe; }
  bool IsGt() const { return direction_ == Direction::kGt; }
  bool IsLt() const { return direction_ == Direction::kLt; }
  bool IsTotalOrder() const { return order_ == Order::kTotal; }
  bool IsPartialOrder() const { return order_ == Order::kPartial; }

  bool IsF32TotalOrder() const { return primitive_type_ == F32 && IsTotalOrder(); }
  bool IsStandardF32() const { return primitive_type_ == F32 && IsPartialOrder(); }
  bool IsStandardS32() const { return primitive_type_ == S32 && IsTotalOrder(); }
  bool IsStandardU32() const { return primitive_type_ == U32 && IsTotalOrder(); }
  bool IsIntegralPrimitiveType() const { return primitive_util::IsIntegralType(primitive_type_); }
  bool IsFloatingPointPrimitiveType() const { return primitive_util::IsFloatingPointType(primitive_type_); }

  //  Whether it holds of (x, x) for every x; for no x. Partial EQ and partial NE are neither, because NaN != NaN.
  bool IsReflexive() const;
  bool IsAntireflexive() const;

  // The comparison that holds of (b, a) when this one does of (a, b): GE for LE.
  Comparison Converse() const;
  // The comparison that holds when this one does not: GT for LE. None in a partial order, where neither may hold.
  std::optional<Comparison> Inverse() const;

  // ".GE.F32.TOTALORDER": a prefix before each of the three parts.
  std::string ToString(const std::string& prefix1 = ".", const std::string& prefix2 = ".",
                       const std::string& prefix3 = ".") const;

  // Compares two native values; T must hold all values of the type (checked in debug builds). In total order,
  // floating-point T compare by their bits. Dies if complex numbers are to be ordered.
  template <typename T>
  bool Compare(T a, T b) const {
    KASHI_DCHECK(primitive_util::CanRepresent<T>(primitive_type_))
        << PrimitiveType_Name(primitive_type_) << " values compared in another type";
    if constexpr (is_specialized_floating_point_v<T>) {
      if (IsTotalOrder()) {
        return CompareBy<int64_t>(comparison_internal::TotalOrderKey(a), comparison_internal::TotalOrderKey(b));
      }
    }
    return CompareBy<T>(a, b);
  }
  // The operator of the direction: partial for floating-point T.
  template <typename T>
  std::function<bool(T, T)> GetComparator() const {
    return [comparison = *this](T a, T b) { return comparison.CompareBy<T>(a, b); };
  }

  static Type DefaultComparisonType(PrimitiveType type);
  // The type of comparisons of `type` with this order. Only kFloat is partial.
  static Type TypeWithOrder(PrimitiveType type, Order order);

  friend bool operator==(const Comparison& a, const Comparison& b) {
    return a.direction_ == b.direction_ && a.primitive_type_ == b.primitive_type_ && a.order_ == b.order_;
  }
  friend bool operator!=(const Comparison& a, const Comparison& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const Comparison& comparison) {
    return H::combine(std::move(h), comparison.direction_, comparison.primitive_type_, comparison.order_);
  }

 private:
  template <typename T>
  bool CompareBy(const T& a, const T& b) const {
    switch (direction_) {
      case Direction::kEq:
        return a == b;
      case Direction::kNe:
        return a != b;
      case Direction::kGe:
      case Direction::kGt:
      case Direction::kLe:
      case Direction::kLt:
        break;
    }
    if constexpr (is_complex_v<T>) {
      KASHI_LOG_FATAL() << "complex numbers have no order";
      return false;
    } else {
      return direction_ == Direction::kGe   ? a >= b
             : direction_ == Direction::kGt ? a > b
             : direction_ == Direction::kLe ? a <= b
                                            : a < b;
    }
  }

  Direction direction_;
  Order order_;
  PrimitiveType primitive_type_;
};

using ComparisonDirection = Comparison::Direction;
using ComparisonOrder = Comparison::Order;

std::ostream& operator<<(std::ostream& out, const Comparison& comparison);

std::string ComparisonDirectionToString(Comparison::Direction direction);  // "EQ"
std::string ComparisonTypeToString(Comparison::Type type);                 // FLOAT, TOTALORDER, SIGNED, UNSIGNED
std::string ComparisonOrderToString(Comparison::Order order);              // TOTALORDER, PARTIALORDER
std::string ComparisonPrimitiveTypeToString(PrimitiveType type);           // "F32"
inline std::ostream& operator<<(std::ostream& out, Comparison::Order order) {
  return out << ComparisonOrderToString(order);
}
template <typename Sink>
void AbslStringify(Sink& sink, Comparison::Order order) {
  sink.Append(ComparisonOrderToString(order));
}

// InvalidArgument for any other text.
absl::StatusOr<Comparison::Direction> StringToComparisonDirection(absl::string_view direction);
absl::StatusOr<Comparison::Type> StringToComparisonType(absl::string_view type);
absl::StatusOr<Comparison::Order> StringToComparisonOrder(absl::string_view order);
// TOTAL or PARTIAL, as in compare instructions (XLA of JAX 0.11).
absl::StatusOr<Comparison::Order> ShortStringToComparisonOrder(absl::string_view order);

// A "less" on `key(element)`, for std::sort and similar functions.
template <typename Key>
auto LessThanByKey(Key&& key) {
  return [key = std::forward<Key>(key)](const auto& a, const auto& b) { return key(a) < key(b); };
}

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_COMPARISON_UTIL_H_
