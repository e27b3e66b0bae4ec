// The modules that a page of `kashi report` or `kashi serve` shows, and their data by key.
//
//   key                 data
//   module/m3           the instructions and their cost: report_model.js; with it comes
//   memory/m3           its memory: memory_page.js
//   passes/0            what each stage of module 0 of a dump changed: report_page.js
//   compare/m3/m4       two modules side by side: report_compare.js
#ifndef KASHI_CLI_REPORT_SITE_H_
#define KASHI_CLI_REPORT_SITE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cli/dump_directory.h"
#include "cli/report_data.h"

namespace kashi::cli {

// Data by key: JSON objects that may stand in <script> elements.
using SiteData = std::vector<std::pair<std::string, std::string>>;

struct SiteStage {
  std::string key;  // "m3"
  std::string title;
  std::string path;
  int64_t bytes = 0;
};

struct SiteModule {
  std::string name;
  std::vector<SiteStage> stages;
  DumpedModule dump;  // empty if the module is not one of a dump
};

class ReportSite {
 public:
  // A dump directory, a directory with modules, or files. INVALID_ARGUMENT if there is no module.
  static absl::StatusOr<ReportSite> Open(const std::vector<std::string>& inputs, const ReportTarget& target);

  const std::vector<SiteModule>& modules() const { return modules_; }
  std::string title() const { return title_; }
  // The keys of all data, the most important first, without memory/… Of comparisons those of a stage with the one
  // before it, and of the first with the last one.
  std::vector<std::string> Keys() const;
  // The data of a key, also of a comparison that is not in Keys(). NOT_FOUND for an unknown key; INVALID_ARGUMENT for
  // modules that cannot be read or analyzed: those errors are printed too. Never empty.
  absl::StatusOr<SiteData> DataOf(absl::string_view key) const;

  // The whole page with these data in it; `is_live`: it asks for others.
  std::string PageHtml(const SiteData& data, bool is_live) const;

 private:
  const SiteStage* FindStage(absl::string_view key) const;
  std::string IndexJson(bool is_live) const;
  std::vector<std::pair<std::string, std::string>> Pairs() const;
  absl::StatusOr<SiteData> ModuleData(const SiteStage& stage) const;
  absl::StatusOr<std::string> PassesData(const SiteModule& module) const;
  absl::StatusOr<std::string> ComparisonData(const SiteStage& a, const SiteStage& b) const;

  std::string title_;
  ReportTarget target_;
  std::vector<SiteModule> modules_;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_REPORT_SITE_H_
