#include "cli/module_check.h"

#include <cstdio>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "cli/verb.h"
#include "kashi/hlo/hlo_module.h"

namespace kashi::cli {
namespace {

bool HasTiles(const HloModule& module) {
  return absl::c_any_of(module.computations(), [](const HloComputation* computation) {
    return absl::c_any_of(computation->instructions(), [](const HloInstruction* x) {
      return x->shape().IsArray() && x->shape().has_layout() && !x->shape().layout().tiles().empty();
    });
  });
}

}  // namespace

HloVerifierOpts VerifierOptionsFor(const HloModule& module) {
  HloVerifierOpts opts;
  // Where arrays are tiled, the target knows best: for TPU, bitcasts look into padding and the indices of a scatter have
  // layouts of their own.
  const bool is_tiled = HasTiles(module);
  opts.allow_bitcast_to_have_different_size = is_tiled;
  if (!is_tiled) opts.instruction_can_change_layout = InstructionMayChangeLayout;
  // Compilers mix precisions where they please; a module with a schedule comes from one.
  opts.allow_mixed_precision = module.has_schedule();
  // Dumps from before partitioning do not say for how many devices they are.
  opts.verify_sharding_device_numbers = module.config().num_partitions() > 1;
  return opts;
}

std::string FindingText(const std::string& file, const HloFinding& finding) {
  std::string text = absl::StrCat(file, ": error: [", finding.rule, "] ", finding.message, "\n");
  if (finding.instruction != nullptr) {
    absl::StrAppend(&text, "  ", finding.instruction->ToString(), "\n");
  } else if (finding.computation != nullptr) {
    absl::StrAppend(&text, "  in computation ", finding.computation->name(), "\n");
  }
  return text;
}

Json FindingJson(const HloFinding& finding) {
  Json json;
  json["rule"] = finding.rule;
  json["instruction"] = finding.instruction != nullptr ? Json(finding.instruction->name()) : Json();
  json["computation"] = finding.computation != nullptr ? Json(finding.computation->name()) : Json();
  json["message"] = finding.message;
  return json;
}

bool CheckModule(const ModuleFile& file, Answers* answers) {
  HloVerifierOpts opts = VerifierOptionsFor(*file.module);
  opts.allow_mixed_precision = true;
  const std::vector<HloFinding> findings = VerifyHlo(*file.module, opts);
  if (findings.empty()) return true;
  answers->SetBad();
  if (answers->json()) {
    Json list = Json::array();
    for (const HloFinding& finding : findings) list.push_back(FindingJson(finding));
    answers->AddLine({{"file", file.name}, {"error", findings.front().message}, {"findings", std::move(list)}});
  } else {
    for (const HloFinding& finding : findings) std::fputs(FindingText(file.name, finding).c_str(), stderr);
  }
  return false;
}

}  // namespace kashi::cli
