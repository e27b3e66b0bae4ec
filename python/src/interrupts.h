// Ctrl-C during a run. Python's handler of SIGINT notes the signal for the interpreter, which goes on only after the
// run.
//
//   const Interrupts interrupts;                  // with the GIL
//   options.cancelled = interrupts.flag();        // Ctrl-C sets it
//   …                                             // the run, without the GIL
//   if (!result.ok()) interrupts.Rethrow();       // with the GIL: KeyboardInterrupt if Ctrl-C ended the run
#ifndef KASHI_PYTHON_SRC_INTERRUPTS_H_
#define KASHI_PYTHON_SRC_INTERRUPTS_H_

#include <atomic>

namespace kashi::python {

class Interrupts {
 public:
  // KeyboardInterrupt if Ctrl-C came before.
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Null where a run goes on in spite of Ctrl-C: outside of the main thread, which alone gets KeyboardInterrupt, and
  // where the program handles SIGINT itself. Lives as long as the process.
  const std::atomic<bool>* flag() const;
  void Rethrow() const;

 private:
  bool is_watching_ = false;
};

}  // namespace kashi::python

#endif  // KASHI_PYTHON_SRC_INTERRUPTS_H_
