// The progress line of long work, on a terminal.
//
//   kashi: 12 s, pair 3 of 20: step.hlo, instruction 18 of 340, last dot.3 in main
//
// All verbs show it by one rule: only if standard error is a terminal that can erase the line; first after one second,
// then at most ten times per second. It is erased before any other output, and at the end.
#ifndef KASHI_CLI_PROGRESS_H_
#define KASHI_CLI_PROGRESS_H_

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"

namespace kashi::cli {

// A part of the line. Parts that exist at the same time are joined, the oldest first; the time is that of the oldest.
// One thread creates and destroys all of them.
class Progress {
 public:
  using Describe = std::function<std::string()>;

  // Another thread calls `describe` during the lifetime of this object. An empty text is left out.
  explicit Progress(Describe describe);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether the line is shown. Check this before work that only the line needs.
  static bool IsShown();

 private:
  const Describe describe_;
};

// The part about items that are processed in turn: "module 3 of 120: step.hlo", "run 2 of 10"; for a single item only
// its name.
class ItemProgress {
 public:
  ItemProgress(absl::string_view noun, size_t count) : noun_(noun), count_(count) {}
  // Begins the next item.
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

// Hides the line during its lifetime. Code that writes to a terminal holds one.
class ProgressPause {
 public:
  ProgressPause();
  ~ProgressPause();
  ProgressPause(const ProgressPause&) = delete;
  ProgressPause& operator=(const ProgressPause&) = delete;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_PROGRESS_H_
