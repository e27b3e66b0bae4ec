#include "kashi/base/text.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kashi::base {

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
  // 1023.5 would print as 1024 of this unit, so it becomes 1 of the next unit.
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

namespace {

bool EndsInOneOf(absl::string_view text, std::initializer_list<absl::string_view> endings) {
  for (const absl::string_view ending : endings) {
    if (absl::EndsWith(text, ending)) return true;
  }
  return false;
}

std::string Plural(absl::string_view noun) {
  const bool has_consonant_and_y = absl::EndsWith(noun, "y") && !EndsInOneOf(noun, {"ay", "ey", "oy", "uy"});
  if (has_consonant_and_y) return absl::StrCat(noun.substr(0, noun.size() - 1), "ies");
  return absl::StrCat(noun, EndsInOneOf(noun, {"s", "x", "z", "ch", "sh"}) ? "es" : "s");
}

}  // namespace

size_t Utf8SequenceLength(absl::string_view text) {
  const auto byte = [text](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  const unsigned first = byte(0);
  if (first < 0x80) return text.empty() ? 0 : 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Rejects forms longer than needed, surrogates, and code points beyond U+10FFFF.
  const unsigned second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return length;
}

std::string Printable(absl::string_view text) {
  constexpr char kDelete = 0x7f;
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    const unsigned char first = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      absl::StrAppend(&result, "\uFFFD");
    } else if ((first < ' ' && first != '\n') || first == kDelete) {
      result += ' ';
    } else {
      absl::StrAppend(&result, text.substr(0, length));
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result;
}

std::string Count(int64_t count, absl::string_view noun) {
  return absl::StrCat(WithThousands(count), " ", count == 1 ? std::string(noun) : Plural(noun));
}

}  // namespace kashi::base
