// Ends a process whose work does not stop by itself. Runs check their limits, but the work before a run does
// not: reading a module of many megabytes, verifying it, finding its arguments.
#ifndef KASHI_CLI_HARD_STOP_H_
#define KASHI_CLI_HARD_STOP_H_

#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/interrupt.h"
#include "cli/limits.h"

namespace kashi::cli {

// Until End: kGrace after the first Ctrl-C, or after the time of --timeout, the process ends with the message and
// the status that the work would end with. A file that is being written is removed.
class HardStop {
 public:
  static constexpr std::chrono::milliseconds kGrace{1000};

  // Both must outlive it.
  HardStop(const LimitOptions& limits, const Interrupt& interrupt);
  ~HardStop();
  HardStop(const HardStop&) = delete;
  HardStop& operator=(const HardStop&) = delete;

  const Interrupt& interrupt() const { return interrupt_; }
  // When the limited work is done: what follows, such as writing results, may take longer. Its destructor calls it too.
  void End();

 private:
  void Watch();

  const LimitOptions& limits_;
  const Interrupt& interrupt_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_HARD_STOP_H_
