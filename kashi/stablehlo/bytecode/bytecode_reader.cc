#include "kashi/stablehlo/bytecode/bytecode_reader.h"

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "kashi/stablehlo/bytecode/byte_cursor.h"
#include "kashi/stablehlo/bytecode/bytecode_file.h"
#include "kashi/stablehlo/bytecode/operation_reader.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

bool IsBytecode(absl::string_view bytes) { return absl::StartsWith(bytes, "ML\xEFR"); }

absl::StatusOr<Program> ReadBytecode(absl::string_view bytes) {
  BytecodeFile file;
  ReadError error;
  ReadBytecodeFile(bytes, &file, &error);
  if (error.is_set()) return error.ToStatus();
  Program program;
  constexpr size_t kMemoryOfByte = 20;  // an operation has 10 to 20 bytes, and takes 200 to 300 in memory
  program.Reserve((file.operations.end - file.operations.begin) * kMemoryOfByte);
  OperationReader(file, &program, &error).Read();
  if (error.is_set()) return error.ToStatus();
  return program;
}

}  // namespace kashi::stablehlo
