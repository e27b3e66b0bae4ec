#include "interrupts.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "binding.h"

namespace kashi::python {
namespace {

std::atomic<bool> is_interrupted{false};
// The handler that was there before the outermost run of the main thread: Python's.
struct sigaction python_action;
// The number of runs of the main thread, one in a function that the other calls.
int watching_runs = 0;

void NoteInterrupt(int signal) {
  is_interrupted.store(true, std::memory_order_relaxed);
  python_action.sa_handler(signal);
}

bool IsMainThread() { return syscall(SYS_gettid) == getpid(); }

// Whether Ctrl-C raises KeyboardInterrupt: the program may have another handler, or none.
bool PythonRaises() {
  struct Functions {
    nb::object getsignal, default_int_handler;
    nb::int_ number{SIGINT};
  };
  // Lives as long as the interpreter.
  static const Functions* const functions = [] {
    const nb::module_ signal = nb::module_::import_("signal");
    return new Functions{signal.attr("getsignal"), signal.attr("default_int_handler")};
  }();
  return functions->getsignal(functions->number).is(functions->default_int_handler);
}

}  // namespace

Interrupts::Interrupts() {
  if (!IsMainThread() || !PythonRaises()) return;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();  // Ctrl-C came just before the run
  if (watching_runs == 0) {
    struct sigaction action;
    if (sigaction(SIGINT, nullptr, &python_action) != 0) return;
    const bool is_function = (python_action.sa_flags & SA_SIGINFO) == 0 && python_action.sa_handler != SIG_DFL &&
                             python_action.sa_handler != SIG_IGN;
    if (!is_function) return;
    is_interrupted.store(false, std::memory_order_relaxed);
    action = python_action;
    action.sa_handler = NoteInterrupt;
    if (sigaction(SIGINT, &action, nullptr) != 0) return;
  }
  ++watching_runs;
  is_watching_ = true;
}

Interrupts::~Interrupts() {
  if (!is_watching_ || --watching_runs > 0) return;
  // A function of the run may have set another handler, which stays.
  struct sigaction action;
  if (sigaction(SIGINT, nullptr, &action) == 0 && action.sa_handler == NoteInterrupt) {
    sigaction(SIGINT, &python_action, nullptr);
  }
}

const std::atomic<bool>* Interrupts::flag() const { return is_watching_ ? &is_interrupted : nullptr; }

void Interrupts::Rethrow() const {
  if (!is_watching_ || !is_interrupted.load(std::memory_order_relaxed)) return;
  if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);  // a function of the run has caught it
  throw nb::python_error();
}

}  // namespace kashi::python
