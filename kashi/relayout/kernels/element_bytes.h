// From a size of elements that is known when a plan runs to code that was compiled for it.
#ifndef KASHI_RELAYOUT_KERNELS_ELEMENT_BYTES_H_
#define KASHI_RELAYOUT_KERNELS_ELEMENT_BYTES_H_

#include <cstdint>
#include <type_traits>

namespace kashi::internal {

// f(std::integral_constant<int, bytes>) for the sizes that kernels are compiled for: 1, 2, 4, 8 and 16 bytes. `otherwise` for
// other sizes.
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

}  // namespace kashi::internal

#endif  // KASHI_RELAYOUT_KERNELS_ELEMENT_BYTES_H_
