// `kashi verify`: whether modules keep HLO's rules.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/hlo/hlo_module.h"
#include "kashi/hlo/hlo_verifier.h"

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

Json JsonOf(const HloFinding& finding) {
  Json json;
  json["rule"] = finding.rule;
  json["instruction"] = finding.instruction != nullptr ? Json(std::string(finding.instruction->name())) : Json();
  const HloTextPlace place = finding.instruction != nullptr ? finding.instruction->text_place() : HloTextPlace();
  json["line"] = place.line > 0 ? Json(place.line) : Json();
  json["column"] = place.line > 0 ? Json(place.column) : Json();
  json["computation"] = finding.computation != nullptr ? Json(std::string(finding.computation->name())) : Json();
  json["message"] = finding.message;
  return json;
}

int RunVerify(const VerifyOptions& options) {
  const absl::StatusOr<std::vector<std::string>> expanded = ExpandModulePaths(options.inputs);
  if (!expanded.ok()) return Fail(expanded.status());
  const std::vector<std::string>& paths = *expanded;
  Answers answers(options.output, options.json);
  int status = kSuccess;
  for (const std::string& path : paths) {
    if (answers.is_broken()) break;
    const std::optional<ModuleFile> file = ReadModuleFile(path, {options.strict});
    if (!file.has_value()) {
      status = kBadInput;
      continue;
    }
    const std::vector<HloFinding> findings =
        VerifyHlo(*file->module, WithOptions(VerifierOptionsFor(*file->module), options));
    if (!findings.empty()) status = kBadInput;
    if (options.json) {
      Json list = Json::array();
      for (const HloFinding& finding : findings) list.push_back(JsonOf(finding));
      answers.AddLine({{"file", file->name}, {"ok", findings.empty()}, {"findings", std::move(list)}});
      continue;
    }
    if (findings.empty()) answers.Add(absl::StrCat(file->name, ": ok\n"));
    for (const HloFinding& finding : findings) answers.Add(FindingText(*file, finding));
  }
  return std::max(status, answers.Finish());
}

}  // namespace

void AddVerifyVerb(Command* command) {
  auto options = std::make_shared<VerifyOptions>();
  const std::string examples =
      "  kashi verify module.hlo                         `module.hlo: ok`, or what is wrong with it\n"
      "  kashi verify dump_dir                           every module of an --xla_dump_to directory\n"
      "  kashi verify after.hlo --layout-sensitive       layouts must agree, too: after layout assignment\n"
      "  kashi verify a.hlo b.pb --json                  a line for each file: {\"file\", \"ok\", \"findings\"}\n\n"
      "A finding names its place, the rule and what is wrong; below it stands the instruction. All findings are shown, "
      "not only the\n"
      "first. Operands of several floating point precisions are a finding unless the module is scheduled: compilers "
      "mix\n"
      "them. Exit status 1 if there is any finding.";
  Verb* verb = command->AddVerb("verify", "Check that modules keep the rules of HLO", examples,
                                [options] { return RunVerify(*options); });
  verb->AddOption("FILE", &options->inputs, "A module, a directory of a dump, or `-` for standard input")->Required();
  verb->AddFlag("--layout-sensitive", &options->layout_sensitive, "Shapes must agree in their layouts, too");
  verb->AddFlag("--allow-mixed-precision", &options->allow_mixed_precision,
                "Operands may differ in the precision of floating point (scheduled modules: always)");
  verb->AddFlag("--allow-unbounded", &options->allow_unbounded_dynamism, "Dimensions of unknown size are no finding");
  AddOutputOption(verb, &options->output, "Write to this file");
  AddInputLimitOption(verb);
  AddStrictFlag(verb, &options->strict);
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
