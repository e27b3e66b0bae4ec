#include "cli/query_extract.h"

#include "absl/strings/str_cat.h"
#include "cli/module_check.h"
#include "cli/module_output.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/query/submodule.h"

namespace kashi::cli {
namespace {

Json ValuesJson(const std::vector<query::CutValue>& values) {
  Json list = Json::array();
  for (const query::CutValue& value : values) {
    Json entry = {
        {"name", std::string(value.instruction->name())},
        {"shape", ShapeUtil::HumanStringWithLayout(ShapeUtil::GetSubshape(value.instruction->shape(), value.index))}};
    if (!value.index.empty()) entry["index"] = value.index.ToString();
    list.push_back(std::move(entry));
  }
  return list;
}

absl::Status Verify(const HloModule& part) {
  HloVerifierOpts rules = VerifierOptionsFor(part);
  rules.allow_mixed_precision = true;
  const std::vector<HloFinding> findings = VerifyHlo(part, rules);
  if (findings.empty()) return absl::OkStatus();
  return InternalStrCat("the part breaks a rule of HLO: [", findings[0].rule, "] ", findings[0].message);
}

absl::StatusOr<query::Submodule> Extract(const ModuleFile& file, const std::vector<const HloInstruction*>& found,
                                         int64_t with_operands, const std::string& path) {
  KASHI_ASSIGN_OR_RETURN(query::Submodule part, query::ExtractSubmodule(*file.module, found, {with_operands}));
  KASHI_RETURN_IF_ERROR(Verify(*part.module));
  KASHI_ASSIGN_OR_RETURN(const std::string bytes, ModuleForPath(*part.module, path));
  KASHI_RETURN_IF_ERROR(WriteOutput(path, bytes));
  return part;
}

}  // namespace

void ExtractInstructions(const ModuleFile& file, const std::vector<const HloInstruction*>& found, int64_t with_operands,
                         const std::string& path, Answers* answers) {
  if (!CheckModule(file, answers)) return;
  const absl::StatusOr<query::Submodule> part = Extract(file, found, with_operands, path);
  if (!part.ok()) {
    return answers->AddFileError(file.name,
                                 WithMessage(part.status(), absl::StrCat(file.name, ": ", part.status().message())));
  }
  const int64_t instructions = part->module->entry_computation()->instruction_count();
  if (answers->json()) {
    Json json = {{"file", file.name},
                 {"module", file.module->name()},
                 {"instructions", instructions},
                 {"parameters", ValuesJson(part->parameters)},
                 {"results", ValuesJson(part->results)},
                 {"notes", part->notes}};
    if (IsFile(path)) json["output"] = path;
    return answers->AddLine(json);
  }
  for (const std::string& note : part->notes) PrintNote(absl::StrCat("kashi: note: ", base::Printable(note), "\n"));
  if (!IsFile(path)) return;  // standard output has the module
  answers->Add(absl::StrCat(path, ": ", base::Count(instructions, "instruction"), ", ",
                            base::Count(static_cast<int64_t>(part->parameters.size()), "parameter"), ", ",
                            base::Count(static_cast<int64_t>(part->results.size()), "result"), "\n"));
}

}  // namespace kashi::cli
