#include "kashi/relayout/nests/choice.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kashi::relayout {
namespace {

constexpr absl::string_view kRoutes[kRouteCount] = {"groups", "tails-filled", "tails-read", "strips", "boxes"};
constexpr double kScales[] = {0.25, 0.5, 1, 2, 4};

std::optional<Route> ParseRoute(absl::string_view text) {
  for (int i = 0; i < kRouteCount; ++i) {
    if (kRoutes[i] == text) return static_cast<Route>(i);
  }
  return std::nullopt;
}

std::optional<double> ParseScale(absl::string_view text) {
  for (double scale : kScales) {
    if (absl::StrCat("x", scale) == text) return scale;
  }
  return std::nullopt;
}

}  // namespace

std::string PlanChoice::ToString() const {
  return absl::StrCat(kRoutes[static_cast<int>(route)], streams ? " stream" : " cache", " x", block_scale,
                      " skip=", skipped_kernels);
}

std::optional<PlanChoice> ParsePlanChoice(absl::string_view text) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ');
  if (words.size() != 4 || (words[1] != "stream" && words[1] != "cache")) return std::nullopt;
  const std::optional<Route> route = ParseRoute(words[0]);
  const std::optional<double> scale = ParseScale(words[2]);
  PlanChoice choice;
  absl::string_view skipped = words[3];
  if (!route || !scale || !absl::ConsumePrefix(&skipped, "skip=")) return std::nullopt;
  if (!absl::SimpleAtoi(skipped, &choice.skipped_kernels)) return std::nullopt;
  choice.route = *route;
  choice.streams = words[1] == "stream";
  choice.block_scale = *scale;
  return choice;
}

}  // namespace kashi::relayout
