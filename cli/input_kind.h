// What the bytes of an input are: HLO as text, or something else that people give to kashi by mistake.
#ifndef KASHI_CLI_INPUT_KIND_H_
#define KASHI_CLI_INPUT_KIND_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kashi::internal::cli {

// gzip's two magic bytes.
bool IsGzip(absl::string_view bytes);
// Unpacks gzip. RESOURCE_EXHAUSTED: more than `limit_bytes` unpacked; INVALID_ARGUMENT: damaged or cut off.
absl::StatusOr<std::string> Gunzip(absl::string_view bytes, int64_t limit_bytes);

// Whether text of HLO begins here, whatever control bytes it has further on. A proto does not begin so.
bool BeginsLikeHloText(absl::string_view bytes);

// What the input is, and how to come by HLO: MLIR (StableHLO as text or bytecode), a profile (xplane), a graph of
// TensorFlow, a report of XLA's about a module's memory. "" if it is none of them.
std::string DescribeOtherKind(absl::string_view bytes);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_INPUT_KIND_H_
