// A program as bytes.
//
//   "kashi program\n" version\n    text: the version of Kashi that wrote it
//   engine, target, flags, module  the flags are those of NumberOptions; the module is HLO text
//   count, then key and code       of each object
//   16 bytes                       the fingerprint of all bytes before
//
// A text is its length in 8 bytes and its bytes. Numbers are little-endian.
#ifndef KASHI_ENGINE_SERIALIZED_PROGRAM_H_
#define KASHI_ENGINE_SERIALIZED_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/engine/compile_options.h"
#include "kashi/engine/engine.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::engine {

struct SerializedProgram {
  std::string engine;
  std::string target;  // CompileOptions::target
  NumberOptions numbers;
  std::string module;
  std::vector<CompiledObject> objects;
};

std::string WriteProgram(const SerializedProgram& program);
// Accepts any bytes: INVALID_ARGUMENT, or FAILED_PRECONDITION for another version. Allocates no more than their size.
absl::StatusOr<SerializedProgram> ReadProgram(absl::string_view bytes);
// The module, verified.
absl::StatusOr<std::unique_ptr<HloModule>> ReadModule(const SerializedProgram& program);

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_SERIALIZED_PROGRAM_H_
