#include "kashi/stablehlo/conversion/read_stablehlo.h"

#include <utility>

#include "kashi/base/status.h"
#include "kashi/stablehlo/bytecode/bytecode_reader.h"
#include "kashi/stablehlo/bytecode/exported_module.h"
#include "kashi/stablehlo/conversion/stablehlo_to_hlo.h"
#include "kashi/stablehlo/text/text_reader.h"

namespace kashi::stablehlo {

bool IsStableHlo(absl::string_view bytes) { return IsBinaryStableHlo(bytes) || BeginsLikeMlirText(bytes); }

bool IsBinaryStableHlo(absl::string_view bytes) { return IsBytecode(bytes) || IsExportedModule(bytes); }

absl::StatusOr<std::unique_ptr<HloModule>> ReadStableHlo(absl::string_view bytes, absl::string_view name,
                                                         ConversionOptions options) {
  KASHI_ASSIGN_OR_RETURN(const StableHloFile file, StableHloFile::Read({name, bytes}));
  return file.Convert(std::move(options));
}

absl::StatusOr<StableHloFile> StableHloFile::Read(const SourceText& source) {
  SourceText read = source;
  const bool is_text = !IsBinaryStableHlo(source.text);
  if (!is_text && !IsBytecode(source.text)) {
    KASHI_ASSIGN_OR_RETURN(read.text, ArtifactOfExportedModule(source.text));
  }
  KASHI_ASSIGN_OR_RETURN(Program program, is_text ? ReadText(read) : ReadBytecode(read.text));
  return StableHloFile(read, is_text, std::move(program));
}

absl::StatusOr<std::unique_ptr<HloModule>> StableHloFile::Convert(ConversionOptions options) const {
  options.source = source_;
  options.source_is_text = is_text_;
  return ConvertToHlo(program_, options);
}

std::vector<std::string> StableHloFile::functions() const { return FreeFunctions(program_); }

bool StableHloFile::has_tests() const { return HasTests(program_); }

bool StableHloFile::is_empty() const {
  const Operation* module = program_.module;
  return module->regions.size() == 1 && module->regions[0].blocks.size() == 1 &&
         module->regions[0].blocks[0].operations.empty();
}

}  // namespace kashi::stablehlo
