// The container of MLIR bytecode (docs/spec/vhlo.md 1.1 to 1.6): its tables. The entries of attributes, types and
// properties are still bytes.
#ifndef KASHI_STABLEHLO_BYTECODE_BYTECODE_FILE_H_
#define KASHI_STABLEHLO_BYTECODE_BYTECODE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "kashi/stablehlo/bytecode/byte_cursor.h"

namespace kashi::stablehlo {

// Bytes of the file, by offset.
struct ByteRange {
  size_t begin = 0;
  size_t end = 0;
};

// The dialects with entries and operations that Kashi reads.
enum class Dialect : uint8_t { kBuiltin, kVhlo, kSdy, kStablehlo, kChlo, kFunc, kOther };

struct BytecodeDialect {
  absl::string_view name;
  Dialect dialect = Dialect::kOther;
};

struct BytecodeOperationName {
  uint32_t dialect = 0;        // index into `dialects`
  bool is_registered = false;  // its properties lie in their section, not in an attribute
  absl::string_view name;      // "add_v1"
};

struct BytecodeEntry {
  ByteRange bytes;
  uint32_t dialect = 0;   // index into `dialects`
  bool is_custom = true;  // the dialect's own code; else text, ended by 00
};

struct BytecodeFile {
  absl::string_view bytes;
  uint64_t version = 0;        // of the bytecode: 0 to 6
  absl::string_view producer;  // "StableHLO_v1.17.0"
  std::vector<absl::string_view> strings;
  std::vector<BytecodeDialect> dialects;
  std::vector<BytecodeOperationName> operation_names;
  size_t attribute_count = 0;
  std::vector<BytecodeEntry> entries;  // attributes, then types
  std::vector<ByteRange> properties;
  std::vector<absl::string_view> resources;  // blobs, by their handles; empty for other kinds
  ByteRange operations;                      // the section of the IR

  size_t type_count() const { return entries.size() - attribute_count; }
  bool HasDialect(Dialect dialect) const;
};

// The longest known version of the bytecode.
inline constexpr uint64_t kNewestBytecodeVersion = 6;

// Fills the file. Sets the error if the bytes are not bytecode that Kashi knows. `file` borrows the bytes. Cost: one
// pass over the tables; does not read the entries.
void ReadBytecodeFile(absl::string_view bytes, BytecodeFile* file, ReadError* error);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_BYTECODE_BYTECODE_FILE_H_
