// The arrays of `kashi relayout`: reading and writing files.
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

namespace kashi::cli {

// The bytes of a file, or of a file to write, and the array in them.
struct ArrayFile {
  Placement placement;
  base::PageBuffer memory;
  int64_t header_bytes;  // the bytes before the array: the header of an .npy file
  int64_t bytes;         // of the file, header included

  char* array() { return memory.data() + header_bytes; }
  const char* array() const { return memory.data() + header_bytes; }
  absl::string_view content() const { return {memory.data(), static_cast<size_t>(bytes)}; }
};

// RESOURCE_EXHAUSTED if `bytes` exceeds the limit; the limit 0 is the memory of the machine.
absl::Status CheckMemory(double bytes, int64_t memory_limit);

// Reads IN; "-" is standard input. Raw bytes need `from`, which gives their layout and number. An .npy file has both in
// its header, except for types that NumPy lacks: `from`, or else `to`, gives such a type.
// `numbers`: if both the type of the header and that of `to` are possible (u2 for bf16), the header decides.
absl::StatusOr<ArrayFile> ReadSourceFile(const std::string& path, const std::optional<RelayoutSide>& from,
                                         const std::optional<RelayoutSide>& to, bool numbers, int64_t memory_limit);

// Reads an existing OUT, of which a part will be replaced.
absl::StatusOr<ArrayFile> ReadTargetFile(const std::string& path, const RelayoutSide& to, int64_t memory_limit);

// Memory for a new file, with its header. The array is not initialized. INVALID_ARGUMENT for an .npy file if NumPy has
// no such layout.
absl::StatusOr<ArrayFile> MakeTargetFile(const Placement& to, bool is_npy);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RELAYOUT_ARRAY_H_
