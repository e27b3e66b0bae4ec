// `kashi verify`: whether modules keep HLO's rules.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/elided_constants.h"
#include "cli/known_arguments.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/verifier/hlo_verifier.h"

namespace kashi::cli {
namespace {

struct VerifyOptions {
  std::vector<std::string> inputs;
  std::string output;
  bool layout_sensitive = false;
  bool allow_mixed_precision = false;
  bool allow_unbounded_dynamism = false;
  bool strict = false;
  bool json = false;
};

HloVerifierOpts WithOptions(HloVerifierOpts opts, const VerifyOptions& options) {
  opts.layout_sensitive = options.layout_sensitive;
  opts.allow_mixed_precision |= options.allow_mixed_precision;
  opts.allow_unbounded_dynamism = options.allow_unbounded_dynamism;
  return opts;
}

void AddResult(const ModuleFile& file, const std::vector<HloFinding>& findings, const std::vector<std::string>& elided,
               Answers* answers) {
  if (!findings.empty()) answers->SetBad();
  if (answers->json()) {
    Json list = Json::array();
    for (const HloFinding& finding : findings) list.push_back(FindingJson(finding));
    Json line = {{"file", file.name}, {"ok", findings.empty()}, {"findings", std::move(list)}};
    if (!elided.empty()) line["elided_constants"] = elided;
    return answers->AddLine(line);
  }
  if (findings.empty()) answers->Add(absl::StrCat(file.name, ": ok\n"));
  for (const HloFinding& finding : findings) answers->Add(FindingText(file, finding));
}

int RunVerify(const VerifyOptions& options) {
  Answers answers(options.output, options.json);
  const std::vector<std::string> paths = ExpandModulePaths(options.inputs, &answers);
  ItemProgress progress("module", paths.size());
  for (const std::string& path : paths) {
    if (answers.is_broken()) break;
    progress.Next(path);
    const std::optional<ModuleFile> file = ReadModuleFile(path, {options.strict}, &answers);
    if (!file.has_value()) continue;
    const std::vector<std::string> elided = ElidedNames(*file->module);
    WarnOfElided(file->name, elided, "");
    AddResult(*file, VerifyHlo(*file->module, WithOptions(VerifierOptionsFor(*file->module), options)), elided,
              &answers);
  }
  return answers.Finish();
}

}  // namespace

void AddVerifyVerb(Command* command) {
  auto options = std::make_shared<VerifyOptions>();
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Check modules against the rules of HLO";
  help.examples =
      "  kashi verify module.hlo                         `module.hlo: ok`, or the findings\n"
      "  kashi verify dump_dir                           every module of an --xla_dump_to directory\n"
      "  kashi verify after.hlo --layout-sensitive       compare layouts too: for modules after layout assignment\n"
      "  kashi verify a.hlo b.pb --json                  one object per file: {\"file\", \"ok\", \"findings\"}";
  help.sections = {
      {"",
       "All findings are printed, not only the first. A finding names its place and the rule, and shows the "
       "instruction. Operands with different floating point precisions are a finding, but not in a scheduled "
       "module: compilers mix precisions.",
       {}}};
  help.failure = "A module breaks a rule or cannot be read, or the output cannot be written";
  Verb* verb = command->AddVerb("verify", help, [options] { return RunVerify(*options); });
  verb->AddOption("FILE", &options->inputs, kModuleOrDirectory)->File()->Required();
  verb->BeginGroup("Rules");
  verb->AddFlag("--layout-sensitive", &options->layout_sensitive, "Layouts must agree too");
  verb->AddFlag("--allow-mixed-precision", &options->allow_mixed_precision,
                "Accept operands with different floating point precisions (always accepted in scheduled modules)");
  verb->AddFlag("--allow-unbounded", &options->allow_unbounded_dynamism, "Accept dimensions of unknown size");
  verb->BeginGroup("Input and output");
  AddArgumentOption(verb);
  AddModuleFilterOption(verb);
  AddInputLimitOption(verb);
  AddFunctionOption(verb);
  AddStrictFlag(verb, &options->strict);
  AddOutputOption(verb, &options->output, "Write to this file");
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
