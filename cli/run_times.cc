#include "cli/run_times.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "kashi/base/text.h"

namespace kashi::cli {

using base::Count;
using base::HumanBytes;

std::vector<double> ProgramTimes::Later() const {
  std::vector<double> later(run_ms.begin() + (run_ms.size() > 1 ? 1 : 0), run_ms.end());
  std::sort(later.begin(), later.end());
  return later;
}

double ProgramTimes::Median() const {
  const std::vector<double> later = Later();
  return (later[(later.size() - 1) / 2] + later[later.size() / 2]) / 2;
}

double MillisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

std::string ToText(const ProgramTimes& times) {
  return absl::StrFormat("%s: first %.3g ms; others: fastest %.3g ms, median %.3g ms; memory %s\n",
                         Count(static_cast<int64_t>(times.run_ms.size()), "run"), times.run_ms.front(), times.Min(),
                         times.Median(), HumanBytes(times.peak_rss_bytes));
}

void AddTo(const ProgramTimes& times, Json* json) {
  (*json)["compile_ms"] = times.compile_ms;
  (*json)["first_ms"] = times.run_ms.front();
  (*json)["run_ms_min"] = times.Min();
  (*json)["run_ms_median"] = times.Median();
  (*json)["peak_rss_bytes"] = times.peak_rss_bytes;
}

}  // namespace kashi::cli
