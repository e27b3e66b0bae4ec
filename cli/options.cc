#include "cli/options.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/suggest.h"

namespace kashi::cli {
namespace {

// ---- Checks of values -----------------------------------------------------------------------------------------------

std::string CheckWhole(const std::string& text, int64_t min, int64_t max) {
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number) && number >= min && number <= max) return "";
  const bool is_bounded = max != std::numeric_limits<int64_t>::max();
  return absl::StrCat("`", text, "` is not a whole number from ", min, is_bounded ? absl::StrCat(" to ", max) : " up");
}

std::string CheckUnsigned(const std::string& text) {
  uint64_t number = 0;
  return absl::SimpleAtoi(text, &number) ? "" : absl::StrCat("`", text, "` is not a whole number from 0 up");
}

std::string CheckInteger(const std::string& text) {
  int64_t number = 0;
  return absl::SimpleAtoi(text, &number) ? "" : absl::StrCat("`", text, "` is not a whole number");
}

std::string CheckReal(const std::string& text) {
  double number = 0;
  return absl::SimpleAtod(text, &number) ? "" : absl::StrCat("`", text, "` is not a number");
}

std::string CheckFileName(const std::string& name) {
  return name.empty() ? "the name of a file must not be empty" : "";
}

OptionInfo WithValue(const std::string& value) {
  OptionInfo info;
  info.value = value;
  return info;
}

// ---- Help -----------------------------------------------------------------------------------------------------------

constexpr size_t kHelpWidth = 100;
constexpr size_t kHelpIndent = 26;  // of descriptions

// Appends words from column `indent` on, in lines of at most kHelpWidth. All lines but the first are indented here.
void AppendWrapped(absl::string_view words, size_t indent, std::string* text) {
  size_t column = indent;
  for (const absl::string_view word : absl::StrSplit(words, ' ')) {
    const bool is_first = column == indent;
    if (!is_first && column + 1 + word.size() > kHelpWidth) {
      absl::StrAppend(text, "\n", std::string(indent, ' '), word);
      column = indent + word.size();
    } else {
      absl::StrAppend(text, is_first ? "" : " ", word);
      column += word.size() + (is_first ? 0 : 1);
    }
  }
  text->push_back('\n');
}

// "  --top N                 How many …": the description on a line of its own if the name is too long.
void AppendRow(const std::string& name, const std::string& description, std::string* text) {
  absl::StrAppend(text, "  ", name);
  const bool is_long = name.size() + 2 >= kHelpIndent;
  absl::StrAppend(text, is_long ? "\n" : "", std::string(is_long ? kHelpIndent : kHelpIndent - name.size() - 2, ' '));
  AppendWrapped(description, kHelpIndent, text);
}

void AppendRows(const std::vector<std::pair<std::string, std::string>>& rows, std::string* text) {
  for (const auto& [name, description] : rows) AppendRow(name, description, text);
}

std::string ValueText(const OptionInfo& info) { return info.value.empty() ? "" : absl::StrCat(" ", info.value); }

// "-o, --output FILE"
std::string NamesText(const OptionInfo& info) {
  if (info.is_positional()) return absl::StrCat(info.names[0], info.is_list ? "..." : "");
  return absl::StrCat(absl::StrJoin(info.names, ", "), ValueText(info));
}

void AppendSection(const HelpSection& section, std::string* text) {
  text->push_back('\n');
  if (!section.title.empty()) absl::StrAppend(text, section.title, ":\n");
  if (!section.text.empty()) AppendWrapped(section.text, 0, text);
  AppendRows(section.rows, text);
}

// Our words for CLI11's error about an option without its value, or a flag with a value.
std::string MismatchText(const std::string& text) {
  const std::string name = text.substr(0, text.find_first_of(": "));
  if (absl::StrContains(text, "flag override")) return absl::StrCat("--", name, " takes no value");
  if (absl::StrContains(text, "required") && absl::StrContains(text, "missing")) {
    return absl::StrCat(name, " needs a value");
  }
  return text;
}

constexpr size_t kMostWordsInHelp = 16;  // bytes of "flops|bytes"
constexpr char kHelpName[] = "-h, --help";

}  // namespace

// ---- Options --------------------------------------------------------------------------------------------------------

Option* Option::Required() {
  option_->required();
  info_.is_required = true;
  return this;
}

Option* Option::OneOf(const std::vector<std::string>& words) {
  info_.words = words;
  const std::string all = absl::StrJoin(words, "|");
  info_.value = all.size() <= kMostWordsInHelp ? all : "WORD";
  return Check([words](const std::string& text) {
    const bool is_one = std::find(words.begin(), words.end(), text) != words.end();
    return is_one ? std::string()
                  : absl::StrCat("`", text, "` is not one of ", absl::StrJoin(words, ", "), DidYouMean(text, words));
  });
}

Option* Option::Within(int64_t min, int64_t max) {
  return Check([min, max](const std::string& text) { return CheckWhole(text, min, max); });
}

Option* Option::Check(OptionCheck check) {
  option_->check(std::move(check));
  return this;
}

Option* Option::File(const std::string& value) {
  info_.is_file = true;
  if (!info_.is_positional()) info_.value = value;
  return Check(CheckFileName);
}

Option* Option::Value(const std::string& value) {
  info_.value = value;
  return this;
}

Option* Option::OneEach() {
  option_->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return this;
}

Option* Option::Excludes(const Option* other) {
  option_->excludes(other->option_);
  return this;
}

// ---- Verbs ----------------------------------------------------------------------------------------------------------

Verb::Verb(CLI::App* app, VerbHelp help, std::function<int()> run)
    : app_(app), help_(std::move(help)), run_(std::move(run)) {}
Verb::~Verb() = default;

std::string Verb::name() const { return app_->get_name(); }

Verb* Verb::AlsoCalled(const std::string& alias) {
  app_->alias(alias);
  aliases_.push_back(alias);
  return this;
}

std::vector<std::string> Verb::names() const {
  std::vector<std::string> names = {name()};
  names.insert(names.end(), aliases_.begin(), aliases_.end());
  return names;
}

std::vector<std::pair<std::string, std::string>> Verb::ExitStatuses() const {
  std::vector<std::pair<std::string, std::string>> statuses = {
      {"0", "Success"}, {"1", help_.failure}, {"2", "The command line is wrong"}};
  if (help_.stops_at_interrupt) statuses.emplace_back("130", "Stopped by Ctrl-C");
  return statuses;
}

Option* Verb::Own(CLI::Option* option, OptionInfo info) {
  info.names = absl::StrSplit(option->get_name(/*positional=*/false, /*all_options=*/true), ',');
  info.description = option->get_description();
  info.group = group_;
  return options_.emplace_back(std::make_unique<Option>(option, std::move(info))).get();
}

Option* Verb::AddOption(const std::string& names, std::string* value, const std::string& description) {
  return Own(app_->add_option(names, *value, description), WithValue("TEXT"));
}
Option* Verb::AddOption(const std::string& names, std::vector<std::string>* values, const std::string& description) {
  OptionInfo info = WithValue("TEXT");
  info.is_list = true;
  return Own(app_->add_option(names, *values, description), std::move(info));
}
Option* Verb::AddOption(const std::string& names, int* value, const std::string& description) {
  return Own(app_->add_option(names, *value, description), WithValue("N"))->Check(CheckInteger);
}
Option* Verb::AddOption(const std::string& names, int64_t* value, const std::string& description) {
  return Own(app_->add_option(names, *value, description), WithValue("N"))->Check(CheckInteger);
}
Option* Verb::AddOption(const std::string& names, uint64_t* value, const std::string& description) {
  return Own(app_->add_option(names, *value, description), WithValue("N"))->Check(CheckUnsigned);
}
Option* Verb::AddOption(const std::string& names, double* value, const std::string& description) {
  return Own(app_->add_option(names, *value, description), WithValue("X"))->Check(CheckReal);
}
Option* Verb::AddOption(const std::string& names, std::optional<double>* value, const std::string& description) {
  return Own(app_->add_option(names, *value, description), WithValue("X"))->Check(CheckReal);
}

Option* Verb::AddOption(const std::string& names, OptionCheck set, const std::string& description) {
  const std::function<void(const std::string&)> set_or_throw = [set = std::move(set), names](const std::string& text) {
    const std::string error = set(text);
    if (!error.empty()) throw CLI::ValidationError(names, error);
  };
  return Own(app_->add_option_function<std::string>(names, set_or_throw, description), WithValue("NAME"));
}

Option* Verb::AddSizeOption(const std::string& names, uint64_t* bytes, const std::string& description) {
  const OptionCheck set = [bytes](const std::string& text) -> std::string {
    std::string number = text;
    try {
      if (CLI::AsSizeValue(/*kb_is_1000=*/false)(number).empty() && absl::SimpleAtoi(number, bytes)) return "";
    } catch (const CLI::ValidationError&) {  // lists 24 units
    }
    return absl::StrCat("`", text, "` is not a number of bytes, such as 1048576, 500M or 4G");
  };
  return AddOption(names, set, description)->Value("BYTES");
}

Option* Verb::AddFlag(const std::string& names, bool* value, const std::string& description) {
  return Own(app_->add_flag(names, *value, description)->disable_flag_override(), OptionInfo());
}

std::string Verb::Usage() const {
  std::string usage = absl::StrCat("kashi ", name(), " [OPTIONS]");
  for (const std::unique_ptr<Option>& option : options_) {
    const OptionInfo& info = option->info();
    if (!info.is_positional()) continue;
    absl::StrAppend(&usage, info.is_required ? " " : " [", NamesText(info), info.is_required ? "" : "]");
  }
  return usage;
}

std::string Verb::Help() const {
  std::string arguments;
  std::string options;
  std::string group = "\n";  // no group has this name
  for (const std::unique_ptr<Option>& option : options_) {
    const OptionInfo& info = option->info();
    if (!info.is_positional() && info.group != group) {
      group = info.group;
      absl::StrAppend(&options, "\n", group.empty() ? "Options" : group, ":\n");
    }
    AppendRow(NamesText(info), info.description, info.is_positional() ? &arguments : &options);
  }
  if (options.empty()) options = "\nOptions:\n";
  AppendRow(kHelpName, "Print this help", &options);
  const std::string also = aliases_.empty() ? "" : absl::StrCat("Also called: ", absl::StrJoin(aliases_, ", "), "\n");
  std::string text =
      absl::StrCat(summary(), ".\n\nUsage: ", Usage(), "\n", also, arguments.empty() ? "" : "\nArguments:\n", arguments,
                   options, "\nExamples:\n", help_.examples, "\n");
  for (const HelpSection& section : help_.sections) AppendSection(section, &text);
  AppendSection({"Exit status", "", ExitStatuses()}, &text);
  return text;
}

// An error message about the arguments that the verb does not know.
std::string Verb::UnexpectedArguments() const {
  const std::vector<std::string> unexpected = app_->remaining();
  const auto is_option = [](const std::string& text) { return text.size() > 1 && text[0] == '-'; };
  const auto found = std::find_if(unexpected.begin(), unexpected.end(), is_option);
  if (found == unexpected.end()) {
    return absl::StrCat("unexpected ", unexpected.size() == 1 ? "argument `" : "arguments `",
                        absl::StrJoin(unexpected, " "), "`; usage: ", Usage());
  }
  const std::string given = found->substr(0, found->find('='));
  std::vector<std::string> names = {"--help"};
  for (const std::unique_ptr<Option>& option : options_) {
    const OptionInfo& info = option->info();
    if (!info.is_positional()) names.insert(names.end(), info.names.begin(), info.names.end());
  }
  return absl::StrCat("`kashi ", name(), "` has no option `", given, "`", DidYouMean(given, names));
}

// ---- The command ----------------------------------------------------------------------------------------------------

Command::Command(const std::string& description, const std::string& footer, const std::string& version)
    : app_(std::make_unique<CLI::App>(description, "kashi")),
      description_(description),
      footer_(footer),
      version_(version) {
  app_->set_version_flag("--version", absl::StrCat("kashi ", version));
  app_->require_subcommand(1);
}
Command::~Command() = default;

Verb* Command::AddVerb(const std::string& name, VerbHelp help, std::function<int()> run) {
  CLI::App* app = app_->add_subcommand(name, help.summary);
  return verbs_.emplace_back(std::make_unique<Verb>(app, std::move(help), std::move(run))).get();
}

const Verb* Command::FindVerb(const std::string& name) const {
  for (const std::unique_ptr<Verb>& verb : verbs_) {
    const std::vector<std::string> names = verb->names();
    if (std::find(names.begin(), names.end(), name) != names.end()) return verb.get();
  }
  return nullptr;
}

std::vector<std::string> Command::verb_names() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<Verb>& verb : verbs_) {
    for (std::string& name : verb->names()) names.push_back(std::move(name));
  }
  return names;
}

std::string Command::Help() const {
  std::string text = absl::StrCat(description_, ".\n\nUsage: kashi VERB [OPTIONS] ...\n");
  std::string group;
  for (const std::unique_ptr<Verb>& verb : verbs_) {
    if (verb->help().group != group) absl::StrAppend(&text, "\n", verb->help().group, ":\n");
    group = verb->help().group;
    AppendRow(verb->name(), verb->summary(), &text);
  }
  absl::StrAppend(&text, "\nOptions:\n");
  AppendRow(kHelpName, "Print this help", &text);
  AppendRow("--version", "Print the version (more: `kashi version`)", &text);
  return absl::StrCat(text, "\n", footer_, "\n");
}

const Verb* Command::ChosenVerb() const {
  for (const std::unique_ptr<Verb>& verb : verbs_) {
    if (verb->app_->parsed()) return verb.get();
  }
  return nullptr;
}

Command::Request Command::Parse(int argc, const char* const* argv) {
  using Kind = Request::Kind;
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const Verb* verb = ChosenVerb();
    return {Kind::kPrint, nullptr, verb != nullptr ? verb->Help() : Help()};
  } catch (const CLI::CallForVersion&) {
    return {Kind::kPrint, nullptr, absl::StrCat("kashi ", version_, "\n")};
  } catch (const CLI::RequiredError& error) {
    return {Kind::kMissing, ChosenVerb(), error.what()};
  } catch (const CLI::ExtrasError& error) {
    const Verb* verb = ChosenVerb();
    const bool is_of_verb = verb != nullptr && !verb->app_->remaining().empty();
    return {Kind::kWrong, verb, is_of_verb ? verb->UnexpectedArguments() : error.what()};
  } catch (const CLI::ArgumentMismatch& error) {
    return {Kind::kWrong, ChosenVerb(), MismatchText(error.what())};
  } catch (const CLI::ParseError& error) {
    return {Kind::kWrong, ChosenVerb(), error.what()};
  }
  return {Kind::kRun, ChosenVerb(), ""};
}

}  // namespace kashi::cli
