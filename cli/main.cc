// The `kashi` command: `kashi VERB …`. Each verb has a file of its own.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/verb.h"

namespace {

// No verb, or one that does not exist. What a verb itself lacks it says itself.
int FailVerb(const kashi::cli::Command& command, const std::string& given) {
  std::vector<std::string> names;
  for (const CLI::App* verb : command.app.get_subcommands({})) {
    if (verb->parsed()) return kashi::cli::FailUsage(absl::StrCat("`kashi ", given, "` lacks an argument: see kashi ", given, " --help"));
    names.push_back(verb->get_name());
  }
  const std::string verbs = absl::StrJoin(names, ", ");
  return kashi::cli::FailUsage(given.empty() ? absl::StrCat("say a verb: ", verbs)
                                             : absl::StrCat("there is no verb `", given, "`; there are: ", verbs));
}

}  // namespace

int main(int argc, char** argv) {
  using kashi::cli::Command;
  Command command;
  command.app.name("kashi");
  command.app.description("Reads, explains and draws XLA's array shapes and layouts, exact about every byte.");
  command.app.footer("kashi VERB --help tells more, with examples. Exit status: 0 success, 1 bad input, 2 bad usage.");
  command.app.require_subcommand(1);
  kashi::cli::AddShapeVerb(&command);
  kashi::cli::AddIndexVerb(&command);
  kashi::cli::AddDrawVerb(&command);
  kashi::cli::AddVersionVerb(&command);
  try {
    command.app.parse(argc, argv);
  } catch (const CLI::RequiredError&) {
    return FailVerb(command, argc > 1 ? argv[1] : "");
  } catch (const CLI::ParseError& error) {
    return command.app.exit(error) == 0 ? kashi::cli::kSuccess : kashi::cli::kBadUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kashi: error: %s\n", error.what());
    return kashi::cli::kBadInput;
  }
  return command.exit_status;
}
