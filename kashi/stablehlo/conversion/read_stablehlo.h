// Reads a StableHLO program, in any of its forms, as an HLO module.
#ifndef KASHI_STABLEHLO_CONVERSION_READ_STABLEHLO_H_
#define KASHI_STABLEHLO_CONVERSION_READ_STABLEHLO_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/diagnostic.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/stablehlo/conversion/stablehlo_to_hlo.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Whether the bytes are a portable artifact, the output of jax.export with one in it, or begin like StableHLO's text.
// Accepts any bytes. Cost: constant, plus the comments at the beginning of a text.
bool IsStableHlo(absl::string_view bytes);
// Whether the bytes are not text. Pre: IsStableHlo(bytes).
bool IsBinaryStableHlo(absl::string_view bytes);

// Reads and converts the bytes. Pre: IsStableHlo(bytes). `name` is for messages. Errors are those of ReadBytecode,
// ReadText and ConvertToHlo; offsets in an artifact count from its first byte. The module borrows nothing. This
// function sets the source in the options.
absl::StatusOr<std::unique_ptr<HloModule>> ReadStableHlo(absl::string_view bytes, absl::string_view name,
                                                         ConversionOptions options = {});

// A program that is read once and converted with several functions as its entry. Borrows the text of `source`.
class StableHloFile {
 public:
  // Pre: IsStableHlo(source.text), or the source is a part of such a text (SplitModules).
  static absl::StatusOr<StableHloFile> Read(const SourceText& source);

  // Errors and options are those of ReadStableHlo.
  absl::StatusOr<std::unique_ptr<HloModule>> Convert(ConversionOptions options = {}) const;
  // FreeFunctions of the program.
  std::vector<std::string> functions() const;
  // HasTests of the program.
  bool has_tests() const;
  // Whether the module is empty: a part of a text may be only a comment.
  bool is_empty() const;

 private:
  StableHloFile(const SourceText& source, bool is_text, Program program)
      : source_(source), is_text_(is_text), program_(std::move(program)) {}

  SourceText source_;
  bool is_text_;
  Program program_;
};

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_READ_STABLEHLO_H_
