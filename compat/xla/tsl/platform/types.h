// Integer types under tsl's old names.
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_TYPES_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_TYPES_H_

#include <cstdint>
#include <string>

#include "xla/tsl/platform/ml_dtypes.h"

namespace tsl {

using std::string;  // NOLINT: `tsl::string` is upstream's name
using int8 = int8_t;
using int16 = int16_t;
using int32 = int32_t;
using int64 = int64_t;
using uint8 = uint8_t;
using uint16 = uint16_t;
using uint32 = uint32_t;
using uint64 = uint64_t;
using bfloat16 = ::kashi::bfloat16;

// Are we Google's own build? Tests ask.
inline constexpr bool kIsOpenSource = true;

}  // namespace tsl

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_TYPES_H_
