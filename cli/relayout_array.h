// Arrays of `kashi relayout`: from files into memory and back.
#ifndef KASHI_CLI_RELAYOUT_ARRAY_H_
#define KASHI_CLI_RELAYOUT_ARRAY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/page_buffer.h"
#include "kashi/relayout/placement.h"
#include "kashi/relayout/relayout_problem.h"

namespace kashi::internal::cli {

// The bytes of a file, or those it will have, and the array in them.
struct ArrayFile {
  Placement placement;
  PageBuffer memory;
  int64_t header_bytes;  // what stands in front of the array: the header of an .npy file
  int64_t bytes;         // of the file, header included

  char* array() { return memory.data() + header_bytes; }
  const char* array() const { return memory.data() + header_bytes; }
  absl::string_view content() const { return {memory.data(), static_cast<size_t>(bytes)}; }
};

// RESOURCE_EXHAUSTED where so many bytes are more than the limit; 0: the machine's memory.
absl::Status CheckMemory(double bytes, int64_t memory_limit);

// Reads IN; "-" is standard input. Raw bytes need `from`, which tells their layout and so their number. Of an .npy file the
// header tells all, but for types that NumPy lacks: then `from`, or else `to` says which it is.
// `numbers`: where the header and `to` may both be right (u2 for bf16), the header is.
absl::StatusOr<ArrayFile> ReadSourceFile(const std::string& path, const std::optional<RelayoutSide>& from,
                                         const std::optional<RelayoutSide>& to, bool numbers, int64_t memory_limit);

// Reads the array that is there already, of which a part will be written.
absl::StatusOr<ArrayFile> ReadTargetFile(const std::string& path, const RelayoutSide& to, int64_t memory_limit);

// Memory for a new file, its header written. The array is not initialized. INVALID_ARGUMENT for an .npy file of an array with
// a layout that NumPy has not.
absl::StatusOr<ArrayFile> MakeTargetFile(const Placement& to, bool is_npy);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_RELAYOUT_ARRAY_H_
