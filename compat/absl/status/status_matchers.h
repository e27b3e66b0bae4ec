// abseil's own header where it has one; else absl_testing::IsOk, IsOkAndHolds and StatusIs.
#ifndef KASHI_COMPAT_ABSL_STATUS_STATUS_MATCHERS_H_
#define KASHI_COMPAT_ABSL_STATUS_STATUS_MATCHERS_H_

#if __has_include_next("absl/status/status_matchers.h")
#include_next "absl/status/status_matchers.h"
#else

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace absl_testing {
namespace kashi_internal {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

// A code is an absl::StatusCode, a number or an enumerator of the same number (tsl::error::NOT_FOUND), or a matcher.
template <typename Code>
::testing::Matcher<absl::StatusCode> CodeMatcher(Code&& code) {
  if constexpr (std::is_enum_v<std::decay_t<Code>> || std::is_integral_v<std::decay_t<Code>>) {
    return ::testing::Eq(static_cast<absl::StatusCode>(code));
  } else {
    return ::testing::MatcherCast<absl::StatusCode>(std::forward<Code>(code));
  }
}

class StatusIsMatcher {
 public:
  StatusIsMatcher(::testing::Matcher<absl::StatusCode> code, ::testing::Matcher<const std::string&> message)
      : code_(std::move(code)), message_(std::move(message)) {}

  void DescribeTo(std::ostream* out) const {
    *out << "has a status code that ";
    code_.DescribeTo(out);
    *out << ", and a message that ";
    message_.DescribeTo(out);
  }
  void DescribeNegationTo(std::ostream* out) const {
    *out << "has a status code that ";
    code_.DescribeNegationTo(out);
    *out << ", or a message that ";
    message_.DescribeNegationTo(out);
  }
  template <typename StatusLike>
  bool MatchAndExplain(const StatusLike& value, ::testing::MatchResultListener* listener) const {
    const absl::Status& status = StatusOf(value);
    *listener << "whose status is " << status;
    return code_.Matches(status.code()) && message_.Matches(std::string(status.message()));
  }

 private:
  ::testing::Matcher<absl::StatusCode> code_;
  ::testing::Matcher<const std::string&> message_;
};

class IsOkMatcher {
 public:
  void DescribeTo(std::ostream* out) const { *out << "is OK"; }
  void DescribeNegationTo(std::ostream* out) const { *out << "is not OK"; }
  template <typename StatusLike>
  bool MatchAndExplain(const StatusLike& value, ::testing::MatchResultListener* listener) const {
    *listener << "whose status is " << StatusOf(value);
    return value.ok();
  }
};

template <typename ValueMatcher>
class IsOkAndHoldsMatcher {
 public:
  explicit IsOkAndHoldsMatcher(ValueMatcher matcher) : matcher_(std::move(matcher)) {}

  template <typename StatusOr>
  operator ::testing::Matcher<StatusOr>() const {  // NOLINT: gmock asks for an implicit conversion
    return ::testing::Matcher<StatusOr>(new Impl<StatusOr>(matcher_));
  }

 private:
  template <typename StatusOr>
  class Impl : public ::testing::MatcherInterface<StatusOr> {
   public:
    using Value = typename std::decay_t<StatusOr>::value_type;
    explicit Impl(const ValueMatcher& matcher) : matcher_(::testing::SafeMatcherCast<const Value&>(matcher)) {}
    void DescribeTo(std::ostream* out) const override {
      *out << "is OK and has a value that ";
      matcher_.DescribeTo(out);
    }
    void DescribeNegationTo(std::ostream* out) const override {
      *out << "is not OK or has a value that ";
      matcher_.DescribeNegationTo(out);
    }
    bool MatchAndExplain(StatusOr value, ::testing::MatchResultListener* listener) const override {
      if (!value.ok()) {
        *listener << "whose status is " << value.status();
        return false;
      }
      return matcher_.MatchAndExplain(*value, listener);
    }

   private:
    ::testing::Matcher<const Value&> matcher_;
  };
  ValueMatcher matcher_;
};

}  // namespace kashi_internal

// All take an absl::Status or an absl::StatusOr.
inline ::testing::PolymorphicMatcher<kashi_internal::IsOkMatcher> IsOk() {
  return ::testing::MakePolymorphicMatcher(kashi_internal::IsOkMatcher());
}
template <typename ValueMatcher>
kashi_internal::IsOkAndHoldsMatcher<std::decay_t<ValueMatcher>> IsOkAndHolds(ValueMatcher&& matcher) {
  return kashi_internal::IsOkAndHoldsMatcher<std::decay_t<ValueMatcher>>(std::forward<ValueMatcher>(matcher));
}
template <typename Code, typename Message>
::testing::PolymorphicMatcher<kashi_internal::StatusIsMatcher> StatusIs(Code&& code, Message&& message) {
  return ::testing::MakePolymorphicMatcher(
      kashi_internal::StatusIsMatcher(kashi_internal::CodeMatcher(std::forward<Code>(code)),
                                      ::testing::MatcherCast<const std::string&>(std::forward<Message>(message))));
}
template <typename Code>
::testing::PolymorphicMatcher<kashi_internal::StatusIsMatcher> StatusIs(Code&& code) {
  return StatusIs(std::forward<Code>(code), ::testing::_);
}

}  // namespace absl_testing

#endif  // abseil has none

#endif  // KASHI_COMPAT_ABSL_STATUS_STATUS_MATCHERS_H_
