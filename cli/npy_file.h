// Arrays in .npy files: what the verbs that read and write them share. Elements go from the file into the literal, and from
// the literal into the file, without a copy of them between the two.
#ifndef KASHI_CLI_NPY_FILE_H_
#define KASHI_CLI_NPY_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/literal/literal.h"

namespace kashi::internal::cli {

// As ReadNpy (kashi/literal/npy.h) of the file, or of standard input if the path is "-". Errors name the path.
absl::StatusOr<Literal> ReadNpyFile(const std::string& path, const Shape& expected);

// As WriteOutput (cli/verb.h) of the bytes that WriteNpy makes.
absl::Status WriteNpyFile(const std::string& path, const LiteralSlice& literal);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_NPY_FILE_H_
