// Exceptions as errors, for places that no exception may leave.
#ifndef KASHI_BASE_CATCH_EXCEPTIONS_H_
#define KASHI_BASE_CATCH_EXCEPTIONS_H_

#include <cxxabi.h>

#include <exception>
#include <new>
#include <system_error>

#include "absl/status/status.h"

namespace kashi::base {

// The Status or StatusOr that `function` returns; for an exception an error: RESOURCE_EXHAUSTED if the machine has no
// more memory or threads, otherwise INTERNAL with the text of the exception.
template <typename Function>
auto CatchExceptions(Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("Out of memory: the machine has no more");
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) return absl::InternalError(error.what());
    return absl::ResourceExhaustedError("the machine gives the process no more threads");
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread ends here (pthread_exit)
  } catch (...) {
    return absl::InternalError("an exception that does not tell what it is");
  }
}

}  // namespace kashi::base

#endif  // KASHI_BASE_CATCH_EXCEPTIONS_H_
