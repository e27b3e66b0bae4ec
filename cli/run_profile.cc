#include "cli/run_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "cli/cost_text.h"
#include "cli/time_text.h"
#include "cli/verb.h"
#include "kashi/analysis/source_location.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/insight/execution_counts.h"

namespace kashi::cli {

using base::Count;
using base::WithThousands;
using evaluator::StepTime;
namespace {

constexpr char kBetweenSteps[] = "(between steps)";

// ---- Rows -----------------------------------------------------------------------------------------------------------

// Operations that hardly describe what a kernel computes.
bool IsAuxiliary(HloOpcode opcode) {
  static constexpr HloOpcode kAuxiliary[] = {
      HloOpcode::kParameter,       HloOpcode::kConstant, HloOpcode::kBroadcast, HloOpcode::kTuple,
      HloOpcode::kGetTupleElement, HloOpcode::kBitcast,  HloOpcode::kReshape,   HloOpcode::kIota,
      HloOpcode::kConvert};
  return absl::c_linear_search(kAuxiliary, opcode);
}

// "subtract, exponential, reduce": the first operations of a kernel, each once.
std::string FusedOperations(const HloComputation& fused) {
  constexpr size_t kMost = 3;
  std::vector<std::string> names;
  for (const HloInstruction* instruction : fused.MakeInstructionPostOrder()) {
    const std::string name(HloOpcodeString(instruction->opcode()));
    if (!IsAuxiliary(instruction->opcode()) && !absl::c_linear_search(names, name)) names.push_back(name);
  }
  if (names.empty()) return std::string(HloOpcodeString(fused.root_instruction()->opcode()));
  const bool is_long = names.size() > kMost;
  names.resize(std::min(names.size(), kMost));
  return absl::StrCat(absl::StrJoin(names, ", "), is_long ? " ..." : "");
}

std::string WhatIs(const StepTime& time, bool is_compiled) {
  const HloInstruction& instruction = *time.instruction;
  const std::string opcode(HloOpcodeString(instruction.opcode()));
  if (time.has_steps) return absl::StrCat(opcode, ", without its steps");
  if (time.joined > 1) return absl::StrCat("native function of ", Count(time.joined, "step"));
  if (is_compiled && instruction.opcode() == HloOpcode::kWhile) return "native loop";
  if (instruction.opcode() == HloOpcode::kFusion) return FusedOperations(*instruction.fused_instructions_computation());
  if (instruction.opcode() == HloOpcode::kCustomCall)
    return absl::StrCat(opcode, " ", instruction.custom_call_target());
  return opcode;
}

// Nothing for a step whose cost is that of the steps within it, for a loop, whose cost would be that of one iteration,
// and for operations that pass their operand on as it is.
std::optional<Cost> CostOf(const StepTime& time, const CostAnalysis& costs) {
  static constexpr HloOpcode kWithoutCost[] = {HloOpcode::kWhile, HloOpcode::kReshape, HloOpcode::kBitcast,
                                               HloOpcode::kCopy,  HloOpcode::kTuple,   HloOpcode::kGetTupleElement};
  if (time.has_steps || time.joined > 1 || absl::c_linear_search(kWithoutCost, time.instruction->opcode()))
    return std::nullopt;
  const Cost cost = costs.CostOf(time.instruction);
  if (cost.unknown > 0 || cost.flops + cost.transcendentals + cost.bytes_accessed == 0) return std::nullopt;
  return cost;
}

// ---- The table ------------------------------------------------------------------------------------------------------

std::string Percent(double part) { return absl::StrFormat("%.1f %%", 100 * part); }
std::string WholePercent(double part) {
  return part < 0.01 ? absl::StrFormat("%.1f %%", 100 * part) : absl::StrFormat("%.0f %%", 100 * part);
}

std::string CallsText(double calls) {
  if (calls == std::floor(calls)) return WithThousands(static_cast<int64_t>(calls));
  return ThreeDigits(calls);
}

std::string SourceText(const HloInstruction& instruction) {
  const SourceLocation source = GetSourceLocation(instruction);
  const std::string place = source.file.empty() ? "" : absl::StrCat(source.file, ":", source.line);
  return absl::StrCat(place, place.empty() || source.op_name.empty() ? "" : " ", source.op_name);
}

// Numbers to the right, text to the left.
class Table {
 public:
  static constexpr size_t kNumbers = 7;  // columns of numbers, at the left
  using Line = std::vector<std::string>;

  void Add(Line line) {
    widths_.resize(std::max(widths_.size(), line.size()));
    // The last column, of sources, may have any width.
    for (size_t i = 0; i < line.size(); ++i) widths_[i] = std::max(widths_[i], std::min(line[i].size(), kMostWidth));
    lines_.push_back(std::move(line));
  }

  std::string ToString() const {
    std::string text;
    for (const Line& line : lines_) {
      std::string row;
      for (size_t i = 0; i < line.size(); ++i) {
        const std::string space(widths_[i] - std::min(widths_[i], line[i].size()), ' ');
        absl::StrAppend(&row, "  ", i < kNumbers ? space : "", line[i], i < kNumbers ? "" : space);
      }
      row.erase(row.find_last_not_of(' ') + 1);
      absl::StrAppend(&text, row, "\n");
    }
    return text;
  }

 private:
  static constexpr size_t kMostWidth = 44;
  std::vector<Line> lines_;
  std::vector<size_t> widths_;
};

Table::Line LineOf(const ProfileRow& row, const MachinePeaks& peaks) {
  Table::Line line = {TimeText(row.ms), Percent(row.share), CallsText(row.calls), "", "", "", ""};
  if (row.instruction == nullptr) {
    line[2] = "";
    line.push_back(kBetweenSteps);
    return line;
  }
  if (row.gbps() > 0) {
    line[3] = ThreeDigits(row.gbps());
    line[4] = WholePercent(row.gbps() / peaks.copy_gbps);
  }
  if (row.gflops() > 0) {
    line[5] = ThreeDigits(row.gflops());
    line[6] = WholePercent(row.gflops() / peaks.dot_gflops);
  }
  line.push_back(std::string(row.instruction->name()));
  line.push_back(row.what);
  line.push_back(SourceText(*row.instruction));
  return line;
}

Table::Line LineOfOthers(absl::Span<const ProfileRow> rows) {
  double ms = 0, share = 0, calls = 0;
  for (const ProfileRow& row : rows) {
    ms += row.ms;
    share += row.share;
    calls += row.calls;
  }
  return {TimeText(ms),
          Percent(share),
          CallsText(calls),
          "",
          "",
          "",
          "",
          absl::StrCat("(", Count(static_cast<int64_t>(rows.size()), "other step"), ")")};
}

std::string Title(const ProfileReport& report) {
  const std::string runs = report.is_only_run ? "the only run" : Count(report.runs, "run");
  return absl::StrFormat(
      "profile of %s%s, engine %s: %s%s\n"
      "this machine copies %s GB/s and multiplies f32 matrices at %s GFLOP/s\n",
      runs, report.is_only_run ? "" : " after the first", report.engine,
      absl::StripTrailingAsciiWhitespace(TimeText(report.run_ms)), report.runs > 1 ? " each" : "",
      ThreeDigits(report.peaks.copy_gbps), ThreeDigits(report.peaks.dot_gflops));
}

}  // namespace

absl::StatusOr<ProfileReport> MakeProfileReport(const Program& program, const std::vector<StepTime>& times,
                                                int64_t all_runs) {
  CostRules rules;
  rules.counts_needed_work = true;
  KASHI_ASSIGN_OR_RETURN(const CostAnalysis costs, CostAnalysis::Run(program.module(), rules));
  ProfileReport report;
  report.engine = std::string(program.engine());
  report.is_only_run = all_runs == 1;
  report.runs = std::max<int64_t>(1, all_runs - 1);
  const auto runs = static_cast<double>(report.runs);
  for (const StepTime& time : times) {
    ProfileRow row;
    row.instruction = time.instruction;
    row.ms = static_cast<double>(time.own_ns) * 1e-6 / runs;
    row.calls = static_cast<double>(time.calls) / runs;
    if (time.instruction != nullptr) {
      row.what = WhatIs(time, report.engine == "cpu");
      row.cost = CostOf(time, costs);
    }
    report.run_ms += row.ms;
    report.rows.push_back(std::move(row));
  }
  for (ProfileRow& row : report.rows) row.share = report.run_ms > 0 ? row.ms / report.run_ms : 0;
  absl::c_stable_sort(report.rows, [](const ProfileRow& a, const ProfileRow& b) { return a.ms > b.ms; });
  return report;
}

std::string ProfileText(const ProfileReport& report, int64_t top) {
  Table table;
  table.Add({"time", "share", "calls", "GB/s", "of copy", "GFLOP/s", "of dot", "step", "what", "source"});
  const absl::Span<const ProfileRow> rows = report.rows;
  const absl::Span<const ProfileRow> shown = rows.first(std::min<size_t>(top, rows.size()));
  for (const ProfileRow& row : shown) table.Add(LineOf(row, report.peaks));
  if (shown.size() < rows.size()) table.Add(LineOfOthers(rows.subspan(shown.size())));
  return absl::StrCat(Title(report), table.ToString());
}

namespace {

double CountOr0(const ProfileRow& row, double Cost::*number) {
  return row.cost.has_value() ? (*row.cost).*number * row.calls : 0;
}

}  // namespace

absl::StatusOr<BreakdownTable> ProfileBreakdown(const Program& program, const ProfileReport& report,
                                                const BreakdownOptions& options) {
  KASHI_ASSIGN_OR_RETURN(const insight::ExecutionCounts counts, insight::ExecutionCounts::Compute(program.module()));
  const auto time = [](double ms) { return TimeText(ms); };
  const auto short_time = [](double ms) { return std::string(absl::StripTrailingAsciiWhitespace(TimeText(ms))); };
  BreakdownShape shape;
  shape.columns = {{"ms", "time", time, short_time},
                   {"bytes", "bytes", BytesText, BytesText},
                   {"flops", "flops", FlopsText, FlopsText}};
  shape.items = "steps";
  KASHI_ASSIGN_OR_RETURN(BreakdownTable table, BreakdownTable::Create(program.module(), counts, options, shape));
  for (const ProfileRow& row : report.rows) {
    const std::vector<double> values = {row.ms, CountOr0(row, &Cost::bytes_accessed),
                                        CountOr0(row, &Cost::flops) + CountOr0(row, &Cost::transcendentals)};
    if (row.instruction == nullptr) {
      table.AddOther(kBetweenSteps, values);
    } else {
      table.Add(*row.instruction, values);
    }
  }
  table.Sort();
  return table;
}

std::string ProfileByText(const ProfileReport& report, const BreakdownTable& table, int64_t top) {
  return absl::StrCat(Title(report), table.ToText(top));
}

namespace {

Json RowJson(const ProfileRow& row, const MachinePeaks& peaks) {
  const HloInstruction& instruction = *row.instruction;
  Json json = {{"name", instruction.name()},
               {"computation", instruction.parent()->name()},
               {"opcode", HloOpcodeString(instruction.opcode())},
               {"what", row.what},
               {"ms", row.ms},
               {"share", row.share},
               {"calls", row.calls}};
  if (row.cost.has_value()) {
    json["bytes"] = row.cost->bytes_accessed;
    json["flops"] = row.cost->flops;
    json["transcendentals"] = row.cost->transcendentals;
    json["gbps"] = row.gbps();
    json["of_copy"] = row.gbps() / peaks.copy_gbps;
    json["gflops"] = row.gflops();
    json["of_dot"] = row.gflops() / peaks.dot_gflops;
  }
  const SourceLocation source = GetSourceLocation(instruction);
  if (!source.op_name.empty()) json["op_name"] = source.op_name;
  if (!source.file.empty()) json["source"] = absl::StrCat(source.file, ":", source.line);
  return json;
}

}  // namespace

Json ProfileJson(const ProfileReport& report) {
  Json steps = Json::array();
  double between_ms = 0;
  for (const ProfileRow& row : report.rows) {
    if (row.instruction == nullptr) {
      between_ms = row.ms;
    } else {
      steps.push_back(RowJson(row, report.peaks));
    }
  }
  return {{"runs", report.runs},
          {"run_ms", report.run_ms},
          {"between_steps_ms", between_ms},
          {"copy_gbps", report.peaks.copy_gbps},
          {"dot_gflops", report.peaks.dot_gflops},
          {"steps", std::move(steps)}};
}

namespace {

// The data of an event about its instruction: everything except the time.
std::string EventText(const ProfileRow& row) {
  if (row.instruction == nullptr) return R"("name":"run","args":{})";
  Json args = {{"what", row.what}};
  const std::string source = SourceText(*row.instruction);
  if (!source.empty()) args["source"] = source;
  if (row.cost.has_value()) {
    args["bytes"] = row.cost->bytes_accessed;
    args["flops"] = row.cost->flops + row.cost->transcendentals;
  }
  return absl::StrCat("\"name\":", Json(row.instruction->name()).dump(), ",\"args\":", args.dump());
}

}  // namespace

void WarnOfLostEvents(const evaluator::StepProfile& profile) {
  int64_t kept = 0, lost = 0;
  for (const auto& [device, clock] : profile.clocks()) {
    kept += static_cast<int64_t>(clock.events().size());
    lost += clock.lost_events();
  }
  if (lost == 0) return;
  PrintWarning(absl::StrCat("--profile-trace: the trace has the first ", Count(kept, "step"), "; ", WithThousands(lost),
                            " more ran"));
}

std::string ProfileTrace(const evaluator::StepProfile& profile, const ProfileReport& report) {
  absl::flat_hash_map<const HloInstruction*, std::string> texts;
  for (const ProfileRow& row : report.rows) texts[row.instruction] = EventText(row);
  int64_t begin_ns = INT64_MAX;
  for (const auto& [device, clock] : profile.clocks()) {
    for (const evaluator::StepEvent& event : clock.events()) begin_ns = std::min(begin_ns, event.begin_ns);
  }
  std::string json = absl::StrCat(R"({"displayTimeUnit":"ns","traceEvents":[{"name":"process_name","ph":"M","pid":0,)",
                                  R"("args":{"name":"kashi run, engine )", report.engine, "\"}}");
  for (const auto& [device, clock] : profile.clocks()) {
    absl::StrAppend(&json, ",\n", R"({"name":"thread_name","ph":"M","pid":0,"tid":)", device,
                    R"(,"args":{"name":"device )", device, "\"}}");
    for (const evaluator::StepEvent& event : clock.events()) {
      absl::StrAppendFormat(&json, ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,%s}", device,
                            static_cast<double>(event.begin_ns - begin_ns) * 1e-3,
                            static_cast<double>(event.end_ns - event.begin_ns) * 1e-3, texts[event.instruction]);
    }
  }
  return absl::StrCat(json, "]}\n");
}

}  // namespace kashi::cli
