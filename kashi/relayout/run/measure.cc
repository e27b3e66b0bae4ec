#include "kashi/relayout/run/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "kashi/base/math.h"
#include "kashi/base/page_buffer.h"
#include "kashi/base/status.h"
#include "kashi/relayout/plan/measurements.h"
#include "kashi/relayout/run/execute.h"

namespace kashi::relayout {
namespace {

constexpr size_t kMostCandidates = 8;
constexpr int kRounds = 5;
constexpr double kLeastNs = 50e3;    // of one measurement: shorter runs are repeated
constexpr double kHopeless = 1.5;    // times the best: not measured again
constexpr double kLeastGain = 0.98;  // of the usual plan's time: below that a difference is not noise

// Memory for one side of a problem.
struct SideMemory {
  base::PageBuffer memory;
  char* address = nullptr;  // as RelayoutPlan::Execute wants it
};

// Bytes before the address, and from it on, that elements by strides take up.
struct Reach {
  int64_t before = 0;
  int64_t behind = 0;
};
// A Placement reaches over 2^57 bytes at most: nothing overflows.
Reach ReachOf(const Placement& placement) {
  Reach reach = {0, CeilOfRatio<int64_t>(placement.slot_bits(), 8)};
  for (size_t d = 0; d < placement.byte_strides().size(); ++d) {
    const int64_t last = placement.byte_strides()[d] * std::max<int64_t>(0, placement.dimensions()[d] - 1);
    (last < 0 ? reach.before : reach.behind) += std::abs(last);
  }
  return reach;
}

absl::StatusOr<SideMemory> MemoryFor(const Placement& placement) {
  const Reach reach = placement.has_layout() ? Reach{0, placement.map().byte_size()} : ReachOf(placement);
  const int64_t bytes = reach.before + reach.behind;
  SideMemory side;
  KASHI_ASSIGN_OR_RETURN(side.memory, base::PageBuffer::Make(bytes));
  if (bytes > 0) std::memset(side.memory.data(), 1, bytes);  // pages of its own
  side.address = side.memory.data() + reach.before;
  return side;
}

double NsOf(const RelayoutTask& task, const MovePlan& plan, const SideMemory& from, const SideMemory& to, int times) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) ExecutePlan(task, plan, from.address, to.address);
  const std::chrono::duration<double, std::nano> ns = std::chrono::steady_clock::now() - begin;
  return ns.count() / times;
}

// The index of the fastest plan. Plans take turns, so that other work of the machine affects all of them.
size_t FastestOf(const RelayoutTask& task, const std::vector<MovePlan>& plans, const SideMemory& from,
                 const SideMemory& to) {
  std::vector<double> least(plans.size(), std::numeric_limits<double>::infinity());
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < plans.size(); ++i) {
      if (round > 0 && least[i] > kHopeless * best) continue;
      const int times = round == 0 ? 1 : static_cast<int>(std::clamp(kLeastNs / least[i], 1.0, 1e4));
      least[i] = std::min(least[i], NsOf(task, plans[i], from, to, times));
      best = std::min(best, least[i]);
    }
  }
  const size_t fastest = std::min_element(least.begin(), least.end()) - least.begin();
  return least[fastest] < kLeastGain * least[0] ? fastest : 0;
}

// The choices that differ from `usual` in one thing.
std::vector<PlanChoice> ChoicesBeside(const RelayoutTask& task, const MovePlan& usual) {
  std::vector<PlanChoice> choices;
  const auto add = [&](auto change) {
    PlanChoice choice = usual.choice;
    change(&choice);
    if (!(choice == usual.choice)) choices.push_back(choice);
  };
  for (int i = 0; i < kRouteCount; ++i) add([i](PlanChoice* choice) { choice->route = static_cast<Route>(i); });
  if (!task.options.non_temporal_stores) {
    add([](PlanChoice* choice) {
      choice->streams = !choice->streams;
      if (choice->route == Route::kStrips) choice->route = Route::kBoxes;
    });
  }
  for (double scale : {0.5, 2.0}) add([scale](PlanChoice* choice) { choice->block_scale = scale; });
  uint32_t used = 0;
  for (const Step& step : usual.steps) used |= 1u << step.kernel.index();
  const uint32_t last = 1u << (KernelTable().size() - 1);  // takes all boxes
  for (size_t i = 0; i < KernelTable().size(); ++i) {
    if ((used & ~last) >> i & 1) add([i](PlanChoice* choice) { choice->skipped_kernels |= 1u << i; });
  }
  return choices;
}

}  // namespace

std::vector<MovePlan> MeasuredCandidates(const RelayoutTask& task) {
  std::vector<MovePlan> plans;
  plans.push_back(MakeMovePlan(task));
  if (task.element_count() == 0 || !plans[0].refusal.empty()) return plans;
  std::vector<std::string> texts = {plans[0].ToString()};
  for (const PlanChoice& choice : ChoicesBeside(task, plans[0])) {
    std::optional<MovePlan> plan = MakeMovePlan(task, choice);
    if (!plan.has_value()) continue;
    std::string text = plan->ToString();
    if (std::find(texts.begin(), texts.end(), text) != texts.end()) continue;
    texts.push_back(std::move(text));
    plans.push_back(*std::move(plan));
  }
  std::stable_sort(plans.begin() + 1, plans.end(),
                   [](const MovePlan& a, const MovePlan& b) { return a.cost() < b.cost(); });
  if (plans.size() > kMostCandidates) plans.resize(kMostCandidates);
  return plans;
}

absl::StatusOr<MovePlan> MakeMeasuredPlan(const RelayoutTask& task) {
  static std::mutex& measuring = *new std::mutex;  // two at once would disturb each other
  const std::lock_guard<std::mutex> lock(measuring);
  const std::string key = MeasurementKey(task);
  if (const std::optional<PlanChoice> known = FindMeasurement(key)) {
    std::optional<MovePlan> plan = MakeMovePlan(task, *known);
    if (plan.has_value()) return *std::move(plan);
  }
  std::vector<MovePlan> plans = MeasuredCandidates(task);
  size_t fastest = 0;
  if (plans.size() > 1) {
    KASHI_ASSIGN_OR_RETURN(const SideMemory from, MemoryFor(task.from));
    KASHI_ASSIGN_OR_RETURN(const SideMemory to, MemoryFor(task.to));
    fastest = FastestOf(task, plans, from, to);
  }
  RememberMeasurement(key, plans[fastest].choice);
  return std::move(plans[fastest]);
}

}  // namespace kashi::relayout
