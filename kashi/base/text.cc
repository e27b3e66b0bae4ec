#include "kashi/base/text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kashi::internal {

std::string WithThousands(int64_t value) {
  std::string digits = absl::StrCat(value);
  const int first_digit = value < 0 ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first_digit; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string HumanBytes(int64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  // 1023.5 would print as 1024 of this unit, so it is 1 of the next.
  while (std::fabs(value) >= 1023.5) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return bytes == 1 ? "1 byte" : absl::StrCat(bytes, " bytes");
  const double size = std::fabs(value);
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  std::string number = absl::StrFormat("%.*f", decimals, value);
  if (decimals > 0) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
  }
  return absl::StrCat(number, " ", kUnits[unit]);
}

}  // namespace kashi::internal
