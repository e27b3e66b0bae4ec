#include "cli/collective_profile.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/ranks.h"
#include "cli/verb.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/hlo/spmd/asynchronous_collectives.h"

namespace kashi::cli {

using base::WithThousands;
namespace {

// The time of one device at one operation.
struct DeviceTime {
  int64_t device;
  int64_t rank;
  int64_t calls;
  double ms, span_ms, hidden_ms;
};
using TimesByName = std::map<std::string, std::vector<DeviceTime>>;

// The time of a device at an operation, by its clock.
struct ClockTime {
  int64_t calls = 0, ns = 0, span_ns = 0, hidden_ns = 0;
};

// The operations of a device: their times are those of both halves. What async-start does at once has a row of its own.
std::map<const HloInstruction*, ClockTime> TimesOf(const evaluator::StepClock& clock) {
  std::map<const HloInstruction*, ClockTime> times;
  for (const auto& [start, overlap] : clock.overlaps()) {
    times[start].span_ns = overlap.span_ns;
    times[start].hidden_ns = overlap.hidden_ns;
  }
  for (const evaluator::StepTime& time : clock.times()) {
    if (time.instruction == nullptr) continue;
    const HloInstruction* const ended = hlo::StartOfCollective(*time.instruction);
    const HloInstruction* const operation = ended == nullptr ? time.instruction : ended;
    const bool is_collective = hlo::CollectiveBegunBy(*operation) == operation;
    if (!is_collective && times.find(operation) == times.end()) continue;
    if (ended == nullptr) times[operation].calls += time.calls;
    times[operation].ns += time.own_ns;
  }
  return times;
}

// A line for each operation of each device here: device, calls, nanoseconds (also those from begin to end, and those
// that are hidden), name.
std::string TimesHere(const evaluator::StepProfile& profile) {
  std::string text;
  for (const auto& [device, clock] : profile.clocks()) {
    for (const auto& [operation, time] : TimesOf(clock)) {
      absl::StrAppend(&text, device, "\t", time.calls, "\t", time.ns, "\t", time.span_ns, "\t", time.hidden_ns, "\t",
                      operation->name(), "\n");
    }
  }
  return text;
}

void AddTimes(absl::string_view text, int64_t rank, TimesByName* times) {
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits('\t', 5));
    DeviceTime time{0, rank, 0, 0, 0, 0};
    int64_t ns[3] = {};
    bool is_whole =
        parts.size() == 6 && absl::SimpleAtoi(parts[0], &time.device) && absl::SimpleAtoi(parts[1], &time.calls);
    for (size_t i = 0; i < 3 && is_whole; ++i) is_whole = absl::SimpleAtoi(parts[2 + i], &ns[i]);
    if (!is_whole) continue;  // the last line of a long text may be cut
    time.ms = static_cast<double>(ns[0]) * 1e-6;
    time.span_ms = static_cast<double>(ns[1]) * 1e-6;
    time.hidden_ms = static_cast<double>(ns[2]) * 1e-6;
    (*times)[std::string(parts[5])].push_back(time);
  }
}

absl::StatusOr<TimesByName> AllTimes(const evaluator::StepProfile& profile) {
  TimesByName times;
  if (TheRanks() == nullptr) {
    AddTimes(TimesHere(profile), -1, &times);
    return times;
  }
  KASHI_ASSIGN_OR_RETURN(const std::vector<std::string> texts, TheRanks()->GatherTexts(TimesHere(profile)));
  for (size_t r = 0; r < texts.size(); ++r) AddTimes(texts[r], static_cast<int64_t>(r), &times);
  return times;
}

int64_t OperandBytes(const HloInstruction& instruction) {
  int64_t bytes = 0;
  for (const HloInstruction* operand : instruction.operands()) {
    for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(operand->shape())) {
      if (leaf.shape.IsArray()) bytes += ShapeUtil::ByteSizeOfElements(leaf.shape);
    }
  }
  return bytes;
}

// Device d's group: its first member, which no other group has.
int64_t GroupOf(const HloInstruction& instruction, DeviceCounts counts, int64_t device) {
  const absl::StatusOr<std::vector<int64_t>> members = CollectiveGroupOf(instruction, counts, device);
  return members.ok() && !members->empty() ? members->front() : device;
}

CollectiveRow CollectiveRowOf(const HloInstruction& instruction, DeviceCounts counts,
                              const std::vector<DeviceTime>& times, int64_t runs) {
  const HloInstruction& collective = *hlo::CollectiveBegunBy(instruction);
  CollectiveRow row;
  row.name = std::string(instruction.name());
  row.opcode = std::string(HloOpcodeString(collective.opcode()));
  row.bytes = OperandBytes(collective);
  std::map<int64_t, std::vector<DeviceTime>> groups;
  for (const DeviceTime& time : times) groups[GroupOf(collective, counts, time.device)].push_back(time);
  const double mean_of = static_cast<double>(times.size()) * static_cast<double>(runs);
  double all_waiting = 0, all_ms = 0, all_calls = 0;
  for (const auto& [first, members] : groups) {
    const DeviceTime& least =
        *absl::c_min_element(members, [](const DeviceTime& a, const DeviceTime& b) { return a.ms < b.ms; });
    double waiting = 0;
    for (const DeviceTime& time : members) {
      waiting += time.ms - least.ms;
      all_ms += time.ms;
      row.span_ms += time.span_ms / mean_of;
      row.hidden_ms += time.hidden_ms / mean_of;
      all_calls += static_cast<double>(time.calls);
    }
    all_waiting += waiting;
    if (waiting / static_cast<double>(runs) < row.latest_cost_ms) continue;
    row.latest = least.device;
    row.latest_rank = least.rank;
    row.latest_cost_ms = waiting / static_cast<double>(runs);
  }
  row.calls = all_calls / mean_of;
  row.ms = all_ms / mean_of;
  row.waiting_ms = all_waiting / mean_of;
  return row;
}

std::string Milliseconds(double ms) { return absl::StrFormat("%.3f", ms); }

}  // namespace

absl::StatusOr<std::vector<CollectiveRow>> ProfileCollectives(const HloModule& module, DeviceCounts counts,
                                                              const evaluator::StepProfile& profile, int64_t runs) {
  KASHI_ASSIGN_OR_RETURN(const TimesByName times, AllTimes(profile));
  std::vector<CollectiveRow> rows;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      const auto found = times.find(std::string(instruction->name()));
      if (found == times.end() || hlo::CollectiveBegunBy(*instruction) == nullptr) continue;
      rows.push_back(CollectiveRowOf(*instruction, counts, found->second, runs));
    }
  }
  absl::c_stable_sort(rows, [](const CollectiveRow& a, const CollectiveRow& b) { return a.ms > b.ms; });
  return rows;
}

std::string CollectivesText(const std::vector<CollectiveRow>& rows, int64_t top) {
  if (rows.empty()) return "";
  std::string text = absl::StrFormat("collective operations, ms of a run and a device\n%12s %12s %10s %14s  %s\n",
                                     "time", "waiting", "calls", "bytes a call", "operation; who is latest");
  for (size_t i = 0; i < rows.size() && static_cast<int64_t>(i) < top; ++i) {
    const CollectiveRow& row = rows[i];
    const std::string rank = row.latest_rank < 0 ? "" : absl::StrCat(" on rank ", row.latest_rank);
    const std::string halves = row.span_ms > 0 ? absl::StrCat("; begin to end ", Milliseconds(row.span_ms), ", hidden ",
                                                              Milliseconds(row.hidden_ms))
                                               : "";
    absl::StrAppendFormat(&text, "%12s %12s %10s %14s  %s, %s; device %d%s, for which others wait %s%s\n",
                          Milliseconds(row.ms), Milliseconds(row.waiting_ms),
                          WithThousands(static_cast<int64_t>(row.calls)), WithThousands(row.bytes), row.name,
                          row.opcode, row.latest, rank, Milliseconds(row.latest_cost_ms), halves);
  }
  if (static_cast<int64_t>(rows.size()) > top) {
    absl::StrAppend(&text, "  and ", Count(static_cast<int64_t>(rows.size()) - top, "more operation"), "\n");
  }
  return text;
}

Json CollectivesJson(const std::vector<CollectiveRow>& rows) {
  Json list = Json::array();
  for (const CollectiveRow& row : rows) {
    Json json = {{"name", row.name},     {"opcode", row.opcode},
                 {"bytes", row.bytes},   {"calls", row.calls},
                 {"ms", row.ms},         {"waiting_ms", row.waiting_ms},
                 {"latest", row.latest}, {"latest_cost_ms", row.latest_cost_ms}};
    if (row.span_ms > 0) {
      json["span_ms"] = row.span_ms;
      json["hidden_ms"] = row.hidden_ms;
    }
    if (row.latest_rank >= 0) json["latest_rank"] = row.latest_rank;
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace kashi::cli
