// A number of a fact or of an expression: an integer exactly, or a double. Comparison is exact for any pair.
#ifndef KASHI_QUERY_NUMBER_H_
#define KASHI_QUERY_NUMBER_H_

#include <cstdint>
#include <string>
#include <variant>

namespace kashi::query {

class Number {
 public:
  Number() = default;
  // NOLINTBEGIN(google-explicit-constructor): both kinds are numbers.
  Number(int64_t value) : value_(value) {}
  // A whole number within int64_t becomes an integer.
  Number(double value);
  // NOLINTEND(google-explicit-constructor)

  bool is_integer() const { return std::holds_alternative<int64_t>(value_); }
  int64_t integer() const { return std::get<int64_t>(value_); }  // pre: is_integer
  double AsDouble() const;
  // "1048576"; "1.5e+20": the fewest digits that read back the same.
  std::string ToString() const;

  // Negative, 0 or positive, as the number is less than, equal to or greater than the other one. NaN is equal to
  // itself and greater than all others.
  int Compare(const Number& other) const;
  friend bool operator==(const Number& a, const Number& b) { return a.Compare(b) == 0; }
  friend bool operator<(const Number& a, const Number& b) { return a.Compare(b) < 0; }

 private:
  std::variant<int64_t, double> value_ = int64_t{0};
};

}  // namespace kashi::query

#endif  // KASHI_QUERY_NUMBER_H_
