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

struct Part {
  query::Submodule submodule;
  std::string bytes;
};

absl::StatusOr<Part> MakePart(const ModuleFile& file, const std::vector<const HloInstruction*>& found,
                              int64_t with_operands, const std::string& path) {
  Part part;
  KASHI_ASSIGN_OR_RETURN(part.submodule, query::ExtractSubmodule(*file.module, found, {with_operands}));
  KASHI_RETURN_IF_ERROR(Verify(*part.submodule.module));
  KASHI_ASSIGN_OR_RETURN(part.bytes, ModuleForPath(*part.submodule.module, path));
  return part;
}

// The output file, or the module itself.
Json PartJson(const ModuleFile& file, const Part& part, const std::string& path) {
  Json json = {{"file", file.name},
               {"module", file.module->name()},
               {"instructions", part.submodule.module->entry_computation()->instruction_count()},
               {"parameters", ValuesJson(part.submodule.parameters)},
               {"results", ValuesJson(part.submodule.results)},
               {"notes", part.submodule.notes}};
  json[IsFile(path) ? "output" : "text"] = IsFile(path) ? path : part.bytes;
  return json;
}

std::string PartText(const query::Submodule& part, const std::string& path) {
  return absl::StrCat(path, ": ", base::Count(part.module->entry_computation()->instruction_count(), "instruction"),
                      ", ", base::Count(static_cast<int64_t>(part.parameters.size()), "parameter"), ", ",
                      base::Count(static_cast<int64_t>(part.results.size()), "result"), "\n");
}

}  // namespace

void ExtractInstructions(const ModuleFile& file, const std::vector<const HloInstruction*>& found, int64_t with_operands,
                         const std::string& path, Answers* answers) {
  if (!CheckModule(file, answers)) return;
  const absl::StatusOr<Part> part = MakePart(file, found, with_operands, path);
  if (!part.ok()) {
    return answers->AddFileError(file.name,
                                 WithMessage(part.status(), absl::StrCat(file.name, ": ", part.status().message())));
  }
  if (IsFile(path)) {
    const absl::Status written = WriteOutput(path, part->bytes);
    if (!written.ok()) return answers->AddFileError(file.name, written);
  }
  if (answers->json()) return answers->AddLine(PartJson(file, *part, path));
  const query::Submodule& submodule = part->submodule;
  for (const std::string& note : submodule.notes) PrintNote(absl::StrCat("kashi: note: ", base::Printable(note), "\n"));
  answers->Add(IsFile(path) ? PartText(submodule, path) : part->bytes);
}

}  // namespace kashi::cli
