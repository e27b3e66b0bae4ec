// abseil's own header where it has one; else absl::Overload.
#ifndef KASHI_COMPAT_ABSL_FUNCTIONAL_OVERLOAD_H_
#define KASHI_COMPAT_ABSL_FUNCTIONAL_OVERLOAD_H_

#if __has_include_next("absl/functional/overload.h")
#include_next "absl/functional/overload.h"
#else

namespace absl {

// One functor of several: `std::visit(absl::Overload{[](int) {…}, [](float) {…}}, variant)`.
template <typename... T>
struct Overload : T... {
  using T::operator()...;
};
template <typename... T>
Overload(T...) -> Overload<T...>;

}  // namespace absl

#endif  // abseil has none

#endif  // KASHI_COMPAT_ABSL_FUNCTIONAL_OVERLOAD_H_
