#include "cli/options.h"

#include <limits>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"

namespace kashi::cli {

Option* Option::Required() {
  option_->required();
  return this;
}

Option* Option::OneOf(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return this;
}

Option* Option::Within(int64_t min, int64_t max) {
  option_->check(CLI::Range(min, max));
  return this;
}

Option* Option::Within(int64_t min, int64_t max, const std::string& unit) {
  option_->check(CLI::Range(min, max).description(unit));
  return this;
}

Option* Option::Check(OptionCheck check) {
  option_->check(std::move(check));
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

Verb::Verb(CLI::App* app, std::function<int()> run) : app_(app), run_(std::move(run)) {}
Verb::~Verb() = default;

std::string Verb::name() const { return app_->get_name(); }
std::string Verb::Help() const { return app_->help("kashi"); }

Option* Verb::Own(CLI::Option* option) { return options_.emplace_back(std::make_unique<Option>(option)).get(); }

template <typename Value>
Option* Verb::Add(const std::string& names, Value* value, const std::string& description) {
  return Own(app_->add_option(names, *value, description));
}

Option* Verb::AddOption(const std::string& names, std::string* value, const std::string& description) {
  return Add(names, value, description);
}
Option* Verb::AddOption(const std::string& names, std::vector<std::string>* values, const std::string& description) {
  return Add(names, values, description);
}
Option* Verb::AddOption(const std::string& names, int* value, const std::string& description) {
  return Add(names, value, description);
}
Option* Verb::AddOption(const std::string& names, int64_t* value, const std::string& description) {
  return Add(names, value, description);
}
Option* Verb::AddOption(const std::string& names, uint64_t* value, const std::string& description) {
  return Add(names, value, description);
}
Option* Verb::AddOption(const std::string& names, double* value, const std::string& description) {
  return Add(names, value, description);
}
Option* Verb::AddOption(const std::string& names, std::optional<double>* value, const std::string& description) {
  return Add(names, value, description);
}

Option* Verb::AddOption(const std::string& names, OptionCheck set, const std::string& description) {
  const std::function<void(const std::string&)> set_or_throw = [set = std::move(set)](const std::string& text) {
    const std::string error = set(text);
    if (!error.empty()) throw CLI::ValidationError(error);
  };
  return Own(app_->add_option_function<std::string>(names, set_or_throw, description));
}

Option* Verb::AddSizeOption(const std::string& names, uint64_t* bytes, const std::string& description) {
  return Own(app_->add_option(names, *bytes, description)->transform(CLI::AsSizeValue(/*kb_is_1000=*/false)));
}

Option* Verb::AddFlag(const std::string& names, bool* value, const std::string& description) {
  return Own(app_->add_flag(names, *value, description)->disable_flag_override());
}

Command::Command(const std::string& name, const std::string& description, const std::string& footer,
                 const std::string& version)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->footer(footer);
  app_->set_version_flag("--version", absl::StrCat(name, " ", version),
                         absl::StrCat("Print the version; `", name, " version` tells more"));
  app_->require_subcommand(1);
}
Command::~Command() = default;

Verb* Command::AddVerb(const std::string& name, const std::string& description, const std::string& examples,
                       std::function<int()> run) {
  CLI::App* app = app_->add_subcommand(name, description);
  app->footer(absl::StrCat("Examples:\n", examples));
  return verbs_.emplace_back(std::make_unique<Verb>(app, std::move(run))).get();
}

const Verb* Command::FindVerb(const std::string& name) const {
  for (const std::unique_ptr<Verb>& verb : verbs_) {
    if (verb->name() == name) return verb.get();
  }
  return nullptr;
}

std::string Command::Help() const {
  // App::help would show the verb that was chosen, if one was.
  return app_->get_formatter()->make_help(app_.get(), app_->get_name(), CLI::AppFormatMode::Normal);
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
    return {Kind::kPrint, nullptr, app_->help()};
  } catch (const CLI::CallForVersion& version) {
    return {Kind::kPrint, nullptr, absl::StrCat(version.what(), "\n")};
  } catch (const CLI::RequiredError&) {
    return {Kind::kLacking, ChosenVerb(), ""};
  } catch (const CLI::ParseError& error) {
    return {Kind::kWrong, ChosenVerb(), error.what()};
  }
  return {Kind::kRun, ChosenVerb(), ""};
}

}  // namespace kashi::cli
