#include "cli/interrupt.h"

#include "cli/verb.h"

namespace kashi::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "A signal handler must not wait.");

void NoteInterrupt(int) { interrupted.store(true); }

}  // namespace

Interrupt::Interrupt() {
  interrupted.store(false);
  struct sigaction action = {};
  action.sa_handler = &NoteInterrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;  // the second Ctrl-C ends the process
  sigaction(SIGINT, &action, &before_);
}

Interrupt::~Interrupt() { sigaction(SIGINT, &before_, nullptr); }

const std::atomic<bool>& Interrupt::flag() const { return interrupted; }

int PrintInterrupted() {
  PrintNote("kashi: interrupted\n");
  return kInterrupted;
}

}  // namespace kashi::cli
