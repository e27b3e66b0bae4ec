#include "cli/time_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kashi::cli {

std::string ThreeDigits(double value) {
  return value >= 1000 ? absl::StrFormat("%.0f", value) : absl::StrFormat("%.3g", value);
}

std::string TimeText(double ms) {
  if (ms >= 1000) return absl::StrCat(ThreeDigits(ms / 1000), " s ");
  if (ms >= 1) return absl::StrCat(ThreeDigits(ms), " ms");
  if (ms >= 1e-3) return absl::StrCat(ThreeDigits(ms * 1e3), " us");
  return absl::StrCat(ThreeDigits(ms * 1e6), " ns");
}

}  // namespace kashi::cli
