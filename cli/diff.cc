// `kashi diff`: in what two programs differ, and where their values part.
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "cli/interrupt.h"
#include "cli/module_check.h"
#include "cli/module_diff.h"
#include "cli/module_file.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "cli/value_summary.h"
#include "cli/verb.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/value.h"
#include "kashi/hlo/hlo_module.h"

namespace kashi::cli {
namespace {

struct DiffOptions {
  std::string a;
  std::string b;
  std::vector<std::string> inputs;
  uint64_t seed = 42;
  std::optional<double> tolerance;
  bool no_run = false;
  bool ignore_layouts = false;
  bool all = false;
  std::string output;
  bool json = false;
};

constexpr size_t kMostLines = 60;  // of the structural half, unless all are wanted

// ---- Structure ------------------------------------------------------------------------------------------------------------

std::string ComputationTitle(const HloComputation& a, const HloComputation& b) {
  return a.name() == b.name() ? std::string(a.name()) : absl::StrCat(a.name(), " (in B ", b.name(), ")");
}

std::string InstructionTitle(const HloInstruction& a, const HloInstruction& b) {
  return a.name() == b.name() ? std::string(a.name()) : absl::StrCat(a.name(), " (in B ", b.name(), ")");
}

void AddLines(const ComputationDiff& diff, std::vector<std::string>* lines) {
  if (diff.size() == 0) return;
  lines->push_back(absl::StrCat(ComputationTitle(*diff.a, *diff.b), ":"));
  for (const InstructionChange& change : diff.changes) {
    lines->push_back(absl::StrCat("  ", InstructionTitle(*change.a, *change.b), "  ", change.what, " ", change.from,
                                  " -> ", change.to));
  }
  for (const HloInstruction* x : diff.only_a) {
    lines->push_back(absl::StrCat("  only in A  ", ShortText(*x)));
  }
  for (const HloInstruction* y : diff.only_b) {
    lines->push_back(absl::StrCat("  only in B  ", ShortText(*y)));
  }
}

std::vector<std::string> StructureLines(const ModuleDiff& diff) {
  std::vector<std::string> lines;
  for (const ComputationDiff& computation : diff.computations) AddLines(computation, &lines);
  for (const HloComputation* x : diff.only_a) {
    lines.push_back(
        absl::StrCat("only in A: computation ", x->name(), " of ", Count(x->instruction_count(), "instruction")));
  }
  for (const HloComputation* y : diff.only_b) {
    lines.push_back(
        absl::StrCat("only in B: computation ", y->name(), " of ", Count(y->instruction_count(), "instruction")));
  }
  return lines;
}

std::string StructureText(const ModuleDiff& diff, bool all) {
  const std::vector<std::string> lines = StructureLines(diff);
  std::string text = diff.size() == 0 ? "structure: the same"
                                      : absl::StrCat("structure: ", WithThousands(diff.size()),
                                                     diff.size() == 1 ? " difference" : " differences");
  if (diff.renamed > 0)
    absl::StrAppend(&text, ", ", WithThousands(diff.renamed),
                    diff.renamed == 1 ? " instruction under another name" : " instructions under other names");
  absl::StrAppend(&text, "\n");
  const size_t shown = all ? lines.size() : std::min(lines.size(), kMostLines);
  for (size_t i = 0; i < shown; ++i) absl::StrAppend(&text, "  ", lines[i], "\n");
  if (shown < lines.size()) absl::StrAppend(&text, "  and ", lines.size() - shown, " lines more (--all)\n");
  return text;
}

Json StructureJson(const ModuleDiff& diff) {
  Json list = Json::array();
  const auto add_only = [&](const char* where, const std::string& computation, const HloInstruction* instruction) {
    Json& json = list.emplace_back();
    json["computation"] = computation;
    if (instruction != nullptr) json["instruction"] = std::string(instruction->name());
    json["what"] = where;
  };
  for (const ComputationDiff& computation : diff.computations) {
    for (const InstructionChange& change : computation.changes) {
      list.push_back({{"computation", std::string(computation.a->name())},
                      {"instruction", std::string(change.a->name())},
                      {"instruction_b", std::string(change.b->name())},
                      {"what", change.what},
                      {"from", change.from},
                      {"to", change.to}});
    }
    for (const HloInstruction* x : computation.only_a) add_only("only in A", std::string(computation.a->name()), x);
    for (const HloInstruction* y : computation.only_b) add_only("only in B", std::string(computation.b->name()), y);
  }
  for (const HloComputation* x : diff.only_a) add_only("only in A", std::string(x->name()), nullptr);
  for (const HloComputation* y : diff.only_b) add_only("only in B", std::string(y->name()), nullptr);
  return list;
}

// ---- Values ---------------------------------------------------------------------------------------------------------------

// Remembers the values that A made, compares B's with them as they come, and keeps the first disagreement in A's order.
// The n-th value of an instruction is compared with the n-th of its counterpart.
class ValueComparer {
 public:
  struct Disagreement {
    int64_t place;  // in A's order
    const HloInstruction* a;
    const HloInstruction* b;
    int64_t occurrence;  // from 1
    ValueSummary summary_a;
    ValueSummary summary_b;
    OutputComparison comparison;
  };

  ValueComparer(const ModuleDiff& diff, Tolerance tolerance) : diff_(diff), tolerance_(tolerance) {}

  absl::Status SeeA(const HloInstruction& instruction, const Value& value);
  absl::Status SeeB(const HloInstruction& instruction, const Value& value);

  const std::optional<Disagreement>& first() const { return first_; }
  int64_t compared() const { return compared_; }
  int64_t not_kept() const { return not_kept_; }

 private:
  struct Kept {
    int64_t place;
    const HloInstruction* instruction;
    Value value;  // nothing: there was no room for it
  };

  const HloInstruction* CounterpartOf(const HloInstruction& instruction) const;

  static constexpr int64_t kMostBytes = int64_t{2} << 30;
  static constexpr int64_t kOverhead = 256;  // what a kept value takes besides its elements

  const ModuleDiff& diff_;
  const Tolerance tolerance_;
  absl::flat_hash_map<const HloInstruction*, std::deque<Kept>> kept_;  // by B's instruction
  absl::flat_hash_map<const HloInstruction*, int64_t> occurrences_;    // in B
  int64_t places_ = 0;
  int64_t kept_bytes_ = 0;
  int64_t compared_ = 0;
  int64_t not_kept_ = 0;
  std::optional<Disagreement> first_;
};

const HloInstruction* ValueComparer::CounterpartOf(const HloInstruction& instruction) const {
  for (const auto* map : {&diff_.counterparts, &diff_.namesakes}) {
    const auto found = map->find(&instruction);
    if (found != map->end()) return found->second;
  }
  return nullptr;
}

absl::Status ValueComparer::SeeA(const HloInstruction& instruction, const Value& value) {
  ++places_;
  const HloInstruction* counterpart = CounterpartOf(instruction);
  if (counterpart == nullptr || !value.is_array()) return absl::OkStatus();
  if (kept_bytes_ > kMostBytes) return ++not_kept_, absl::OkStatus();
  const bool fits = value.byte_count() <= kMostBytes - kept_bytes_;
  kept_bytes_ += kOverhead + (fits ? value.byte_count() : 0);
  not_kept_ += fits ? 0 : 1;
  kept_[counterpart].push_back({places_, &instruction, fits ? value : Value()});
  return absl::OkStatus();
}

LiteralSlice AsLiteral(const Value& value, std::optional<BorrowingLiteral>* holder) {
  holder->emplace(value.bytes(), value.shape());
  return LiteralSlice(**holder);
}

absl::Status ValueComparer::SeeB(const HloInstruction& instruction, const Value& value) {
  const auto waiting = kept_.find(&instruction);
  if (waiting == kept_.end() || waiting->second.empty()) return absl::OkStatus();
  const int64_t occurrence = ++occurrences_[&instruction];
  const Kept kept = std::move(waiting->second.front());
  waiting->second.pop_front();
  if (kept.value.is_nothing() || (first_.has_value() && first_->place < kept.place)) return absl::OkStatus();
  if (!value.is_array() || kept.value.shape() != value.shape()) return absl::OkStatus();
  ++compared_;
  std::optional<BorrowingLiteral> a;
  std::optional<BorrowingLiteral> b;
  OutputComparison comparison;
  comparison.tolerance = tolerance_.For(value.element_type());
  KASHI_ASSIGN_OR_RETURN(comparison.statistics,
                         literal_comparison::Compare(AsLiteral(kept.value, &a), AsLiteral(value, &b),
                                                     ErrorSpec(comparison.tolerance, comparison.tolerance)));
  if (comparison.statistics.mismatches == 0) return absl::OkStatus();
  first_ = Disagreement{kept.place,       kept.instruction, &instruction, occurrence, Summarize(kept.value),
                        Summarize(value), comparison};
  return absl::OkStatus();
}

// ---- Both -----------------------------------------------------------------------------------------------------------------

class DiffVerb {
 public:
  explicit DiffVerb(const DiffOptions& options) : options_(options), answers_(options.output, options.json) {}
  int Run();

 private:
  // Why the programs cannot be run on the same inputs; "" if they can.
  std::string WhyNotRun() const;
  absl::Status CompareRuns();
  absl::StatusOr<std::vector<Literal>> RunModule(const ModuleFile& file, const std::vector<Value>& arguments,
                                                 std::function<absl::Status(const HloInstruction&, const Value&)> see);
  absl::StatusOr<std::vector<Value>> MakeArguments() const;
  absl::Status ShowOutputs(const std::vector<Literal>& a, const std::vector<Literal>& b);
  void ShowFirst(const ValueComparer& comparer);

  const DiffOptions& options_;
  Answers answers_;
  Interrupt interrupt_;
  std::optional<ModuleFile> a_;
  std::optional<ModuleFile> b_;
  ModuleDiff diff_;
  Json json_;
  bool differs_ = false;
};

std::string DiffVerb::WhyNotRun() const {
  if (options_.no_run) return "--no-run";
  const HloComputation& a = *a_->module->entry_computation();
  const HloComputation& b = *b_->module->entry_computation();
  if (a.num_parameters() != b.num_parameters()) return "they take different parameters";
  for (int64_t i = 0; i < a.num_parameters(); ++i) {
    if (!ShapeUtil::Compatible(a.parameter_instruction(i)->shape(), b.parameter_instruction(i)->shape())) {
      return absl::StrCat("parameter ", i, " is ", ShapeUtil::HumanString(a.parameter_instruction(i)->shape()), " and ",
                          ShapeUtil::HumanString(b.parameter_instruction(i)->shape()));
    }
  }
  for (const auto* file : {&a_, &b_}) {
    const absl::StatusOr<DeviceCounts> counts = DeviceCountsOf(*(*file)->module);
    if (!counts.ok() || counts->total() > 1) return "they are for several devices";
  }
  return "";
}

absl::StatusOr<std::vector<Value>> DiffVerb::MakeArguments() const {
  KASHI_ASSIGN_OR_RETURN(Arguments arguments, ChooseArguments(*a_, options_.inputs, options_.seed));
  const EvaluationRun run;
  std::vector<Value> values;
  for (Literal& literal : arguments) {
    const auto owner = std::make_shared<const Literal>(std::move(literal));
    KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(*owner, run.budget(), owner));
    values.push_back(std::move(value));
  }
  return values;
}

absl::StatusOr<std::vector<Literal>> DiffVerb::RunModule(
    const ModuleFile& file, const std::vector<Value>& arguments,
    std::function<absl::Status(const HloInstruction&, const Value&)> see) {
  EvaluationOptions evaluation;
  evaluation.cancelled = &interrupt_.flag();
  evaluation.observer = std::move(see);
  EvaluationRun run(std::move(evaluation));
  const absl::StatusOr<Value> value = run.Call(*file.module->entry_computation(), arguments);
  if (!value.ok()) return InvalidArgument("%s: %s", file.name, value.status().message());
  Shape shape = file.module->result_shape();
  LayoutUtil::SetToDefaultLayout(&shape);
  KASHI_ASSIGN_OR_RETURN(Literal result, value->ToLiteral(shape));
  return FlattenResult(std::move(result));
}

absl::Status DiffVerb::ShowOutputs(const std::vector<Literal>& a, const std::vector<Literal>& b) {
  Json list = Json::array();
  if (a.size() != b.size()) {
    differs_ = true;
    answers_.Add(options_.json ? "" : absl::StrCat("outputs: ", a.size(), " and ", b.size(), "\n"));
  }
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const std::string title = absl::StrCat("out", i, "  ", ShapeUtil::HumanString(a[i].shape()), "  ");
    const absl::StatusOr<OutputComparison> comparison = CompareOutput(a[i], b[i], Tolerance{options_.tolerance});
    const bool agrees = comparison.ok() && comparison->statistics.mismatches == 0;
    differs_ |= !agrees;
    const std::string text = comparison.ok() ? literal_comparison::ToString(comparison->statistics)
                                             : absl::StrCat("in B ", ShapeUtil::HumanString(b[i].shape()));
    list.push_back(comparison.ok() ? ToJson(*comparison) : Json{{"error", text}});
    if (!options_.json) answers_.Add(absl::StrCat(title, agrees ? "agrees: " : "DIFFERS: ", text, "\n"));
  }
  json_["outputs"] = std::move(list);
  return absl::OkStatus();
}

std::string SideText(const char* side, const HloInstruction& instruction, const ValueSummary& summary) {
  const std::string source = SourceOf(instruction);
  return absl::StrCat("  ", side, "  ", ShortText(instruction), "\n     ", ToText(summary), "\n",
                      source.empty() ? "" : "     source ", source, source.empty() ? "" : "\n");
}

Json SideJson(const HloInstruction& instruction, const ValueSummary& summary) {
  return {{"instruction", std::string(instruction.name())},
          {"computation", std::string(instruction.parent()->name())},
          {"text", ShortText(instruction)},
          {"source", SourceOf(instruction)},
          {"value", ToJson(summary)}};
}

void DiffVerb::ShowFirst(const ValueComparer& comparer) {
  json_["values_compared"] = comparer.compared();
  json_["values_not_kept"] = comparer.not_kept();
  const std::optional<ValueComparer::Disagreement>& first = comparer.first();
  if (!first.has_value()) {
    if (options_.json) return;
    answers_.Add(absl::StrCat("instructions: ", WithThousands(comparer.compared()), " values agree",
                              comparer.not_kept() > 0 ? ", the others were too many to keep" : "", "\n"));
    return;
  }
  Json& json = json_["first_disagreement"];
  json["occurrence"] = first->occurrence;
  json["comparison"] = ToJson(first->comparison);
  json["a"] = SideJson(*first->a, first->summary_a);
  json["b"] = SideJson(*first->b, first->summary_b);
  if (options_.json) return;
  answers_.Add(absl::StrCat("first disagreement: ", InstructionTitle(*first->a, *first->b), " in ",
                            first->a->parent()->name(), first->occurrence > 1 ? ", its value number " : "",
                            first->occurrence > 1 ? absl::StrCat(first->occurrence) : "", ": ",
                            literal_comparison::ToString(first->comparison.statistics), "\n",
                            SideText("A", *first->a, first->summary_a), SideText("B", *first->b, first->summary_b)));
}

absl::Status DiffVerb::CompareRuns() {
  KASHI_ASSIGN_OR_RETURN(const std::vector<Value> arguments, MakeArguments());
  ValueComparer comparer(diff_, Tolerance{options_.tolerance});
  KASHI_ASSIGN_OR_RETURN(const std::vector<Literal> a,
                         RunModule(*a_, arguments, [&](const HloInstruction& instruction, const Value& value) {
                           return comparer.SeeA(instruction, value);
                         }));
  KASHI_ASSIGN_OR_RETURN(const std::vector<Literal> b,
                         RunModule(*b_, arguments, [&](const HloInstruction& instruction, const Value& value) {
                           return comparer.SeeB(instruction, value);
                         }));
  KASHI_RETURN_IF_ERROR(ShowOutputs(a, b));
  ShowFirst(comparer);
  return absl::OkStatus();
}

int DiffVerb::Run() {
  if (options_.a == "-" && options_.b == "-") return FailUsage("only one of the two can be standard input");
  a_ = ReadModuleFile(options_.a, {}, &answers_);
  b_ = ReadModuleFile(options_.b, {}, &answers_);
  if (!a_.has_value() || !b_.has_value()) return answers_.Finish();
  const bool a_is_valid = CheckModule(*a_, &answers_);
  const bool b_is_valid = CheckModule(*b_, &answers_);
  if (!a_is_valid || !b_is_valid) return answers_.Finish();
  diff_ = DiffModules(*a_->module, *b_->module, !options_.ignore_layouts);
  differs_ = diff_.size() > 0;
  json_ = {{"a", a_->name}, {"b", b_->name}, {"differences", StructureJson(diff_)}, {"renamed", diff_.renamed}};
  if (!options_.json) answers_.Add(StructureText(diff_, options_.all));
  const std::string why_not = WhyNotRun();
  if (why_not.empty()) {
    const absl::Status compared = CompareRuns();
    if (interrupt_.flag().load()) return SayInterrupted();
    if (!compared.ok()) {
      answers_.AddFileError(absl::StrCat(a_->name, " and ", b_->name), compared);
      return answers_.Finish();
    }
  } else if (options_.json) {
    json_["not_run"] = why_not;
  } else {
    answers_.Add(absl::StrCat("not run: ", why_not, "\n"));
  }
  if (options_.json) answers_.AddLine(json_);
  return std::max(answers_.Finish(), differs_ ? kBadInput : kSuccess);
}

}  // namespace

void AddDiffVerb(Command* command) {
  auto options = std::make_shared<DiffOptions>();
  const std::string examples =
      "  kashi diff before.hlo after.hlo                 what changed, and where the values part\n"
      "  kashi diff a.hlo b.hlo --input x.npy --tolerance 0\n"
      "  kashi diff a.hlo b.hlo --no-run --json          the structure alone, for a script\n\n"
      "Instructions correspond by what they do and on what, then by name: new names and a new order are no\n"
      "difference, one changed instruction is one. Then both programs run on the same inputs; the first instruction "
      "of\n"
      "A, in the order in which A runs, that has another value than its counterpart in B is named, with its source\n"
      "line. Exit status 1 if anything differs.";
  Verb* verb = command->AddVerb("diff", "Tell in what two programs differ, and where their values part", examples,
                                [options] { return DiffVerb(*options).Run(); });
  verb->AddOption("A", &options->a, "A module in any form, or `-`")->File()->Required();
  verb->AddOption("B", &options->b, "Another one")->File()->Required();
  verb->AddOption("--input", &options->inputs, "An .npy file; may be repeated. None: random numbers")
      ->File()
      ->OneEach();
  verb->AddOption("--seed", &options->seed, "Of random numbers (default: 42)");
  verb->AddOption("--tolerance", &options->tolerance,
                  "How far apart real numbers may be, absolutely and relatively (default: as in kashi run)")
      ->Check(CheckTolerance);
  verb->AddFlag("--no-run", &options->no_run, "Compare the structure only");
  verb->AddFlag("--ignore-layouts", &options->ignore_layouts, "Another layout is no difference");
  verb->AddFlag("--all", &options->all, "Show all structural differences, not only the first 60 lines");
  AddOutputOption(verb, &options->output, "Write the report to this file");
  verb->AddFlag("--json", &options->json, "One JSON object");
}

}  // namespace kashi::cli
