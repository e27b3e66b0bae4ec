#include "cli/memory_engine.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "cli/compile_program.h"
#include "cli/table_text.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/engine/program_door.h"

namespace kashi::cli {

using base::HumanBytes;
using buffers::Buffer;
using buffers::BufferAssignment;
using buffers::Home;
using engine::ProgramDoor;
namespace {

struct Totals {
  int64_t argument_bytes = 0, output_bytes = 0, constant_bytes = 0, temp_bytes = 0;

  int64_t peak_bytes() const { return argument_bytes + output_bytes + constant_bytes + temp_bytes; }
};

// Results that are arguments or constants take no memory of their own.
Totals TotalsOf(const BufferAssignment& assignment) {
  Totals totals;
  totals.temp_bytes = assignment.arena_bytes;
  for (const Buffer& buffer : assignment.buffers) {
    if (buffer.home == Home::kArgument) totals.argument_bytes += buffer.bytes;
    if (buffer.home == Home::kConstant) totals.constant_bytes += buffer.bytes;
  }
  for (int result : assignment.results) {
    const Buffer& buffer = assignment.buffers[result];
    if (buffer.home == Home::kResult) totals.output_bytes += buffer.bytes;
  }
  return totals;
}

std::string MakerOf(const Buffer& buffer) { return buffer.maker == nullptr ? "-" : std::string(buffer.maker->name()); }

// The largest first, without the memory of results that are arguments or constants: there is none.
std::vector<int> BySize(const BufferAssignment& assignment) {
  std::vector<int> numbers;
  for (size_t i = 0; i < assignment.buffers.size(); ++i) {
    const int number = static_cast<int>(i);
    const bool is_result = assignment.buffers[i].home == Home::kResult;
    if (!is_result || absl::c_linear_search(assignment.results, number)) numbers.push_back(number);
  }
  absl::c_stable_sort(numbers, [&](int a, int b) { return assignment.buffers[a].bytes > assignment.buffers[b].bytes; });
  return numbers;
}

std::string ReportText(const BufferAssignment& assignment, int64_t top) {
  const Totals totals = TotalsOf(assignment);
  std::string text =
      absl::StrCat("The engine cpu runs this program in ", HumanBytes(totals.peak_bytes()), ":\n  ",
                   HumanBytes(totals.argument_bytes), " of arguments\n  ", HumanBytes(totals.output_bytes),
                   " of results\n  ", HumanBytes(totals.constant_bytes), " of constants\n  ",
                   HumanBytes(totals.temp_bytes), " of arrays between the steps, in one arena\n");
  std::vector<std::vector<std::string>> rows = {{"buffer", "bytes", "from", "to", "first value"}};
  for (int number : BySize(assignment)) {
    if (static_cast<int64_t>(rows.size()) > top) break;
    const Buffer& buffer = assignment.buffers[number];
    const bool has_times = buffer.home == Home::kArena;
    rows.push_back({assignment.NameOf(number), HumanBytes(buffer.bytes), has_times ? absl::StrCat(buffer.first) : "-",
                    has_times ? absl::StrCat(buffer.last) : "-", MakerOf(buffer)});
  }
  if (rows.size() > 1) absl::StrAppend(&text, "\n", TableText(std::move(rows)));
  for (size_t i = 0; i < assignment.results.size(); ++i) {
    const int result = assignment.results[i];
    if (assignment.buffers[result].home == Home::kResult) continue;
    absl::StrAppend(&text, "result ", i, " is ", assignment.NameOf(result), "\n");
  }
  return text;
}

Json ReportJson(const HloModule& module, const BufferAssignment& assignment, const std::string& file) {
  static constexpr const char* kHomes[] = {"arena", "argument", "result", "constant"};
  const Totals totals = TotalsOf(assignment);
  Json buffers = Json::array(), results = Json::array();
  for (int result : assignment.results) results.push_back(assignment.NameOf(result));
  for (int number : BySize(assignment)) {
    const Buffer& buffer = assignment.buffers[number];
    Json row = {{"home", kHomes[static_cast<int>(buffer.home)]}, {"bytes", buffer.bytes}};
    if (buffer.home != Home::kArena) row["number"] = buffer.number;
    if (buffer.lies_in >= 0) {
      row["in_result"] = buffer.lies_in;
    } else if (buffer.home == Home::kArena) {
      row["offset"] = buffer.offset;
    }
    if (buffer.home == Home::kArena) row.update({{"first", buffer.first}, {"last", buffer.last}});
    row["value"] = buffer.maker == nullptr ? Json() : Json(std::string(buffer.maker->name()));
    buffers.push_back(std::move(row));
  }
  return {{"file", file},
          {"module", module.name()},
          {"engine", "cpu"},
          {"argument_bytes", totals.argument_bytes},
          {"output_bytes", totals.output_bytes},
          {"constant_bytes", totals.constant_bytes},
          {"temp_bytes", totals.temp_bytes},
          {"peak_bytes", totals.peak_bytes()},
          {"results", std::move(results)},
          {"buffers", std::move(buffers)}};
}

}  // namespace

absl::Status ReportEngineMemory(const HloModule& module, const std::string& file, int64_t top, Answers* answers) {
  CompileOptions options;
  options.engine = "cpu";
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, CompileProgram(module, options));
  const BufferAssignment* const assignment = ProgramDoor::BuffersOf(*program);
  if (assignment == nullptr) {
    return absl::FailedPreconditionError(
        "the engine cpu has no plan of this program's memory: it has arrays with sizes that are only known at run "
        "time, "
        "tokens, or parts that run on each device");
  }
  if (answers->json()) {
    answers->AddLine(ReportJson(module, *assignment, file));
  } else {
    answers->Add(ReportText(*assignment, top));
  }
  return absl::OkStatus();
}

}  // namespace kashi::cli
