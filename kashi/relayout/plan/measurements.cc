// The measurements of the process, and their text (relayout_measurements.h).
#include "kashi/relayout/plan/measurements.h"

#include <hwy/targets.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/relayout/kernels/kernel_table.h"
#include "kashi/relayout/relayout_measurements.h"

namespace kashi {
namespace relayout {
namespace {

constexpr char kFirstLine[] = "kashi relayout measurements 1";

using Choices = std::map<std::string, PlanChoice>;

struct Store {
  std::mutex mutex;
  Choices choices;
};

Store& TheStore() {
  static Store& store = *new Store;
  return store;
}

// The facts on which all measurements depend: the machine, and the kernels of this version.
std::string MachineLine() {
  const auto name = [](std::string* out, const KernelRow& row) { absl::StrAppend(out, row.name); };
  return absl::StrFormat("machine %s; %d threads; vectors %#x; kernels %s", CacheModel::OfMachine().ToString(),
                         base::ParallelThreadCount(), hwy::SupportedTargets(),
                         absl::StrJoin(KernelTable(), ", ", name));
}

absl::StatusOr<Choices> ParseMeasurements(absl::string_view text) {
  std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  if (lines.empty() || lines[0] != kFirstLine) {
    return InvalidArgument("line 1: expected `%s`: this is not a file of measurements", kFirstLine);
  }
  if (lines.size() < 2 || !absl::StartsWith(lines[1], "machine ")) {
    return InvalidArgument("line 2: expected `machine` and what was measured on");
  }
  if (lines[1] != MachineLine()) {
    return FailedPrecondition("line 2: measured on another machine, or by another version of kashi: `%s`, not `%s`",
                              lines[1], MachineLine());
  }
  Choices choices;
  for (size_t i = 2; i < lines.size(); ++i) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(lines[i], absl::MaxSplits('\t', 1));
    const std::optional<PlanChoice> choice = ParsePlanChoice(parts.first);
    if (!choice.has_value() || parts.second.empty()) {
      return InvalidArgument("line %d: expected a choice such as `boxes stream x1 skip=0`, a tab and a problem", i + 1);
    }
    choices.emplace(parts.second, *choice);
  }
  return choices;
}

}  // namespace

std::string MeasurementKey(const RelayoutTask& task) {
  const RelayoutOptions& options = task.options;
  std::string key = absl::StrCat(task.from.ToString(), " -> ", task.to.ToString(), " padding ",
                                 task.clears_padding() ? "written" : "kept", ", ", options.threads, " threads");
  if (options.convert) absl::StrAppend(&key, ", convert");
  if (options.non_temporal_stores) absl::StrAppend(&key, ", non-temporal stores ", int{*options.non_temporal_stores});
  if (options.caches) absl::StrAppend(&key, ", caches ", options.caches->ToString());
  return key;
}

std::optional<PlanChoice> FindMeasurement(const std::string& key) {
  Store& store = TheStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  const auto found = store.choices.find(key);
  return found == store.choices.end() ? std::nullopt : std::make_optional(found->second);
}

void RememberMeasurement(const std::string& key, const PlanChoice& choice) {
  Store& store = TheStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  store.choices.insert_or_assign(key, choice);
}

}  // namespace relayout

std::string RelayoutMeasurementsToText() {
  relayout::Store& store = relayout::TheStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  std::string text = absl::StrCat(relayout::kFirstLine, "\n", relayout::MachineLine(), "\n");
  for (const auto& [key, choice] : store.choices) absl::StrAppend(&text, choice.ToString(), "\t", key, "\n");
  return text;
}

int64_t RelayoutMeasurementCount() {
  relayout::Store& store = relayout::TheStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  return static_cast<int64_t>(store.choices.size());
}

absl::Status AddRelayoutMeasurements(absl::string_view text) {
  KASHI_ASSIGN_OR_RETURN(relayout::Choices choices, relayout::ParseMeasurements(text));
  relayout::Store& store = relayout::TheStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  store.choices.merge(choices);
  return absl::OkStatus();
}

}  // namespace kashi
