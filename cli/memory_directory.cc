#include "cli/memory_directory.h"

#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "cli/table_text.h"
#include "cli/xla_memory_files.h"
#include "kashi/base/text.h"

namespace kashi::cli {

using base::HumanBytes;
namespace {

// The preference among files of one module: text first, then protos.
int Preference(absl::string_view path) {
  if (absl::EndsWith(path, ".txt")) return 0;
  if (absl::EndsWith(path, ".hlo")) return 1;
  return absl::EndsWith(path, ".hlo.pb") ? 2 : 3;
}

}  // namespace

std::vector<std::string> WithoutRepeatedModules(const std::vector<std::string>& paths) {
  std::map<std::string, std::string> best;  // by stem
  for (const std::string& path : paths) {
    const auto [found, is_new] = best.try_emplace(ModuleStem(path), path);
    if (!is_new && Preference(path) < Preference(found->second)) found->second = path;
  }
  std::vector<std::string> kept;
  for (const std::string& path : paths) {
    if (best[ModuleStem(path)] == path) kept.push_back(path);
  }
  return kept;
}

ModuleStage StageOf(const std::string& path) {
  const std::string name = std::filesystem::path(ModuleStem(path)).filename().string();
  for (const absl::string_view word :
       {"before_optimizations", "after_optimizations", "after_spmd_partition", "after_codegen"}) {
    const size_t at = absl::string_view(name).find(word);
    if (at == std::string::npos) continue;
    size_t dot = name.rfind('.', at);
    const size_t gpu = name.rfind(".sm_", at);  // sm_9.0a_gpu_after_optimizations
    if (gpu != std::string::npos && absl::EndsWith(name.substr(gpu, at - gpu), "_gpu_")) dot = gpu;
    if (dot == std::string::npos) continue;
    return {name.substr(0, dot), name.substr(dot + 1)};
  }
  return {name, ""};
}

std::string ModuleTable(const std::vector<ModuleMemoryRow>& rows, size_t width) {
  std::vector<std::vector<std::string>> table = {
      {"module", "peak", "arguments", "outputs", "aliased", "constants", "temporaries", "basis"}};
  for (const ModuleMemoryRow& each : rows) {
    const ModuleStage stage = StageOf(each.file);
    std::vector<std::string>& row = table.emplace_back();
    row.push_back(absl::StrCat(stage.module, stage.stage.empty() ? "" : ", ", stage.stage));
    for (int64_t bytes : {each.peak_bytes, each.argument_bytes, each.output_bytes, each.alias_bytes,
                          each.constant_bytes, each.temp_bytes}) {
      row.push_back(bytes == 0 ? "-" : HumanBytes(bytes));
    }
    row.push_back(each.basis);
  }
  return TableText(std::move(table), width);
}

}  // namespace kashi::cli
