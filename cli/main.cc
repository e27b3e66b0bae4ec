// The `kashi` command: `kashi VERB …`. Each verb has a file of its own.
#include <cstdio>
#include <exception>

#include "cli/verb.h"

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
  } catch (const CLI::ParseError& error) {
    return command.app.exit(error) == 0 ? kashi::cli::kSuccess : kashi::cli::kBadUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kashi: error: %s\n", error.what());
    return kashi::cli::kBadInput;
  }
  return command.exit_status;
}
