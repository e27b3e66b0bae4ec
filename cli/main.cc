// The `kashi` command: `kashi VERB …`. Each verb has a file of its own.
#include <signal.h>

#include "cli/command_line.h"
#include "cli/launcher.h"
#include "cli/verb.h"

int main(int argc, char** argv) {
  signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` then fails with an error
  if (kashi::cli::IsForRanks(argc, argv)) return kashi::cli::Fail(kashi::cli::BecomeRank(argv));
  return kashi::cli::RunCommandLine(argc, argv);
}
