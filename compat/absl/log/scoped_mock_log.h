// abseil's own header where it has one; else absl::ScopedMockLog over the LOG of our absl/log/log.h.
#ifndef KASHI_COMPAT_ABSL_LOG_SCOPED_MOCK_LOG_H_
#define KASHI_COMPAT_ABSL_LOG_SCOPED_MOCK_LOG_H_

#if __has_include_next("absl/log/scoped_mock_log.h")
#include_next "absl/log/scoped_mock_log.h"
#else

#include <string>

#include "absl/base/log_severity.h"
#include "gmock/gmock.h"
#include "kashi_compat/log.h"

namespace absl {

enum class MockLogDefault { kIgnoreUnexpected, kDisallowUnexpected };

// EXPECT_CALL(log, Log(absl::LogSeverity::kWarning, testing::_, "text")); log.StartCapturingLogs();
class ScopedMockLog {
 public:
  explicit ScopedMockLog(MockLogDefault when_unexpected = MockLogDefault::kIgnoreUnexpected) {
    if (when_unexpected == MockLogDefault::kDisallowUnexpected) {
      EXPECT_CALL(*this, Log).Times(0);
    } else {
      EXPECT_CALL(*this, Log).Times(::testing::AnyNumber());
    }
  }
  ScopedMockLog(const ScopedMockLog&) = delete;
  ~ScopedMockLog() { StopCapturingLogs(); }

  void StartCapturingLogs() {
    StopCapturingLogs();
    hook_ = ::kashi_compat::LogHooks::Get().Add(
        [this](LogSeverity severity, const std::string& file, const std::string& text) { Log(severity, file, text); });
  }
  void StopCapturingLogs() {
    if (hook_ != 0) ::kashi_compat::LogHooks::Get().Remove(hook_);
    hook_ = 0;
  }

  MOCK_METHOD(void, Log, (LogSeverity severity, const std::string& file, const std::string& text));

 private:
  int hook_ = 0;
};

}  // namespace absl

#endif  // abseil has none

#endif  // KASHI_COMPAT_ABSL_LOG_SCOPED_MOCK_LOG_H_
