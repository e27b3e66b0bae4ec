// Reads and writes .npy files for the verbs. Elements are read into the literal and written from it without another
// copy.
#ifndef KASHI_CLI_NPY_FILE_H_
#define KASHI_CLI_NPY_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/literal/literal.h"

namespace kashi::cli {

// ReadNpy (kashi/literal/npy.h) of a file, or of standard input if the path is "-". Errors name the path.
absl::StatusOr<Literal> ReadNpyFile(const std::string& path, const Shape& expected);

// ReadNpyPart of a file: a box of the array `whole`. A file without positions, such as a pipe, is read completely.
absl::StatusOr<Literal> ReadNpyFilePart(const std::string& path, const Shape& whole, absl::Span<const int64_t> starts,
                                        absl::Span<const int64_t> sizes);

// Writes the bytes of WriteNpy with WriteOnThisRank (cli/verb.h).
absl::Status WriteNpyFile(const std::string& path, const LiteralSlice& literal);

}  // namespace kashi::cli

#endif  // KASHI_CLI_NPY_FILE_H_
