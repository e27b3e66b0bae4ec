#include "cli/completions.h"

#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/verb.h"

namespace kashi::cli {
namespace {

// ---- What all shells are told ---------------------------------------------------------------------------------------

std::vector<OptionInfo> OptionsOf(const Verb& verb) {
  std::vector<OptionInfo> options;
  for (const std::unique_ptr<Option>& option : verb.options()) {
    if (!option->info().is_positional()) options.push_back(option->info());
  }
  OptionInfo help;
  help.names = {"-h", "--help"};
  help.description = "Print this help";
  options.push_back(help);
  return options;
}

// The words that the first positional argument can be; `help` takes a verb.
std::vector<std::string> ArgumentWords(const Command& command, const Verb& verb) {
  if (verb.name() == "help") return command.verb_names();
  for (const std::unique_ptr<Option>& option : verb.options()) {
    if (option->info().is_positional()) return option->info().words;
  }
  return {};
}

bool TakesFiles(const Verb& verb) {
  for (const std::unique_ptr<Option>& option : verb.options()) {
    if (option->info().is_positional() && option->info().is_file) return true;
  }
  return false;
}

std::string NamesOf(const std::vector<OptionInfo>& options) {
  return absl::StrJoin(options, " ", [](std::string* out, const OptionInfo& option) {
    absl::StrAppend(out, absl::StrJoin(option.names, " "));
  });
}

}  // namespace

// ---- bash -----------------------------------------------------------------------------------------------------------

std::string BashCompletions(const Command& command) {
  std::string verbs;
  for (const std::unique_ptr<Verb>& verb : command.verbs()) {
    const std::vector<OptionInfo> options = OptionsOf(*verb);
    std::string values;
    for (const OptionInfo& option : options) {
      if (option.value.empty()) continue;
      absl::StrAppend(&values, "        ", absl::StrJoin(option.names, "|"), ") ",
                      !option.words.empty() ? absl::StrCat("words=", ShellQuoted(absl::StrJoin(option.words, " ")))
                                            : (option.is_file ? "files=1" : ":"),
                      " ;;\n");
    }
    const std::vector<std::string> words = ArgumentWords(command, *verb);
    absl::StrAppend(&verbs, "    ", absl::StrJoin(verb->names(), "|"), ")\n      case $previous in\n", values,
                    "        *) options=", ShellQuoted(NamesOf(options)),
                    "; words=", ShellQuoted(absl::StrJoin(words, " ")), TakesFiles(*verb) ? "; files=1" : "",
                    " ;;\n      esac ;;\n");
  }
  return absl::StrCat(R"(# bash completion of kashi; made by `kashi completions bash`.
_kashi() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}
  local options= words= files=
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W ")",
                      absl::StrJoin(command.verb_names(), " "), R"( --help --version" -- "$current"))
    return
  fi
  case $verb in
)",
                      verbs, R"(  esac
  [[ $current == -* ]] && words=$options
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ $files && $current != -* ]] && COMPREPLY+=($(compgen -f -- "$current"))
}
complete -o filenames -F _kashi kashi
)");
}

// ---- zsh ------------------------------------------------------------------------------------------------------------

namespace {

// A description within _arguments: brackets and colons have a meaning there.
std::string ZshText(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"`", "\\`"}});
}

std::string ZshValue(const OptionInfo& option) {
  const std::string action = !option.words.empty() ? absl::StrCat("(", absl::StrJoin(option.words, " "), ")")
                                                   : (option.is_file ? "_files" : " ");
  return option.value.empty() && !option.is_positional() ? "" : absl::StrCat(":", option.value, ":", action);
}

std::string ZshArguments(const Command& command, const Verb& verb) {
  std::string text;
  for (const OptionInfo& option : OptionsOf(verb)) {
    for (const std::string& name : option.names) {
      absl::StrAppend(&text, " \\\n        ",
                      ShellQuoted(absl::StrCat("*", name, "[", ZshText(option.description), "]", ZshValue(option))));
    }
  }
  const std::vector<std::string> words = ArgumentWords(command, verb);
  if (!words.empty())
    absl::StrAppend(&text, " \\\n        ", ShellQuoted(absl::StrCat("*:word:(", absl::StrJoin(words, " "), ")")));
  if (TakesFiles(verb)) absl::StrAppend(&text, " \\\n        '*:file:_files'");
  return text;
}

}  // namespace

std::string ZshCompletions(const Command& command) {
  std::string verbs;
  std::string cases;
  for (const std::unique_ptr<Verb>& verb : command.verbs()) {
    absl::StrAppend(&verbs, "    ", ShellQuoted(absl::StrCat(verb->name(), ":", ZshText(verb->summary()))), "\n");
    absl::StrAppend(&cases, "    ", absl::StrJoin(verb->names(), "|"), ")\n      _arguments",
                    ZshArguments(command, *verb), " ;;\n");
  }
  return absl::StrCat(R"(#compdef kashi
# zsh completion of kashi; made by `kashi completions zsh`.
_kashi() {
  local -a verbs
  verbs=(
)",
                      verbs, R"(  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
)",
                      cases, R"(  esac
}
if [ "$funcstack[1]" = _kashi ]; then _kashi "$@"; else compdef _kashi kashi; fi
)");
}

// ---- fish -----------------------------------------------------------------------------------------------------------

namespace {

std::string FishQuoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string FishOption(const std::string& condition, const OptionInfo& option) {
  std::string line = absl::StrCat("complete -c kashi -n ", condition);
  for (const std::string& name : option.names) {
    absl::StrAppend(&line, absl::StartsWith(name, "--") ? " -l " : " -s ",
                    absl::StripPrefix(absl::StripPrefix(name, "-"), "-"));
  }
  if (!option.value.empty()) absl::StrAppend(&line, option.is_file ? " -r -F" : " -x");
  if (!option.words.empty()) absl::StrAppend(&line, " -a ", FishQuoted(absl::StrJoin(option.words, " ")));
  return absl::StrCat(line, " -d ", FishQuoted(option.description), "\n");
}

}  // namespace

std::string FishCompletions(const Command& command) {
  std::string text =
      "# fish completion of kashi; made by `kashi completions fish`.\n"
      "complete -c kashi -n __fish_use_subcommand -f\n";
  for (const std::unique_ptr<Verb>& verb : command.verbs()) {
    absl::StrAppend(&text, "complete -c kashi -n __fish_use_subcommand -f -a ", verb->name(), " -d ",
                    FishQuoted(verb->summary()), "\n");
    const std::string condition =
        FishQuoted(absl::StrCat("__fish_seen_subcommand_from ", absl::StrJoin(verb->names(), " ")));
    const std::vector<std::string> words = ArgumentWords(command, *verb);
    if (!TakesFiles(*verb)) absl::StrAppend(&text, "complete -c kashi -n ", condition, " -f\n");
    if (!words.empty()) {
      absl::StrAppend(&text, "complete -c kashi -n ", condition, " -a ", FishQuoted(absl::StrJoin(words, " ")), "\n");
    }
    for (const OptionInfo& option : OptionsOf(*verb)) absl::StrAppend(&text, FishOption(condition, option));
  }
  return text;
}

// ---- man ------------------------------------------------------------------------------------------------------------

namespace {

// The text with roff's escapes and requests quoted.
std::string Roff(const std::string& text) {
  std::string escaped;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::StrAppend(&escaped, escaped.empty() ? "" : "\n",
                    absl::StartsWith(line, ".") || absl::StartsWith(line, "'") ? "\\&" : "",
                    absl::StrReplaceAll(line, {{"\\", "\\e"}, {"-", "\\-"}}));
  }
  return escaped;
}

// A paragraph with a hanging tag. `tag` and `text` are roff already.
std::string ManItem(const std::string& tag, const std::string& text) {
  return absl::StrCat(".TP\n", tag, "\n", text, ".\n");
}

std::string ManOption(const OptionInfo& option) {
  const std::string value =
      option.value.empty() || option.is_positional() ? "" : absl::StrCat(" \\fI", option.value, "\\fR");
  return ManItem(absl::StrCat("\\fB", Roff(absl::StrJoin(option.names, ", ")), "\\fR", value),
                 Roff(option.description));
}

std::string ManSection(const HelpSection& section) {
  std::string text = ".PP\n";
  if (!section.title.empty()) absl::StrAppend(&text, Roff(section.title), ":\n");
  if (!section.text.empty()) absl::StrAppend(&text, Roff(section.text), "\n");
  for (const auto& [name, meaning] : section.rows) absl::StrAppend(&text, ManItem(Roff(name), Roff(meaning)));
  return text;
}

std::string ManVerb(const Verb& verb) {
  std::string text = absl::StrCat(".SS ", Roff(verb.Usage()), "\n", Roff(verb.summary()), ".\n");
  std::string group;
  for (const std::unique_ptr<Option>& option : verb.options()) {
    if (option->info().group != group) absl::StrAppend(&text, ".PP\n", Roff(option->info().group), ":\n");
    group = option->info().group;
    absl::StrAppend(&text, ManOption(option->info()));
  }
  absl::StrAppend(&text, ".PP\nExamples:\n.PP\n.nf\n", Roff(verb.help().examples), "\n.fi\n");
  for (const HelpSection& section : verb.help().sections) absl::StrAppend(&text, ManSection(section));
  return absl::StrCat(text, ManSection({"Exit status", "", verb.ExitStatuses()}));
}

}  // namespace

std::string ManPage(const Command& command) {
  std::string text =
      absl::StrCat(".TH KASHI 1 \"\" \"kashi ", command.version(), "\"\n.SH NAME\nkashi \\- ",
                   Roff(command.description()), "\n.SH SYNOPSIS\n.B kashi\nVERB [OPTIONS] ...\n.SH VERBS\n");
  for (const std::unique_ptr<Verb>& verb : command.verbs()) absl::StrAppend(&text, ManVerb(*verb));
  return absl::StrCat(text,
                      ".SH EXIT STATUS\n0 success, 1 bad input, 2 bad usage, 130 after an interrupt.\n"
                      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf it is set and not empty, the output has no colour.\n"
                      ".TP\n.B TERM\nIf it is not set or is `dumb`, the output has no colour.\n");
}

// ---- The verbs ------------------------------------------------------------------------------------------------------

namespace {

std::string CompletionsFor(const std::string& shell, const Command& command) {
  if (shell == "bash") return BashCompletions(command);
  return shell == "zsh" ? ZshCompletions(command) : FishCompletions(command);
}

}  // namespace

void AddCompletionsVerb(Command* command) {
  auto shell = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  VerbHelp help;
  help.group = kOwnVerbs;
  help.summary = "Print the completion script of kashi for a shell";
  help.examples =
      "  source <(kashi completions bash)                                   in ~/.bashrc\n"
      "  kashi completions zsh -o ~/.zfunc/_kashi                           in a directory of $fpath\n"
      "  kashi completions fish -o ~/.config/fish/completions/kashi.fish";
  help.failure = "The output cannot be written";
  Verb* verb = command->AddVerb(
      "completions", help, [command, shell, output] { return WriteResult(*output, CompletionsFor(*shell, *command)); });
  verb->AddOption("SHELL", shell.get(), "The shell: bash, zsh or fish")->OneOf({"bash", "zsh", "fish"})->Required();
  AddOutputOption(verb, output.get(), "Write to this file");
}

void AddManVerb(Command* command) {
  auto output = std::make_shared<std::string>();
  VerbHelp help;
  help.group = kOwnVerbs;
  help.summary = "Print the manual page in roff";
  help.examples = "  kashi man | man -l -\n  kashi man -o kashi.1";
  help.failure = "The output cannot be written";
  Verb* verb = command->AddVerb("man", help, [command, output] { return WriteResult(*output, ManPage(*command)); });
  AddOutputOption(verb, output.get(), "Write to this file");
}

}  // namespace kashi::cli
