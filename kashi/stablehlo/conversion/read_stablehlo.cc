#include "kashi/stablehlo/conversion/read_stablehlo.h"

#include "kashi/base/status.h"
#include "kashi/stablehlo/bytecode/bytecode_reader.h"
#include "kashi/stablehlo/bytecode/exported_module.h"
#include "kashi/stablehlo/conversion/stablehlo_to_hlo.h"
#include "kashi/stablehlo/text/text_reader.h"

namespace kashi::stablehlo {

bool IsStableHlo(absl::string_view bytes) {
  return IsBytecode(bytes) || IsExportedModule(bytes) || BeginsLikeMlirText(bytes);
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadStableHlo(absl::string_view bytes, absl::string_view name,
                                                         ConversionOptions options) {
  options.source_is_text = !IsBytecode(bytes) && !IsExportedModule(bytes);
  if (!options.source_is_text && !IsBytecode(bytes)) {
    KASHI_ASSIGN_OR_RETURN(bytes, ArtifactOfExportedModule(bytes));
  }
  options.source = SourceText{name, bytes};
  KASHI_ASSIGN_OR_RETURN(const Program program, options.source_is_text ? ReadText(bytes, name) : ReadBytecode(bytes));
  return ConvertToHlo(program, options);
}

}  // namespace kashi::stablehlo
