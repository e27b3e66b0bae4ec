#include "kashi/pjrt/device_profile.h"

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/engine/program.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::pjrt {
namespace {

// A device. Lines are made in pairs: programs, and their steps.
class DevicePlane {
 public:
  DevicePlane(int64_t device, int64_t first_ns, int64_t since_1970_ns, XPlane* plane)
      : first_ns_(first_ns), since_1970_ns_(since_1970_ns), plane_(*plane) {
    plane_.set_id(device);
    // The word CUSTOM tells readers that this is a device of a plugin.
    plane_.set_name(absl::StrCat("/device:CUSTOM:Kashi CPU ", device));
  }

  // Pre: no earlier call had a run that began later.
  void Add(const engine::LaunchTrace::Run& run, const std::vector<evaluator::StepEvent>& steps) {
    const auto pair = absl::c_find_if(pairs_, [&](const Pair& other) { return other.end_ns <= run.begin_ns; });
    Pair& of_run = pair == pairs_.end() ? AddPair() : *pair;
    of_run.end_ns = run.end_ns;
    AddEvent(run.program->module().name(), run.begin_ns, run.end_ns, of_run.programs);
    for (const evaluator::StepEvent& step : steps) {
      if (step.instruction != nullptr) AddEvent(step.instruction->name(), step.begin_ns, step.end_ns, of_run.steps);
    }
  }

 private:
  struct Pair {
    XLine *programs, *steps;
    int64_t end_ns;
  };

  Pair& AddPair() {
    const size_t number = pairs_.size() + 1;
    const std::string suffix = number == 1 ? "" : absl::StrCat(" (", number, ")");
    pairs_.push_back({AddLine(absl::StrCat("Programs", suffix)), AddLine(absl::StrCat("Steps", suffix)), 0});
    return pairs_.back();
  }
  XLine* AddLine(std::string name) {
    XLine* const line = plane_.add_lines();
    line->set_id(plane_.lines_size());
    line->set_display_id(plane_.lines_size());
    line->set_name(std::move(name));
    line->set_timestamp_ns(first_ns_ + since_1970_ns_);
    return line;
  }
  void AddEvent(absl::string_view name, int64_t begin_ns, int64_t end_ns, XLine* line) {
    constexpr int64_t kPsOfNs = 1000;
    const auto [number, is_new] = numbers_.try_emplace(name, static_cast<int64_t>(numbers_.size()) + 1);
    if (is_new) {
      XEventMetadata& metadata = (*plane_.mutable_event_metadata())[number->second];
      metadata.set_id(number->second);
      metadata.set_name(std::string(name));
    }
    XEvent* const event = line->add_events();
    event->set_metadata_id(number->second);
    event->set_offset_ps((begin_ns - first_ns_) * kPsOfNs);
    event->set_duration_ps((end_ns - begin_ns) * kPsOfNs);
  }

  const int64_t first_ns_, since_1970_ns_;
  XPlane& plane_;
  std::deque<Pair> pairs_;
  absl::flat_hash_map<std::string, int64_t> numbers_;  // of event metadata
};

}  // namespace

XSpace ProfileOf(std::vector<engine::LaunchTrace::Run> runs, int64_t since_1970_ns) {
  XSpace space;
  absl::c_stable_sort(runs, [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  std::map<int64_t, DevicePlane> planes;  // by device
  int64_t lost = 0;
  for (const engine::LaunchTrace::Run& run : runs) {
    lost += run.lost_steps;
    for (size_t i = 0; i < run.devices.size(); ++i) {
      const int64_t device = run.devices[i];
      auto plane = planes.find(device);
      if (plane == planes.end()) {
        plane = planes.try_emplace(device, device, runs[0].begin_ns, since_1970_ns, space.add_planes()).first;
      }
      const auto steps = run.steps.find(static_cast<int64_t>(i));
      plane->second.Add(run, steps == run.steps.end() ? std::vector<evaluator::StepEvent>() : steps->second);
    }
  }
  if (lost > 0) space.add_warnings(absl::StrCat("Kashi: ", lost, " steps are missing, for which there was no room"));
  return space;
}

}  // namespace kashi::pjrt
