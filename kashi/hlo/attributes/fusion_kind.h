// How a compiler makes a kernel of a fusion's computation: the `kind=` of a fusion (docs/spec/hlo.md, 2.6).
#ifndef KASHI_HLO_ATTRIBUTES_FUSION_KIND_H_
#define KASHI_HLO_ATTRIBUTES_FUSION_KIND_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"

namespace kashi {

enum class FusionKind : uint8_t { kLoop, kInput, kOutput, kCustom };

// "kLoop"; "" for a number that is not a FusionKind.
constexpr absl::string_view ToString(FusionKind kind) {
  switch (kind) {
    case FusionKind::kLoop:
      return "kLoop";
    case FusionKind::kInput:
      return "kInput";
    case FusionKind::kOutput:
      return "kOutput";
    case FusionKind::kCustom:
      return "kCustom";
  }
  return "";
}

// The inverse; INVALID_ARGUMENT for any other text, also one that differs only in case.
inline absl::StatusOr<FusionKind> StringToFusionKind(absl::string_view text) {
  for (FusionKind kind : {FusionKind::kLoop, FusionKind::kInput, FusionKind::kOutput, FusionKind::kCustom}) {
    if (ToString(kind) == text) return kind;
  }
  return InvalidArgumentStrCat("Unknown fusion kind: ", text);
}

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_FUSION_KIND_H_
