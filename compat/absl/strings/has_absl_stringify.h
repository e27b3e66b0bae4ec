// abseil's own header where it has one; else a HasAbslStringify that says no, as an abseil without it knows no
// AbslStringify.
#ifndef KASHI_COMPAT_ABSL_STRINGS_HAS_ABSL_STRINGIFY_H_
#define KASHI_COMPAT_ABSL_STRINGS_HAS_ABSL_STRINGIFY_H_

#if __has_include_next("absl/strings/has_absl_stringify.h")
#include_next "absl/strings/has_absl_stringify.h"
#else

#include <type_traits>

namespace absl {

template <typename T, typename = void>
struct HasAbslStringify : std::false_type {};

}  // namespace absl

#endif  // abseil has none

#endif  // KASHI_COMPAT_ABSL_STRINGS_HAS_ABSL_STRINGIFY_H_
