// Portable artifacts of StableHLO (MLIR bytecode of the dialect `vhlo`), and plain MLIR bytecode of StableHLO, as a
// Program. No MLIR.
//
//   absl::StatusOr<Program> program = ReadBytecode(bytes);
//   if (!program.ok()) …  // "MLIR bytecode, byte 1234: operation vhlo.add_v2 needs a newer Kashi"
//
// Reads all versions of VHLO from 0.9.0 to 1.20.0 and of the bytecode from 0 to 6; operations of old versions become
// those of the newest version. Besides VHLO, the dialects builtin and sdy are known, and those of plain bytecode, which
// has no version: stablehlo, chlo and func. An operation "builtin.unrealized_conversion_cast" between their types is
// kept, as an identity. Specification: docs/spec/vhlo.md.
//
// The bytes are untrusted: no contents abort, recurse without a limit or allocate more than a fixed
// multiple of their size. Regions are nested at most 64 deep, and so are attributes and types; those have at most 4
// million parts when written out, because they may be shared. Locations have at most 10000 parts and a depth of 1000;
// larger ones are read as unknown. Uses come after definitions. The number of operands, results and regions of an
// operation and the attributes that the table names are checked; their types are not.
#ifndef KASHI_STABLEHLO_BYTECODE_BYTECODE_READER_H_
#define KASHI_STABLEHLO_BYTECODE_BYTECODE_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Whether the bytes begin like MLIR bytecode.
bool IsBytecode(absl::string_view bytes);

// The bytes must outlive the program: constants and texts point into them. INVALID_ARGUMENT, with the byte offset, if
// they are not bytecode that Kashi reads. Cost: one pass.
absl::StatusOr<Program> ReadBytecode(absl::string_view bytes);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_BYTECODE_BYTECODE_READER_H_
