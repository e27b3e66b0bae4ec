// XLA's grab bag of helpers: what of it our classes and their tests need.
#ifndef KASHI_COMPAT_XLA_UTIL_H_
#define KASHI_COMPAT_XLA_UTIL_H_

#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "kashi/array/common_factors.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/base/util.h"
#include "kashi/hlo/padding_config.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/status_macros.h"
#include "xla/tsl/platform/errors.h"
#include "xla/tsl/platform/logging.h"
#include "xla/tsl/platform/macros.h"
#include "xla/types.h"
#include "xla/xla_data.pb.h"

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
