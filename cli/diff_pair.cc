#include "cli/diff_pair.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/compile_program.h"
#include "cli/diff_structure.h"
#include "cli/elided_constants.h"
#include "cli/module_check.h"
#include "cli/progress.h"
#include "cli/run_watch.h"
#include "cli/value_summary.h"
#include "kashi/analysis/fake_arguments.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/base/work_meter.h"
#include "kashi/engine/program_door.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal_comparison.h"
#include "kashi/values/value.h"

namespace kashi::cli {

using engine::ProgramDoor;
using evaluator::EvaluationRun;
namespace {

std::string SideText(const char* side, const HloInstruction& instruction, const ValueSummary& summary) {
  const std::string source = SourceOf(instruction);
  return absl::StrCat("  ", side, "  ", ShortText(instruction), "\n     ", ToText(summary), "\n",
                      source.empty() ? "" : "     source ", source, source.empty() ? "" : "\n");
}

Json SideJson(const HloInstruction& instruction, const ValueSummary& summary) {
  return {{"instruction", instruction.name()},
          {"computation", instruction.parent()->name()},
          {"text", ShortText(instruction)},
          {"source", SourceOf(instruction)},
          {"value", ToJson(summary)}};
}

constexpr char kSeveralDevices[] = "a program is for several devices";
absl::Status CpuIsForOneDevice() {
  return Unimplemented("--engine-a cpu and --engine-b cpu compare programs of one device");
}

std::string Differences(int64_t count) {
  if (count == 0) return "the same structure";
  return Count(count, "difference");
}

}  // namespace

bool PairDiff::Read(const std::string& a, const std::string& b, Answers* answers) {
  a_ = ReadModuleFile(a, {}, answers);
  b_ = ReadModuleFile(b, {}, answers);
  if (!a_.has_value() || !b_.has_value()) return false;
  const bool a_is_valid = CheckModule(*a_, answers);
  const bool b_is_valid = CheckModule(*b_, answers);
  return a_is_valid && b_is_valid;
}

void PairDiff::CompareStructure() {
  diff_ = matching::DiffModules(*a_->module, *b_->module, !options_.ignore_layouts);
  differs_ = diff_.size() > 0;
  json_ = {{"a", a_->name},
           {"b", b_->name},
           {"opcodes", OpcodesJson(*a_->module, *b_->module)},
           {"differences", StructureJson(diff_)},
           {"renamed", diff_.renamed}};
  text_ = StructureText(*a_->module, *b_->module, diff_, options_.all);
}

// Names the constants without values; "" if there are none.
std::string PairDiff::ElidedInEither() const {
  std::string text;
  for (const auto* file : {&a_, &b_}) {
    const std::vector<std::string> names = ElidedNames(*(*file)->module);
    if (!names.empty()) {
      absl::StrAppend(&text, text.empty() ? "" : "; ", (*file)->name, ": ", ElidedText(names));
    }
  }
  return text;
}

std::string PairDiff::WhyNotComparable() const {
  const HloComputation& a = *a_->module->entry_computation();
  const HloComputation& b = *b_->module->entry_computation();
  if (a.num_parameters() != b.num_parameters()) return "the programs have different numbers of parameters";
  for (int64_t i = 0; i < a.num_parameters(); ++i) {
    if (!ShapeUtil::Compatible(a.parameter_instruction(i)->shape(), b.parameter_instruction(i)->shape())) {
      return absl::StrCat("parameter ", i, " differs: ", ShapeUtil::HumanString(a.parameter_instruction(i)->shape()),
                          " and ", ShapeUtil::HumanString(b.parameter_instruction(i)->shape()));
    }
  }
  for (const auto* file : {&a_, &b_}) {
    if (ScopeOf(**file).is_global()) continue;
    const absl::StatusOr<DeviceCounts> counts = DeviceCountsOf(*(*file)->module);
    if (!counts.ok() || counts->total() > 1) return kSeveralDevices;
  }
  return "";
}

absl::StatusOr<std::vector<Value>> PairDiff::MakeArguments() {
  KASHI_ASSIGN_OR_RETURN(ChosenArguments chosen, ChooseArguments(*a_, options_.inputs, RandomArguments()));
  if (!chosen.made_up.is_null()) json_["inputs"] = chosen.made_up;
  const EvaluationRun run;
  std::vector<Value> values;
  for (Literal& literal : chosen.arguments) {
    const auto owner = std::make_shared<const Literal>(std::move(literal));
    KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(*owner, run.budget(), owner));
    values.push_back(std::move(value));
  }
  return values;
}

absl::StatusOr<std::vector<Literal>> PairDiff::RunModule(
    const ModuleFile& file, const std::vector<Value>& arguments,
    const std::function<absl::Status(const HloInstruction&, const Value&)>& see, evaluator::StepChecker* checker) {
  RunProgress progress(*file.module, 1, &file == &*a_ ? "A" : "B");
  EvaluationOptions evaluation;
  ApplyLimits(options_.limits, &evaluation);
  evaluation.cancelled = &interrupt_.flag();
  evaluator::RunHooks hooks;
  hooks.checker = checker;
  if (SeesValues()) {
    evaluation.observer = [&](const HloInstruction& instruction, const Value& value) {
      KASHI_RETURN_IF_ERROR(progress.OnValue(instruction, value));
      return see(instruction, value);
    };
  }
  if (ScopeOf(file).is_global()) evaluation.global_devices = ScopeOf(file).partitions;
  failed_ = &file;  // reset after success
  CompileOptions compile;
  compile.engine = EngineOf(file);
  compile.limits = WorkLimitsOf(options_.limits, &interrupt_.flag());
  KASHI_ASSIGN_OR_RETURN(program_, CompileProgram(*file.module, compile));
  const std::unique_ptr<EvaluationRun> run = ProgramDoor::NewRun(*program_, std::move(evaluation), hooks);
  const HloComputation& entry = *program_->module().entry_computation();
  KASHI_RETURN_IF_ERROR(run->CheckAffordable(entry));
  KASHI_ASSIGN_OR_RETURN(const Value value, ProgramDoor::Call(*program_, *run, arguments));
  Shape shape = file.module->result_shape();
  LayoutUtil::SetToDefaultLayout(&shape);
  KASHI_ASSIGN_OR_RETURN(Literal result, value.ToLiteral(shape));
  return FlattenResult(std::move(result));
}

void PairDiff::ShowOutputs(const std::vector<Literal>& a, const std::vector<Literal>& b) {
  outputs_agree_ = a.size() == b.size();
  if (a.size() != b.size()) absl::StrAppend(&text_, "outputs: ", a.size(), " and ", b.size(), "\n");
  Json list = Json::array();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const absl::StatusOr<OutputComparison> comparison =
        CompareOutput(a[i], b[i], Tolerance{options_.tolerance, options_.allow_nan});
    const bool agrees = comparison.ok() && comparison->agrees;
    outputs_agree_ = *outputs_agree_ && agrees;
    const std::string text =
        comparison.ok() ? ToText(*comparison) : absl::StrCat("in B ", ShapeUtil::HumanString(b[i].shape()));
    list.push_back(comparison.ok() ? ToJson(*comparison) : Json{{"error", text}});
    absl::StrAppend(&text_, "out", i, "  ", ShapeUtil::HumanString(a[i].shape()), "  ",
                    comparison.ok() ? VerdictText(*comparison) : "DIFFERS: ", text, "\n");
  }
  json_["outputs"] = std::move(list);
  differs_ |= !*outputs_agree_;
}

void PairDiff::ShowAgreement(const ValueComparer& comparer) {
  absl::StrAppend(&text_, "instructions: ", Count(comparer.compared(), "value"),
                  comparer.compared() == 1 ? " agrees" : " agree",
                  comparer.not_kept() > 0 ? "; the others did not fit in memory" : "", "\n");
}

void PairDiff::ShowDisagreement(const ValueComparer::Disagreement& first) {
  absl::StrAppend(&text_, "first disagreement: ", InstructionTitle(*first.a, *first.b), " in ",
                  first.a->parent()->name(), first.occurrence > 1 ? absl::StrCat(", value ", first.occurrence) : "",
                  ": ", literal_comparison::ToString(first.comparison.statistics), "\n",
                  SideText("A", *first.a, first.summary_a), SideText("B", *first.b, first.summary_b));
}

void PairDiff::ShowFirst(const ValueComparer& comparer) {
  json_["values_compared"] = comparer.compared();
  json_["values_nan_on_both_sides"] = comparer.all_nan();
  json_["values_not_kept"] = comparer.not_kept();
  const std::optional<ValueComparer::Disagreement>& first = comparer.first();
  if (first.has_value()) {
    Json& json = json_["first_disagreement"];
    json["occurrence"] = first->occurrence;
    json["comparison"] = ToJson(first->comparison);
    json["a"] = SideJson(*first->a, first->summary_a);
    json["b"] = SideJson(*first->b, first->summary_b);
    if (*outputs_agree_) {  // the programs compute the same in different ways
      absl::StrAppend(&text_, "instructions: ", InstructionTitle(*first->a, *first->b),
                      " is the first whose value differs, without effect on the outputs\n");
    } else {
      ShowDisagreement(*first);
    }
  } else {
    ShowAgreement(comparer);
  }
  if (!comparer.first_nan().has_value()) return;
  const HloInstruction& nan = *comparer.first_nan()->a;
  json_["first_nan_on_both_sides"] = nan.name();
  absl::StrAppend(&text_, "not compared: ", Count(comparer.all_nan(), "value"),
                  comparer.all_nan() == 1 ? " is" : " are", " NaN everywhere on both sides; the first is ",
                  ShortText(nan), "\n");
}

absl::Status PairDiff::CompareRuns() {
  KASHI_RETURN_IF_ERROR(FillElidedAlike(diff_, a_->module.get(), b_->module.get(), options_.seed));
  KASHI_ASSIGN_OR_RETURN(const std::vector<Value> arguments, MakeArguments());
  ValueComparer comparer(diff_, Tolerance{options_.tolerance});
  KASHI_ASSIGN_OR_RETURN(const std::vector<Literal> a,
                         RunModule(*a_, arguments, [&](const HloInstruction& instruction, const Value& value) {
                           return comparer.OnValueOfA(instruction, value);
                         }));
  KASHI_ASSIGN_OR_RETURN(const std::vector<Literal> b,
                         RunModule(*b_, arguments, [&](const HloInstruction& instruction, const Value& value) {
                           return comparer.OnValueOfB(instruction, value);
                         }));
  ShowOutputs(a, b);
  if (SeesValues()) {
    ShowFirst(comparer);
  } else {
    json_["engines"] = {{"a", options_.engine_a}, {"b", options_.engine_b}};
    if (*outputs_agree_) {
      absl::StrAppend(&text_, "instructions: not compared, the engine cpu computes several at once\n");
    } else {
      KASHI_RETURN_IF_ERROR(CompareSteps(arguments));
    }
  }
  return absl::OkStatus();
}

absl::Status PairDiff::CompareSteps(const std::vector<Value>& arguments) {
  for (const ModuleFile* file : {&*a_, &*b_}) {
    if (EngineOf(*file) != "cpu") continue;
    const std::string side = file == &*a_ ? "A" : "B";
    const std::unique_ptr<evaluator::StepChecker> checker = MakeStepChecker(Tolerance{options_.tolerance});
    const auto see = [](const HloInstruction&, const Value&) { return absl::OkStatus(); };
    const absl::Status status = RunModule(*file, arguments, see, checker.get()).status();
    if (!checker->first().has_value()) {
      KASHI_RETURN_IF_ERROR(status);
      absl::StrAppend(&text_, "instructions of ", side, ": ", NoFindingText({nullptr, checker.get()}));
      continue;
    }
    json_["wrong_steps"][side] = ToJson(*checker->first());
    absl::StrAppend(&text_, "instructions of ", side, ": ", ToText(*checker->first()));
  }
  return absl::OkStatus();
}

absl::Status PairDiff::ComparePartitioned(const PartitionedPair& pair) {
  if (!SeesValues()) return CpuIsForOneDevice();
  KASHI_ASSIGN_OR_RETURN(const ChosenArguments chosen,
                         ChooseArguments(pair.whole_is_a ? *a_ : *b_, options_.inputs, RandomArguments()));
  if (!chosen.made_up.is_null()) json_["inputs"] = chosen.made_up;
  EvaluationOptions evaluation;
  ApplyLimits(options_.limits, &evaluation);
  evaluation.cancelled = &interrupt_.flag();
  const Progress progress([] { return std::string("running the global and the partitioned program"); });
  const HloModule* running = nullptr;
  const absl::StatusOr<PartitionedDiff> diff =
      DiffPartitioned(pair, chosen.arguments, Tolerance{options_.tolerance, options_.allow_nan}, evaluation, &running);
  failed_ = running == b_->module.get() ? &*b_ : &*a_;
  if (!diff.ok()) return diff.status();
  json_["partitioned"] = diff->json;
  absl::StrAppend(&text_, diff->text);
  outputs_agree_ = !diff->differs;
  differs_ |= diff->differs;
  return absl::OkStatus();
}

std::string PairDiff::WhyNotRun(bool is_partitioned, bool is_elided) const {
  if (options_.no_run) return is_partitioned ? "--no-run, and one program is partitioned" : "--no-run";
  if (is_elided && is_partitioned) {
    return "constants are elided, and the part of each device is unknown: use the .pb, or dump again with "
           "--xla_dump_hlo_print_large_constants";
  }
  if (is_elided && !options_.allow_elided) {
    return "constants are elided; --allow-elided replaces them by random values, the same in both programs";
  }
  return is_partitioned ? "" : WhyNotComparable();
}

bool PairDiff::Compare(const std::string& a, const std::string& b, Answers* answers) {
  if (!Read(a, b, answers)) return false;
  failed_ = &*a_;
  scope_a_ = ProgramScopeOf(*a_->module);
  scope_b_ = ProgramScopeOf(*b_->module);
  const std::optional<PartitionedPair> partitioned =
      FindPartitionedPair({*a_->module, scope_a_}, {*b_->module, scope_b_});
  if (partitioned.has_value()) {
    json_ = {{"a", a_->name}, {"b", b_->name}};
  } else {
    CompareStructure();
  }
  const std::string elided = ElidedInEither();
  if (!elided.empty()) {
    json_["elided_constants"] = {{"a", ElidedNames(*a_->module)}, {"b", ElidedNames(*b_->module)}};
    absl::StrAppend(&text_, elided, "\n");
    differs_ |= partitioned.has_value() || !options_.allow_elided;  // unknown
  }
  not_run_ = WhyNotRun(partitioned.has_value(), !elided.empty());
  if (not_run_ == kSeveralDevices && !SeesValues()) {  // a user who names an engine wants a run
    error_ = CpuIsForOneDevice();
    return false;
  }
  if (!not_run_.empty()) {
    json_["not_run"] = not_run_;
    absl::StrAppend(&text_, "not run: ", not_run_, "\n");
    return true;
  }
  error_ = partitioned.has_value() ? ComparePartitioned(*partitioned) : CompareRuns();
  return error_.ok();
}

std::string PairDiff::Summary() const {
  const std::string structure = Differences(diff_.size());
  if (!not_run_.empty()) return absl::StrCat(structure, "; not run: ", not_run_);
  if (!outputs_agree_.has_value()) return structure;
  return absl::StrCat(structure, *outputs_agree_ ? "; outputs agree" : "; outputs DIFFER");
}

}  // namespace kashi::cli
