#include "kashi/hlo/attributes/comparison_util.h"

#include <optional>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

using Direction = Comparison::Direction;
using Order = Comparison::Order;
using Type = Comparison::Type;

bool IsPartialByDefault(PrimitiveType type) {
  return primitive_util::IsFloatingPointType(type) || primitive_util::IsComplexType(type);
}
Order DefaultOrder(PrimitiveType type) { return IsPartialByDefault(type) ? Order::kPartial : Order::kTotal; }

PrimitiveType PrimitiveTypeOf(Type type) {
  switch (type) {
    case Type::kFloat:
    case Type::kFloatTotalOrder:
      return F32;
    case Type::kSigned:
      return S32;
    case Type::kUnsigned:
      return U32;
  }
  return PRIMITIVE_TYPE_INVALID;
}

Direction ConverseOf(Direction direction) {
  switch (direction) {
    case Direction::kEq:
      return Direction::kEq;
    case Direction::kNe:
      return Direction::kNe;
    case Direction::kGe:
      return Direction::kLe;
    case Direction::kGt:
      return Direction::kLt;
    case Direction::kLe:
      return Direction::kGe;
    case Direction::kLt:
      return Direction::kGt;
  }
  return direction;
}

Direction InverseOf(Direction direction) {
  switch (direction) {
    case Direction::kEq:
      return Direction::kNe;
    case Direction::kNe:
      return Direction::kEq;
    case Direction::kGe:
      return Direction::kLt;
    case Direction::kGt:
      return Direction::kLe;
    case Direction::kLe:
      return Direction::kGt;
    case Direction::kLt:
      return Direction::kGe;
  }
  return direction;
}

// Texts in the order of the enumerators.
constexpr absl::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr absl::string_view kTypes[] = {"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
constexpr absl::string_view kOrders[] = {"TOTALORDER", "PARTIALORDER"};
constexpr absl::string_view kShortOrders[] = {"TOTAL", "PARTIAL"};

template <typename Enum, size_t kCount>
std::string TextOf(Enum value, const absl::string_view (&texts)[kCount]) {
  const size_t i = static_cast<size_t>(value);
  KASHI_CHECK(i < kCount) << "unknown enumerator: " << i;
  return std::string(texts[i]);
}

template <typename Enum, size_t kCount>
absl::StatusOr<Enum> EnumOf(absl::string_view text, const absl::string_view (&texts)[kCount], const char* what) {
  for (size_t i = 0; i < kCount; ++i) {
    if (texts[i] == text) return static_cast<Enum>(i);
  }
  return InvalidArgumentStrCat("Unknown comparison ", what, ": ", text);
}

}  // namespace

Comparison::Comparison(Direction direction, PrimitiveType type) : Comparison(direction, type, DefaultOrder(type)) {}

Comparison::Comparison(Direction direction, PrimitiveType type, Order order)
    : direction_(direction), order_(order), primitive_type_(type) {
  KASHI_CHECK(primitive_util::IsArrayType(type)) << "Unsupported type: " << PrimitiveType_Name(type);
  KASHI_CHECK(order == Order::kTotal || IsPartialByDefault(type)) << PrimitiveType_Name(type) << " is totally ordered";
}

Comparison::Comparison(Direction direction, Type type)
    : Comparison(direction, PrimitiveTypeOf(type), type == Type::kFloat ? Order::kPartial : Order::kTotal) {}

Comparison::Type Comparison::GetType() const {
  const Type type = DefaultComparisonType(primitive_type_);
  return type == Type::kFloat && IsTotalOrder() ? Type::kFloatTotalOrder : type;
}

Comparison::Type Comparison::DefaultComparisonType(PrimitiveType type) {
  KASHI_CHECK(primitive_util::IsArrayType(type)) << "Unexpected: " << PrimitiveType_Name(type);
  if (IsPartialByDefault(type)) return Type::kFloat;
  return primitive_util::IsSignedIntegralType(type) ? Type::kSigned : Type::kUnsigned;
}

Comparison::Type Comparison::TypeWithOrder(PrimitiveType type, Order order) {
  if (order == Order::kPartial) return Type::kFloat;
  const Type usual = DefaultComparisonType(type);
  return usual == Type::kFloat ? Type::kFloatTotalOrder : usual;
}

bool Comparison::IsReflexive() const {
  switch (direction_) {
    case Direction::kEq:
    case Direction::kGe:
    case Direction::kLe:
      return IsTotalOrder();
    case Direction::kNe:
    case Direction::kGt:
    case Direction::kLt:
      return false;
  }
  return false;
}

bool Comparison::IsAntireflexive() const {
  switch (direction_) {
    case Direction::kNe:
      return IsTotalOrder();
    case Direction::kGt:
    case Direction::kLt:
      return true;
    case Direction::kEq:
    case Direction::kGe:
    case Direction::kLe:
      return false;
  }
  return false;
}

Comparison Comparison::Converse() const { return Comparison(ConverseOf(direction_), primitive_type_, order_); }

std::optional<Comparison> Comparison::Inverse() const {
  if (IsPartialOrder()) return std::nullopt;
  return Comparison(InverseOf(direction_), primitive_type_, order_);
}

std::string Comparison::ToString(const std::string& prefix1, const std::string& prefix2,
                                 const std::string& prefix3) const {
  return absl::StrCat(prefix1, ComparisonDirectionToString(direction_), prefix2,
                      ComparisonPrimitiveTypeToString(primitive_type_), prefix3, ComparisonOrderToString(order_));
}

std::ostream& operator<<(std::ostream& out, const Comparison& comparison) { return out << comparison.ToString(); }

std::string ComparisonDirectionToString(Comparison::Direction direction) { return TextOf(direction, kDirections); }
std::string ComparisonTypeToString(Comparison::Type type) { return TextOf(type, kTypes); }
std::string ComparisonOrderToString(Comparison::Order order) { return TextOf(order, kOrders); }
std::string ComparisonPrimitiveTypeToString(PrimitiveType type) { return PrimitiveType_Name(type); }

absl::StatusOr<Comparison::Direction> StringToComparisonDirection(absl::string_view direction) {
  return EnumOf<Comparison::Direction>(direction, kDirections, "direction");
}
absl::StatusOr<Comparison::Type> StringToComparisonType(absl::string_view type) {
  return EnumOf<Comparison::Type>(type, kTypes, "type");
}
absl::StatusOr<Comparison::Order> StringToComparisonOrder(absl::string_view order) {
  return EnumOf<Comparison::Order>(order, kOrders, "order");
}
absl::StatusOr<Comparison::Order> ShortStringToComparisonOrder(absl::string_view order) {
  return EnumOf<Comparison::Order>(order, kShortOrders, "order");
}

}  // namespace kashi
