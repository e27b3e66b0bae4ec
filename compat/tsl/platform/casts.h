// tsl::down_cast: from a class to one derived from it, which the value must be.
#ifndef KASHI_COMPAT_TSL_PLATFORM_CASTS_H_
#define KASHI_COMPAT_TSL_PLATFORM_CASTS_H_

#include <type_traits>

namespace tsl {

template <typename To, typename From>
To down_cast(From* from) {
  static_assert(std::is_base_of_v<From, std::remove_pointer_t<To>>, "down_cast goes to a derived class.");
  return static_cast<To>(from);
}
template <typename To, typename From>
To down_cast(From& from) {
  static_assert(std::is_lvalue_reference_v<To> && std::is_base_of_v<From, std::remove_reference_t<To>>,
                "down_cast goes to a derived class.");
  return static_cast<To>(from);
}

}  // namespace tsl

#endif  // KASHI_COMPAT_TSL_PLATFORM_CASTS_H_
