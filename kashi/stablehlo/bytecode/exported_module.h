// The output of jax.export: a flatbuffer, one field of which is a portable artifact.
//
//   $ python -c "open('f.bin', 'wb').write(jax.export.export(jax.jit(f))(x).serialize())"
//
//   if (IsExportedModule(bytes)) {
//     absl::StatusOr<absl::string_view> artifact = ArtifactOfExportedModule(bytes);
//     …ReadBytecode(*artifact)…
//   }
//
// The flatbuffer has no name of its kind in it, so it is recognized by the artifact: the root is a table whose field
// mlir_module_serialized holds bytes that begin like MLIR bytecode. All versions of jax.export's format since the first
// (2023) have this field at the same place. The other fields are not read: trees of arguments, shardings,
// platforms, arguments that the module does not take because they are unused, and the exported gradient.
#ifndef KASHI_STABLEHLO_BYTECODE_EXPORTED_MODULE_H_
#define KASHI_STABLEHLO_BYTECODE_EXPORTED_MODULE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kashi::stablehlo {

// Whether the bytes are an exported module, even if its end is missing. Accepts any bytes. Cost: constant.
bool IsExportedModule(absl::string_view bytes);

// The portable artifact, a part of `bytes`. INVALID_ARGUMENT if the bytes are not an exported module, or if the
// artifact's end is missing. Cost: constant.
absl::StatusOr<absl::string_view> ArtifactOfExportedModule(absl::string_view bytes);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_BYTECODE_EXPORTED_MODULE_H_
