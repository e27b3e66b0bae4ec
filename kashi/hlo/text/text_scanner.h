// Scans the bytes of HLO text in small steps. It has no token stream, because that would be slower. Where XLA's tokens
// decide what is accepted (a number must not touch a letter, a name before `=` must not touch it), it decides the same.
#ifndef KASHI_HLO_TEXT_TEXT_SCANNER_H_
#define KASHI_HLO_TEXT_TEXT_SCANNER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace kashi::internal {

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

class TextScanner {
 public:
  // Borrows the text.
  explicit TextScanner(absl::string_view text) : text_(text) {}

  absl::string_view text() const { return text_; }
  size_t offset() const { return at_; }
  void Seek(size_t offset) { at_ = offset; }
  absl::string_view Slice(size_t begin) const { return text_.substr(begin, at_ - begin); }

  // Skips space and comments. Does not skip an unfinished comment, so its `/` becomes an error.
  void SkipSpace() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c != '/' || !SkipComment()) {
        return;
      }
    }
  }
  bool AtEnd() {
    SkipSpace();
    return at_ >= text_.size();
  }
  // The next byte that is not a space; 0 at the end (and for a byte that is 0).
  char Peek() {
    SkipSpace();
    return PeekHere();
  }
  // The next byte, space or not.
  char PeekHere(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool Match(char c) {
    if (Peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  bool Match(absl::string_view word) {
    SkipSpace();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

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
  bool SkipComment();

  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace kashi::internal

#endif  // KASHI_HLO_TEXT_TEXT_SCANNER_H_
