// Bytes -> portable artifact, alone or in an exported module -> program -> HLO: no bytes end the process, and a program
// that was read can be written out.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/check.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/stablehlo/bytecode/bytecode_reader.h"
#include "kashi/stablehlo/bytecode/exported_module.h"
#include "kashi/stablehlo/conversion/stablehlo_to_hlo.h"
#include "kashi/stablehlo/program/program.h"
#include "kashi/stablehlo/program/program_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<absl::string_view> artifact = kashi::stablehlo::ArtifactOfExportedModule(bytes);
  if (artifact.ok()) bytes = *artifact;
  const absl::StatusOr<kashi::stablehlo::Program> program = kashi::stablehlo::ReadBytecode(bytes);
  if (!program.ok()) {
    KASHI_CHECK(!program.status().message().empty());
    return 0;
  }
  KASHI_CHECK(!kashi::stablehlo::ProgramText(*program).empty());
  const absl::StatusOr<std::unique_ptr<kashi::HloModule>> module = kashi::stablehlo::ConvertToHlo(*program);
  if (module.ok()) KASHI_CHECK(!(*module)->ToString().empty());
  return 0;
}
