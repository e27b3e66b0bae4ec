// The origin of an instruction as text: `{op_name="jit(f)/add" source_file="f.py" source_line=3 stack_frame_id=7}`.
//
//   metadata = "{" { [","] NAME "=" value } "}"         each name at most once, in any order
//   value    = STRING | INT of 32 bits | "{" [ INT { "," INT } ] "}" for profile_type
//
// Nearly every instruction of a dump has metadata, so reader and printer are fast: a few hundred nanoseconds.
#ifndef KASHI_HLO_ATTRIBUTES_METADATA_TEXT_H_
#define KASHI_HLO_ATTRIBUTES_METADATA_TEXT_H_

#include <vector>

#include "kashi/array/lexer.h"
#include "kashi/base/diagnostic.h"
#include "kashi/base/printer.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi::hlo {

// Reads from the lexer's current token, which should be `{`, to the closing `}`. Overwrites *metadata. For text
// that XLA rejects, adds one error to *diagnostics, with offsets into the lexer's text, and returns false; the lexer
// then does not move.
bool ParseMetadataPrefix(array::Lexer* lexer, OpMetadata* metadata, std::vector<Diagnostic>* diagnostics);

// Prints with braces, without fields that have their default. deduplicated_name is escaped, scheduling_name is not,
// as in XLA, so that a quote in the latter does not read back.
void PrintMetadata(Printer* printer, const OpMetadata& metadata);

// Whether XLA prints an instruction's metadata: not if it has only line numbers, frames or profile types. (A frame
// that the module's tables have counts too. The caller must drop frames that the tables do not have.)
bool IsMetadataPrinted(const OpMetadata& metadata);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_ATTRIBUTES_METADATA_TEXT_H_
