// tsl::safe_reinterpret_cast: reinterpret_cast between pointers, and between a pointer and an integer as wide.
#ifndef KASHI_COMPAT_XLA_TSL_UTIL_SAFE_REINTERPRET_CAST_H_
#define KASHI_COMPAT_XLA_TSL_UTIL_SAFE_REINTERPRET_CAST_H_

#include <type_traits>

namespace tsl {

template <typename To, typename From>
To safe_reinterpret_cast(From from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else {
    static_assert(sizeof(To) == sizeof(From) && (std::is_pointer_v<To> || std::is_pointer_v<From>),
                  "safe_reinterpret_cast is for pointers and integers of their width.");
    return reinterpret_cast<To>(from);
  }
}

}  // namespace tsl

#endif  // KASHI_COMPAT_XLA_TSL_UTIL_SAFE_REINTERPRET_CAST_H_
