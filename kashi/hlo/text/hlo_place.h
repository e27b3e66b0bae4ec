// The instruction that an error belongs to, and how messages show it.
//
//   m.hlo:4:3: error: [result shape] Expected instruction to have shape equal to f32[2], actual shape is f32[3]
//     r = f32[3] negate(a)
//     ^
//
// A reader keeps the place of each instruction (HloInstruction::text_place). Later code attaches the instruction to an
// error (AtInstruction). Code that has the text shows both (RenderAt). A module from a proto has no text: its errors
// name the instruction and its computation.
#ifndef KASHI_HLO_TEXT_HLO_PLACE_H_
#define KASHI_HLO_TEXT_HLO_PLACE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kashi/base/diagnostic.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi {

// The instruction and computation that an error belongs to.
struct HloErrorPlace {
  HloTextPlace text;  // line 0: no text
  std::string instruction;
  std::string computation;
};

// The place of the instruction.
HloErrorPlace PlaceOf(const HloInstruction& instruction);

// The error with its place as a payload; code and message stay the same. An error that has a place keeps it, because
// the innermost instruction is the cause. OK and CANCELLED get no place.
absl::Status AtInstruction(absl::Status status, const HloInstruction& instruction);
// The place that AtInstruction attached.
std::optional<HloErrorPlace> PlaceOf(const absl::Status& status);

// The message with the bytes of the instruction's name; nullopt if there is no text, or if the text does not have this
// line. O(text before the place).
std::optional<Diagnostic> DiagnosticAt(const SourceText& source, const HloErrorPlace& place, absl::string_view message);
// "\n  at instruction r\n  in computation main", if they are known.
std::string AboutText(const HloErrorPlace& place);
// The message with its place: "name:line:column: error: message", the source line and a caret run under the
// instruction's name. Without text, or without this line in it: "name: error: message" and AboutText. No final newline.
// O(text before the place).
std::string RenderAt(const SourceText& source, const HloErrorPlace& place, absl::string_view message);

}  // namespace kashi

#endif  // KASHI_HLO_TEXT_HLO_PLACE_H_
