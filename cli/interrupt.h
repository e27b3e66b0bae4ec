// Ctrl-C while something long goes on.
#ifndef KASHI_CLI_INTERRUPT_H_
#define KASHI_CLI_INTERRUPT_H_

#include <signal.h>

#include <atomic>

namespace kashi::internal::cli {

// What a shell reports of a process that SIGINT has ended.
inline constexpr int kInterrupted = 130;

// While it lives, the first Ctrl-C sets flag(), and the work has to end itself; a second one ends the process at once.
// One at a time.
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
int SayInterrupted();

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_INTERRUPT_H_
