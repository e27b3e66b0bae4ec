// Implements LOG and VLOG of absl/log/log.h. Messages go to standard error as "I0000 file.cc:12] text"; a hook
// (absl::ScopedMockLog) sees them first. VLOG(n) speaks up to the level in the environment variable
// TF_CPP_MAX_VLOG_LEVEL.
#ifndef KASHI_COMPAT_KASHI_COMPAT_LOG_H_
#define KASHI_COMPAT_KASHI_COMPAT_LOG_H_

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/log_severity.h"

namespace kashi_compat {

using LogHook = std::function<void(absl::LogSeverity severity, const std::string& file, const std::string& text)>;

class LogHooks {
 public:
  static LogHooks& Get() {
    static LogHooks& hooks = *new LogHooks;
    return hooks;
  }
  // The hook stays as long as its owner; returns the number to take it out by.
  int Add(LogHook hook) {
    const std::lock_guard<std::mutex> lock(mutex_);
    hooks_.emplace_back(++last_, std::move(hook));
    return last_;
  }
  void Remove(int number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    hooks_.erase(std::remove_if(hooks_.begin(), hooks_.end(), [=](const auto& hook) { return hook.first == number; }),
                 hooks_.end());
  }
  void Call(absl::LogSeverity severity, const std::string& file, const std::string& text) {
    std::vector<std::pair<int, LogHook>> hooks;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      hooks = hooks_;
    }
    for (const auto& [number, hook] : hooks) hook(severity, file, text);
  }

 private:
  std::mutex mutex_;
  int last_ = 0;
  std::vector<std::pair<int, LogHook>> hooks_;
};

// Collects a message, which its destructor writes. A fatal one then ends the process.
class LogMessage {
 public:
  LogMessage(const char* file, int line, absl::LogSeverity severity) : file_(file), line_(line), severity_(severity) {}
  LogMessage(const LogMessage&) = delete;
  ~LogMessage() {
    Write();
    if (severity_ == absl::LogSeverity::kFatal) std::abort();
  }
  std::ostream& stream() { return stream_; }

 protected:
  void Write() {
    if (std::exchange(written_, true)) return;
    const std::string text = stream_.str();
    LogHooks::Get().Call(severity_, file_, text);
    std::fprintf(stderr, "%c0000 %s:%d] %s\n", absl::LogSeverityName(severity_)[0], file_, line_, text.c_str());
    std::fflush(stderr);
  }

 private:
  const char* file_;
  int line_;
  absl::LogSeverity severity_;
  bool written_ = false;
  std::ostringstream stream_;
};

// A type of its own, so that the compiler knows that LOG(FATAL) does not come back.
class LogMessageFatal : public LogMessage {
 public:
  LogMessageFatal(const char* file, int line) : LogMessage(file, line, absl::LogSeverity::kFatal) {}
  [[noreturn]] ~LogMessageFatal() {
    Write();
    std::abort();
  }
};
class LogMessageQuietFatal : public LogMessage {
 public:
  LogMessageQuietFatal(const char* file, int line) : LogMessage(file, line, absl::LogSeverity::kError) {}
  [[noreturn]] ~LogMessageQuietFatal() {
    Write();
    std::_Exit(1);
  }
};

// Gives `cond ? (void)0 : LogVoidify() && stream` the type void on both sides.
struct LogVoidify {
  void operator&&(std::ostream&) const {}
};

inline int MaxVlogLevel() {
  static const int level = [] {
    const char* text = std::getenv("TF_CPP_MAX_VLOG_LEVEL");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return level;
}

inline bool IsFirstN(std::atomic<int>& count, int n) { return count < n && count++ < n; }
inline bool IsEveryN(std::atomic<int>& count, int n) { return count++ % n == 0; }
inline bool IsEveryPowerOf2(std::atomic<int>& count) {
  const int number = ++count;
  return (number & (number - 1)) == 0;
}

}  // namespace kashi_compat

#endif  // KASHI_COMPAT_KASHI_COMPAT_LOG_H_
