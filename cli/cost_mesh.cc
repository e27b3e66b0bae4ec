#include "cli/cost_mesh.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "cli/cost_text.h"
#include "cli/time_text.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"

namespace kashi::cli {

using base::WithThousands;
namespace {

// Aligned to the right.
std::string PredictedTime(double seconds) { return TimeText(seconds * 1e3); }

std::string MeshBytes(double bytes) { return WithThousands(static_cast<int64_t>(std::min(bytes, 9e18))); }

std::string GroupText(const CollectivePrediction& each) {
  if (each.opcode == "collective-permute" || each.opcode == "send") return Count(each.members, "pair");
  return absl::StrCat(each.groups, " of ", each.members);
}

std::string CollectivesText(absl::Span<const CollectivePrediction> all, int64_t top) {
  if (all.empty()) return "\nThe program has no collectives.\n";
  constexpr char kLine[] = "%12s%10s%12s%18s%18s%18s%14s  %-22s%s\n";
  std::string text = "\n";
  absl::StrAppendFormat(&text, kLine, "waited for", "calls", "each takes", "bytes", "within hosts", "between hosts",
                        "groups", "operation", "algorithm");
  for (size_t i = 0; i < all.size() && i < static_cast<size_t>(top); ++i) {
    const CollectivePrediction& each = all[i];
    absl::StrAppendFormat(&text, kLine, PredictedTime(each.exposed_seconds), absl::StrFormat("%.15g", each.calls),
                          PredictedTime(each.seconds), MeshBytes(each.bytes), MeshBytes(each.within_bytes),
                          MeshBytes(each.between_bytes), GroupText(each), each.opcode, each.algorithm);
  }
  if (static_cast<size_t>(top) < all.size()) {
    absl::StrAppend(&text, "  and ", Count(static_cast<int64_t>(all.size()) - top, "kind"), " more (--top)\n");
  }
  return text;
}

// The bytes of all calls on all devices.
std::string TrafficText(const StepPrediction& step, int64_t host_devices) {
  double within = 0, between = 0;
  for (const CollectivePrediction& each : step.collectives) {
    within += each.within_bytes * each.calls;
    between += each.between_bytes * each.calls;
  }
  if (within + between == 0) return "";
  return absl::StrCat("Collectives move ", BytesText(within), " within hosts of ", Count(host_devices, "device"),
                      " and ", BytesText(between), " between hosts, all devices and calls together.\n");
}

std::string MeshNotes(const StepPrediction& step) {
  std::string text;
  if (step.unknown_loops > 0) {
    absl::StrAppend(&text, Count(step.unknown_loops, "loop"), " of unknown length: counted as one iteration.\n");
  }
  if (step.unknown_calls > 0) {
    absl::StrAppend(&text, "The time does not include ", Count(static_cast<int64_t>(step.unknown_calls), "custom call"),
                    " of unknown cost.\n");
  }
  return text;
}

Json CollectiveJson(const CollectivePrediction& each) {
  Json json;
  json["opcode"] = each.opcode;
  json["algorithm"] = each.algorithm;
  json["groups"] = each.groups;
  json["members"] = each.members;
  json["bytes"] = each.bytes;
  json["calls"] = each.calls;
  json["within_host_bytes"] = each.within_bytes;
  json["between_host_bytes"] = each.between_bytes;
  json["seconds"] = each.seconds;
  json["exposed_seconds"] = each.exposed_seconds;
  return json;
}

}  // namespace

absl::StatusOr<MeshReport> MakeMeshReport(const HloModule& module, const MeshOptions& options,
                                          const std::string& target) {
  KASHI_ASSIGN_OR_RETURN(Machine machine, MachineOf(options, target, module));
  SimulationOptions simulation;
  simulation.slow_devices = machine.slow_devices;
  simulation.host_devices = machine.host_devices;
  KASHI_ASSIGN_OR_RETURN(StepPrediction step, SimulateStep(module, machine.network, machine.rates, simulation));
  std::optional<MemoryTarget> of_memory;
  if (!target.empty()) of_memory = MemoryTarget{machine.tpu};
  KASHI_ASSIGN_OR_RETURN(MemoryAnalysis memory, AnalyzeMemory(module, of_memory));
  return MeshReport{std::move(machine), std::move(step), std::move(memory)};
}

std::string MeshText(const HloModule& module, const MeshReport& report, int64_t top) {
  const StepPrediction& step = report.step;
  std::string text =
      absl::StrFormat("module %s on %s, a %s, %s\n", module.name(), Count(report.machine.network.devices(), "device"),
                      report.machine.network.ToString(), report.machine.name);
  const auto add = [&](absl::string_view name, const std::string& value, const std::string& note) {
    absl::StrAppendFormat(&text, "  %-22s%14s%s\n", name, value, note.empty() ? "" : absl::StrCat("  ", note));
  };
  const bool are_alike = step.seconds - step.fastest_seconds <= 1e-9 * step.seconds;
  add("step", PredictedTime(step.seconds),
      are_alike ? "all devices end together"
                : absl::StrCat("device ", step.slowest_device, " ends last, the first one after ",
                               PredictedTime(step.fastest_seconds)));
  add("  compute", PredictedTime(step.compute_seconds), "");
  add("  collectives", PredictedTime(step.collective_seconds),
      absl::StrCat(PredictedTime(step.exposed_seconds), " of waiting, for them and for other devices"));
  add("memory of a device", WithThousands(report.memory.default_space().peak_bytes),
      report.memory.has_chosen_layouts
          ? absl::StrCat("bytes at the peak, in the layouts that a ", report.memory.target.name(), " chooses")
          : "bytes at the peak");
  return absl::StrCat(text, CollectivesText(step.collectives, top), TrafficText(step, report.machine.host_devices),
                      MeshNotes(step));
}

Json MeshJson(const ModuleFile& file, const MeshReport& report) {
  const StepPrediction& step = report.step;
  Json json;
  json["file"] = file.name;
  json["module"] = file.module->name();
  json["network"] = report.machine.network.ToString();
  json["devices"] = report.machine.network.devices();
  json["host_devices"] = report.machine.host_devices;
  json["rates"] = report.machine.name;
  json["seconds"] = step.seconds;
  json["fastest_seconds"] = step.fastest_seconds;
  json["slowest_device"] = step.slowest_device;
  json["compute_seconds"] = step.compute_seconds;
  json["collective_seconds"] = step.collective_seconds;
  json["exposed_seconds"] = step.exposed_seconds;
  json["memory_bytes"] = report.memory.default_space().peak_bytes;
  json["unknown_loops"] = step.unknown_loops;
  json["unknown_calls"] = step.unknown_calls;
  Json& collectives = json["collectives"] = Json::array();
  for (const CollectivePrediction& each : step.collectives) collectives.push_back(CollectiveJson(each));
  return json;
}

}  // namespace kashi::cli
