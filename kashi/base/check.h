// Assertions for our own bugs, and for programmers' errors in functions where XLA dies too. A user's input never
// reaches them: functions that read it return absl::Status (see status.h).
//
//   KASHI_CHECK(rank >= 0) << "rank " << rank;     prints file:line, the condition, both values, the text; then aborts
//   KASHI_DCHECK(...)                              like KASHI_CHECK, in debug builds only
//
// The abseil of Debian 12 has no absl/log; compat/absl/log defines XLA's macros (CHECK, LOG) by these.
#ifndef KASHI_BASE_CHECK_H_
#define KASHI_BASE_CHECK_H_

#include <memory>
#include <ostream>
#include <sstream>
#include <string>

#include "absl/base/optimization.h"
#include "absl/status/status.h"

namespace kashi::base {

// Collects a message; its destructor prints it to standard error and aborts.
class FatalMessage {
 public:
  FatalMessage(const char* file, int line, const std::string& what);
  [[noreturn]] ~FatalMessage();
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

// Lets `cond ? (void)0 : Voidify() & stream` have type void on both sides.
struct Voidify {
  void operator&(std::ostream&) {}
};

template <typename A, typename B>
std::unique_ptr<std::string> MakeCheckOpString(const A& a, const B& b, const char* text) {
  std::ostringstream out;
  out << text << " (" << a << " vs. " << b << ")";
  return std::make_unique<std::string>(out.str());
}

// The two values are evaluated once; null means that the comparison holds.
#define KASHI_INTERNAL_CHECK_OP_IMPL(name, op)                                         \
  template <typename A, typename B>                                                    \
  std::unique_ptr<std::string> Check##name(const A& a, const B& b, const char* text) { \
    return ABSL_PREDICT_TRUE(a op b) ? nullptr : MakeCheckOpString(a, b, text);        \
  }
KASHI_INTERNAL_CHECK_OP_IMPL(EQ, ==)
KASHI_INTERNAL_CHECK_OP_IMPL(NE, !=)
KASHI_INTERNAL_CHECK_OP_IMPL(LT, <)
KASHI_INTERNAL_CHECK_OP_IMPL(LE, <=)
KASHI_INTERNAL_CHECK_OP_IMPL(GT, >)
KASHI_INTERNAL_CHECK_OP_IMPL(GE, >=)
#undef KASHI_INTERNAL_CHECK_OP_IMPL

inline const absl::Status& AsStatus(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& AsStatus(const T& status_or) {
  return status_or.status();
}
std::unique_ptr<std::string> CheckOk(const absl::Status& status, const char* text);

}  // namespace kashi::base

#define KASHI_LOG_FATAL() ::kashi::base::FatalMessage(__FILE__, __LINE__, "").stream()

#define KASHI_CHECK(cond) \
  ABSL_PREDICT_TRUE(cond) \
  ? (void)0               \
  : ::kashi::base::Voidify() & ::kashi::base::FatalMessage(__FILE__, __LINE__, "Check failed: " #cond " ").stream()

#define KASHI_INTERNAL_CHECK_OP(name, op, a, b)                                                            \
  while (auto kashi_check_text = ::kashi::base::Check##name((a), (b), "Check failed: " #a " " #op " " #b)) \
  ::kashi::base::FatalMessage(__FILE__, __LINE__, *kashi_check_text + " ").stream()

#define KASHI_CHECK_EQ(a, b) KASHI_INTERNAL_CHECK_OP(EQ, ==, a, b)
#define KASHI_CHECK_NE(a, b) KASHI_INTERNAL_CHECK_OP(NE, !=, a, b)
#define KASHI_CHECK_LT(a, b) KASHI_INTERNAL_CHECK_OP(LT, <, a, b)
#define KASHI_CHECK_LE(a, b) KASHI_INTERNAL_CHECK_OP(LE, <=, a, b)
#define KASHI_CHECK_GT(a, b) KASHI_INTERNAL_CHECK_OP(GT, >, a, b)
#define KASHI_CHECK_GE(a, b) KASHI_INTERNAL_CHECK_OP(GE, >=, a, b)
// `status` is an absl::Status or an absl::StatusOr.
#define KASHI_CHECK_OK(status)                                                                                      \
  while (auto kashi_check_text = ::kashi::base::CheckOk(::kashi::base::AsStatus(status), "Check failed: " #status)) \
  ::kashi::base::FatalMessage(__FILE__, __LINE__, *kashi_check_text + " ").stream()

#ifdef NDEBUG
#define KASHI_DCHECK(cond) KASHI_CHECK(true || (cond))
#else
#define KASHI_DCHECK(cond) KASHI_CHECK(cond)
#endif

#endif  // KASHI_BASE_CHECK_H_
