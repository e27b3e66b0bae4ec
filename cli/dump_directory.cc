#include "cli/dump_directory.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "cli/module_file.h"
#include "cli/suggest.h"
#include "kashi/base/status.h"

namespace kashi::cli {

using matching::DumpName;
using matching::DumpStage;
using matching::ParseDumpName;
namespace {

namespace fs = std::filesystem;

// Which files hold which report: a part of the end of the name. The first row that fits counts.
struct ReportKind {
  const char* kind;
  std::vector<absl::string_view> endings;
};
const std::vector<ReportKind>& AllReportKinds() {
  static const auto* kinds = new std::vector<ReportKind>{
      {"buffer assignment", {"buffer-assignment.txt", "buffer-assignment.pb"}},
      {"values of buffers", {"buffer-assignment-values.txt"}},
      {"memory usage", {"memory-usage-report.txt", "memory-usage-report.pb"}},
      {"live ranges", {"live-range.txt"}},
      {"thunk sequence", {"thunk_sequence.txt", "thunk_sequence.pb", "thunk_sequence", "execution_graph.txt"}},
      {"LLVM IR", {".ll", ".bc"}},
      {"PTX", {".ptx"}},
      {"object code", {".o", ".cubin", ".hsaco", ".fatbin"}},
      {"assembly", {".s", ".asm"}},
      {"options", {"debug_options", "debug_options.txt", "compile_options.pb", "tpu_comp_env.txt"}},
      {"configuration", {"config.pbtxt", "config.pb", "topology.pb"}},
      {"autotuning", {"autotune_results.pbtxt", "autotune_results.pb", "autotune_results.txt"}},
      {"snapshot", {"snapshot.pb", "snapshot.pbtxt"}},
      {"StableHLO", {".mlir", ".mlirbc"}},
      {"graph", {".dot", ".html", ".url", ".svg"}},
      {"metadata", {"metadata.textproto", "metadata.pb"}},
  };
  return *kinds;
}
constexpr char kOther[] = "other";

std::string KindOf(absl::string_view ending) {
  for (const ReportKind& kind : AllReportKinds()) {
    const auto fits = [&](absl::string_view end) { return absl::EndsWith(ending, end); };
    if (std::any_of(kind.endings.begin(), kind.endings.end(), fits)) return kind.kind;
  }
  return kOther;
}

// Text first, then protos; of equals by name.
int PreferenceOf(absl::string_view path) {
  if (absl::EndsWith(path, ".pb")) return 1;
  return absl::EndsWith(path, ".gz") ? 2 : 0;
}

// Named stages that begin a compilation come before the numbered ones, others after them.
using StageOrder = std::tuple<int, int64_t, std::string>;
StageOrder OrderOf(const DumpStage& stage) {
  if (stage.number >= 0) return {1, stage.number, stage.Title()};
  const bool is_first = absl::StrContains(stage.name, "before_optimizations");
  const bool is_partitioned = absl::StrContains(stage.name, "after_spmd_partition");
  const bool is_last = absl::StrContains(stage.name, "after_codegen");
  return {is_first ? 0 : 2, is_partitioned ? 0 : is_last ? 2 : 1, stage.name};
}

class DirectoryReader {
 public:
  explicit DirectoryReader(std::string path) { directory_.path = std::move(path); }

  absl::StatusOr<DumpDirectory> Read() {
    KASHI_RETURN_IF_ERROR(ReadFolder(directory_.path, nullptr));
    for (auto& [name, module] : modules_) directory_.modules.push_back(std::move(module));
    std::stable_sort(directory_.modules.begin(), directory_.modules.end(),
                     [](const DumpedModule& a, const DumpedModule& b) { return a.number < b.number; });
    for (DumpedModule& module : directory_.modules) Sort(&module);
    std::sort(directory_.others.begin(), directory_.others.end(),
              [](const DumpFile& a, const DumpFile& b) { return a.path < b.path; });
    return std::move(directory_);
  }

 private:
  // `of_module`: the folder is one of a module's reports.
  absl::Status ReadFolder(const std::string& folder, DumpedModule* of_module) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      const std::string path = entry->path().string();
      const std::string name = entry->path().filename().string();
      if (entry->is_directory(error)) {
        const std::optional<DumpName> parsed = ParseDumpName(name);
        if (of_module == nullptr && parsed.has_value()) KASHI_RETURN_IF_ERROR(ReadFolder(path, ModuleOf(*parsed)));
        continue;
      }
      std::error_code unknown;
      if (!entry->is_regular_file(unknown)) continue;  // a pipe or a device, which may never end
      const auto size = fs::file_size(path, unknown);
      AddFile({path, unknown ? 0 : static_cast<int64_t>(size)}, name, of_module);
    }
    if (error) return InvalidArgument("cannot read %s: %s", folder, error.message());
    return absl::OkStatus();
  }

  DumpedModule* ModuleOf(const DumpName& name) {
    DumpedModule& module = modules_[name.module];
    module.name = name.module;
    module.number = name.number;
    return &module;
  }

  void AddFile(DumpFile file, const std::string& name, DumpedModule* of_module) {
    const std::optional<DumpName> parsed = of_module == nullptr ? ParseDumpName(name) : std::nullopt;
    if (of_module == nullptr && !parsed.has_value()) {
      directory_.others.push_back(std::move(file));
      return;
    }
    DumpedModule& module = parsed.has_value() ? *ModuleOf(*parsed) : *of_module;
    module.bytes += file.bytes;
    ++module.files;
    if (!parsed.has_value() || !parsed->stage.has_value()) {
      module.reports.push_back({std::move(file), KindOf(parsed.has_value() ? parsed->ending : name)});
      return;
    }
    const auto [place, is_new] =
        places_.try_emplace(std::make_pair(module.name, OrderOf(*parsed->stage)), module.stages.size());
    if (is_new) module.stages.push_back({*parsed->stage, {}});
    module.stages[place->second].files.push_back(std::move(file));
  }

  static void Sort(DumpedModule* module) {
    std::sort(module->stages.begin(), module->stages.end(),
              [](const DumpedStage& a, const DumpedStage& b) { return OrderOf(a.stage) < OrderOf(b.stage); });
    for (DumpedStage& stage : module->stages) {
      std::sort(stage.files.begin(), stage.files.end(), [](const DumpFile& a, const DumpFile& b) {
        return std::make_pair(PreferenceOf(a.path), a.path) < std::make_pair(PreferenceOf(b.path), b.path);
      });
    }
    const std::vector<std::string> kinds = ReportKinds();
    const auto place = [&](const DumpedReport& report) {
      return std::make_pair(std::find(kinds.begin(), kinds.end(), report.kind), report.file.path);
    };
    std::sort(module->reports.begin(), module->reports.end(),
              [&](const DumpedReport& a, const DumpedReport& b) { return place(a) < place(b); });
  }

  DumpDirectory directory_;
  std::map<std::string, DumpedModule> modules_;
  std::map<std::pair<std::string, StageOrder>, size_t> places_;  // of stages, by module
};

// Whether the name that a user gave, which may be a pattern, means this stage.
bool Means(const std::string& name, const DumpedStage& stage) {
  int64_t number = 0;
  if (absl::SimpleAtoi(name, &number)) return stage.stage.number == number;
  if (name.find_first_of("*?[") != std::string::npos) {
    return fnmatch(name.c_str(), stage.pass().c_str(), 0) == 0 ||
           fnmatch(name.c_str(), stage.stage.Title().c_str(), 0) == 0;
  }
  return name == stage.pass() || name == stage.stage.Title();
}

}  // namespace

std::vector<std::string> ReportKinds() {
  std::vector<std::string> kinds;
  for (const ReportKind& kind : AllReportKinds()) kinds.emplace_back(kind.kind);
  kinds.emplace_back(kOther);
  return kinds;
}

std::string DumpedStage::Title() const {
  return stage.number < 0 ? stage.name : absl::StrFormat("%04d %s", stage.number, stage.Title());
}

const std::string& PathToRun(const DumpedStage& stage) {
  const auto is_text = [](const DumpFile& file) { return absl::EndsWith(file.path, ".txt"); };
  const auto proto = std::find_if_not(stage.files.begin(), stage.files.end(), is_text);
  if (!is_text(stage.files.front()) || proto == stage.files.end()) return stage.path();
  const absl::StatusOr<std::string> text = ReadFile(stage.path());
  return text.ok() && absl::StrContains(*text, "constant({...})") ? proto->path : stage.path();
}

int64_t DumpedModule::PassCount() const {
  return std::count_if(stages.begin(), stages.end(), [](const DumpedStage& each) { return each.stage.number >= 0; });
}

absl::StatusOr<DumpDirectory> ReadDumpDirectory(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return InvalidArgument("cannot read %s: there is no such directory", path);
  if (!fs::is_directory(path, error)) {
    return InvalidArgument("%s is not a directory: give one that XLA wrote with --xla_dump_to", path);
  }
  KASHI_ASSIGN_OR_RETURN(DumpDirectory directory, DirectoryReader(path).Read());
  if (directory.modules.empty()) {
    return InvalidArgument("%s has no dump of XLA: no file such as module_0000.*.txt", path);
  }
  const std::string first = directory.modules.front().name;
  auto& modules = directory.modules;
  const auto is_other = [](const DumpedModule& module) { return !PassesModuleFilter(module.name); };
  modules.erase(std::remove_if(modules.begin(), modules.end(), is_other), modules.end());
  if (modules.empty()) return InvalidArgument("no module of %s fits --module; the first is %s", path, first);
  return directory;
}

absl::StatusOr<std::vector<size_t>> FindStages(const DumpedModule& module, const std::string& name) {
  if (module.stages.empty()) return InvalidArgument("%s has no module at any stage, only reports", module.name);
  if (name == "before") return std::vector<size_t>{0};
  if (name == "after") return std::vector<size_t>{module.stages.size() - 1};
  std::vector<size_t> found;
  std::vector<std::string> passes;
  for (size_t i = 0; i < module.stages.size(); ++i) {
    if (Means(name, module.stages[i])) found.push_back(i);
    passes.push_back(module.stages[i].pass());
  }
  if (!found.empty()) return found;
  return InvalidArgument("%s has no stage `%s`%s; `kashi dump --passes` lists the stages", module.name, name,
                         DidYouMean(name, passes));
}

absl::StatusOr<size_t> FindStage(const DumpedModule& module, const std::string& name) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<size_t> found, FindStages(module, name));
  if (found.size() == 1) return found[0];
  const auto title = [&](std::string* out, size_t i) { absl::StrAppend(out, module.stages[i].Title()); };
  return InvalidArgument("%s has several stages `%s`; give a number: %s", module.name, name,
                         absl::StrJoin(found, ", ", title));
}

}  // namespace kashi::cli
