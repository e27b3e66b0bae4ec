// The `kashi` command: `kashi VERB …`. Each verb has a file of its own.
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/verb.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

int Print(const std::string& text) {
  const absl::Status written = WriteOutput("", text);
  return written.ok() ? kSuccess : Fail(written);
}

int FailUnknownVerb(const Command& command, const std::string& given) {
  std::vector<std::string> names;
  for (const CLI::App* verb : command.app.get_subcommands({})) names.push_back(verb->get_name());
  const std::string verbs = absl::StrJoin(names, ", ");
  return FailUsage(given.empty() ? absl::StrCat("say a verb: ", verbs)
                                 : absl::StrCat("there is no verb `", given, "`; there are: ", verbs));
}

// No verb, or one that does not exist, or one that lacks an argument.
int FailVerb(const Command& command, const std::string& given) {
  for (const CLI::App* verb : command.app.get_subcommands({})) {
    if (!verb->parsed()) continue;
    const std::string name = verb->get_name();
    return FailUsage(absl::StrCat("`kashi ", name, "` lacks an argument: see kashi ", name, " --help"));
  }
  return FailUnknownVerb(command, given);
}

int RunHelp(const Command& command, const std::string& name) {
  // App::help would show the verb that was chosen: this one.
  if (name.empty())
    return Print(command.app.get_formatter()->make_help(&command.app, "kashi", CLI::AppFormatMode::Normal));
  for (const CLI::App* verb : command.app.get_subcommands({})) {
    if (verb->get_name() == name) return Print(verb->help("kashi"));
  }
  return FailUnknownVerb(command, name);
}

void AddHelpVerb(Command* command) {
  auto name = std::make_shared<std::string>();
  CLI::App* verb = AddVerb(command, "help", "Print this help, or that of a verb", "  kashi help shape",
                           [command, name] { return RunHelp(*command, *name); });
  verb->add_option("VERB", *name, "What to explain");
}

int Run(int argc, char** argv) {
  Command command;
  command.app.name("kashi");
  command.app.description(
      "Reads, checks, explains and converts XLA's programs, shapes and layouts, exact about every byte.");
  command.app.footer("kashi VERB --help tells more, with examples. Exit status: 0 success, 1 bad input, 2 bad usage.");
  command.app.set_version_flag("--version", "kashi " KASHI_VERSION, "Print the version; `kashi version` tells more");
  command.app.require_subcommand(1);
  AddShapeVerb(&command);
  AddIndexVerb(&command);
  AddDrawVerb(&command);
  AddConvertVerb(&command);
  AddOpsVerb(&command);
  AddVerifyVerb(&command);
  AddRunVerb(&command);
  AddDiffVerb(&command);
  AddRelayoutVerb(&command);
  AddMemoryVerb(&command);
  AddCostVerb(&command);
  AddVersionVerb(&command);
  AddHelpVerb(&command);
  try {
    command.app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Print(command.app.help());
  } catch (const CLI::CallForVersion& version) {
    return Print(absl::StrCat(version.what(), "\n"));
  } catch (const CLI::RequiredError&) {
    return FailVerb(command, argc > 1 ? argv[1] : "");
  } catch (const CLI::ParseError& error) {
    return FailUsage(error.what());
  } catch (const std::exception& error) {
    return Fail(InternalStrCat(error.what()));
  }
  return command.exit_status;
}

}  // namespace
}  // namespace kashi::cli

int main(int argc, char** argv) { return kashi::cli::Run(argc, argv); }
