// MakeReportColumns: columns by instruction, by computation and by scope.
#include "cli/report_data.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "cli/memory_html.h"
#include "cli/page_json.h"
#include "cli/report_instructions.h"
#include "cli/scope_note.h"
#include "cli/target_option.h"
#include "kashi/analysis/memory_target.h"
#include "kashi/base/status.h"
#include "kashi/insight/breakdown.h"
#include "kashi/insight/scopes.h"

namespace kashi::cli {
namespace {

// The accelerator that the module is for, as far as can be seen.
const insight::Accelerator& GuessAccelerator(const HloModule& module) {
  const MemoryTarget guess = GuessMemoryTarget(module);
  if (guess.is_gpu) return AcceleratorOf("h100");
  return AcceleratorOf(guess.is_tpu() ? guess.name() : "cpu");
}

MemoryTarget MemoryTargetOf(const insight::Accelerator& accelerator) {
  MemoryTarget target;
  target.tpu = accelerator.tpu;
  target.is_gpu = accelerator.kind == insight::AcceleratorKind::kGpu;
  return target;
}

// ---- Scopes ---------------------------------------------------------------------------------------------------------

// The tree of the scopes of a module. Scope 0 is the root.
class ScopeTable {
 public:
  ScopeTable() : parents_(1, 0), names_(1) {}

  int64_t Number(const std::vector<std::string>& parts) {
    int64_t at = 0;
    for (size_t i = 0; i < parts.size() && i < kMostParts; ++i) {
      const auto [found, is_new] =
          numbers_.try_emplace(std::make_pair(at, parts[i]), static_cast<int64_t>(parents_.size()));
      if (is_new) {
        parents_.push_back(at);
        names_.push_back(parts[i]);
      }
      at = found->second;
    }
    return at;
  }
  void Write(PageTexts* texts, std::string* json) const {
    AddNumbers(
        "scope_parents", parents_, [](int64_t parent) { return parent; }, json);
    AddNumbers(
        "scope_names", names_, [&](const std::string& name) { return texts->Number(name); }, json);
  }

 private:
  static constexpr size_t kMostParts = 24;  // the graph draws one scope in another

  std::vector<int64_t> parents_;
  std::vector<std::string> names_;
  absl::flat_hash_map<std::pair<int64_t, std::string>, int64_t> numbers_;
};

absl::Status AddScopes(const ModuleReport& report, const ReportInstructions& all, PageTexts* texts, std::string* json) {
  KASHI_ASSIGN_OR_RETURN(const insight::Scopes scopes,
                         insight::Scopes::Create(report.module(), report.cost().counts()));
  ScopeTable table;
  AddNumbers(
      "scopes", all.instructions(), [&](const HloInstruction* each) { return table.Number(scopes.PartsOf(*each)); },
      json);
  table.Write(texts, json);
  return absl::OkStatus();
}

// ---- Cost -----------------------------------------------------------------------------------------------------------

void AddCost(const ModuleReport& report, const ReportInstructions& all, std::string* json) {
  const auto add = [&](absl::string_view key, auto number_of) {
    AddNumbers(
        key, all.instructions(), [&](const HloInstruction* each) { return PageNumber(number_of(each)); }, json);
  };
  const insight::CountedCost& cost = report.cost();
  const insight::Roofline& roofline = report.roofline();
  add("flops", [&](const HloInstruction* each) { return cost.CostOf(each).flops; });
  add("transcendentals", [&](const HloInstruction* each) { return cost.CostOf(each).transcendentals; });
  add("traffic", [&](const HloInstruction* each) { return cost.CostOf(each).bytes_accessed; });
  add("seconds", [&](const HloInstruction* each) { return roofline.SecondsOf(each); });
  add("wasted", [&](const HloInstruction* each) { return roofline.WastedSecondsOf(each); });
  AddNumbers(
      "bounds", all.instructions(),
      [&](const HloInstruction* each) { return static_cast<int>(roofline.TimeOf(each).bound()); }, json);
  std::vector<int64_t> critical;
  for (const HloComputation* computation : all.computations()) {
    for (const HloInstruction* each : report.critical_path().PathOf(computation)) {
      critical.push_back(all.NumberOf(each));
    }
  }
  AddNumbers(
      "critical", critical, [](int64_t number) { return number; }, json);
}

// The measures of a breakdown, in this order.
const std::vector<std::string>& Measures() {
  static const auto* const kMeasures =
      new std::vector<std::string>({"seconds", "wasted", "flops", "transcendentals", "traffic"});
  return *kMeasures;
}

insight::Breakdown BreakdownOf(const ModuleReport& report, const insight::Groups& groups) {
  insight::Breakdown breakdown(Measures());
  for (const HloInstruction* each : report.cost().instructions()) {
    const Cost cost = report.cost().CostOf(each);
    const std::vector<double> values = {report.roofline().SecondsOf(each), report.roofline().WastedSecondsOf(each),
                                        cost.flops, cost.transcendentals, cost.bytes_accessed};
    for (const insight::Groups::Place& place : groups.PlacesOf(*each)) {
      std::vector<double> part = values;
      for (double& value : part) value *= place.share;
      breakdown.Add(place.parts, part);
    }
  }
  return breakdown;
}

// "breakdowns":{"scope":{"names":[…],"parents":[…],"items":[…],"seconds":[…], …},…}
absl::Status AddBreakdowns(const ModuleReport& report, PageTexts* texts, std::string* json) {
  absl::StrAppend(json, "\"breakdowns\":{");
  for (const absl::string_view name : insight::GroupingNames()) {
    KASHI_ASSIGN_OR_RETURN(
        const insight::Groups groups,
        insight::Groups::Create(report.module(), report.cost().counts(), *insight::ParseGrouping(name)));
    const insight::Breakdown breakdown = BreakdownOf(report, groups);
    using Node = insight::Breakdown::Node;
    absl::StrAppend(json, "\"", name, "\":{");
    AddNumbers(
        "names", breakdown.nodes(), [&](const Node& node) { return texts->Number(node.name); }, json);
    AddNumbers(
        "parents", breakdown.nodes(), [](const Node& node) { return node.parent; }, json);
    AddNumbers(
        "items", breakdown.nodes(), [](const Node& node) { return node.items; }, json);
    for (size_t i = 0; i < Measures().size(); ++i) {
      AddNumbers(
          Measures()[i], breakdown.nodes(), [i](const Node& node) { return PageNumber(node.sum[i]); }, json);
    }
    absl::StrAppend(json, "\"separator\":\"", groups.separator(), "\"}",
                    name == insight::GroupingNames().back() ? "" : ",");
  }
  absl::StrAppend(json, "},\n");
  return absl::OkStatus();
}

// ---- The module -----------------------------------------------------------------------------------------------------

// What the head of the page says.
void AddHead(const ModuleReport& report, std::string* json) {
  AddPageText("module", report.module().name(), json);
  AddPageText("target", report.accelerator().name, json);
  absl::StrAppend(json, "\"target_is_guess\":", report.is_guess() ? "true" : "false",
                  ",\"has_schedule\":", report.module().has_schedule() ? "true" : "false",
                  ",\"unknown_loops\":", report.cost().counts().unknown_loops().size(),
                  ",\"total_seconds\":", PageNumber(report.roofline().seconds()),
                  ",\"wasted_seconds\":", PageNumber(report.roofline().wasted_seconds()),
                  ",\"critical_seconds\":", PageNumber(report.critical_path().seconds()),
                  ",\"total_flops\":", PageNumber(report.cost().total().flops),
                  ",\"total_transcendentals\":", PageNumber(report.cost().total().transcendentals),
                  ",\"total_traffic\":", PageNumber(report.cost().total().bytes_accessed), ",\n");
  AddPageText("global_note", GlobalNote(report.module()), json);
}

std::string MemoryJsonOf(const ModuleReport& report, PageTexts* texts) {
  const absl::StatusOr<MemoryAnalysis>& memory = report.memory();
  std::string json = "{";
  if (!memory.ok()) {
    AddPageText("problem", memory.status().message(), &json);
    return absl::StrCat(json, "\"texts\":[]}");
  }
  AddNumbers(
      "totals", memory->spaces,
      [](const MemorySpaceUsage& space) {
        return absl::StrCat("[", space.peak_bytes, ",", space.padding_bytes, ",", space.argument_bytes, ",",
                            space.output_bytes, ",", space.alias_bytes, ",", space.constant_bytes, ",",
                            space.temp_bytes, ",", space.scratch_bytes, "]");
      },
      &json);
  AddPageText("basis", MemoryBasisName(memory->basis), &json);
  return absl::StrCat(json, MemoryPageData(report.module(), *memory, texts), "\"texts\":[]}");
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModuleReport>> ModuleReport::Create(const HloModule& module, const ReportTarget& target,
                                                                   const XlaMemoryFacts& facts) {
  std::unique_ptr<ModuleReport> report(new ModuleReport(module));  // its constructor is private
  report->is_guess_ = target.accelerator == nullptr;
  report->accelerator_ = report->is_guess_ ? &GuessAccelerator(module) : target.accelerator;
  KASHI_ASSIGN_OR_RETURN(report->cost_, insight::CountedCost::Compute(module));
  KASHI_ASSIGN_OR_RETURN(report->roofline_, insight::Roofline::Compute(module, report->cost_, *report->accelerator_));
  KASHI_ASSIGN_OR_RETURN(report->critical_path_,
                         insight::CriticalPath::Compute(module, report->cost_, report->roofline_));
  std::optional<MemoryTarget> memory_target;
  if (!report->is_guess_) memory_target = MemoryTargetOf(*report->accelerator_);
  report->memory_ = AnalyzeMemory(module, memory_target, facts);
  if (report->memory_.status().code() == absl::StatusCode::kFailedPrecondition) {  // facts of another module
    report->memory_ = AnalyzeMemory(module, memory_target);
  }
  return report;
}

absl::StatusOr<ReportColumns> MakeReportColumns(const ModuleReport& report) {
  const ReportInstructions all(report.module());
  PageTexts texts;
  ReportColumns result;
  std::string& json = result.module;
  json = "{";
  AddHead(report, &json);
  all.Write(report.cost().counts(), report.critical_path(), &texts, &json);
  KASHI_RETURN_IF_ERROR(AddScopes(report, all, &texts, &json));
  AddCost(report, all, &json);
  KASHI_RETURN_IF_ERROR(AddBreakdowns(report, &texts, &json));
  result.memory = MemoryJsonOf(report, &texts);
  absl::StrAppend(&json, "\"texts\":[", texts.json(), "]}");
  return result;
}

}  // namespace kashi::cli
