// abseil's own header where it has one; else ABSL_DIE_IF_NULL.
#ifndef KASHI_COMPAT_ABSL_LOG_DIE_IF_NULL_H_
#define KASHI_COMPAT_ABSL_LOG_DIE_IF_NULL_H_

#if __has_include_next("absl/log/die_if_null.h")
#include_next "absl/log/die_if_null.h"
#else

#include <utility>

#include "kashi/base/check.h"

namespace kashi_compat {

template <typename T>
T DieIfNull(const char* file, int line, const char* text, T&& pointer) {
  if (pointer == nullptr) {
    ::kashi::base::FatalMessage(file, line, text).stream() << " is null";
  }
  return std::forward<T>(pointer);
}

}  // namespace kashi_compat

#define ABSL_DIE_IF_NULL(pointer) ::kashi_compat::DieIfNull(__FILE__, __LINE__, #pointer, (pointer))

#endif  // abseil has none

#endif  // KASHI_COMPAT_ABSL_LOG_DIE_IF_NULL_H_
