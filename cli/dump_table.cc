#include "cli/dump_table.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "cli/table_text.h"
#include "kashi/base/text.h"

namespace kashi::cli {

using base::Count;
using base::HumanBytes;
using base::WithThousands;
namespace {

std::string FileName(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// "text", "proto", "text+proto".
std::string FormsOf(const DumpedStage& stage) {
  std::set<std::string> forms;
  for (const DumpFile& file : stage.files) {
    const bool is_proto = absl::EndsWith(file.path, ".pb") || absl::EndsWith(file.path, ".gz");
    forms.insert(is_proto ? "proto" : "text");
  }
  return absl::StrJoin(forms.rbegin(), forms.rend(), "+");
}

// The forms of the named stages at the begin or at the end: "-" if there is none.
std::string FormsOfNamed(const DumpedModule& module, bool before) {
  for (const DumpedStage& stage : module.stages) {
    if (stage.stage.number >= 0) continue;
    if (absl::StrContains(stage.stage.name, "before_optimizations") == before) return FormsOf(stage);
  }
  return "-";
}

std::string NumberOrDash(std::optional<int64_t> number) {
  return number.has_value() ? WithThousands(*number) : std::string("-");
}

struct KindRow {
  std::string kind;
  int64_t files = 0;
  int64_t bytes = 0;
  std::string example;
};

void AddFile(const std::string& kind, const DumpFile& file, std::vector<KindRow>* rows) {
  const auto found = std::find_if(rows->begin(), rows->end(), [&](const KindRow& row) { return row.kind == kind; });
  KindRow& row = found == rows->end() ? rows->emplace_back() : *found;
  row.kind = kind;
  ++row.files;
  row.bytes += file.bytes;
  if (row.example.empty()) row.example = FileName(file.path);
}

std::string KindOf(const DumpedStage& stage, const DumpFile& file) {
  const bool is_proto = absl::EndsWith(file.path, ".pb") || absl::EndsWith(file.path, ".gz");
  return absl::StrCat(stage.stage.number >= 0 ? "after passes" : stage.stage.name, is_proto ? ", proto" : ", text");
}

}  // namespace

std::string DumpTable(const std::vector<DumpedModule>& modules, const std::vector<DumpedSizes>& sizes, size_t width) {
  std::vector<std::vector<std::string>> table = {
      {"module", "size", "files", "instructions", "passes", "before", "after", "reports"}};
  for (size_t i = 0; i < modules.size(); ++i) {
    const DumpedModule& module = modules[i];
    const std::string before = NumberOrDash(sizes[i].instructions_before);
    const std::string after = NumberOrDash(sizes[i].instructions_after);
    table.push_back({module.name, HumanBytes(module.bytes), WithThousands(module.files),
                     before == after ? before : absl::StrCat(before, " -> ", after),
                     module.PassCount() == 0 ? "-" : WithThousands(module.PassCount()), FormsOfNamed(module, true),
                     FormsOfNamed(module, false),
                     module.reports.empty() ? "-" : WithThousands(static_cast<int64_t>(module.reports.size()))});
  }
  return TableText(std::move(table), width);
}

std::string DumpSummary(const DumpDirectory& directory) {
  int64_t files = static_cast<int64_t>(directory.others.size());
  int64_t bytes = 0;
  std::map<std::string, int64_t> reports;
  for (const DumpFile& file : directory.others) bytes += file.bytes;
  for (const DumpedModule& module : directory.modules) {
    files += module.files;
    bytes += module.bytes;
    for (const DumpedReport& report : module.reports) ++reports[report.kind];
  }
  std::vector<std::string> kinds;
  for (const std::string& kind : ReportKinds()) {
    if (reports.count(kind) > 0) kinds.push_back(absl::StrCat(kind, " ", WithThousands(reports[kind])));
  }
  const size_t others = directory.others.size();
  return absl::StrCat(Count(static_cast<int64_t>(directory.modules.size()), "module"), ", ", Count(files, "file"),
                      others == 0 ? "" : absl::StrCat(" (", others, " of no module)"), ", ", HumanBytes(bytes), "\n",
                      kinds.empty() ? "" : absl::StrCat("reports of XLA: ", absl::StrJoin(kinds, ", "), "\n"));
}

std::string ModuleFilesTable(const DumpedModule& module, size_t width) {
  std::vector<KindRow> rows;
  for (const DumpedStage& stage : module.stages) {
    for (const DumpFile& file : stage.files) AddFile(KindOf(stage, file), file, &rows);
  }
  for (const DumpedReport& report : module.reports) AddFile(report.kind, report.file, &rows);
  std::stable_sort(rows.begin(), rows.end(), [](const KindRow& a, const KindRow& b) { return a.bytes > b.bytes; });
  std::vector<std::vector<std::string>> table = {{"example", "files", "size", "kind"}};
  for (const KindRow& row : rows) {
    absl::string_view example = row.example;
    const bool begins_with_name = absl::ConsumePrefix(&example, module.name);
    table.push_back({absl::StrCat(begins_with_name ? "*" : "", example), WithThousands(row.files),
                     HumanBytes(row.bytes), row.kind});
  }
  return TableText(std::move(table), width);
}

Json DumpJson(const DumpedModule& module, const DumpedSizes& sizes) {
  const auto or_null = [](std::optional<int64_t> number) { return number.has_value() ? Json(*number) : Json(); };
  const auto file_list = [](const std::vector<DumpFile>& files) {
    Json list = Json::array();
    for (const DumpFile& file : files) list.push_back({{"file", file.path}, {"bytes", file.bytes}});
    return list;
  };
  Json json = {{"module", module.name},
               {"number", module.number},
               {"bytes", module.bytes},
               {"files", module.files},
               {"instructions_before", or_null(sizes.instructions_before)},
               {"instructions_after", or_null(sizes.instructions_after)}};
  Json& stages = json["stages"] = Json::array();
  for (const DumpedStage& each : module.stages) {
    Json& stage = stages.push_back(Json::object());
    if (each.stage.number < 0) {
      stage["name"] = each.stage.name;
    } else {
      stage = {{"number", each.stage.number},
               {"pipeline", each.stage.pipeline},
               {"after", each.stage.after},
               {"before", each.stage.before}};
    }
    stage["files"] = file_list(each.files);
  }
  Json& reports = json["reports"] = Json::array();
  for (const DumpedReport& each : module.reports) {
    reports.push_back({{"kind", each.kind}, {"file", each.file.path}, {"bytes", each.file.bytes}});
  }
  return json;
}

}  // namespace kashi::cli
