#include "kashi/query/number.h"

#include <charconv>
#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace kashi::query {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

template <typename T>
int SignOf(T a, T b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

// The integer part of the double decides; if it is equal, the fraction does.
int CompareWithDouble(int64_t a, double b) {
  if (std::isnan(b) || b >= kTwoTo63) return -1;
  if (b < -kTwoTo63) return 1;
  const double whole = std::trunc(b);
  const int order = SignOf(a, static_cast<int64_t>(whole));
  return order != 0 ? order : SignOf(whole, b);
}

}  // namespace

Number::Number(double value) : value_(value) {
  const bool fits = value >= -kTwoTo63 && value < kTwoTo63 && value == std::trunc(value);
  if (fits) value_ = static_cast<int64_t>(value);
}

double Number::AsDouble() const { return is_integer() ? static_cast<double>(integer()) : std::get<double>(value_); }

std::string Number::ToString() const {
  if (is_integer()) return absl::StrCat(integer());
  char text[32];
  const std::to_chars_result written = std::to_chars(std::begin(text), std::end(text), std::get<double>(value_));
  return std::string(text, written.ptr);
}

int Number::Compare(const Number& other) const {
  if (is_integer() && other.is_integer()) return SignOf(integer(), other.integer());
  if (is_integer()) return CompareWithDouble(integer(), std::get<double>(other.value_));
  if (other.is_integer()) return -CompareWithDouble(other.integer(), std::get<double>(value_));
  const double a = std::get<double>(value_), b = std::get<double>(other.value_);
  if (std::isnan(a) || std::isnan(b)) return SignOf(std::isnan(a), std::isnan(b));
  return SignOf(a, b);
}

}  // namespace kashi::query
