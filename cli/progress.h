// The line on a terminal that says how far a long piece of work is.
//
//   kashi: 12 s, pair 3 of 20: step.hlo, instruction 18 of 340, last dot.3 in main
//
// One rule for all verbs: the line is shown only if standard error is a terminal that can erase it; for the first time after
// one second, then at most ten times a second. It is erased before anything else is written, and at the end.
#ifndef KASHI_CLI_PROGRESS_H_
#define KASHI_CLI_PROGRESS_H_

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"

namespace kashi::internal::cli {

// A part of the line. Parts that live at once stand behind one another, the oldest first; the time is that of the oldest.
// One thread makes and destroys them all.
class Progress {
 public:
  using Describe = std::function<std::string()>;

  // Another thread calls `describe` while this lives. An empty text is left out.
  explicit Progress(Describe describe);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether there is a line at all: ask this before work that is for the line alone.
  static bool IsShown();

 private:
  const Describe describe_;
};

// The part about one of several things that are done in turn: "module 3 of 120: step.hlo", "run 2 of 10"; where there is
// only one, its name alone.
class ItemProgress {
 public:
  ItemProgress(absl::string_view noun, size_t count) : noun_(noun), count_(count) {}
  // The next one begins.
  void Next(absl::string_view name = "");

 private:
  std::string Text() const;

  const std::string noun_;
  const size_t count_;
  mutable std::mutex mutex_;
  size_t number_ = 0;
  std::string name_;
  const Progress progress_{[this] { return Text(); }};  // reads the others: constructed last
};

// While it lives the line is erased and stays away. Code that writes to a terminal holds one.
class ProgressPause {
 public:
  ProgressPause();
  ~ProgressPause();
  ProgressPause(const ProgressPause&) = delete;
  ProgressPause& operator=(const ProgressPause&) = delete;
};

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_PROGRESS_H_
