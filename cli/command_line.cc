#include "cli/command_line.h"

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/suggest.h"
#include "cli/verb.h"
#include "kashi/base/guard_pages.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

int FailUnknownVerb(const Command& command, const std::string& given) {
  const std::vector<std::string> verbs = command.verb_names();
  if (given.empty()) return FailUsage(absl::StrCat("a verb is missing; the verbs are: ", absl::StrJoin(verbs, ", ")));
  const std::string similar = DidYouMean(given, verbs);
  return FailUsage(
      absl::StrCat("unknown verb `", given, "`",
                   similar.empty() ? absl::StrCat("; the verbs are: ", absl::StrJoin(verbs, ", ")) : similar));
}

int RunHelp(const Command& command, const std::string& name) {
  if (name.empty()) return WriteResult("", command.Help());
  const Verb* verb = command.FindVerb(name);
  return verb != nullptr ? WriteResult("", verb->Help()) : FailUnknownVerb(command, name);
}

void AddHelpVerb(Command* command) {
  auto name = std::make_shared<std::string>();
  VerbHelp help;
  help.group = kOwnVerbs;
  help.summary = "Print the help of the command or of a verb";
  help.examples = "  kashi help shape";
  help.failure = "Standard output cannot be written";
  Verb* verb = command->AddVerb("help", help, [command, name] { return RunHelp(*command, *name); });
  verb->AddOption("VERB", name.get(), "The verb to explain");
}

void AddVerbs(Command* command) {
#define KASHI_VERB(Name) Add##Name##Verb(command);
#include "cli/verbs.def"
  AddHelpVerb(command);
}

// The engines read the variable themselves (kashi/base/guard_pages.h); another value would be ignored.
std::string GuardPagesError() {
  const char* const text = std::getenv(base::kGuardPagesVariable);
  if (text == nullptr || base::GuardPagesFromText(text).has_value()) return "";
  return absl::StrCat(base::kGuardPagesVariable, " is `", text, "`: give `behind` or `before`");
}

int Answer(const Command& command, const Command::Request& request, const std::string& first_argument) {
  switch (request.kind) {
    case Command::Request::Kind::kRun:
      return request.verb->Run();
    case Command::Request::Kind::kPrint:
      return WriteResult("", request.text);
    case Command::Request::Kind::kMissing:
      if (request.verb == nullptr) return FailUnknownVerb(command, first_argument);
      return FailUsage(absl::StrCat("an argument is missing; usage: ", request.verb->Usage()));
    case Command::Request::Kind::kWrong:
      break;
  }
  return FailUsage(request.text);
}

}  // namespace

int RunCommandLine(int argc, const char* const* argv) {
  Command command("Read, check, run and explain XLA programs, array shapes and layouts",
                  "`kashi VERB --help` prints the options of a verb, with examples.\n"
                  "Exit status: 0 success, 1 bad input, 2 bad usage.",
                  KASHI_VERSION);
  AddVerbs(&command);
  if (const std::string error = GuardPagesError(); !error.empty()) return FailUsage(error);
  try {
    return Answer(command, command.Parse(argc, argv), argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    return Fail(InternalStrCat(error.what()));
  }
}

}  // namespace kashi::cli
