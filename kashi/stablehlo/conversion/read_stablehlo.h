// A StableHLO program, in whatever form it comes, as an HLO module.
#ifndef KASHI_STABLEHLO_CONVERSION_READ_STABLEHLO_H_
#define KASHI_STABLEHLO_CONVERSION_READ_STABLEHLO_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/stablehlo/conversion/stablehlo_to_hlo.h"

namespace kashi::stablehlo {

// Whether the bytes are a portable artifact, what jax.export wrote with one in it, or begin like StableHLO's text.
// Any bytes are allowed. Cost: constant, and the comments at the beginning of a text.
bool IsStableHlo(absl::string_view bytes);

// Reads and converts it. Pre: IsStableHlo(bytes). `name` is for messages. Errors are those of ReadBytecode, ReadText
// and ConvertToHlo; in an artifact their offsets count from the artifact's first byte. The module borrows nothing. Of
// the options, the source is set here.
absl::StatusOr<std::unique_ptr<HloModule>> ReadStableHlo(absl::string_view bytes, absl::string_view name,
                                                         ConversionOptions options = {});

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_READ_STABLEHLO_H_
