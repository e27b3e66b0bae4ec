// Chooses code that is compiled for the size of an element.
#ifndef KASHI_KERNELS_ELEMENT_SIZE_H_
#define KASHI_KERNELS_ELEMENT_SIZE_H_

#include <cstdint>
#include <utility>

#include "kashi/base/check.h"

namespace kashi::kernels {

struct Bytes16 {
  uint64_t low, high;
};

// 1, 2, 4, 8 or 16.
constexpr bool IsElementSize(int64_t bytes) { return bytes >= 1 && bytes <= 16 && (bytes & (bytes - 1)) == 0; }

// f(T()) for a plain type T of that many bytes. Dies unless IsElementSize(element_bytes).
template <typename F>
decltype(auto) SwitchBytes(int64_t element_bytes, F&& f) {
  switch (element_bytes) {
    case 1:
      return std::forward<F>(f)(uint8_t{});
    case 2:
      return std::forward<F>(f)(uint16_t{});
    case 4:
      return std::forward<F>(f)(uint32_t{});
    case 8:
      return std::forward<F>(f)(uint64_t{});
    default:
      KASHI_CHECK_EQ(element_bytes, 16);
      return std::forward<F>(f)(Bytes16{});
  }
}

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_ELEMENT_SIZE_H_
