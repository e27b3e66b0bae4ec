// Files that are packed by gzip.
#ifndef KASHI_CLI_GZIP_H_
#define KASHI_CLI_GZIP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kashi::cli {

// gzip's two magic bytes.
bool IsGzip(absl::string_view bytes);
// Unpacks gzip. RESOURCE_EXHAUSTED: more than `limit_bytes` unpacked; INVALID_ARGUMENT: damaged or cut off.
absl::StatusOr<std::string> Gunzip(absl::string_view bytes, int64_t limit_bytes);

}  // namespace kashi::cli

#endif  // KASHI_CLI_GZIP_H_
