#include "cli/module_check.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cli/verb.h"
#include "kashi/analysis/memory_target.h"
#include "kashi/base/diagnostic.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_place.h"

namespace kashi::cli {
namespace {

SourceText TextOf(const ModuleFile& file) {
  const bool is_text = file.is_text || file.is_mlir_text;
  return {file.name, is_text ? absl::string_view(*file.bytes) : absl::string_view()};
}

}  // namespace

HloVerifierOpts VerifierOptionsFor(const HloModule& module) {
  HloVerifierOpts opts;
  // Tiled arrays come from a compiler for TPUs: there, bitcasts may read padding, and the indices of a scatter have
  // other layouts.
  const bool is_tiled = HasTiles(module);
  opts.allow_bitcast_to_have_different_size = is_tiled;
  if (!is_tiled) opts.instruction_can_change_layout = InstructionMayChangeLayout;
  // Compilers mix precisions, and only compilers make schedules.
  opts.allow_mixed_precision = module.has_schedule();
  return opts;
}

std::string FindingText(const ModuleFile& file, const HloFinding& finding) {
  HloErrorPlace place;
  if (finding.instruction != nullptr) {
    place = PlaceOf(*finding.instruction);
  } else if (finding.computation != nullptr) {
    place.computation = std::string(finding.computation->name());
  }
  std::string text = RenderAt(TextOf(file), place, absl::StrCat("[", finding.rule, "] ", finding.message));
  text += '\n';
  if (finding.instruction != nullptr && !file.is_text) {
    absl::StrAppend(&text, "  ", finding.instruction->ToString(), "\n");
  }
  return text;
}

void AddModuleError(const ModuleFile& file, const absl::Status& status, Answers* answers) {
  const std::optional<HloErrorPlace> place = PlaceOf(status);
  if (!place.has_value()) return answers->AddFileError(file.name, status);
  const SourceText source = TextOf(file);
  if (const std::optional<Diagnostic> diagnostic = DiagnosticAt(source, *place, status.message())) {
    return answers->AddFileError(source, {*diagnostic});
  }
  answers->AddFileError(file.name,
                        WithMessage(status, absl::StrCat(file.name, ": ", status.message(), AboutText(*place))));
}

Json FindingJson(const HloFinding& finding) {
  Json json;
  json["rule"] = finding.rule;
  json["instruction"] = finding.instruction != nullptr ? Json(finding.instruction->name()) : Json();
  const HloTextPlace place = finding.instruction != nullptr ? finding.instruction->text_place() : HloTextPlace();
  json["line"] = place.line > 0 ? Json(place.line) : Json();
  json["column"] = place.line > 0 ? Json(place.column) : Json();
  json["computation"] = finding.computation != nullptr ? Json(finding.computation->name()) : Json();
  json["message"] = finding.message;
  return json;
}

void AddFindings(const ModuleFile& file, absl::Span<const HloFinding> findings, Answers* answers) {
  constexpr size_t kMostShown = 50;
  answers->SetBad();
  if (answers->json()) {
    Json list = Json::array();
    for (const HloFinding& finding : findings) list.push_back(FindingJson(finding));
    answers->AddLine({{"file", file.name}, {"error", findings.front().message}, {"findings", std::move(list)}});
    return;
  }
  for (const HloFinding& finding : findings.subspan(0, kMostShown))
    PrintNote(base::Printable(FindingText(file, finding)));
  if (findings.size() <= kMostShown) return;
  PrintNote(absl::StrCat(file.name, ": and ", Count(findings.size() - kMostShown, "more error"), "\n"));
}

bool CheckModule(const ModuleFile& file, Answers* answers, HloVerifierOpts opts) {
  opts.allow_mixed_precision = true;
  const std::vector<HloFinding> findings = VerifyHlo(*file.module, opts);
  if (findings.empty()) return true;
  AddFindings(file, findings, answers);
  return false;
}

void WarnIfInvalid(const ModuleFile& file) {
  HloVerifierOpts opts = VerifierOptionsFor(*file.module);
  opts.allow_mixed_precision = true;
  const std::vector<HloFinding> findings = VerifyHlo(*file.module, opts);
  if (findings.empty()) return;
  const HloInstruction* const instruction = findings[0].instruction;
  PrintWarning(absl::StrCat(file.name, ": the module is not valid, so the figures may mean nothing: ",
                            instruction == nullptr ? "" : absl::StrCat(instruction->name(), ": "), findings[0].message,
                            "; `kashi verify` shows the places"));
}

bool CheckModule(const ModuleFile& file, Answers* answers) {
  return CheckModule(file, answers, VerifierOptionsFor(*file.module));
}

}  // namespace kashi::cli
