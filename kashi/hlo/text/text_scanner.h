// Scans the bytes of HLO text in small steps. It has no token stream, because that would be slower. Where XLA's tokens
// decide what is accepted (a number must not touch a letter, a name before `=` must not touch it), it decides the same.
#ifndef KASHI_HLO_TEXT_TEXT_SCANNER_H_
#define KASHI_HLO_TEXT_TEXT_SCANNER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "kashi/base/text_place.h"

namespace kashi::hlo {

namespace text_scanner_internal {
// The role of a byte in an identifier.
inline constexpr uint8_t kStart = 1;
inline constexpr uint8_t kInside = 2;
constexpr std::array<uint8_t, 256> MakeByteClasses() {
  std::array<uint8_t, 256> classes = {};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = kStart | kInside;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kStart | kInside;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kInside;
  classes['_'] = kStart | kInside;
  classes['.'] = kInside;
  classes['-'] = kInside;
  return classes;
}
inline constexpr std::array<uint8_t, 256> kByteClasses = MakeByteClasses();
}  // namespace text_scanner_internal

class TextScanner : public base::TextPlace<TextScanner> {
 public:
  // Borrows the text.
  explicit TextScanner(absl::string_view text) : TextPlace(text) {}

  static bool IsIdentStart(char c) {
    return (text_scanner_internal::kByteClasses[static_cast<uint8_t>(c)] & text_scanner_internal::kStart) != 0;
  }
  static bool IsIdentByte(char c) {
    return (text_scanner_internal::kByteClasses[static_cast<uint8_t>(c)] & text_scanner_internal::kInside) != 0;
  }

  // The identifier that begins here, without skipping space; empty if none does.
  absl::string_view ReadIdentHere() {
    const size_t begin = at_;
    if (at_ < text_.size() && IsIdentStart(text_[at_])) {
      ++at_;
      while (at_ < text_.size() && IsIdentByte(text_[at_])) ++at_;
    }
    return Slice(begin);
  }
  absl::string_view ReadIdent() {
    SkipSpace();
    return ReadIdentHere();
  }
  absl::string_view PeekIdent() {
    SkipSpace();
    const size_t begin = at_;
    const absl::string_view ident = ReadIdentHere();
    at_ = begin;
    return ident;
  }

  // An integer token: digits, perhaps after `-`, and not a part of a longer token. As in XLA, unsigned 64-bit numbers
  // are accepted and become the signed numbers with the same bits. nullopt, without consuming text, if there is none.
  std::optional<int64_t> ReadInt();
  // A floating point or an integer token, or nan, -nan.
  std::optional<double> ReadDouble();
  // true or false.
  std::optional<bool> ReadBool();
  // The text of a string token with its quotes; empty, without consuming text, if there is none.
  absl::string_view ReadQuoted();
  // From `{` to the `}` that closes it, braces within "…" do not count; empty, without consuming text, if there is no
  // such brace. For JSON, and for text that other readers read.
  absl::string_view ReadBraced();
  // From one of `([{` to the bracket that closes it, brackets of all kinds counted and strings and comments skipped;
  // empty, and nothing consumed, if it is never closed.
  absl::string_view ReadBracketed();

 private:
  friend class base::TextPlace<TextScanner>;
  // Does not skip an unfinished comment, so its `/` becomes an error.
  bool SkipComment();

  // No comment that begins here or later ends. Kept, so that many unfinished ones do not each search the text.
  size_t unfinished_from_ = absl::string_view::npos;
};

}  // namespace kashi::hlo

#endif  // KASHI_HLO_TEXT_TEXT_SCANNER_H_
