// Reads StableHLO as MLIR's text, pretty or generic, with or without locations:
//
//   module @jit_f {
//     func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//       %0 = stablehlo.sine %arg0 : tensor<4xf32>
//       %1 = "stablehlo.add"(%0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//       return %1 : tensor<4xf32>
//     }
//   }
//
// Dialects: builtin, func, stablehlo, chlo, check, interpreter, sdy, and parts of arith, tensor, shape that shape
// computations use. Not done: checks that types suit an operation (conversion/ does that), blocks with successors.
#ifndef KASHI_STABLEHLO_TEXT_TEXT_READER_H_
#define KASHI_STABLEHLO_TEXT_TEXT_READER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/diagnostic.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Whether the bytes begin like MLIR's text, after comments: a module, a function or an alias.
bool BeginsLikeMlirText(absl::string_view bytes);

// The program of the text, which must outlive it: names and strings are borrowed. `name` is for messages. A text
// without `module` around its functions gets one. An error points at the narrowest token: "f.mlir:3:8: error: …", the
// line, a caret. Memory: proportional to the text. Regions nest at most 200 deep, types and attributes 100.
absl::StatusOr<Program> ReadText(absl::string_view text, absl::string_view name);

// Reads a part of a text; `source.first_line` is the number of its first line.
absl::StatusOr<Program> ReadText(const SourceText& source);

// The parts of a file with several modules, between lines that begin with `// -----`, each with the number of its first
// line. A file without such lines is one part. Borrows text and name.
std::vector<SourceText> SplitModules(absl::string_view text, absl::string_view name);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_TEXT_TEXT_READER_H_
