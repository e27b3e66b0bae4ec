// Which instruction an error is about, and how that is shown.
//
//   m.hlo:4:3: error: [result shape] Expected instruction to have shape equal to f32[2], actual shape is f32[3]
//     r = f32[3] negate(a)
//     ^
//
// A reader keeps where each instruction begins (HloInstruction::text_place); code that works on the module later
// attaches the instruction to an error (AtInstruction); code that has the text shows both (RenderAt). A module that
// comes from a proto has no text: its errors name the instruction and its computation.
#ifndef KASHI_HLO_TEXT_HLO_PLACE_H_
#define KASHI_HLO_TEXT_HLO_PLACE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kashi/base/diagnostic.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi {

// What an error is about.
struct HloErrorPlace {
  HloTextPlace text;  // line 0: no text
  std::string instruction;
  std::string computation;
};

// Where the instruction stands.
HloErrorPlace PlaceOf(const HloInstruction& instruction);

// The error with its place as a payload; code and message stay. An error that has a place keeps it: the innermost
// instruction is the one to look at. OK, and that a run was cancelled, have no place.
absl::Status AtInstruction(absl::Status status, const HloInstruction& instruction);
// What AtInstruction attached.
std::optional<HloErrorPlace> PlaceOf(const absl::Status& status);

// The message with the bytes of the instruction's name; nullopt where there is no text, or it has no such line. O(text
// before the place).
std::optional<Diagnostic> DiagnosticAt(const SourceText& source, const HloErrorPlace& place, absl::string_view message);
// "\n  at instruction r\n  in computation main", as far as they are known.
std::string AboutText(const HloErrorPlace& place);
// The message under its place: "name:line:column: error: message", the source line and a caret run under the
// instruction's name. Where there is no text, or it has no such line: "name: error: message" and AboutText. No final
// newline. O(text before the place).
std::string RenderAt(const SourceText& source, const HloErrorPlace& place, absl::string_view message);

}  // namespace kashi

#endif  // KASHI_HLO_TEXT_HLO_PLACE_H_
