// `kashi report`: one page for the browser about a module, two modules or a directory.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/module_file.h"
#include "cli/progress.h"
#include "cli/report_site.h"
#include "cli/target_option.h"
#include "cli/verb.h"
#include "kashi/base/text.h"

namespace kashi::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string target;
  uint64_t page_limit = uint64_t{256} << 20;
};

// The data that fit into the page. Counts those that are left out.
SiteData CollectData(const ReportSite& site, uint64_t limit, int64_t* left_out, bool* has_errors) {
  SiteData data;
  uint64_t bytes = 0;
  const std::vector<std::string> keys = site.Keys();
  ItemProgress progress("part", keys.size());
  for (const std::string& key : keys) {
    progress.Next(key);
    if (bytes > limit) {
      ++*left_out;
      continue;
    }
    absl::StatusOr<SiteData> part = site.DataOf(key);
    if (!part.ok()) {
      *has_errors = true;
      continue;
    }
    uint64_t size = 0;
    for (const auto& [name, json] : *part) size += json.size();
    if (bytes + size > limit && !data.empty()) {
      ++*left_out;
      continue;
    }
    bytes += size;
    for (auto& each : *part) data.push_back(std::move(each));
  }
  return data;
}

int RunReport(const ReportOptions& options) {
  if (options.inputs.size() > 2) return FailUsage("give one module or directory, or two modules to compare");
  if (options.inputs.size() == 2 && (options.inputs[0] == "-" || options.inputs[1] == "-")) {
    return FailUsage("modules that are compared are read twice: give files, not standard input");
  }
  ReportTarget target;
  if (!options.target.empty()) target.accelerator = &AcceleratorOf(options.target);
  const absl::StatusOr<ReportSite> site = ReportSite::Open(options.inputs, target);
  if (!site.ok()) return Fail(site.status());
  int64_t left_out = 0;
  bool has_errors = false;
  const auto data = CollectData(*site, options.page_limit, &left_out, &has_errors);
  const bool has_module =
      std::any_of(data.begin(), data.end(), [](const auto& each) { return absl::StartsWith(each.first, "module/"); });
  if (!has_module) return kBadInput;  // the errors are printed
  if (left_out > 0) {
    PrintWarning(absl::StrCat("the page is full: ", Count(left_out, "part"),
                              " of it left out; --page-limit sets its size, and "
                              "kashi serve shows all"));
  }
  const absl::Status written = WriteOutput(options.output, site->PageHtml(data, /*is_live=*/false));
  if (!written.ok()) return Fail(written);
  return has_errors ? kBadInput : kSuccess;
}

VerbHelp ReportHelp() {
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Write one page for the browser: graph, text, memory and cost of a module or a directory";
  help.examples =
      "  kashi report module.hlo -o page.html              the graph, the text, memory over the schedule, cost by "
      "scope\n"
      "  kashi report --target h100 module.hlo -o page.html   with times on this device\n"
      "  kashi report before.hlo after.hlo -o page.html    two modules side by side\n"
      "  kashi report dump -o page.html                    a dump directory: its modules, and what each pass changed\n"
      "  kashi report dump --module '*jit_step*' -o page.html   one module of it, with all its passes";
  help.sections = {
      {"",
       "The page is one file and loads nothing. In it: search; the graph, with scopes, fusions and calls that open, "
       "lines as wide as their bytes, and the critical path; the HLO text, in which names are links; the memory at "
       "each step; time, flops and bytes by scope, layer, opcode, source and computation; layouts and shardings.",
       {}},
      {"",
       "Times are those of `kashi cost --target`, a model. Without --target they are for the TPU that the layouts "
       "suggest, for h100 if the module is one for a GPU, and otherwise for this processor.",
       {}}};
  help.failure = "A module cannot be read or analyzed, or the output cannot be written";
  return help;
}

}  // namespace

void AddReportVerb(Command* command) {
  auto options = std::make_shared<ReportOptions>();
  Verb* verb = command->AddVerb("report", ReportHelp(), [options] { return RunReport(*options); });
  verb->AddOption("FILE", &options->inputs,
                  "A module, a dump directory, or `-` for standard input; or two modules to compare")
      ->File()
      ->Required();
  AddOutputOption(verb, &options->output, "Write the page to this file");
  AddAcceleratorOption(verb, "The device for which times are computed", &options->target);
  AddModuleFilterOption(verb);
  verb->AddSizeOption("--page-limit", &options->page_limit,
                      "Leave out the modules of a directory that do not fit into a page of this size (default: 256M)");
  AddInputLimitOption(verb);
  AddFunctionOption(verb);
}

}  // namespace kashi::cli
