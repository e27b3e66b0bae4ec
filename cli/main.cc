// The `kashi` command: `kashi VERB …`. Each verb has a file of its own.
#include <signal.h>

#include "cli/command_line.h"

int main(int argc, char** argv) {
  signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` then fails with an error
  return kashi::cli::RunCommandLine(argc, argv);
}
