// Ctrl-C during long work.
#ifndef KASHI_CLI_INTERRUPT_H_
#define KASHI_CLI_INTERRUPT_H_

#include <signal.h>

#include <atomic>

namespace kashi::cli {

// The status that a shell reports for a process killed by SIGINT.
inline constexpr int kInterrupted = 130;

// During its lifetime the first Ctrl-C sets flag(), which the work must check; the second one ends the process at once.
// One object at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>& flag() const;

 private:
  struct sigaction before_ = {};
};

// "kashi: interrupted" to standard error. Returns kInterrupted.
int PrintInterrupted();

}  // namespace kashi::cli

#endif  // KASHI_CLI_INTERRUPT_H_
