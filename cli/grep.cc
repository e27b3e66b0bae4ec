// `kashi grep`: lines of the text of modules.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "cli/known_arguments.h"
#include "cli/module_file.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/query/regular_expression.h"
#include "kashi/query/text_search.h"

namespace kashi::cli {
namespace {

struct GrepOptions {
  std::string pattern;
  std::vector<std::string> inputs;
  bool ignore_case = false;
  bool fixed = false;
  std::string computation;
  int64_t most = -1;
  bool count = false;
  bool files = false;
  bool quiet = false;
  bool fail_if_none = false;
  std::string output;
  bool strict = false;
  bool json = false;
};

constexpr char kFileColour[] = "\x1b[35m";
constexpr char kLineColour[] = "\x1b[32m";
constexpr char kFitColour[] = "\x1b[1;31m";
constexpr char kNoColour[] = "\x1b[0m";

class Grep {
 public:
  Grep(const GrepOptions& options, query::RegularExpression pattern, Answers* answers)
      : options_(options),
        pattern_(std::move(pattern)),
        answers_(*answers),
        is_coloured_(StdoutTakesColour() && !IsFile(options.output)) {}

  int Run() {
    const std::vector<std::string> paths = ExpandModulePaths(options_.inputs, &answers_);
    ItemProgress progress("module", paths.size());
    for (const std::string& path : paths) {
      if (answers_.is_broken() || IsEnough()) break;
      progress.Next(path);
      const std::optional<ModuleFile> file = ReadModuleFile(path, {options_.strict}, &answers_);
      if (file.has_value()) SearchIn(*file, paths.size() == 1);
    }
    if (found_ == 0 && (options_.fail_if_none || options_.quiet)) answers_.SetBad();
    return answers_.Finish();
  }

 private:
  bool IsEnough() const { return (options_.most >= 0 && found_ >= options_.most) || (options_.quiet && found_ > 0); }

  void SearchIn(const ModuleFile& file, bool is_only_file) {
    const query::ModuleText text = file.is_text ? query::ModuleText::ReadFrom(*file.module, *file.bytes)
                                                : query::ModuleText::PrintOf(*file.module);
    int64_t count = 0;
    if (!IsEnough()) {
      text.Find(pattern_, [&](const query::TextMatch& match) {
        if (!IsInComputation(match)) return true;
        ++count;
        ++found_;
        if (!options_.count && !options_.files && !options_.quiet) Print(file, match);
        return !IsEnough() && !options_.files;
      });
    }
    if (options_.quiet) return;
    if (options_.count) PrintCount(file.name, count, is_only_file);
    if (options_.files && count > 0) PrintFile(file.name);
  }

  bool IsInComputation(const query::TextMatch& match) const {
    if (options_.computation.empty()) return true;
    return match.computation != nullptr && match.computation->name() == absl::StripPrefix(options_.computation, "%");
  }

  void PrintCount(const std::string& file, int64_t count, bool is_only_file) {
    if (options_.json) {
      answers_.AddLine({{"file", file}, {"count", count}});
    } else if (is_only_file) {
      answers_.Add(absl::StrCat(count, "\n"));
    } else if (count > 0) {
      answers_.Add(absl::StrCat(file, ":", count, "\n"));
    }
  }
  void PrintFile(const std::string& file) {
    if (options_.json) return answers_.AddLine({{"file", file}});
    answers_.Add(absl::StrCat(file, "\n"));
  }

  // The line of a text that only this verb has printed would lead nowhere, so it is left out.
  void Print(const ModuleFile& file, const query::TextMatch& match) {
    if (options_.json) {
      Json json = {{"file", file.name}};
      json["file_line"] = file.is_text ? match.line : 0;
      json["computation"] = match.computation != nullptr ? Json(match.computation->name()) : Json();
      json["name"] = match.instruction != nullptr ? Json(match.instruction->name()) : Json();
      json["text"] = absl::StripAsciiWhitespace(match.text);
      return answers_.AddLine(json);
    }
    answers_.Add(absl::StrCat(Coloured(file.name, kFileColour),
                              file.is_text ? absl::StrCat(":", Coloured(absl::StrCat(match.line), kLineColour)) : "",
                              match.computation != nullptr ? absl::StrCat(": in ", match.computation->name()) : "",
                              ": ", LineText(match), "\n"));
  }

  // Without white space at both ends, and with the fit in colour.
  std::string LineText(const query::TextMatch& match) const {
    const size_t first = std::min(match.text.find_first_not_of(" \t"), match.begin);
    const absl::string_view before = match.text.substr(first, match.begin - first);
    const absl::string_view fit = match.text.substr(match.begin, match.end - match.begin);
    const absl::string_view after = absl::StripTrailingAsciiWhitespace(match.text.substr(match.end));
    return absl::StrCat(base::Printable(before), fit.empty() ? "" : Coloured(base::Printable(fit), kFitColour),
                        base::Printable(after));
  }
  std::string Coloured(const std::string& text, const char* colour) const {
    return is_coloured_ ? absl::StrCat(colour, text, kNoColour) : text;
  }

  const GrepOptions& options_;
  query::RegularExpression pattern_;
  Answers& answers_;
  bool is_coloured_;
  int64_t found_ = 0;
};

int RunGrep(const GrepOptions& options) {
  const auto pattern = query::RegularExpression::Compile(options.pattern, {options.ignore_case, options.fixed});
  if (!pattern.ok()) return FailUsage(pattern.status().message());
  Answers answers(options.output, options.json);
  return Grep(options, *pattern, &answers).Run();
}

}  // namespace

void AddGrepVerb(Command* command) {
  auto options = std::make_shared<GrepOptions>();
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Find lines of the text of modules, with the computation that they belong to";
  help.examples =
      "  kashi grep 'replica_groups=.*\\{0,4' step.hlo      lines that fit, with their place\n"
      "  kashi grep -F 'f32[8,128]' dump                  a text as it is, in a whole dump\n"
      "  kashi grep all-reduce step.pb                    a proto, as the HLO text of its module\n"
      "  kashi grep -c fusion dump                        how many lines there are in each module\n"
      "  kashi grep --in body.12 constant step.hlo        only in this computation";
  help.sections = {
      {"",
       "HLO text is searched as it is in the file. Protos and StableHLO are searched as HLO text, as `kashi convert` "
       "prints it, and their matches have no line number. Patterns are regular expressions of RE2. `kashi query` finds "
       "instructions by their facts.",
       {}}};
  help.failure =
      "A module cannot be read, or the output cannot be written; with -q or --fail-if-none also: nothing is found";
  Verb* verb = command->AddVerb("grep", help, [options] { return RunGrep(*options); });
  verb->AddOption("PATTERN", &options->pattern, "A regular expression")->Required();
  verb->AddOption("FILE", &options->inputs, kModuleOrDirectory)->File()->Required();
  verb->BeginGroup("Search");
  verb->AddFlag("-i,--ignore-case", &options->ignore_case, "Upper and lower case are the same");
  verb->AddFlag("-F,--fixed", &options->fixed, "The pattern is a text to find as it is");
  verb->AddOption("--in", &options->computation, "Only this computation")->Value("NAME");
  verb->AddOption("--max", &options->most, "Stop after this many lines")
      ->Within(0, std::numeric_limits<int64_t>::max());
  verb->BeginGroup("Report");
  verb->AddFlag("-c,--count", &options->count, "Only how many lines there are in each module");
  verb->AddFlag("-l,--files", &options->files, "Only the names of the files that have some");
  verb->AddFlag("-q,--quiet", &options->quiet, "Print nothing: exit status 0 if a line is found, 1 if not");
  verb->AddFlag("--fail-if-none", &options->fail_if_none, "Exit status 1 if no line is found");
  verb->BeginGroup("Input and output");
  AddArgumentOption(verb);
  AddModuleFilterOption(verb);
  AddInputLimitOption(verb);
  AddFunctionOption(verb);
  AddStrictFlag(verb, &options->strict);
  AddOutputOption(verb, &options->output, "Write to this file");
  verb->AddFlag("--json", &options->json, "Print one JSON object per line; for a bad input the key `error`");
}

}  // namespace kashi::cli
