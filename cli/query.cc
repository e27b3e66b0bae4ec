// `kashi query`: instructions by their facts.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/known_arguments.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/progress.h"
#include "cli/query_extract.h"
#include "cli/query_filters.h"
#include "cli/query_output.h"
#include "cli/suggest.h"
#include "cli/target_option.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/insight/accelerators.h"
#include "kashi/query/expression.h"

namespace kashi::cli {
namespace {

struct QueryOptions {
  std::string expression;  // or the first file
  std::vector<std::string> inputs;
  QueryFilters filters;
  QueryOutputOptions report;
  std::string columns;
  std::string by;
  std::string target;
  std::string extract;
  int64_t with_operands = 0;
  bool fail_if_none = false;
  std::string output;
  bool strict = false;
};

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

bool IsFileOrStdin(const std::string& argument) {
  std::error_code error;
  return argument == "-" || std::filesystem::exists(argument, error);
}

// The first argument is a file if there is one of this name.
void TellExpressionFromFile(QueryOptions* options) {
  if (options->expression.empty() || !IsFileOrStdin(options->expression)) return;
  options->inputs.insert(options->inputs.begin(), std::exchange(options->expression, ""));
}

// ---- The parts of the command line ----------------------------------------------------------------------------------

// Prints an error and returns nullopt if the expression is wrong.
std::optional<query::Expression> ReadExpression(const std::string& text) {
  std::vector<Diagnostic> diagnostics;
  absl::StatusOr<query::Expression> expression = query::Expression::Parse(text, &diagnostics);
  if (expression.ok()) return *std::move(expression);
  // A word without an operator is as likely the name of a file.
  const bool may_be_file = text.find_first_of("\"'=<>~(") == std::string::npos;
  if (may_be_file && text.find_first_of("./") != std::string::npos) {
    FailUsage(absl::StrCat("there is no file `", text, "`, and it is no expression"));
    return std::nullopt;
  }
  if (may_be_file) absl::StrAppend(&diagnostics.front().message, " (there is no file of this name either)");
  PrintDiagnostics({"<query>", text}, diagnostics);
  return std::nullopt;
}

std::optional<query::Expression> WholeExpression(const QueryOptions& options) {
  query::Expression expression;
  for (const std::string& text : {options.expression, FilterExpression(options.filters)}) {
    if (text.empty()) continue;
    const std::optional<query::Expression> part = ReadExpression(text);
    if (!part.has_value()) return std::nullopt;
    expression = expression.And(*part);
  }
  return expression;
}

// "" if the text is a list of keys, which are then in `facts`.
std::string ReadKeys(const std::string& list, std::vector<query::Fact>* facts) {
  for (const absl::string_view key : absl::StrSplit(list, ',', absl::SkipWhitespace())) {
    const std::optional<query::Fact> fact = query::FindFact(absl::StripAsciiWhitespace(key));
    if (!fact.has_value()) return std::string(query::UnknownFact(absl::StripAsciiWhitespace(key)).message());
    facts->push_back(*fact);
  }
  return "";
}

bool NeedsTime(query::Fact fact) { return query::InfoOf(fact).need == query::FactNeed::kTime; }

// "" if --sort names a key, or with --by a column of its table.
std::string CheckSort(const QueryOutputOptions& report) {
  if (report.sort.empty()) return "";
  std::vector<std::string> names = query::FactKeys();
  if (report.by.has_value()) {
    names = SumColumns(report.has_device);
    names.emplace_back(query::InfoOf(*report.by).key);
  }
  if (absl::c_linear_search(names, report.sort)) return "";
  const std::string list = report.by.has_value() ? absl::StrCat("; the columns are ", absl::StrJoin(names, ", ")) : "";
  return absl::StrCat("--sort: there is no `", report.sort, "`", list.empty() ? DidYouMean(report.sort, names) : list);
}

// "" if the options fit together; sets what follows from them.
std::string Complete(QueryOptions* options) {
  QueryOutputOptions& report = options->report;
  if (std::string error = ReadKeys(options->columns, &report.columns); !error.empty()) {
    return absl::StrCat("--columns: ", error);
  }
  if (!options->by.empty()) {
    report.by = query::FindFact(options->by);
    if (!report.by.has_value()) return absl::StrCat("--by: ", query::UnknownFact(options->by).message());
  }
  report.has_device = !options->target.empty();
  if (std::string error = CheckSort(report); !error.empty()) return error;
  std::vector<query::Fact> used = report.columns;
  if (const auto sort = query::FindFact(report.sort); sort.has_value()) used.push_back(*sort);
  if (report.by.has_value()) used.push_back(*report.by);
  if (!report.has_device && absl::c_any_of(used, NeedsTime)) {
    return "`seconds` and `bound` need --target: the device whose time they tell";
  }
  if (report.top >= 0 && report.sort.empty() && !report.by.has_value()) {
    return "--top takes the first rows after sorting: it needs --sort or --by (--max takes the first matches)";
  }
  if (report.by.has_value() && !report.columns.empty()) return "--by has columns of its own: leave --columns out";
  if (report.tsv && report.columns.empty() && !report.by.has_value()) {
    return "--tsv prints a table: it needs --columns or --by";
  }
  if (options->with_operands > 0 && options->extract.empty()) return "--with-operands is for --extract";
  if (options->inputs.empty()) return "a module is missing: kashi query [OPTIONS] [EXPR] FILE...";
  report.colour = StdoutTakesColour() && !IsFile(options->output);
  return "";
}

// ---- The search -----------------------------------------------------------------------------------------------------

class Search {
 public:
  Search(const QueryOptions& options, query::Expression expression, const insight::Accelerator* accelerator,
         Answers* answers)
      : options_(options),
        expression_(std::move(expression)),
        accelerator_(accelerator),
        answers_(*answers),
        output_(MakeQueryOutput(options.report, answers)) {
    for (const std::string& name : expression_.names()) missing_.insert(name);
  }

  int Run() {
    const std::vector<std::string> paths = ExpandModulePaths(options_.inputs, &answers_);
    ItemProgress progress("module", paths.size());
    for (const std::string& path : paths) {
      if (answers_.is_broken() || IsEnough()) break;
      progress.Next(path);
      std::optional<ModuleFile> file = ReadModuleFile(path, {options_.strict}, &answers_);
      if (file.has_value()) AddModule(*std::move(file));
    }
    if (options_.extract.empty()) {
      output_->Finish();
    } else {
      Extract();
    }
    if (has_read_ && !missing_.empty()) ReportMissing();
    if (found_ == 0 && (options_.fail_if_none || options_.report.quiet)) answers_.SetBad();
    return answers_.Finish();
  }

 private:
  bool IsEnough() const {
    const int64_t most = options_.report.most;
    return (most >= 0 && found_ >= most) || (options_.report.quiet && found_ > 0);
  }

  void AddModule(ModuleFile file) {
    has_read_ = true;
    NoteNames(*file.module);
    const absl::StatusOr<query::ModuleFacts> facts =
        query::ModuleFacts::Prepare(*file.module, expression_.facts() | output_->facts(), {file.name, accelerator_});
    if (!facts.ok()) return AddModuleError(file, facts.status(), &answers_);
    std::vector<const HloInstruction*> found = expression_.FindIn(*facts);
    const int64_t most = options_.report.most;
    if (most >= 0 && static_cast<int64_t>(found.size()) > most - found_) found.resize(most - found_);
    found_ += static_cast<int64_t>(found.size());
    if (options_.extract.empty()) {
      output_->Add(file, *facts, found);
    } else if (!found.empty()) {
      files_.push_back(file.name);
      if (files_.size() > 1) return;
      to_extract_ = std::move(file);
      instructions_ = std::move(found);
    }
  }

  void Extract() {
    if (files_.empty()) {
      if (has_read_) answers_.AddFileError(options_.inputs[0], NotFound("no instruction fits: nothing to extract"));
    } else if (files_.size() > 1) {
      answers_.AddFileError(files_[1], InvalidArgument("%s and %s have matches: --extract takes one module (--module "
                                                       "chooses among those of a directory)",
                                                       files_[0], files_[1]));
    } else {
      ExtractInstructions(*to_extract_, instructions_, options_.with_operands, options_.extract, &answers_);
    }
  }

  // Names in the expression that no module has are likely wrong.
  void NoteNames(const HloModule& module) {
    if (missing_.empty()) return;
    for (const HloComputation* computation : module.computations()) {
      for (const HloInstruction* x : computation->instructions()) missing_.erase(x->name());
    }
    if (missing_.empty() || !known_names_.empty()) return;
    for (const HloComputation* computation : module.computations()) {
      for (const HloInstruction* x : computation->instructions()) known_names_.emplace_back(x->name());
    }
  }
  void ReportMissing() {
    const std::string name = *std::min_element(missing_.begin(), missing_.end());
    answers_.AddFileError(options_.inputs[0], NotFound("%s has no instruction `%s`%s", options_.inputs[0], name,
                                                       DidYouMean(name, known_names_)));
  }

  const QueryOptions& options_;
  query::Expression expression_;
  const insight::Accelerator* accelerator_;
  Answers& answers_;
  std::unique_ptr<QueryOutput> output_;
  bool has_read_ = false;
  int64_t found_ = 0;
  absl::flat_hash_set<std::string> missing_;
  std::vector<std::string> known_names_;  // of the first module
  std::vector<std::string> files_;        // with matches, for --extract
  std::optional<ModuleFile> to_extract_;
  std::vector<const HloInstruction*> instructions_;
};

int RunQuery(QueryOptions options) {
  TellExpressionFromFile(&options);
  if (const std::string error = Complete(&options); !error.empty()) return FailUsage(error);
  const std::optional<query::Expression> expression = WholeExpression(options);
  if (!expression.has_value()) return kBadUsage;
  const insight::Accelerator* const accelerator = options.target.empty() ? nullptr : &AcceleratorOf(options.target);
  const bool asks_time =
      (expression->facts() & (query::SetOf(query::Fact::seconds) | query::SetOf(query::Fact::bound))).any();
  if (asks_time && accelerator == nullptr) {
    return FailUsage("`seconds` and `bound` need --target: the device whose time they tell");
  }
  Answers answers(options.output, options.report.json);
  return Search(options, *expression, accelerator, &answers).Run();
}

// ---- The verb -------------------------------------------------------------------------------------------------------

std::vector<std::pair<std::string, std::string>> KeyRows() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const query::FactInfo& info : query::Facts()) rows.emplace_back(info.key, info.doc);
  return rows;
}

std::vector<std::pair<std::string, std::string>> RelationRows() {
  return {
#define KASHI_RELATION(word, doc) {#word "(E), all " #word "(E)", doc},
#define KASHI_NEIGHBOURHOOD(word, doc) {#word "(NAME, STEPS)", doc},
#define KASHI_WAY(word, doc) {#word "(FROM, TO)", doc},
#include "kashi/query/relations.def"
  };
}

VerbHelp QueryHelp() {
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Find instructions by what they are, cost and belong to";
  help.examples =
      "  kashi query --opcode dot step.hlo                       all products, with their place in the file\n"
      "  kashi query --op-name attention --larger 1M dump        large results of a layer, in a whole dump\n"
      "  kashi query 'opcode == \"fusion\" and flops > 1Gflop' step.hlo --sort flops --top 10\n"
      "  kashi query --by layer --target v5e step.hlo            the sums of all layers, with their time\n"
      "  kashi query --around dot.3 --depth 2 step.hlo           what is near an instruction\n"
      "  kashi query 'opcode == \"broadcast\" and all users(opcode == \"multiply\")' step.hlo\n"
      "  kashi query --shape 'f32[*,128]' --columns name,shape,bytes,source step.hlo --tsv\n"
      "  kashi query --op-name layer_3 --extract layer.hlo step.hlo   a module of its own, which runs";
  help.sections = {
      {"Expressions",
       "EXPR compares keys with values: == != < <= > >= of numbers; == != ~ !~ of texts, where ~ finds a regular "
       "expression; `in (…)`; and, or, not, parentheses. Texts stand in quotes. Numbers may have units: 1e6, 4KiB, "
       "2.5GB, 1Gflop, 20us. Shapes are compared with patterns: f32[*,128], bf16[...,1000..], f8*[2..8]{0,1}. The "
       "first argument is a file if there is one of this name. docs/query.md has more.",
       {}},
      {"Keys, also of --columns, --sort, --by and --json", "", KeyRows()},
      {"Other instructions", "", RelationRows()}};
  help.failure =
      "A module cannot be read, or the output cannot be written; with -q or --fail-if-none also: nothing is found";
  return help;
}

void AddReportOptions(Verb* verb, QueryOptions* options) {
  QueryOutputOptions* report = &options->report;
  verb->BeginGroup("Report");
  verb->AddOption("--columns", &options->columns, "A table with these keys: name,opcode,bytes")->Value("KEYS");
  Option* sort =
      verb->AddOption("--sort", &report->sort, "Sort by this key: numbers from the largest, texts by alphabet")
          ->Value("KEY");
  verb->AddFlag("--reverse", &report->reverse, "The other way round");
  verb->AddOption("--top", &report->top, "Only the first rows after sorting")->Within(0, kMost);
  Option* most = verb->AddOption("--max", &report->most, "Stop after this many matches")->Within(0, kMost);
  most->Excludes(sort);
  verb->AddOption("--by", &options->by, "Sums of costs by this key, for all runs, with loops multiplied")->Value("KEY");
  AddAcceleratorOption(verb, "The device of `seconds` and `bound`, by the roofline model", &options->target);
  verb->AddFlag("-c,--count", &report->count, "Only how many there are in each module");
  verb->AddFlag("-l,--files", &report->files, "Only the names of the files that have some");
  verb->AddFlag("-q,--quiet", &report->quiet, "Print nothing: exit status 0 if something is found, 1 if not");
  verb->AddFlag("--fail-if-none", &options->fail_if_none, "Exit status 1 if nothing is found");
  verb->AddFlag("--tsv", &report->tsv, "The table as tab-separated values");
  verb->AddOption("--extract", &options->extract,
                  "Write what is found to this file, as a module that has parameters where it was cut out")
      ->File();
  verb->AddOption("--with-operands", &options->with_operands,
                  "For --extract: add the operands, and their operands, this often")
      ->Within(0, kMost);
}

}  // namespace

void AddQueryVerb(Command* command) {
  auto options = std::make_shared<QueryOptions>();
  Verb* verb = command->AddVerb("query", QueryHelp(), [options] { return RunQuery(*options); });
  verb->AlsoCalled("find");
  verb->AddOption("EXPR", &options->expression, "An expression; without one, the filters alone decide");
  verb->AddOption("FILE", &options->inputs, kModuleOrDirectory)->File();
  AddFilterOptions(verb, &options->filters);
  AddReportOptions(verb, options.get());
  verb->BeginGroup("Input and output");
  AddArgumentOption(verb);
  AddModuleFilterOption(verb);
  AddInputLimitOption(verb);
  AddFunctionOption(verb);
  AddStrictFlag(verb, &options->strict);
  AddOutputOption(verb, &options->output, "Write to this file");
  verb->AddFlag(
      "--json", &options->report.json,
      "Print one JSON object per match, with all keys or those of --columns; for a bad input the key `error`");
}

}  // namespace kashi::cli
