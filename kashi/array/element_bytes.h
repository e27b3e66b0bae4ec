// From an element size that is known at run time to code that is compiled for it: the one switch over 1, 2, 4, 8 and 16
// bytes.
#ifndef KASHI_ARRAY_ELEMENT_BYTES_H_
#define KASHI_ARRAY_ELEMENT_BYTES_H_

#include <cstdint>
#include <type_traits>

#include "kashi/base/check.h"

namespace kashi::array {

// f(std::integral_constant<int, bytes>()) for 1, 2, 4, 8 and 16 bytes. `otherwise` for other sizes.
//
//   WithElementBytes(bytes, nullptr, [](auto size) -> Function { return &Kernel<size>; })
template <class Result, class F>
Result WithElementBytes(int64_t bytes, Result otherwise, F f) {
  switch (bytes) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 4:
      return f(std::integral_constant<int, 4>());
    case 8:
      return f(std::integral_constant<int, 8>());
    case 16:
      return f(std::integral_constant<int, 16>());
    default:
      return otherwise;
  }
}

// The form for a function without a result. Other sizes end the process: arrays have none.
//
//   WithElementBytes(bytes, [&](auto size) { Copy<size>(from, to); })
template <class F>
void WithElementBytes(int64_t bytes, F f) {
  const bool is_known = WithElementBytes(bytes, false, [&](auto size) {
    f(size);
    return true;
  });
  KASHI_CHECK(is_known) << "elements of " << bytes << " bytes";
}

}  // namespace kashi::array

#endif  // KASHI_ARRAY_ELEMENT_BYTES_H_
