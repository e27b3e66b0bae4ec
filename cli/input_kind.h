// Recognizes the kind of an input: HLO text, gzip, nothing, or a file that people give to kashi by mistake.
#ifndef KASHI_CLI_INPUT_KIND_H_
#define KASHI_CLI_INPUT_KIND_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kashi::cli {

// gzip's two magic bytes.
bool IsGzip(absl::string_view bytes);
// Unpacks gzip. RESOURCE_EXHAUSTED: more than `limit_bytes` unpacked; INVALID_ARGUMENT: damaged or cut off.
absl::StatusOr<std::string> Gunzip(absl::string_view bytes, int64_t limit_bytes);

// Whether the input begins like HLO text; control bytes may follow. No proto begins like this.
bool BeginsLikeHloText(absl::string_view bytes);

// Whether there is nothing, or only white space.
bool IsEmptyInput(absl::string_view bytes);

// Names the kind of an input that is not a program, and how to get HLO: a profile (xplane), a TensorFlow graph, XLA's
// report about the memory of a module, an array, an image, a document, machine code …. "" for any other input. It may
// be wrong about a program: ask only after reading has failed.
std::string DescribeOtherKind(absl::string_view bytes);

}  // namespace kashi::cli

#endif  // KASHI_CLI_INPUT_KIND_H_
