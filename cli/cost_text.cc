#include "cli/cost_text.h"

#include <cmath>
#include <cstdint>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "cli/time_text.h"
#include "kashi/base/text.h"

namespace kashi::cli {
namespace {

constexpr double kMostExact = 1e15;  // all integers up to here are exact

}  // namespace

std::string NumberText(double number) {
  const bool is_whole = std::fabs(number) < kMostExact && number == std::floor(number);
  return is_whole ? base::WithThousands(static_cast<int64_t>(number)) : absl::StrFormat("%.15g", number);
}

std::string WithUnit(double number, absl::string_view unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  for (; std::fabs(number) >= 999.5 && prefix + 1 < std::size(kPrefixes); ++prefix) number /= 1000;
  return absl::StrFormat("%.3g %s%s", number, kPrefixes[prefix], unit);
}

std::string FlopsText(double flops) { return WithUnit(flops, "flop"); }

std::string BytesText(double bytes) {
  return bytes < kMostExact ? base::HumanBytes(static_cast<int64_t>(bytes)) : absl::StrFormat("%.3g bytes", bytes);
}

std::string SecondsText(double seconds) {
  return seconds == 0 ? "0" : std::string(absl::StripTrailingAsciiWhitespace(TimeText(seconds * 1e3)));
}

std::string PercentText(double part, double whole) {
  return whole > 0 ? absl::StrFormat("%.1f %%", 100 * part / whole) : "-";
}

}  // namespace kashi::cli
