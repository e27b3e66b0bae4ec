// The helpers of XLA's util.h that our classes and their tests need.
#ifndef KASHI_COMPAT_XLA_UTIL_H_
#define KASHI_COMPAT_XLA_UTIL_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "kashi/array/common_factors.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/base/util.h"
#include "kashi/hlo/attributes/padding_config.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/status_macros.h"
#include "xla/tsl/platform/errors.h"
#include "xla/tsl/platform/logging.h"
#include "xla/tsl/platform/macros.h"
#include "xla/types.h"
#include "xla/xla_data.pb.h"

namespace kashi {
class HloInstruction;
class HloModule;
}  // namespace kashi

namespace xla {

using ::kashi::primitive_util::PackIntN;
using ::kashi::primitive_util::UnpackIntN;

#if __has_include("kashi/proto/xla_data.pb.h")
using DimLevelTypeVector = absl::InlinedVector<::kashi::DimLevelType, ::kashi::InlineRank()>;
#endif

// The message with words in front of it, or behind it.
inline absl::Status AddStatus(const absl::Status& prior, absl::string_view context) {
  return absl::Status(prior.code(), absl::StrCat(context, ": ", prior.message()));
}
inline absl::Status AppendStatus(const absl::Status& prior, absl::string_view context) {
  return absl::Status(prior.code(), absl::StrCat(prior.message(), ": ", context));
}

// Questions about instructions and modules, and the two that do not look.
using HloPredicate = std::function<bool(const ::kashi::HloInstruction*)>;
using HloModulePredicate = std::function<bool(const ::kashi::HloModule*)>;
inline bool HloPredicateTrue(const ::kashi::HloInstruction*) { return true; }
inline bool HloPredicateFalse(const ::kashi::HloInstruction*) { return false; }

// The lines without space around them, each behind `indentation`.
inline std::string Reindent(absl::string_view original, absl::string_view indentation) {
  return absl::StrJoin(absl::StrSplit(original, '\n'), "\n", [&](std::string* out, absl::string_view line) {
    absl::StrAppend(out, indentation, absl::StripAsciiWhitespace(line));
  });
}

// The unsigned integer of as many bytes.
template <int bytes>
using UnsignedIntegerTypeForSizeType =
    std::conditional_t<bytes == 1, uint8_t,
                       std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;
template <int bytes>
using SignedIntegerTypeForSizeType = std::make_signed_t<UnsignedIntegerTypeForSizeType<bytes>>;

// Bits of a NaN that are payload: the mantissa's, in formats as IEEE 754 has them; 0 in formats with one NaN or none.
template <typename T>
constexpr int NanPayloadBits() {
  return std::numeric_limits<T>::has_signaling_NaN ? std::numeric_limits<T>::digits - 1 : 0;
}
template <typename T>
constexpr uint64_t NanPayloadBitMask() {
  return (uint64_t{1} << NanPayloadBits<T>()) - 1;
}
// The payload that std::numeric_limits' quiet NaN has.
template <typename T>
constexpr uint64_t QuietNanWithoutPayload() {
  return NanPayloadBits<T>() > 0 ? uint64_t{1} << (NanPayloadBits<T>() - 1) : 0;
}
// `nan_payload` is not 0: that would be an infinity.
template <typename T>
T NanWithSignAndPayload(bool sign, uint64_t nan_payload) {
  static_assert(NanPayloadBits<T>() > 0, "The NaN of this type has no payload.");
  using Bits = UnsignedIntegerTypeForSizeType<sizeof(T)>;
  CHECK_NE(nan_payload, 0);
  constexpr Bits kSign = Bits{1} << (std::numeric_limits<Bits>::digits - 1);
  const Bits exponent =
      __builtin_bit_cast(Bits, std::numeric_limits<T>::quiet_NaN()) & ~NanPayloadBitMask<T>() & ~kSign;
  return __builtin_bit_cast(T, static_cast<Bits>(exponent | nan_payload | (sign ? kSign : 0)));
}

// The sign bit and the others, of a format that has a sign.
template <typename T>
auto SignAndMagnitude(T value) {
  using Bits = UnsignedIntegerTypeForSizeType<sizeof(T)>;
  constexpr Bits kSign = Bits{1} << (std::numeric_limits<Bits>::digits - 1);
  const Bits bits = __builtin_bit_cast(Bits, value);
  return std::make_pair(static_cast<Bits>(bits & kSign), static_cast<Bits>(bits & ~kSign));
}
// Integers in the total order of the values: -NaN < -inf < … < -0 < 0 < … < inf < NaN.
template <typename T>
auto ToSignMagnitude(T value) {
  using Signed = SignedIntegerTypeForSizeType<sizeof(T)>;
  const auto [sign, magnitude] = SignAndMagnitude(value);
  return static_cast<Signed>(static_cast<Signed>(magnitude) ^ (sign != 0 ? Signed{-1} : Signed{0}));
}

}  // namespace xla

// Logs a text of several lines one line at a time.
#define XLA_LOG_LINES(severity, text)                                                 \
  do {                                                                                \
    for (const auto& kashi_compat_line : absl::StrSplit(::std::string(text), '\n')) { \
      LOG(severity) << kashi_compat_line;                                             \
    }                                                                                 \
  } while (false)
#define XLA_VLOG_LINES(level, text)                   \
  do {                                                \
    if (VLOG_IS_ON(level)) XLA_LOG_LINES(INFO, text); \
  } while (false)

#endif  // KASHI_COMPAT_XLA_UTIL_H_
