// Numbers formatted for people: with separators, with units, with the thing that they count.
#ifndef KASHI_BASE_TEXT_H_
#define KASHI_BASE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace kashi::base {

std::string WithThousands(int64_t value);  // "335,544,320"
std::string HumanBytes(int64_t bytes);     // "320 MiB", "1.5 KiB", "17 bytes": three significant digits, powers of 1024

// "1 buffer", "2 buffers", "1,024 entries". `noun` is a regular one, in the singular, after adjectives or not.
std::string Count(int64_t count, absl::string_view noun);

// Bytes of the UTF-8 character that begins the text; 0 if none does.
size_t Utf8SequenceLength(absl::string_view text);

// The text for a terminal: control characters but newlines become spaces, bytes that are not UTF-8 become U+FFFD. So
// nothing that a file holds can change the terminal.
std::string Printable(absl::string_view text);

}  // namespace kashi::base

#endif  // KASHI_BASE_TEXT_H_
