// Strings between quotes, as XLA reads and prints them: C's escapes, and octal for every byte that is not printable
// ASCII.
#ifndef KASHI_HLO_ATTRIBUTES_STRING_ESCAPES_H_
#define KASHI_HLO_ATTRIBUTES_STRING_ESCAPES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kashi/base/printer.h"

namespace kashi::hlo {

// Whether CEscaped would change `text`, as for quotes of both sorts, backslashes, control bytes and bytes above 0x7e.
bool NeedsCEscape(absl::string_view text);

// `a"é` as `a\"\303\251`; tab, line feed and carriage return as \t, \n and \r.
std::string CEscaped(absl::string_view text);
// Prints CEscaped(text); does not copy a text that needs no escapes.
void AppendCEscaped(Printer* printer, absl::string_view text);

// Undoes C's escapes (`\n`, `\x41`, `\101`, `\u00e9`, …) and sets *text. Returns false for an escape that C does not
// have, or that is not a byte; *text is then unspecified.
bool CUnescapeTo(absl::string_view escaped, std::string* text);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_ATTRIBUTES_STRING_ESCAPES_H_
