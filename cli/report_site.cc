#include "cli/report_site.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/dump_passes.h"
#include "cli/memory_directory.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/page_json.h"
#include "cli/pages.h"
#include "cli/report_compare.h"
#include "cli/verb.h"
#include "cli/xla_memory_files.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"

namespace kashi::cli {
namespace {

namespace fs = std::filesystem;
using Pair = std::pair<std::string, std::string>;

int64_t BytesOfFile(const std::string& path) {
  std::error_code unknown;
  const auto size = fs::file_size(path, unknown);
  return unknown ? 0 : static_cast<int64_t>(size);
}

// Strings of our JSON library may have `<`, which must not end a <script> element.
std::string ForScript(const Json& json) { return absl::StrReplaceAll(json.dump(), {{"<", "\\u003c"}}); }

// What was printed about an error since then, as an error.
absl::Status ErrorsSince(size_t before, absl::string_view path) {
  const absl::string_view printed = absl::string_view(PrintedErrors()).substr(before);
  if (printed.empty()) return InvalidArgument("%s cannot be read", path);
  return absl::InvalidArgumentError(absl::StripAsciiWhitespace(printed));
}

std::vector<SiteModule> ModulesOfDump(DumpDirectory directory, int64_t* number) {
  std::vector<SiteModule> modules;
  for (DumpedModule& dumped : directory.modules) {
    if (dumped.stages.empty()) continue;  // only reports
    SiteModule& module = modules.emplace_back();
    module.name = dumped.name;
    for (const DumpedStage& stage : dumped.stages) {
      module.stages.push_back({absl::StrCat("m", (*number)++), stage.Title(), stage.path(), stage.files.front().bytes});
    }
    module.dump = std::move(dumped);
  }
  return modules;
}

}  // namespace

absl::StatusOr<ReportSite> ReportSite::Open(const std::vector<std::string>& inputs, const ReportTarget& target) {
  ReportSite site;
  site.target_ = target;
  site.title_ = inputs.size() == 1 ? inputs[0] : absl::StrCat(inputs[0], " and ", inputs[1]);
  int64_t number = 0;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (input != "-" && !fs::exists(input, error))
      return InvalidArgument("cannot read %s: there is no such file", input);
    absl::StatusOr<DumpDirectory> dump = InvalidArgument("no directory");
    if (fs::is_directory(input, error)) dump = ReadDumpDirectory(input);
    if (dump.ok()) {
      for (SiteModule& module : ModulesOfDump(*std::move(dump), &number)) site.modules_.push_back(std::move(module));
      continue;
    }
    KASHI_ASSIGN_OR_RETURN(const std::vector<std::string> paths, ExpandModulePath(input));
    for (const std::string& path : WithoutRepeatedModules(paths)) {
      SiteModule& module = site.modules_.emplace_back();
      module.name = path == "-" ? "standard input" : fs::path(path).filename().string();
      module.stages.push_back({absl::StrCat("m", number++), module.name, path, BytesOfFile(path)});
    }
  }
  if (site.modules_.empty()) return InvalidArgument("%s has no module", inputs[0]);
  return site;
}

const SiteStage* ReportSite::FindStage(absl::string_view key) const {
  for (const SiteModule& module : modules_) {
    for (const SiteStage& stage : module.stages) {
      if (stage.key == key) return &stage;
    }
  }
  return nullptr;
}

std::vector<Pair> ReportSite::Pairs() const {
  std::vector<Pair> pairs;
  for (const SiteModule& module : modules_) {
    const std::vector<SiteStage>& stages = module.stages;
    if (stages.size() > 2) pairs.emplace_back(stages.front().key, stages.back().key);
    for (size_t i = 1; i < stages.size(); ++i) pairs.emplace_back(stages[i - 1].key, stages[i].key);
  }
  if (modules_.size() == 2 && modules_[0].dump.stages.empty() && modules_[1].dump.stages.empty()) {
    pairs.emplace_back(modules_[0].stages[0].key, modules_[1].stages[0].key);
  }
  return pairs;
}

std::vector<std::string> ReportSite::Keys() const {
  std::vector<std::string> keys, others;
  for (size_t i = 0; i < modules_.size(); ++i) {
    const std::vector<SiteStage>& stages = modules_[i].stages;
    for (const SiteStage& stage : stages) {
      const bool is_end = &stage == &stages.front() || &stage == &stages.back();
      (is_end ? keys : others).push_back(absl::StrCat("module/", stage.key));
    }
    if (stages.size() > 1) keys.push_back(absl::StrCat("passes/", i));
  }
  for (const auto& [a, b] : Pairs()) keys.push_back(absl::StrCat("compare/", a, "/", b));
  keys.insert(keys.end(), others.begin(), others.end());
  return keys;
}

absl::StatusOr<SiteData> ReportSite::ModuleData(const SiteStage& stage) const {
  const size_t before = PrintedErrors().size();
  Answers answers("", /*json=*/false);
  std::optional<ModuleFile> file = ReadModuleFile(stage.path, {}, &answers);
  if (!file.has_value()) return ErrorsSince(before, stage.path);
  WarnIfInvalid(*file);
  const auto make = [&]() -> absl::StatusOr<ReportColumns> {
    KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<ModuleReport> report,
                           ModuleReport::Create(*file->module, target_, ReadXlaMemoryFile(stage.path).facts));
    return MakeReportColumns(*report);
  };
  absl::StatusOr<ReportColumns> json = make();
  if (!json.ok()) {
    AddModuleError(*file, json.status(), &answers);
    return ErrorsSince(before, stage.path);
  }
  return SiteData{{absl::StrCat("module/", stage.key), std::move(json->module)},
                  {absl::StrCat("memory/", stage.key), std::move(json->memory)}};
}

absl::StatusOr<std::string> ReportSite::PassesData(const SiteModule& module) const {
  const size_t before = PrintedErrors().size();
  Answers answers("", /*json=*/false);
  const std::vector<StageRow> rows = ReadPasses(module.dump, target_.accelerator, &answers);
  if (rows.empty()) return ErrorsSince(before, module.name);
  Json all = Json::array();
  for (size_t i = 0; i < rows.size(); ++i) {
    Json row = PassJson(module.dump, rows[i], i == 0 ? nullptr : &rows[i - 1]);
    row["key"] = module.stages[static_cast<size_t>(rows[i].stage - module.dump.stages.data())].key;
    row["changes"] = rows[i].is_first() || rows[i].effect->is_nothing ? "" : EffectText(rows[i]);
    all.push_back(std::move(row));
  }
  Json data;
  data["rows"] = std::move(all);
  return ForScript(data);
}

absl::StatusOr<std::string> ReportSite::ComparisonData(const SiteStage& a, const SiteStage& b) const {
  const size_t before = PrintedErrors().size();
  Answers answers("", /*json=*/false);
  std::optional<ModuleFile> files[2];
  const SiteStage* stages[] = {&a, &b};
  for (size_t i = 0; i < 2; ++i) {
    files[i] = ReadModuleFile(stages[i]->path, {}, &answers);
    if (!files[i].has_value() || !CheckModule(*files[i], &answers)) return ErrorsSince(before, stages[i]->path);
  }
  return ReportComparisonJson(*files[0]->module, *files[1]->module);
}

absl::StatusOr<SiteData> ReportSite::DataOf(absl::string_view key) const {
  const std::vector<std::string> parts = absl::StrSplit(key, '/');
  size_t number = 0;
  absl::StatusOr<std::string> data = absl::NotFoundError("there is no such data");
  if (parts.size() == 2 && parts[0] == "module") {
    if (const SiteStage* stage = FindStage(parts[1]); stage != nullptr) return ModuleData(*stage);
  } else if (parts.size() == 2 && parts[0] == "passes" && absl::SimpleAtoi(parts[1], &number)) {
    if (number < modules_.size() && modules_[number].stages.size() > 1) data = PassesData(modules_[number]);
  } else if (parts.size() == 3 && parts[0] == "compare") {
    const SiteStage* a = FindStage(parts[1]);
    const SiteStage* b = FindStage(parts[2]);
    if (a != nullptr && b != nullptr) data = ComparisonData(*a, *b);
  }
  if (!data.ok()) return data.status();
  return SiteData{{std::string(key), *std::move(data)}};
}

std::string ReportSite::IndexJson(bool is_live) const {
  std::string json = "{\"modules\":[";
  for (const SiteModule& module : modules_) {
    absl::StrAppend(&json, &module == &modules_.front() ? "{" : ",{");
    AddPageText("name", module.name, &json);
    absl::StrAppend(&json, "\"stages\":[");
    for (const SiteStage& stage : module.stages) {
      absl::StrAppend(&json, &stage == &module.stages.front() ? "{" : ",{");
      AddPageText("key", stage.key, &json);
      AddPageText("title", stage.title, &json);
      AddPageText("file", stage.path, &json);
      absl::StrAppend(&json, "\"bytes\":", stage.bytes, "}");
    }
    absl::StrAppend(&json, "]}");
  }
  absl::StrAppend(&json, "],\"isLive\":", is_live ? "true" : "false", ",");
  AddNumbers(
      "pairs", Pairs(), [](const Pair& pair) { return absl::StrCat("[\"", pair.first, "\",\"", pair.second, "\"]"); },
      &json);
  absl::string_view text = json;
  return absl::StrCat(absl::StripSuffix(text, ",\n"), "}");
}

// One pass replaces all names, so that inserted text is not searched.
std::string ReportSite::PageHtml(const SiteData& data, bool is_live) const {
  const auto script = [](absl::string_view id, absl::string_view json) {
    return absl::StrCat("<script type=\"application/json\" id=\"", id, "\">\n", json, "\n</script>\n");
  };
  std::string scripts = script("index", IndexJson(is_live));
  std::string later;  // of one module, what the first view does not need
  for (const auto& [key, json] : data) {
    absl::StrAppend(absl::StartsWith(key, "module/") ? &scripts : &later, script(key, json));
  }
  int64_t bytes = 0, stages = 0;
  for (const SiteModule& module : modules_) {
    for (const SiteStage& stage : module.stages) bytes += stage.bytes;
    stages += static_cast<int64_t>(module.stages.size());
  }
  const std::string about =
      absl::StrCat(stages == 1 ? "" : absl::StrCat(Count(static_cast<int64_t>(modules_.size()), "module"), ", "),
                   stages > static_cast<int64_t>(modules_.size()) ? absl::StrCat(Count(stages, "stage"), ", ") : "",
                   bytes > 0 ? base::HumanBytes(bytes) : "");
  return absl::StrReplaceAll(kReportPageHtml,
                             {{"{{title}}", EscapeHtml(title_)},
                              {"{{about}}", about},
                              {"{{connect}}", is_live ? "'self'" : "'none'"},
                              {"{{style}}", absl::StrCat(kMemoryPageCss, kReportPageCss)},
                              {"{{explorer}}", kMemoryExplorerHtml},
                              {"{{data}}", scripts},
                              {"{{later}}", later},
                              {"{{script}}", absl::StrCat(kPageCommonJs, kMemoryPageJs, kReportPageJs)}});
}

}  // namespace kashi::cli
