// Exceptions as errors, for places that no exception may leave.
#ifndef KASHI_BASE_CATCH_EXCEPTIONS_H_
#define KASHI_BASE_CATCH_EXCEPTIONS_H_

#include <exception>
#include <new>

#include "absl/status/status.h"

namespace kashi::base {

// The Status or StatusOr that `function` returns; for an exception an error: RESOURCE_EXHAUSTED if memory ran out,
// otherwise INTERNAL with the text of the exception.
template <typename Function>
auto CatchExceptions(Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("the machine has no more memory");
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

}  // namespace kashi::base

#endif  // KASHI_BASE_CATCH_EXCEPTIONS_H_
